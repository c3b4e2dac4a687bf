#include "engine/timeline/late_copies.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace advise {

std::vector<LateCopy> FindLateCopies(const Run& run, const std::vector<std::uint32_t>& blocks) {
  const Trace& trace = run.trace;
  const auto latency = run.knowledge.Time("idle.launch_latency");
  struct Last {
    Nanos end = 0;
    std::uint32_t call = kNone;
    std::uint32_t blocked_by = kNone;
    bool download = false;
  };
  // A download may need what the block waited for, if its stream was made to wait.
  const auto waits_for_others = [&](std::uint32_t block, std::uint32_t call) {
    for (std::uint32_t c = block; c < call; ++c) {
      if (run.ClassOfCall(c) == CallClass::kStreamWaitEvent) return true;
    }
    return false;
  };
  std::vector<LateCopy> late;
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
    const CopyDirection direction = trace.DirectionOfCopy(op);
    const bool download = direction == CopyDirection::kDeviceToHost;
    if (direction != CopyDirection::kHostToDevice && !download) continue;
    Last& last = lasts[stream];
    // The pieces of a batch may each block the host: what blocked it first made all of them late.
    // So does a wait for a download that was late.
    std::uint32_t blocked_by = blocks[call];
    const bool for_last = blocked_by != kNone && last.download &&
                          trace.calls.start[blocked_by] < last.end &&
                          std::abs(trace.calls.end[blocked_by] - last.end) <= latency;
    if (blocked_by != kNone && (blocked_by == last.call || for_last)) blocked_by = last.blocked_by;
    if (blocked_by == kNone) continue;
    const Nanos ready = blocked_by == last.blocked_by ? std::max(trace.calls.end[call], last.end)
                                                      : trace.calls.end[call];
    if (trace.ops.start[op] > ready + latency) continue;
    if (computes.empty()) computes = StreamsThatCompute(run);
    const bool free = done_before <= trace.calls.start[blocked_by] || blocked_by == last.blocked_by;
    if (download && blocked_by != last.blocked_by &&
        (!free || trace.calls.thread[blocked_by] != trace.calls.thread[call] ||
         waits_for_others(blocked_by, call)))
      continue;
    if (computes[stream] != 0 && !free) continue;
    last = {trace.ops.end[op], call, blocked_by, download};
    late.push_back({op, blocked_by, computes[stream] != 0});
  }
  return late;
}

}  // namespace advise
