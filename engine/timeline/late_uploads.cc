#include "engine/timeline/late_uploads.h"

#include <algorithm>

namespace advise {

std::vector<LateUpload> FindLateUploads(const Run& run, const std::vector<std::uint32_t>& blocks) {
  const Trace& trace = run.trace;
  const auto latency = static_cast<Nanos>(run.knowledge.Number("idle.launch_latency"));
  struct Last {
    Nanos end = 0;
    std::uint32_t call = kNone;
    std::uint32_t blocked_by = kNone;
  };
  std::vector<LateUpload> late;
  std::vector<std::uint8_t> computes;             // by stream; empty: not yet asked for
  std::vector<Last> lasts(trace.streams.size());  // late ones, by stream
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t call = trace.ops.call[op];
    const std::uint32_t stream = trace.ops.stream[op];
    if (trace.ops.kind[op] != OpKind::kCopy || call == kNone || stream == kNone) continue;
    if (trace.copies.direction[trace.ops.detail[op]] != CopyDirection::kHostToDevice) continue;
    Last& last = lasts[stream];
    // The pieces of a batch may each block the host: what blocked it first made all of them late.
    std::uint32_t blocked_by = blocks[call];
    if (blocked_by != kNone && blocked_by == last.call) blocked_by = last.blocked_by;
    if (blocked_by == kNone) continue;
    const Nanos ready = blocked_by == last.blocked_by ? std::max(trace.calls.end[call], last.end)
                                                      : trace.calls.end[call];
    if (trace.ops.start[op] > ready + latency) continue;
    if (computes.empty()) computes = StreamsThatCompute(run);
    if (computes[stream] != 0) continue;
    last = {trace.ops.end[op], call, blocked_by};
    late.push_back({op, blocked_by});
  }
  return late;
}

}  // namespace advise
