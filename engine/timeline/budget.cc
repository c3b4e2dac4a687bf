#include "engine/timeline/budget.h"

#include <algorithm>

namespace advise {

std::vector<DeviceTime> BuildBudget(const Run& run) {
  const OpTable& ops = run.trace.ops;
  const Nanos from = run.window.start;
  const Nanos to = run.window.end;
  std::vector<DeviceTime> times(run.trace.devices.size());
  for (std::uint32_t d = 0; d < times.size(); ++d) {
    DeviceTime& time = times[d];
    time.compute.Reserve(run.ops_of_device[d].size());
    for (const std::uint32_t op : run.ops_of_device[d]) {
      const Nanos start = std::max(ops.start[op], from);
      const Nanos end = std::min(ops.end[op], to);
      if (end <= start) continue;
      switch (ops.kind[op]) {
        case OpKind::kKernel:
          (run.IsComm(op) ? time.comm : time.compute).Append(start, end);
          break;
        case OpKind::kGraph:
          time.compute.Append(start, end);
          break;
        case OpKind::kCopy:
          time.copy.Append(start, end);
          break;
        case OpKind::kMemset:
          time.memset.Append(start, end);
          break;
      }
    }
    const IntervalSet work = time.compute.Union(time.comm);
    const IntervalSet moved = work.Union(time.copy);
    time.comm_exposed = time.comm.Subtract(time.compute);
    time.copy_exposed = time.copy.Subtract(work);
    time.memset_exposed = time.memset.Subtract(moved);
    time.idle = moved.Union(time.memset).GapsWithin(from, to);
  }
  return times;
}

}  // namespace advise
