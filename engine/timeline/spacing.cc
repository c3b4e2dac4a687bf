#include "engine/timeline/spacing.h"

#include <algorithm>
#include <utility>

#include "engine/base/median.h"

namespace advise {

namespace {

// Calls `visit(op, call, before)` for each launched op behind another one in its stream; nodes of
// one graph do not count.
template <typename Visit>
void ForEachBehind(const Trace& trace, Visit visit) {
  std::vector<std::uint32_t> last(trace.streams.size(), kNone);
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.stream[op] == kNone) continue;
    const std::uint32_t before = std::exchange(last[trace.ops.stream[op]], op);
    const std::uint32_t call = trace.ops.call[op];
    if (before == kNone || call == kNone || call == trace.ops.call[before]) continue;
    visit(op, call, before);
  }
}

// From a call to its op, where the stream had nothing left to do.
Nanos LatencyOf(const Run& run) {
  const Trace& trace = run.trace;
  const auto longest = run.knowledge.Time("idle.longest_latency");
  std::vector<Nanos> latencies;
  ForEachBehind(trace, [&](std::uint32_t op, std::uint32_t call, std::uint32_t before) {
    const Nanos latency = trace.ops.start[op] - trace.calls.start[call];
    const bool idle = trace.calls.start[call] >= trace.ops.end[before];
    if (idle && latency >= 0 && latency <= longest) latencies.push_back(latency);
  });
  return latencies.empty() ? run.knowledge.Time("idle.launch_latency")
                           : Median(std::move(latencies));
}

}  // namespace

std::vector<Nanos> UsualSpacing(const Run& run) {
  const Trace& trace = run.trace;
  const auto near = run.knowledge.Time("idle.launch_latency");
  const double part = run.knowledge.Number("idle.spacing");
  const Nanos latency = LatencyOf(run);
  std::vector<std::vector<Nanos>> distances(trace.devices.size());
  ForEachBehind(trace, [&](std::uint32_t op, std::uint32_t call, std::uint32_t before) {
    const Nanos distance = trace.ops.start[op] - trace.ops.end[before];
    const bool queued = trace.calls.start[call] + latency <= trace.ops.end[before];
    if (queued && distance >= 0 && distance <= near)
      distances[trace.ops.device[op]].push_back(distance);
  });
  std::vector<Nanos> usual;
  for (std::vector<Nanos>& of_device : distances) {
    if (of_device.empty()) {
      usual.push_back(0);
      continue;
    }
    const auto at = of_device.begin() +
                    static_cast<std::ptrdiff_t>(part * static_cast<double>(of_device.size() - 1));
    std::nth_element(of_device.begin(), at, of_device.end());
    usual.push_back(*at);
  }
  return usual;
}

}  // namespace advise
