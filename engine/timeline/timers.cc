#include "engine/timeline/timers.h"

#include <cmath>

#include "engine/base/median.h"

namespace advise {
namespace {

// Median distance from the median.
Nanos SpreadOf(std::vector<Nanos> values) {
  const Nanos middle = Median(values);
  for (Nanos& value : values) value = std::abs(value - middle);
  return Median(std::move(values));
}

}  // namespace

std::vector<std::vector<Interval>> WaitsUntilTicks(const Run& run,
                                                   const std::vector<PacedWaits>& sources) {
  const OsCallTable& os = run.trace.os_calls;
  const auto least = run.knowledge.CountOf("replay.timer.least");
  const double spread = run.knowledge.Number("replay.timer.spread");
  std::vector<std::vector<Interval>> ticks(run.trace.threads.size());
  for (const std::uint32_t thread : run.launching_threads) {
    std::vector<Interval> sleeps;
    for (const std::uint32_t row : run.os_of_thread[thread])
      if (run.names.Os(os.name[row]) == OsClass::kSleep && run.InWindow(os.end[row]))
        sleeps.push_back({os.start[row], os.end[row]});
    if (sleeps.size() < least) continue;
    std::vector<Nanos> lengths;
    std::vector<Nanos> apart;
    for (std::size_t i = 0; i < sleeps.size(); ++i) {
      lengths.push_back(sleeps[i].Length());
      if (i > 0) apart.push_back(sleeps[i].end - sleeps[i - 1].end);
    }
    if (static_cast<double>(SpreadOf(std::move(apart))) <=
        spread * static_cast<double>(SpreadOf(std::move(lengths))))
      ticks[thread] = std::move(sleeps);
  }
  for (const std::uint32_t thread : run.launching_threads)
    if (ticks[thread].empty())
      for (const Interval& wait : sources[thread].waits.intervals()) ticks[thread].push_back(wait);
  return ticks;
}

}  // namespace advise
