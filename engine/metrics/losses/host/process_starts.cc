#include "engine/metrics/losses/host/process_starts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace advise {
namespace {

// What one process does on a device.
struct Stay {
  Interval when;
  StringId kernel = 0;  // its first one
  bool computes = false;
};

// Those with a kernel, by when they begin.
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

}  // namespace

ProcessStarts FindProcessStarts(const Basis& basis) {
  ProcessStarts found;
  const Run& run = basis.run;
  found.lost.resize(run.trace.devices.size());
  for (const std::uint32_t d : run.active_devices) {
    const std::vector<Stay> stays = StaysOn(run, d);
    std::vector<Interval> lost;
    std::size_t follow = 0;
    for (std::size_t i = 1; i < stays.size(); ++i) {
      const Interval between{stays[i - 1].when.end, stays[i].when.start};
      if (stays[i].kernel != stays[i - 1].kernel || between.end <= between.start) continue;
      const IntervalSet idle = basis.times[d].idle.Clip(between.start, between.end);
      lost.insert(lost.end(), idle.intervals().begin(), idle.intervals().end());
      ++follow;
    }
    if (follow == 0) continue;
    found.lost[d] = IntervalSet::Of(std::move(lost));
    found.processes = std::max(found.processes, follow + 1);
  }
  return found;
}

}  // namespace advise
