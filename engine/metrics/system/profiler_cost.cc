#include "engine/metrics/system/profiler_cost.h"

#include <algorithm>
#include <vector>

namespace advise {
namespace {

// When the events of each launching thread begin, in order of time.
std::vector<std::vector<Nanos>> StartsByThread(const Run& run) {
  std::vector<std::vector<Nanos>> starts(run.trace.threads.size());
  const auto add = [&](const auto& table) {
    for (std::size_t i = 0; i < table.start.size(); ++i) {
      const bool launching = std::binary_search(run.launching_threads.begin(),
                                                run.launching_threads.end(), table.thread[i]);
      if (launching && run.InWindow(table.start[i]))
        starts[table.thread[i]].push_back(table.start[i]);
    }
  };
  add(run.trace.operators);
  add(run.trace.calls);
  for (std::vector<Nanos>& list : starts) std::sort(list.begin(), list.end());
  return starts;
}

// What recording an event takes here.
Nanos CostOfEvent(const Run& run, const std::vector<std::vector<Nanos>>& starts) {
  const double most = run.knowledge.Number("capture.cost_per_event");
  std::vector<Nanos> spacing;
  for (const std::vector<Nanos>& list : starts) {
    for (std::size_t i = 1; i < list.size(); ++i) spacing.push_back(list[i] - list[i - 1]);
  }
  if (spacing.empty()) return 0;
  const auto at = spacing.begin() + static_cast<std::ptrdiff_t>(
                                        run.knowledge.Number("capture.short_spacing") *
                                        static_cast<double>(spacing.size() - 1));
  std::nth_element(spacing.begin(), at, spacing.end());
  const double by_spacing =
      run.knowledge.Number("capture.cost_by_spacing") * static_cast<double>(*at);
  return static_cast<Nanos>(std::min(most, by_spacing));
}

// One event after the other: an operator inside another begins long before the cost of the outer
// one is paid.
IntervalSet CostsBehind(const std::vector<Nanos>& starts, Nanos each) {
  IntervalSet costs;
  Nanos paid = 0;
  for (const Nanos start : starts) {
    const Nanos from = std::max(start, paid);
    paid = from + each;
    costs.Append(from, paid);
  }
  return costs;
}

}  // namespace

ProfilerCost CostOfProfiler(const Run& run) {
  ProfilerCost cost;
  if (!run.trace.producer.starts_with("PyTorch")) return cost;
  const std::vector<std::vector<Nanos>> starts = StartsByThread(run);
  const Nanos each = CostOfEvent(run, starts);
  for (std::uint32_t thread = 0; thread < starts.size(); ++thread) {
    if (starts[thread].empty() || each == 0) continue;
    cost.events += starts[thread].size();
    cost.gone.host_cuts.push_back({thread, CostsBehind(starts[thread], each)});
  }
  cost.time_ns = static_cast<double>(cost.events) * static_cast<double>(each);
  return cost;
}

}  // namespace advise
