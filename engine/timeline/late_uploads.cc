#include "engine/timeline/late_uploads.h"

#include <algorithm>
#include <utility>

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
  std::vector<Nanos> done(trace.streams.size());  // when the last work of a stream was done
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t call = trace.ops.call[op];
    const std::uint32_t stream = trace.ops.stream[op];
    if (stream == kNone) continue;
    const Nanos done_before =
        std::exchange(done[stream], std::max(done[stream], trace.ops.end[op]));
    if (trace.ops.kind[op] != OpKind::kCopy || call == kNone) continue;
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
    const bool free = done_before <= trace.calls.start[blocked_by] || blocked_by == last.blocked_by;
    if (computes[stream] != 0 && !free) continue;
    last = {trace.ops.end[op], call, blocked_by};
    late.push_back({op, blocked_by, computes[stream] != 0});
  }
  return late;
}

}  // namespace advise
