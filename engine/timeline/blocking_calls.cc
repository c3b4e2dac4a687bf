#include "engine/timeline/blocking_calls.h"

#include <algorithm>
#include <map>

namespace advise {

bool BlocksHost(const Run& run, std::uint32_t call) {
  const CallClass call_class = run.ClassOfCall(call);
  if (IsSync(call_class) || IsAllocation(call_class)) return true;
  const std::uint32_t op = run.first_op_of_call[call];
  const bool copies = op != kNone && run.trace.ops.kind[op] == OpKind::kCopy;
  if (call_class == CallClass::kCopy || call_class == CallClass::kMemset) {
    // Device-to-device copies and device memsets return at once whatever their name says.
    const Nanos held = run.trace.calls.end[call] -
                       (op == kNone ? run.trace.calls.start[call] : run.trace.ops.start[op]);
    return op != kNone && held > 0;
  }
  if (call_class != CallClass::kCopyAsync || !copies) return false;
  const std::uint32_t copy = run.trace.ops.detail[op];
  const bool pageable = run.trace.copies.source[copy] == MemoryKind::kPageable ||
                        run.trace.copies.target[copy] == MemoryKind::kPageable;
  // Small uploads are staged and return; what counts is whether the call was still there when the
  // copy ended.
  return pageable && run.trace.calls.end[call] >= run.trace.ops.end[op];
}

namespace {

// How far ahead of the GPU one thread is.
struct Lead {
  std::uint32_t last = kNone;   // the blocking call that it has not recovered from
  std::uint32_t taken = kNone;  // the last one that it took over from another thread
  float usual = 0;              // the lead that it had before it was blocked
  float recent = 0;             // the largest lead since the last blocking call
  bool launched = false;        // anything since then

  void Block(std::uint32_t call) {
    // Blocked again before it had recovered: what it had before the first time still counts.
    usual = last == kNone ? recent : std::max(usual, recent);
    last = call;
    recent = 0;
    launched = false;
  }
};

// Calls `visit(call)` for the calls of these threads in order of their start.
template <typename Visit>
void InOrder(const Run& run, const std::vector<std::uint32_t>& threads, Visit visit) {
  std::vector<RowRange> ahead;
  for (const std::uint32_t thread : threads) ahead.push_back(run.calls_of_thread[thread]);
  while (true) {
    RowRange* next = nullptr;
    for (RowRange& rows : ahead) {
      if (rows.first == rows.last) continue;
      if (next == nullptr || run.trace.calls.start[rows.first] < run.trace.calls.start[next->first])
        next = &rows;
    }
    if (next == nullptr) return;
    visit(next->first++);
  }
}

}  // namespace

std::vector<std::uint32_t> UnrecoveredBlocks(const Run& run, const HandOvers& hand_overs) {
  const Trace& trace = run.trace;
  const auto ahead_ns = run.knowledge.Time("idle.host_ahead");
  // How long before its start each op had been launched, when it was queued behind other work: by
  // one pass in time order.
  std::vector<Nanos> busy_until(trace.devices.size(), 0);
  std::vector<float> lead(trace.calls.size(), 0);  // ns
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    Nanos& until = busy_until[trace.ops.device[op]];
    const std::uint32_t call = trace.ops.call[op];
    if (call != kNone && run.first_op_of_call[call] == op &&
        until + ahead_ns > trace.ops.start[op]) {
      lead[call] = static_cast<float>(trace.ops.start[op] - trace.calls.end[call]);
    }
    until = std::max(until, trace.ops.end[op]);
  }
  std::vector<std::uint32_t> blocks(trace.calls.size(), kNone);
  std::vector<Lead> leads(trace.threads.size());
  const auto visit = [&](std::uint32_t call) {
    const std::uint32_t thread = trace.calls.thread[call];
    Lead& own = leads[thread];
    const std::uint32_t other =
        hand_overs.empty() ? kNone : hand_overs.AwaitedAt(thread, trace.calls.start[call] - 1);
    if (other != kNone && leads[other].last != kNone && leads[other].last != own.taken) {
      own.taken = leads[other].last;
      own.Block(own.taken);
    }
    if (run.first_op_of_call[call] != kNone) {
      own.recent = std::max(own.recent, lead[call]);
      if (own.last != kNone && lead[call] > std::max(static_cast<float>(ahead_ns), own.usual))
        own.last = kNone;
      blocks[call] = own.last;
      own.launched = true;
    }
    // A synchronization right behind a call that blocked finds everything done. So does a request
    // for memory; memory that is freed may wait for work of other streams.
    const CallClass call_class = run.ClassOfCall(call);
    const bool harmless =
        IsSync(call_class) || (IsAllocation(call_class) && call_class != CallClass::kFreeDevice);
    const bool finds_done = own.last != kNone && !own.launched && harmless;
    if (!finds_done && BlocksHost(run, call)) own.Block(call);
  };
  std::map<std::uint32_t, std::vector<std::uint32_t>> tied;  // by process: threads to take in order
  for (const std::uint32_t thread : run.launching_threads) {
    const std::uint32_t process = trace.threads[thread].process;
    tied[hand_overs.empty() ? thread : process].push_back(thread);
  }
  for (const auto& [group, threads] : tied) InOrder(run, threads, visit);
  return blocks;
}

}  // namespace advise
