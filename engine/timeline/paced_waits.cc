#include "engine/timeline/paced_waits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/base/median.h"
#include "engine/base/units.h"
#include "engine/timeline/pause.h"

namespace advise {
namespace {

// What may wait for a source outside the program; a lock never does.
bool MayAwaitSource(OsClass os) {
  return os == OsClass::kWait || os == OsClass::kFileIo || os == OsClass::kNetwork ||
         os == OsClass::kDevice;
}

// How far a list of times lies from the grid that fits best, and what their distances vary by, both
// as root mean squares.
struct GridFit {
  double off = 0;
  double distances = 0;
};

class SourceFinder {
 public:
  SourceFinder(const Run& run, const HandOvers& hand_overs)
      : run_(run),
        hand_overs_(hand_overs),
        least_(run.knowledge.CountOf("source.least")),
        least_wait_(run.knowledge.Time("source.least_wait")),
        jitter_(run.knowledge.Number("source.jitter")),
        drift_(run.knowledge.Number("source.drift")),
        near_(run.knowledge.Number("source.near")),
        share_(run.knowledge.Number("source.share")) {}

  PacedWaits Of(std::uint32_t thread) const {
    PacedWaits found = TimerOf(thread);
    if (found.period > 0) return found;
    const OsCallTable& os = run_.trace.os_calls;
    WaitsByName by_function;
    for (const std::uint32_t row : run_.os_of_thread[thread]) {
      const bool counts = MayAwaitSource(run_.names.Os(os.name[row])) &&
                          os.end[row] - os.start[row] >= least_wait_ &&
                          run_.InWindow(os.end[row]) && !IsLetGo(thread, os.end[row]);
      if (counts) by_function[os.name[row]].push_back({os.start[row], os.end[row]});
    }
    found = LongestOf(std::move(by_function), true);
    if (found.period > 0) return found;
    found = LongestOf(PausesOf(thread), false);
    found.silent = true;
    return found;
  }

 private:
  using WaitsByName = std::map<StringId, std::vector<Interval>>;

  // Another launching thread ended the wait: what that one waited for comes as evenly.
  bool IsLetGo(std::uint32_t thread, Nanos end) const {
    return hand_overs_.AwaitedAt(thread, end - 1) != kNone;
  }

  PacedWaits LongestOf(WaitsByName all, bool may_leave_out) const {
    PacedWaits found;
    for (auto& [name, waits] : all) {
      const Nanos period = PeriodOf(waits, may_leave_out);
      if (period == 0) continue;
      IntervalSet set = IntervalSet::Of(std::move(waits));
      if (set.Total() > found.waits.Total()) found = {std::move(set), period, false};
    }
    return found;
  }

  // A timer: the thread sleeps once between two launches, for what its work leaves of a period. So
  // the sleeps end more evenly than they are long. Pauses of fixed length behind uneven work are
  // the opposite.
  PacedWaits TimerOf(std::uint32_t thread) const {
    const Knowledge& knowledge = run_.knowledge;
    std::vector<Interval> sleeps = SleepsOf(thread);
    if (sleeps.size() < knowledge.CountOf("source.timer.least")) return {};
    std::vector<Nanos> lengths;
    std::vector<Nanos> apart;
    Nanos slept = 0;
    for (std::size_t i = 0; i < sleeps.size(); ++i) {
      slept += sleeps[i].Length();
      lengths.push_back(sleeps[i].Length());
      if (i > 0) apart.push_back(sleeps[i].end - sleeps[i - 1].end);
    }
    const auto period = static_cast<double>(Median(apart));
    const auto uneven = static_cast<double>(SpreadOf(std::move(apart)));
    const auto varied = static_cast<double>(SpreadOf(std::move(lengths)));
    const bool fills_up = uneven <= knowledge.Number("source.timer.spread") * varied;
    // Work that hardly varies leaves sleeps that hardly do: then the rate must be one that is set.
    const bool keeps_rate =
        uneven <= knowledge.Number("source.timer.rate_spread") * varied &&
        uneven <= knowledge.Number("source.timer.jitter") * period &&
        static_cast<double>(slept) >= share_ * period * static_cast<double>(sleeps.size()) &&
        IsRate(period);
    if (varied == 0 || (!fills_up && !keeps_rate)) return {};
    return {IntervalSet::Of(std::move(sleeps)), std::llround(period), false};
  }

  // Empty for a thread that polls: it sleeps again and again before it makes the next call.
  std::vector<Interval> SleepsOf(std::uint32_t thread) const {
    const OsCallTable& os = run_.trace.os_calls;
    std::vector<Interval> sleeps;
    std::size_t pauses = 0;
    std::uint32_t next_call = kNone;
    for (const std::uint32_t row : run_.os_of_thread[thread]) {
      if (run_.names.Os(os.name[row]) != OsClass::kSleep || !run_.InWindow(os.end[row])) continue;
      const std::uint32_t next = NextCall(run_, thread, os.start[row]);
      pauses += sleeps.empty() || next != next_call ? 1 : 0;
      next_call = next;
      sleeps.push_back({os.start[row], os.end[row]});
    }
    const double most = run_.knowledge.Number("source.timer.most_sleeps");
    if (static_cast<double>(sleeps.size()) > most * static_cast<double>(pauses)) sleeps.clear();
    return sleeps;
  }

  // Median distance from the median.
  static Nanos SpreadOf(std::vector<Nanos> values) {
    const Nanos middle = Median(values);
    for (Nanos& value : values) value = std::abs(value - middle);
    return Median(std::move(values));
  }

  // Pauses between calls, by the name of the call that ends them: a thread may look at the clock
  // again and again until it is time, or wait where no waits were recorded.
  WaitsByName PausesOf(std::uint32_t thread) const {
    const CallTable& calls = run_.trace.calls;
    WaitsByName pauses;
    Nanos until = 0;
    for (const std::uint32_t c : run_.calls_of_thread[thread]) {
      const bool counts = until > 0 && calls.start[c] - until >= least_wait_ &&
                          run_.InWindow(calls.start[c]) && !IsLetGo(thread, calls.start[c]);
      if (counts) pauses[calls.name[c]].push_back({until, calls.start[c]});
      until = std::max(until, calls.end[c]);
    }
    return pauses;
  }

  // 0 where the waits do not end with a clock. A source may leave out a piece: the next one then
  // ends two periods later, still on the grid. So does work that takes twice as long by chance,
  // which is the likelier where no call shows a wait.
  Nanos PeriodOf(const std::vector<Interval>& waits, bool may_leave_out) const {
    if (waits.size() < least_) return 0;
    std::vector<Nanos> apart;
    Nanos waited = 0;
    for (std::size_t i = 1; i < waits.size(); ++i) {
      apart.push_back(waits[i].end - waits[i - 1].end);
      waited += waits[i].Length();
    }
    const auto period = static_cast<double>(Median(std::move(apart)));
    if (static_cast<double>(waited) < share_ * period * static_cast<double>(waits.size()) ||
        !IsRate(period))
      return 0;
    std::vector<double> places;
    double place = 0;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (i > 0) {
        const double periods =
            std::round(static_cast<double>(waits[i].end - waits[i - 1].end) / period);
        if (periods < 1) return 0;  // two waits for one piece
        if (periods > 1 && !may_leave_out) return 0;
        place += periods;
      }
      places.push_back(place);
    }
    const GridFit fit = Fit(waits, places, period);
    // Errors that add up, as a random walk, lie off the best straight line by the root of n / 15 of
    // one of them (see source.least).
    const double walk = fit.distances * std::sqrt(static_cast<double>(waits.size()) / 15);
    if (fit.off > jitter_ * period || fit.off > std::max(drift_ * walk, kRounding)) return 0;
    return std::llround(period);
  }

  // People set rates of so many times per second.
  bool IsRate(double period) const {
    const double rate = kNanosPerSecond / period;
    for (const double unit : kRateUnits) {
      const double multiple = std::round(rate / unit);
      if (multiple >= 1 && std::abs(rate / unit - multiple) <= near_) return true;
    }
    return false;
  }

  static GridFit Fit(const std::vector<Interval>& waits, const std::vector<double>& places,
                     double period) {
    const auto count = static_cast<double>(waits.size());
    const auto time = [&](std::size_t i) {
      return static_cast<double>(waits[i].end - waits[0].end) - places[i] * period;
    };
    double mean_place = 0;
    double mean_time = 0;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      mean_place += places[i] / count;
      mean_time += time(i) / count;
    }
    double both = 0;
    double squares = 0;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      both += (places[i] - mean_place) * (time(i) - mean_time);
      squares += (places[i] - mean_place) * (places[i] - mean_place);
    }
    GridFit fit;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const double off = time(i) - mean_time - both / squares * (places[i] - mean_place);
      fit.off += off * off / count;
      const double more = i == 0 ? 0 : time(i) - time(i - 1);
      fit.distances += more * more / count;
    }
    return {std::sqrt(fit.off), std::sqrt(fit.distances)};
  }

  // Hz, whose multiples people choose: 10, 25, 30, 50, 60, 100 …; and 24, 48, 72 of films.
  static constexpr double kRateUnits[] = {5, 12};
  static constexpr double kRounding = 1'000;  // ns: times of a capture are no finer than that

  const Run& run_;
  const HandOvers& hand_overs_;
  std::size_t least_;
  Nanos least_wait_;
  double jitter_, drift_, near_, share_;
};

}  // namespace

std::vector<PacedWaits> WaitsForSources(const Run& run, const HandOvers& hand_overs) {
  std::vector<PacedWaits> sources(run.trace.threads.size());
  const SourceFinder finder(run, hand_overs);
  for (const std::uint32_t thread : run.launching_threads) sources[thread] = finder.Of(thread);
  return sources;
}

}  // namespace advise
