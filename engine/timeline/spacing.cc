#include "engine/timeline/spacing.h"

#include <algorithm>
#include <utility>

namespace advise {

std::vector<Nanos> UsualSpacing(const Run& run) {
  const Trace& trace = run.trace;
  const auto latency = run.knowledge.Time("idle.launch_latency");
  const double part = run.knowledge.Number("idle.spacing");
  std::vector<std::vector<Nanos>> distances(trace.devices.size());
  std::vector<std::uint32_t> last(trace.streams.size(), kNone);
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.stream[op] == kNone) continue;
    const std::uint32_t before = std::exchange(last[trace.ops.stream[op]], op);
    const std::uint32_t call = trace.ops.call[op];
    if (before == kNone || call == kNone || call == trace.ops.call[before]) continue;
    const Nanos distance = trace.ops.start[op] - trace.ops.end[before];
    const bool queued = trace.calls.end[call] <= trace.ops.end[before];
    if (queued && distance >= 0 && distance <= latency)
      distances[trace.ops.device[op]].push_back(distance);
  }
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
