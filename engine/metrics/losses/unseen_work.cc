#include "engine/metrics/losses/unseen_work.h"

#include <algorithm>
#include <map>

namespace advise {

Nanos UnseenWork::Sum(Nanos UnseenTime::*part) const {
  Nanos sum = 0;
  for (const UnseenTime& time : by_device) sum += time.*part;
  return sum;
}

UnseenWork FindUnseenWork(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  const auto latency = basis.run.knowledge.Time("idle.longest_latency");
  std::map<std::uint32_t, std::uint32_t> first;  // by stream
  std::map<std::uint32_t, Nanos> begun;          // by graph launch: its first recorded node
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.stream[op] != kNone) first.try_emplace(trace.ops.stream[op], op);
    if (trace.ops.in_graph[op] != 0 && trace.ops.call[op] != kNone)
      begun.try_emplace(trace.ops.call[op], trace.ops.start[op]);
  }
  UnseenWork unseen;
  unseen.by_device.resize(trace.devices.size());
  for (const GapPiece piece : basis.idle.pieces) {
    if (piece.cause != IdleCause::kUnknown) continue;
    const Gap gap = basis.idle.gaps[piece.gap];
    const std::uint32_t call = CallOf(trace, gap);
    const Nanos length =
        std::min(piece.end, basis.run.window.end) - std::max(piece.start, basis.run.window.start);
    if (call == kNone || length <= 0) continue;
    UnseenTime& time = unseen.by_device[piece.device];
    const Nanos since = std::max(gap.start, trace.calls.end[call]);
    const bool long_before = gap.end - since > latency;
    const auto stream = first.find(trace.ops.stream[gap.op]);
    if (stream != first.end() && stream->second == gap.op) {
      if (long_before) time.before_capture += length;
      continue;
    }
    if (trace.ops.in_graph[gap.op] == 0) {
      if (long_before) time.queued += length;
      continue;
    }
    const auto node = begun.find(call);
    // Between two nodes of one launch, a pause of any length is more than the GPU needs.
    const bool inside = node != begun.end() && node->second < gap.start;
    if (inside || long_before) time.in_graphs += length;
  }
  return unseen;
}

}  // namespace advise
