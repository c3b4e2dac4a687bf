#include "engine/metrics/system/profiler_cost.h"

#include <algorithm>
#include <utility>
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
  const auto at =
      spacing.begin() + static_cast<std::ptrdiff_t>(run.knowledge.Number("capture.short_spacing") *
                                                    static_cast<double>(spacing.size() - 1));
  std::nth_element(spacing.begin(), at, spacing.end());
  const double by_spacing =
      run.knowledge.Number("capture.cost_by_spacing") * static_cast<double>(*at);
  return static_cast<Nanos>(std::min(most, by_spacing));
}

// What is due is paid from the time until the next event, and never takes more than `most` of it:
// an operator inside another begins long before the cost of the outer one is paid.
IntervalSet CostsBehind(const std::vector<Nanos>& starts, Nanos each, double most, Nanos end) {
  IntervalSet costs;
  Nanos due = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    due += each;
    const Nanos next = i + 1 < starts.size() ? starts[i + 1] : end;
    const Nanos paid =
        std::min(due, static_cast<Nanos>(most * static_cast<double>(next - starts[i])));
    if (paid > 0) costs.Append(starts[i], starts[i] + paid);
    due -= std::max<Nanos>(paid, 0);
  }
  return costs;
}

}  // namespace

ProfilerCost CostOfProfiler(const Run& run) {
  ProfilerCost cost;
  if (!run.trace.producer.starts_with("PyTorch")) return cost;
  const std::vector<std::vector<Nanos>> starts = StartsByThread(run);
  const Nanos each = CostOfEvent(run, starts);
  const double most = run.knowledge.Number("capture.cost_at_most");
  for (std::uint32_t thread = 0; thread < starts.size(); ++thread) {
    if (starts[thread].empty() || each == 0) continue;
    cost.events += starts[thread].size();
    IntervalSet costs = CostsBehind(starts[thread], each, most, run.window.end);
    cost.time_ns += static_cast<double>(costs.Total());
    cost.gone.host_cuts.push_back({thread, std::move(costs)});
  }
  return cost;
}

}  // namespace advise
