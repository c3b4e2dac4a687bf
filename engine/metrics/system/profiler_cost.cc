#include "engine/metrics/system/profiler_cost.h"

#include <algorithm>

namespace advise {

ProfilerCost CostOfProfiler(const Run& run) {
  ProfilerCost cost;
  if (!run.trace.producer.starts_with("PyTorch")) return cost;
  const auto add = [&](const auto& table) {
    for (std::size_t i = 0; i < table.start.size(); ++i) {
      const bool launching = std::binary_search(run.launching_threads.begin(),
                                                run.launching_threads.end(), table.thread[i]);
      cost.events += launching && run.InWindow(table.start[i]) ? 1 : 0;
    }
  };
  add(run.trace.operators);
  add(run.trace.calls);
  cost.time_ns = static_cast<double>(cost.events) * run.knowledge.Number("capture.cost_per_event");
  return cost;
}

}  // namespace advise
