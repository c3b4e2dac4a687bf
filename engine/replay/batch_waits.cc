#include "engine/replay/batch_waits.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "engine/timeline/awaited.h"
#include "engine/timeline/pause.h"

namespace advise {
namespace {

class BatchFinder {
 public:
  BatchFinder(const Run& run, const Idle& idle, const std::vector<IntervalSet>& waits_of)
      : run_(run),
        idle_(idle),
        waits_of_(waits_of),
        real_(run.knowledge.Number("input.wait_share")),
        far_more_even_(run.knowledge.Number("input.far_more_even")),
        most_workers_(run.knowledge.CountOf("input.most_workers")),
        rounds_(run.knowledge.CountOf("input.rhythm_rounds")) {}

  std::map<std::uint32_t, std::vector<Interval>> Find() {
    FindSeen();
    FindHidden();
    FindInRanges();
    LeaveOutMoments();
    // Of waits that end together the longest comes last.
    for (auto& [thread, waits] : batches_) {
      std::sort(waits.begin(), waits.end(), [](const Interval& a, const Interval& b) {
        return a.end != b.end ? a.end < b.end : a.start > b.start;
      });
    }
    return std::move(batches_);
  }

 private:
  // A place of the program: the thread, what it waits in, and what it calls next.
  using Place = std::tuple<std::uint32_t, StringId, StringId>;

  // Fetching a batch that lies ready takes a moment and says nothing of how fast the loader is;
  // only a wait that fills a fair part of the time since the last batch does.
  void Add(std::uint32_t thread, const Interval& wait, std::map<std::uint32_t, Nanos>* last) {
    const auto [before, is_first] = last->try_emplace(thread, run_.window.start);
    const Nanos apart = wait.end - before->second;
    before->second = wait.end;
    if (static_cast<double>(wait.Length()) >= real_ * static_cast<double>(apart))
      batches_[thread].push_back(wait);
  }

  // Of a step that hands over several batches, or one in several waits, no single one tells: they
  // fill a fair part of it together, or all of them are moments.
  void LeaveOutMoments() {
    const Steps& steps = run_.steps;
    if (!steps.known()) return;
    for (auto& [thread, waits] : batches_) {
      std::vector<Nanos> waited(steps.all.size(), 0);
      for (const Interval& wait : waits) {
        const std::uint32_t step = steps.At(wait.end);
        if (step != kNone) waited[step] += wait.Length();
      }
      std::erase_if(waits, [&](const Interval& wait) {
        const std::uint32_t step = steps.At(wait.end);
        return step != kNone && static_cast<double>(waited[step]) <
                                    real_ * static_cast<double>(steps.all[step].Length());
      });
    }
  }

  // Waits for data, and silent ones for requests, that a GPU was seen to be idle in.
  void FindSeen() {
    std::map<std::uint32_t, Nanos> last;
    for (const GapPiece piece : idle_.pieces) {
      const bool silent = piece.activity == Activity::kSilentWait;
      const bool waited = silent || piece.activity == Activity::kOsWait ||
                          piece.activity == Activity::kFileIo ||
                          piece.activity == Activity::kSleep ||
                          piece.activity == Activity::kNetwork || piece.activity == Activity::kLock;
      const std::uint32_t thread = idle_.ThreadOf(piece);
      const bool for_data = piece.cause == IdleCause::kDataLoading ||
                            (silent && piece.cause == IdleCause::kNoWorkQueued);  // a request
      if (!for_data || !waited || thread == kNone) continue;
      if (!silent && 2 * waits_of_[thread].OverlapWith(piece.start, piece.end) < piece.Length())
        continue;
      Add(thread, {piece.start, piece.end}, &last);
      if (piece.activity == Activity::kOsWait) places_.insert(PlaceOf(thread, piece));
    }
  }

  Place PlaceOf(std::uint32_t thread, const GapPiece& piece) const {
    const OsCallTable& os = run_.trace.os_calls;
    const auto first = os.start.begin() + run_.os_of_thread[thread].first;
    const auto last = os.start.begin() + run_.os_of_thread[thread].last;
    const auto after = std::lower_bound(first, last, piece.end);
    const std::uint32_t next = NextCall(run_, thread, piece.end - 1);
    if (after == first || next == kNone) return {kNone, StringId{}, StringId{}};
    const auto row = static_cast<std::size_t>(std::prev(after) - os.start.begin());
    return {thread, os.name[row], run_.trace.calls.name[next]};
  }

  // The same waits where no GPU was idle.
  void FindHidden() {
    const OsCallTable& os = run_.trace.os_calls;
    const CallTable& calls = run_.trace.calls;
    std::set<std::uint32_t> threads;
    for (const Place& place : places_) threads.insert(std::get<0>(place));
    if (threads.empty()) return;
    const Awaited awaited(run_);
    for (const std::uint32_t thread : threads) {
      if (thread == kNone) continue;
      std::map<std::uint32_t, Nanos> last;
      for (const std::uint32_t i : run_.os_of_thread[thread]) {
        if (!run_.InWindow(os.end[i]) || !IsWait(run_.names.Os(os.name[i]))) continue;
        const std::uint32_t next = NextCall(run_, thread, os.end[i] - 1);
        if (next == kNone || next == run_.calls_of_thread[thread].first ||
            !places_.contains({thread, os.name[i], calls.name[next]}))
          continue;
        const Interval pause{calls.end[next - 1], calls.start[next]};
        const Nanos waited = os.end[i] - std::max(os.start[i], pause.start);
        if (2 * waited >= pause.end - pause.start &&
            awaited.IsLoader(thread, os.end[i] - waited, os.end[i]))
          Add(thread, {os.end[i] - waited, os.end[i]}, &last);
      }
    }
  }

  // Where only ranges around waits for batches were recorded: their ends, if batches come at the
  // loader's pace. If it begins one only when it is asked for it, the waits are alike, and the
  // batches come as far apart as steps are long. Other ranges of data loading may hold code of the
  // thread itself: that takes as long as it takes, and ends no more evenly than it lasts.
  void FindInRanges() {
    for (const std::uint32_t thread : run_.launching_threads) {
      if (batches_.contains(thread)) continue;
      std::vector<Interval> waits =
          RangesOf(thread, [&](StringId name) { return IsOfWorkers(name); });
      if (!AtPaceOfLoader(waits, 1.0)) {
        // Where its calls in the OS were recorded, these show its waits.
        if (!run_.os_of_thread[thread].empty()) continue;
        waits = RangesOf(thread, [&](StringId name) {
          return run_.names.RangePhase(name) == Phase::kDataLoading && !IsOfWorkers(name);
        });
        if (HasCallsIn(thread, waits) || !AtPaceOfLoader(waits, far_more_even_)) continue;
      }
      std::map<std::uint32_t, Nanos> last;
      for (const Interval& wait : waits) Add(thread, wait, &last);
    }
  }

  template <typename Keep>
  std::vector<Interval> RangesOf(std::uint32_t thread, Keep keep) const {
    const RangeTable& ranges = run_.trace.ranges;
    std::vector<Interval> kept;
    for (const std::uint32_t i : run_.ranges_of_thread[thread]) {
      if (run_.InWindow(ranges.end[i]) && keep(ranges.name[i]))
        kept.push_back({ranges.start[i], ranges.end[i]});
    }
    return kept;
  }

  // Whether the thread calls CUDA in one of the ranges: what ends it may be the GPU.
  bool HasCallsIn(std::uint32_t thread, const std::vector<Interval>& waits) const {
    return std::any_of(waits.begin(), waits.end(), [&](const Interval& wait) {
      const std::uint32_t next = NextCall(run_, thread, wait.start);
      return next != kNone && run_.trace.calls.start[next] < wait.end;
    });
  }

  bool IsOfWorkers(StringId name) {
    const auto [known, is_new] = of_workers_.try_emplace(name, false);
    if (is_new)
      known->second = run_.knowledge.IsOfFamily(FamilyKind::kRange, "loader_of_workers",
                                                run_.trace.strings[name]);
    return known->second;
  }

  // Whether the batches come more evenly than the waits for them are long, by this factor: one by
  // one, or, where several workers load at once, in a rhythm that comes back after as many as there
  // are workers.
  bool AtPaceOfLoader(const std::vector<Interval>& waits, double factor) const {
    std::vector<Nanos> lengths;
    for (std::size_t i = 1; i < waits.size(); ++i) lengths.push_back(waits[i].Length());
    if (lengths.size() < 2) return false;
    const double uneven = factor * static_cast<double>(Spread(lengths));
    const std::size_t most =
        std::max<std::size_t>(1, std::min(most_workers_, lengths.size() / rounds_));
    for (std::size_t workers = 1; workers <= most; ++workers) {
      std::vector<Nanos> apart;
      for (std::size_t i = workers; i < waits.size(); ++i)
        apart.push_back(waits[i].end - waits[i - workers].end);
      if (static_cast<double>(Spread(std::move(apart))) < uneven) return true;
    }
    return false;
  }

  // Between the quartiles.
  static Nanos Spread(std::vector<Nanos> times) {
    std::sort(times.begin(), times.end());
    return times[3 * (times.size() - 1) / 4] - times[(times.size() - 1) / 4];
  }

  const Run& run_;
  const Idle& idle_;
  const std::vector<IntervalSet>& waits_of_;
  std::map<StringId, bool> of_workers_;
  double real_;
  double far_more_even_;
  std::size_t most_workers_;
  std::size_t rounds_;      // of all workers, that tell a rhythm
  std::set<Place> places_;  // of the waits that were seen
  std::map<std::uint32_t, std::vector<Interval>> batches_;
};

}  // namespace

std::map<std::uint32_t, std::vector<Interval>> BatchWaits(
    const Run& run, const Idle& idle, const std::vector<IntervalSet>& waits_of) {
  return BatchFinder(run, idle, waits_of).Find();
}

}  // namespace advise
