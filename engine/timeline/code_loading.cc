#include "engine/timeline/code_loading.h"

#include <algorithm>
#include <vector>

namespace advise {

CodeLoading::CodeLoading(const Run& run)
    : run_(run),
      slow_launch_ns_(static_cast<Nanos>(run.knowledge.Number("idle.first_launch_factor") *
                                         run.knowledge.Number("launch.usual_call"))),
      slow_free_ns_(run.knowledge.Time("idle.loading_free")) {
  const OpTable& ops = run.trace.ops;
  std::vector<std::uint32_t> met(run.trace.shapes.size(), kNone);  // the last process to use it
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.kind[op] != OpKind::kKernel || ops.call[op] == kNone) continue;
    const std::uint32_t process = run.ProcessOfCall(ops.call[op]);
    if (met[ops.detail[op]] == process) continue;
    met[ops.detail[op]] = process;
    first_launch_.try_emplace({process, run.trace.shapes[ops.detail[op]].name}, op);
  }
  for (std::uint32_t call = 0; call < run.trace.calls.size() && !has_managed_memory_; ++call)
    has_managed_memory_ = run.ClassOfCall(call) == CallClass::kAllocManaged;
}

bool CodeLoading::InLaunchOf(std::uint32_t op) const {
  const Trace& trace = run_.trace;
  const std::uint32_t call = trace.ops.call[op];
  if (call == kNone || trace.ops.kind[op] != OpKind::kKernel ||
      run_.ClassOfCall(call) != CallClass::kLaunch)
    return false;
  if (trace.calls.end[call] - trace.calls.start[call] <= slow_launch_ns_) return false;
  const StringId name = trace.shapes[trace.ops.detail[op]].name;
  const auto first = first_launch_.find({run_.ProcessOfCall(call), name});
  return first != first_launch_.end() && first->second == op;
}

bool CodeLoading::InSlowFree(std::uint32_t thread, const HostPiece& piece) const {
  if (piece.end - piece.start <= slow_free_ns_) return false;
  if (piece.activity != Activity::kAllocation || has_managed_memory_) return false;
  const CallTable& calls = run_.trace.calls;
  const RowRange rows = run_.calls_of_thread[thread];
  const auto first = calls.start.begin() + rows.first;
  const auto after = std::upper_bound(first, calls.start.begin() + rows.last, piece.start);
  if (after == first) return false;
  const auto call = static_cast<std::uint32_t>(after - calls.start.begin()) - 1;
  return calls.end[call] - calls.start[call] > slow_free_ns_ &&
         run_.ClassOfCall(call) == CallClass::kFreeDevice;
}

}  // namespace advise
