#include "engine/timeline/restarts.h"

#include <algorithm>
#include <map>

namespace advise {

std::vector<Stay> StaysOn(const Run& run, std::uint32_t device) {
  const Trace& trace = run.trace;
  std::map<std::uint32_t, Stay> of_process;
  for (const std::uint32_t op : run.ops_of_device[device]) {
    const std::uint32_t stream = trace.ops.stream[op];
    if (stream == kNone || trace.streams[stream].process == kNone) continue;
    const auto [at, is_new] = of_process.try_emplace(trace.streams[stream].process);
    Stay& stay = at->second;
    if (is_new) stay.when.start = trace.ops.start[op];
    stay.when.end = std::max(stay.when.end, trace.ops.end[op]);
    if (stay.computes || trace.ops.kind[op] != OpKind::kKernel) continue;
    stay.computes = true;
    stay.kernel = trace.shapes[trace.ops.detail[op]].name;
  }
  std::vector<Stay> stays;
  for (const auto& [process, stay] : of_process)
    if (stay.computes) stays.push_back(stay);
  std::sort(stays.begin(), stays.end(),
            [](const Stay& a, const Stay& b) { return a.when.start < b.when.start; });
  return stays;
}

bool Follows(const Stay& before, const Stay& next) {
  return next.kernel == before.kernel && next.when.start > before.when.end;
}

bool StartsAgainAndAgain(const Run& run) {
  const auto least = run.knowledge.CountOf("window.restarts");
  if (run.trace.processes.size() < least) return false;
  const double least_share = run.knowledge.Number("window.restart_share");
  for (std::uint32_t d = 0; d < run.ops_of_device.size(); ++d) {
    const std::vector<Stay> stays = StaysOn(run, d);
    Nanos between = 0;
    std::size_t processes = 1;
    for (std::size_t i = 1; i < stays.size(); ++i) {
      if (!Follows(stays[i - 1], stays[i])) continue;
      between += stays[i].when.start - stays[i - 1].when.end;
      ++processes;
    }
    if (processes < least) continue;
    const Nanos all = stays.back().when.end - stays.front().when.start;
    if (static_cast<double>(between) >= least_share * static_cast<double>(all)) return true;
  }
  return false;
}

}  // namespace advise
