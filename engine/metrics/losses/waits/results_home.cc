#include "engine/metrics/losses/waits/results_home.h"

#include <algorithm>

namespace advise {
namespace {

// What a copy reads or writes may be memory that both sides see.
bool IsManaged(MemoryKind kind) {
  return kind == MemoryKind::kManaged || kind == MemoryKind::kManagedStatic;
}

bool MayReachHost(CopyDirection direction) {
  return direction == CopyDirection::kDeviceToHost || direction == CopyDirection::kHostToHost ||
         direction == CopyDirection::kUnknown;
}

}  // namespace

ResultsHome::ResultsHome(const Basis& basis) : run_(basis.run) {
  const Trace& trace = run_.trace;
  const double least_array = run_.knowledge.Number("copy.tiny_bytes");
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.kind[op] != OpKind::kCopy || !MayReachHost(trace.DirectionOfCopy(op))) continue;
    downloads_.push_back(trace.ops.end[op]);
    // Directives copy the result of a reduction even where all arrays are managed.
    if (trace.DirectionOfCopy(op) == CopyDirection::kDeviceToHost &&
        static_cast<double>(trace.BytesOfCopy(op)) > least_array)
      copies_arrays_ = true;
  }
  std::sort(downloads_.begin(), downloads_.end());
  if (copies_arrays_ && SharesMemory()) copies_arrays_ = false;
}

bool ResultsHome::SharesMemory() const {
  const Trace& trace = run_.trace;
  for (std::uint32_t call = 0; call < trace.calls.size(); ++call) {
    if (run_.ClassOfCall(call) == CallClass::kAllocManaged ||
        run_.ClassOfCall(call) == CallClass::kMapHost)
      return true;
  }
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.kind[op] != OpKind::kCopy) continue;
    const std::uint32_t copy = trace.ops.detail[op];
    if (IsMigration(trace.DirectionOfCopy(op)) || IsManaged(trace.copies.source[copy]) ||
        IsManaged(trace.copies.target[copy]))
      return true;
  }
  return false;
}

bool ResultsHome::MayCome(std::uint32_t sync) const {
  if (!copies_arrays_) return true;
  const CallTable& calls = run_.trace.calls;
  const RowRange rows = run_.calls_of_thread[calls.thread[sync]];
  Nanos since = calls.start[rows.first];
  for (std::uint32_t c = sync; c > rows.first; --c) {
    if (!IsSync(run_.ClassOfCall(c - 1))) continue;
    since = calls.end[c - 1];
    break;
  }
  const auto next = std::upper_bound(downloads_.begin(), downloads_.end(), since);
  return next != downloads_.end() && *next <= calls.end[sync];
}

}  // namespace advise
