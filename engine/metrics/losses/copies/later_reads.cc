#include "engine/metrics/losses/copies/later_reads.h"

#include <limits>

#include "engine/replay/stream_waits.h"
#include "engine/timeline/pause.h"

namespace advise {

void LaterReads::FindWaits() {
  next_.assign(run_.trace.calls.size(), kNone);
  awaited_ = AwaitedBySyncs(run_);
  const CallTable& calls = run_.trace.calls;
  const std::vector<Nanos> long_pauses = LongPauses(run_);
  for (const std::uint32_t thread : run_.launching_threads) {
    const RowRange rows = run_.calls_of_thread[thread];
    std::uint32_t next = kNone;
    bool behind = false;  // the next launch is the last one before that event
    Nanos next_start = std::numeric_limits<Nanos>::max();
    for (std::uint32_t call = rows.last; call-- > rows.first;) {
      if (next_start - calls.end[call] > long_pauses[thread]) next = kNone;
      next_start = calls.start[call];
      next_[call] = next;
      const CallClass call_class = run_.ClassOfCall(call);
      const std::uint32_t op = run_.first_op_of_call[call];
      if (call_class == CallClass::kEventRecord || IsSync(call_class)) {
        next = call;
        behind = call_class == CallClass::kEventRecord;
      } else if (op != kNone && behind) {
        recorded_behind_[next] = op;
        behind = false;
      }
    }
  }
}

std::uint32_t LaterReads::WaitBehind(std::uint32_t op) {
  const OpTable& ops = run_.trace.ops;
  if (ops.call[op] == kNone ||
      run_.trace.copies.direction[ops.detail[op]] != CopyDirection::kDeviceToHost)
    return kNone;
  if (next_.empty()) FindWaits();
  constexpr int kMostWaits = 16;  // as many streams as take turns
  std::uint32_t call = ops.call[op];
  std::uint32_t wait = next_[call];
  for (int i = 0; i < kMostWaits && wait != kNone; ++i, wait = next_[wait]) {
    for (; i > 0 && call < wait; ++call) {
      const std::uint32_t later = run_.first_op_of_call[call];
      if (later != kNone && later != op && ops.stream[later] == ops.stream[op]) return kNone;
    }
    if (run_.ClassOfCall(wait) == CallClass::kEventRecord) {
      const auto last = recorded_behind_.find(wait);
      if (last != recorded_behind_.end() && ops.stream[last->second] == ops.stream[op]) return wait;
      if (i == 0) return kNone;
      continue;
    }
    const std::uint32_t awaited = awaited_[wait];
    if (awaited != kNone && ops.stream[awaited] == ops.stream[op]) return wait;
  }
  return kNone;
}

bool LaterReads::IsReadLater(std::uint32_t op) { return WaitBehind(op) != kNone; }

// A wait for the whole device by a thread that waits so again before it copies again: it waits for
// kernels as well, and a second buffer leaves it that.
bool LaterReads::IsForKernels(std::uint32_t wait) const {
  if (run_.ClassOfCall(wait) != CallClass::kSyncDevice) return false;
  const Trace& trace = run_.trace;
  const RowRange calls = run_.calls_of_thread[trace.calls.thread[wait]];
  for (std::uint32_t call = wait + 1; call < calls.last; ++call) {
    if (run_.ClassOfCall(call) == CallClass::kSyncDevice) return true;
    const std::uint32_t op = run_.first_op_of_call[call];
    if (op != kNone && trace.ops.kind[op] == OpKind::kCopy) return false;
  }
  return false;
}

std::uint32_t LaterReads::WaitWithoutRead(std::uint32_t op, double bytes_per_s) {
  const Trace& trace = run_.trace;
  const std::uint32_t wait = WaitBehind(op);
  if (wait == kNone) return kNone;
  const std::uint32_t then = wait + 1;
  if (run_.ClassOfCall(wait) == CallClass::kEventRecord || then >= trace.calls.size() ||
      trace.calls.thread[then] != trace.calls.thread[wait] || IsForKernels(wait)) {
    return kNone;
  }
  const auto reading = static_cast<double>(trace.BytesOfCopy(op)) / bytes_per_s;
  const auto pause = static_cast<double>(trace.calls.start[then] - trace.calls.end[wait]);
  return pause < reading * kNanosPerSecond ? wait : kNone;
}

}  // namespace advise
