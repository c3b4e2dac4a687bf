#include "engine/timeline/awaited.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "engine/base/median.h"
#include "engine/timeline/handed_memory.h"
#include "engine/timeline/rests.h"

namespace advise {
namespace {

// What a thread does between two reads is work on what it has read, where that takes no longer than
// they do; a longer pause may be a rest that was not recorded.
bool IsWorkBetween(const Interval& read, const Interval& next) {
  return next.start - read.end <= std::max(read.Length(), next.Length());
}

bool Says(const Run& run, const char* kind) {
  const auto says = [&](const char* in, StringId name) {
    for (const std::size_t i : run.knowledge.RunSignsOf(in, run.trace.strings[name])) {
      const RunSign& sign = run.knowledge.run_signs()[i];
      if (sign.about == RunSign::About::kKind && sign.rule.value == kind) return true;
    }
    return false;
  };
  std::unordered_set<StringId> seen;
  const auto any = [&](const char* in, const auto& rows, auto name_of) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return seen.insert(name_of(row)).second && says(in, name_of(row));
    });
  };
  if (any("kernel", run.trace.shapes, [](const KernelShape& shape) { return shape.name; }))
    return true;
  seen.clear();
  return any("range", run.trace.ranges.name, [](StringId name) { return name; });
}

}  // namespace

bool SaysTraining(const Run& run) { return Says(run, "training"); }

bool SaysServing(const Run& run) { return Says(run, "serving"); }

Awaited::Awaited(const Run& run)
    : run_(run),
      awaited_share_(run.knowledge.Number("input.awaited_share")),
      silent_share_(run.knowledge.Number("input.silent_share")),
      behind_share_(run.knowledge.Number("replay.hand_over.behind_share")),
      busy_share_(run.knowledge.Number("input.never_rests")),
      silent_least_(run.knowledge.Time("replay.hand_over.pause")) {
  FindCodeLoaders();
  FindHandedMemory();
  FindLoading();
  FindRequests();
  FindAnswers();
  FindInput();
  FindHandOvers();
  FindWaitsBeforeUploads();
}

void Awaited::SortByEnd(std::vector<std::vector<Interval>>* lists) {
  for (auto& list : *lists) {
    std::sort(list.begin(), list.end(),
              [](const Interval& a, const Interval& b) { return a.end < b.end; });
  }
}

// Who compiles for a thread that launches what was compiled, as JAX's main thread does.
void Awaited::FindCodeLoaders() {
  for (std::uint32_t t = 0; t < run_.trace.threads.size(); ++t) {
    if (std::binary_search(run_.launching_threads.begin(), run_.launching_threads.end(), t))
      continue;
    for (const std::uint32_t c : run_.calls_of_thread[t]) {
      if (!run_.InWindow(run_.trace.calls.start[c]) || !IsCodeLoading(run_.ClassOfCall(c)))
        continue;
      code_loaders_.push_back(t);
      break;
    }
  }
}

void Awaited::FindHandedMemory() {
  handed_ = HandedMemory(run_);
  handed_to_others_.resize(run_.trace.processes.size());
  for (std::uint32_t t = 0; t < handed_.size(); ++t) {
    const std::uint32_t process = run_.trace.threads[t].process;
    const bool launches =
        std::binary_search(run_.launching_threads.begin(), run_.launching_threads.end(), t);
    if (launches || process == kNone) continue;
    std::vector<Interval>& list = handed_to_others_[process];
    list.insert(list.end(), handed_[t].begin(), handed_[t].end());
  }
  SortByEnd(&handed_to_others_);
}

void Awaited::FindLoading() {
  const Trace& trace = run_.trace;
  std::vector<std::vector<Interval>> loading(trace.processes.size());
  std::vector<std::vector<Interval>> decoding(trace.processes.size());
  std::vector<Interval> at_work;
  std::vector<Interval> worker_calls;
  bool any_rests = false;
  Nanos seen = 0;  // of workers, until their last calls: behind these nobody knows
  Nanos most = 0;  // if all were seen in all of the window
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    const Role role = run_.names.ThreadRole(t);
    const bool worker = role == Role::kLoaderWorker;
    has_workers_ |= worker;
    compiler_seen_ |= role == Role::kCompiler;
    const bool feeds = run_.loads[t] != 0;
    const bool launches = !feeds && std::binary_search(run_.launching_threads.begin(),
                                                       run_.launching_threads.end(), t);
    const std::uint32_t process = trace.threads[t].process;
    if (launches || process == kNone) continue;
    Interval before;  // the last read, if no recorded wait came since
    for (const std::uint32_t i : run_.os_of_thread[t]) {
      const OsClass os = run_.names.Os(trace.os_calls.name[i]);
      const bool receives = os == OsClass::kNetwork && role != Role::kCommunication;
      const Interval call{trace.os_calls.start[i], trace.os_calls.end[i]};
      if (os == OsClass::kFileIo || receives) {
        loading[process].push_back(call);
        if (before.Length() > 0 && IsWorkBetween(before, call))
          decoding[process].push_back({before.end, call.start});
        before = call;
      } else if (IsWait(os)) {
        before = {};
      }
    }
    const Rests rests = worker || feeds ? RestsOf(run_, t) : Rests{};
    if (feeds && rests.Recorded()) {
      const IntervalSet works = rests.AtWork(rests.last);
      loading[process].insert(loading[process].end(), works.intervals().begin(),
                              works.intervals().end());
    }
    if (worker && rests.Recorded()) {
      workers_recorded_ = true;
      const Pace pace = PaceOf(t);
      any_rests |= static_cast<double>(pace.busy) <
                   busy_share_ * static_cast<double>(std::max<Nanos>(1, pace.until_last));
      seen += pace.until_last;
      most += run_.window.Length();
      workers_wait_ |= !rests.waits.empty();
      for (const std::uint32_t i : run_.os_of_thread[t])
        worker_calls.push_back({trace.os_calls.start[i], trace.os_calls.end[i]});
      // Behind its last call it computes, as far as anybody knows.
      const IntervalSet works = rests.AtWork(std::max(rests.last, run_.window.end));
      at_work.insert(at_work.end(), works.intervals().begin(), works.intervals().end());
    }
    for (const std::uint32_t i : run_.ranges_of_thread[t]) {
      if (run_.names.RangePhase(trace.ranges.name[i]) == Phase::kDataLoading) {
        loading[process].push_back({trace.ranges.start[i], trace.ranges.end[i]});
      }
    }
  }
  workers_never_rest_ = most > 0 && !any_rests && 2 * seen >= most;
  workers_at_work_ = IntervalSet::Of(std::move(at_work));
  worker_calls_ = IntervalSet::Of(std::move(worker_calls));
  for (std::size_t p = 0; p < loading.size(); ++p) {
    std::vector<Interval> works = std::move(decoding[p]);
    works.insert(works.end(), loading[p].begin(), loading[p].end());
    loading_.push_back(IntervalSet::Of(std::move(loading[p])));
    const Nanos busy =
        IntervalSet::Of(std::move(works)).OverlapWith(run_.window.start, run_.window.end);
    never_rests_.push_back(static_cast<double>(busy) >=
                                       busy_share_ * static_cast<double>(run_.window.Length()) &&
                                   busy > 0
                               ? 1
                               : 0);
  }
}

// What a worker reads, and works on between two reads.
Awaited::Pace Awaited::PaceOf(std::uint32_t worker) const {
  const OsCallTable& os = run_.trace.os_calls;
  const Window& window = run_.window;
  const auto inside = [&](Nanos start, Nanos end) {
    return std::max<Nanos>(0, std::min(end, window.end) - std::max(start, window.start));
  };
  Pace pace;
  Interval before;
  for (const std::uint32_t i : run_.os_of_thread[worker]) {
    const Interval call{os.start[i], os.end[i]};
    if (run_.names.Os(os.name[i]) != OsClass::kFileIo) {
      before = {};
      continue;
    }
    if (before.Length() > 0 && IsWorkBetween(before, call))
      pace.busy += inside(before.end, call.start);
    pace.busy += inside(call.start, call.end);
    pace.until_last = std::max(pace.until_last, inside(window.start, call.end));
    before = call;
  }
  return pace;
}

bool Awaited::EndsBehind(const std::vector<Interval>& list, Nanos start, Nanos end) const {
  const auto next = std::upper_bound(list.begin(), list.end(), end,
                                     [](Nanos t, const Interval& i) { return t < i.end; });
  if (next == list.begin()) return false;
  const Interval& last = *std::prev(next);
  const auto length = static_cast<double>(end - start);
  const auto meanwhile = static_cast<double>(last.end - std::max(last.start, start));
  return static_cast<double>(end - last.end) <= behind_share_ * length && 2 * meanwhile >= length;
}

// Loading began in the stretch, and ended just before it did.
bool Awaited::AsksAndGets(std::uint32_t process, Nanos start, Nanos end) const {
  const IntervalList& loads = loading_[process].intervals();
  const auto next =
      std::lower_bound(loads.begin(), loads.end(), end,
                       [](const Interval& load, Nanos time) { return load.end <= time; });
  if (next != loads.end() && next->start < end) return false;  // still loading
  if (next == loads.begin()) return false;
  const Nanos behind = end - std::prev(next)->end;
  return static_cast<double>(behind) <= behind_share_ * static_cast<double>(end - start);
}

void Awaited::FindHandOvers() {
  const CallTable& calls = run_.trace.calls;
  hands_over_.assign(run_.trace.threads.size(), 0);
  const auto least = run_.knowledge.CountOf("replay.hand_over.least");
  const double usual = run_.knowledge.Number("replay.hand_over.usual");
  for (const std::uint32_t thread : run_.launching_threads) {
    const std::uint32_t process = run_.trace.threads[thread].process;
    if (process == kNone || loading_[process].empty()) continue;
    std::size_t pauses = 0;
    std::size_t handed = 0;
    Nanos since = run_.window.start;
    for (const std::uint32_t c : run_.calls_of_thread[thread]) {
      const Nanos until = calls.start[c];
      if (run_.InWindow(until) && until - since >= silent_least_ &&
          MostlyLoading(process, since, until)) {
        ++pauses;
        handed += AsksAndGets(process, since, until) ? 1 : 0;
      }
      since = std::max(since, calls.end[c]);
    }
    const bool pattern =
        handed >= least && static_cast<double>(handed) >= usual * static_cast<double>(pauses);
    hands_over_[thread] = pattern ? 1 : 0;
  }
}

bool Awaited::MostlyLoading(std::uint32_t process, Nanos start, Nanos end) const {
  return static_cast<double>(loading_[process].OverlapWith(start, end)) >=
         silent_share_ * static_cast<double>(end - start);
}

void Awaited::FindWaitsBeforeUploads() {
  const Trace& trace = run_.trace;
  before_uploads_.resize(trace.threads.size());
  if (workers_recorded_ || !SaysTraining(run_)) return;
  const auto value = run_.knowledge.BytesOf("copy.tiny_bytes");
  const auto least = run_.knowledge.CountOf("replay.hand_over.least");
  const double usual = run_.knowledge.Number("replay.hand_over.usual");
  const auto talk = run_.knowledge.CountOf("input.waits_of_talk");
  for (const std::uint32_t t : run_.launching_threads) {
    if (!run_.mpi_of_thread[t].empty()) continue;
    std::vector<Interval> before_upload;
    Nanos time = 0;
    Nanos all = 0;
    Nanos dialogue = 0;
    struct {
      std::uint32_t before = kNone;  // the call that launches next
      std::set<StringId> functions;
      std::size_t waits = 0;
    } series;
    std::uint32_t next = run_.calls_of_thread[t].first;
    for (const std::uint32_t i : run_.os_of_thread[t]) {
      const Interval wait{trace.os_calls.start[i], trace.os_calls.end[i]};
      if (run_.names.Os(trace.os_calls.name[i]) != OsClass::kWait) continue;
      if (wait.Length() < silent_least_ || !run_.InWindow(wait.start)) continue;
      while (next < run_.calls_of_thread[t].last &&
             (trace.calls.start[next] < wait.end || run_.first_op_of_call[next] == kNone))
        ++next;
      if (next == run_.calls_of_thread[t].last) break;
      all += wait.Length();
      if (series.before != next) series = {next, {}, 0};
      series.functions.insert(trace.os_calls.name[i]);
      ++series.waits;
      const std::uint32_t op = run_.first_op_of_call[next];
      if (trace.ops.kind[op] != OpKind::kCopy) continue;
      const std::uint32_t copy = trace.ops.detail[op];
      if (trace.copies.direction[copy] != CopyDirection::kHostToDevice) continue;
      if (trace.copies.bytes[copy] <= value) continue;
      // A queue is waited for by one call. Who waits by turns, in several, talks with somebody.
      if (series.waits >= talk && series.functions.size() > 1) {
        dialogue += wait.Length();
        continue;
      }
      before_upload.push_back(wait);
      time += wait.Length();
    }
    if (before_upload.size() >= least && dialogue < time &&
        static_cast<double>(time) >= usual * static_cast<double>(all))
      before_uploads_[t] = IntervalSet::Of(std::move(before_upload));
  }
}

bool Awaited::IsLoader(std::uint32_t thread, Nanos start, Nanos end) const {
  const std::uint32_t process = run_.trace.threads[thread].process;
  const bool only_values = run_.feeds[thread] != 0 && run_.loads[thread] == 0;
  if (only_values) return false;  // it waits for who hands it the next one
  if (process == kNone || OtherCallerActive(thread, process, start, end)) return false;
  if (EndsBehind(handed_to_others_[process], start, end)) return true;
  const std::vector<Interval>& own = handed_[thread];
  const auto own_next = std::upper_bound(own.begin(), own.end(), start,
                                         [](Nanos t, const Interval& i) { return t < i.start; });
  if (own_next != own.begin() && std::prev(own_next)->end >= end) return true;
  const double enough = awaited_share_ * static_cast<double>(end - start);
  if (has_workers_ && (!workers_recorded_ ||
                       static_cast<double>(workers_at_work_.OverlapWith(start, end)) >= enough)) {
    return true;
  }
  if (static_cast<double>(before_uploads_[thread].OverlapWith(start, end)) >= enough) return true;
  return static_cast<double>(loading_[process].OverlapWith(start, end)) >= enough;
}

std::vector<Interval> Awaited::RestsOfLoaders(std::uint32_t thread) const {
  const std::uint32_t process = run_.trace.threads[thread].process;
  if (process == kNone) return {};
  // Where no wait of a worker was recorded, all of them pause, and go on when the thread asks.
  const bool silent = workers_recorded_ && !workers_wait_;
  const IntervalSet& of_workers = silent ? worker_calls_ : workers_at_work_;
  const IntervalList& all = (workers_recorded_ ? of_workers : loading_[process]).intervals();
  std::vector<Nanos> pauses;
  for (std::size_t i = 1; i < all.size(); ++i) pauses.push_back(all[i].start - all[i - 1].end);
  if (pauses.empty()) return {};
  const double rest =
      run_.knowledge.Number("replay.loader_rest") * static_cast<double>(Median(pauses));
  std::vector<Interval> rests;
  for (std::size_t i = 0; i < pauses.size(); ++i) {
    if (static_cast<double>(pauses[i]) > rest) rests.push_back({all[i].end, all[i + 1].start});
  }
  if (!silent) return rests;
  const auto asked = std::count_if(rests.begin(), rests.end(), [&](const Interval& pause) {
    return BeginsToWait(thread, pause.end);
  });
  const double usual = run_.knowledge.Number("input.asked_share");
  if (static_cast<double>(asked) < usual * static_cast<double>(rests.size())) rests.clear();
  return rests;
}

bool Awaited::BeginsToWait(std::uint32_t thread, Nanos time) const {
  const OsCallTable& os = run_.trace.os_calls;
  const RowRange rows = run_.os_of_thread[thread];
  const auto first = os.start.begin() + rows.first;
  const auto next = std::upper_bound(first, os.start.begin() + rows.last, time);
  if (next == first) return false;
  const auto row = static_cast<std::size_t>(std::prev(next) - os.start.begin());
  const auto length = static_cast<double>(os.end[row] - os.start[row]);
  return IsWait(run_.names.Os(os.name[row])) &&
         static_cast<double>(time - os.start[row]) <= behind_share_ * length;
}

bool Awaited::IsSilentLoader(std::uint32_t thread, Nanos start, Nanos end) const {
  const std::uint32_t process = run_.trace.threads[thread].process;
  if (process == kNone || end - start < silent_least_) return false;
  if (workers_never_rest_ && !ShowsWaits(thread) && !OtherCallerActive(thread, process, start, end))
    return true;
  if (loading_[process].empty()) return false;
  if (hands_over_[thread] == 0 && (never_rests_[process] == 0 || ShowsWaits(thread))) return false;
  return MostlyLoading(process, start, end) && !OtherCallerActive(thread, process, start, end);
}

// A thread whose waits are recorded does not wait without a trace as well.
bool Awaited::ShowsWaits(std::uint32_t thread) const {
  const RowRange rows = run_.os_of_thread[thread];
  const OsCallTable& os = run_.trace.os_calls;
  const auto least = static_cast<std::ptrdiff_t>(run_.knowledge.Number("replay.hand_over.least"));
  std::ptrdiff_t shown = 0;
  for (std::uint32_t i = rows.first; i < rows.last && shown < least; ++i) {
    if (run_.InWindow(os.start[i]) && os.end[i] - os.start[i] >= silent_least_ &&
        run_.names.Os(os.name[i]) == OsClass::kWait)
      ++shown;
  }
  return shown >= least;
}

bool Awaited::OtherCallerActive(std::uint32_t thread, std::uint32_t process, Nanos start,
                                Nanos end) const {
  const CallTable& calls = run_.trace.calls;
  const auto next_of = [&](std::uint32_t other) {
    const RowRange rows = run_.calls_of_thread[other];
    const auto first = calls.start.begin() + rows.first;
    const auto last = calls.start.begin() + rows.last;
    const auto next = std::lower_bound(first, last, start);
    return next == last || *next >= end ? kNone
                                        : static_cast<std::uint32_t>(next - calls.start.begin());
  };
  for (const std::uint32_t other : run_.launching_threads) {
    if (other == thread || run_.trace.threads[other].process != process) continue;
    if (run_.feeds[other] == 0 && next_of(other) != kNone) return true;
  }
  for (const std::uint32_t other : code_loaders_) {
    if (run_.trace.threads[other].process != process) continue;
    for (std::uint32_t c = next_of(other);
         c != kNone && c < run_.calls_of_thread[other].last && calls.start[c] < end; ++c) {
      if (IsCodeLoading(run_.ClassOfCall(c))) return true;
    }
  }
  return false;
}

}  // namespace advise
