// What each GPU was doing at every nanosecond of the window. At each instant a device is in exactly
// one state, the first that holds: compute kernel (or a graph traced as a whole), communication
// kernel, copy, memset, else idle.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

struct DeviceTime {
  // Raw: when at least one such op ran (clipped to the window). They overlap.
  IntervalSet compute, comm, copy, memset;
  // States: disjoint, and together the window exactly.
  IntervalSet comm_exposed, copy_exposed, memset_exposed, idle;

  Nanos ComputeNs() const { return compute.Total(); }
};

// One entry a device of the trace; a device without ops is idle throughout. O(ops).
std::vector<DeviceTime> BuildBudget(const Run& run);

}  // namespace advise
