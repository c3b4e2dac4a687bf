#include "engine/timeline/late_uploads.h"

#include <algorithm>

namespace advise {

std::vector<LateUpload> FindLateUploads(const Run& run, const std::vector<std::uint32_t>& blocks) {
  const Trace& trace = run.trace;
  const auto latency = static_cast<Nanos>(run.knowledge.Number("idle.launch_latency"));
  std::vector<LateUpload> late;
  std::vector<std::uint8_t> computes;                      // by stream; empty: not yet asked for
  std::vector<Nanos> late_until(trace.streams.size(), 0);  // by stream: the end of late ones
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t call = trace.ops.call[op];
    const std::uint32_t stream = trace.ops.stream[op];
    if (trace.ops.kind[op] != OpKind::kCopy || call == kNone || stream == kNone) continue;
    const std::uint32_t row = trace.ops.detail[op];
    if (trace.copies.direction[row] != CopyDirection::kHostToDevice ||
        trace.copies.source[row] != MemoryKind::kPinned || blocks[call] == kNone)
      continue;
    const Nanos ready = std::max(trace.calls.end[call], late_until[stream]);
    if (trace.ops.start[op] > ready + latency) continue;
    if (computes.empty()) computes = StreamsThatCompute(run);
    if (computes[stream] != 0) continue;
    late_until[stream] = trace.ops.end[op];
    late.push_back({op, blocks[call]});
  }
  return late;
}

}  // namespace advise
