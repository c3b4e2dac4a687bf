// How much more some steps have the GPU do than usual ones: an evaluation, a longer batch.
#pragma once

#include <vector>

#include "engine/metrics/basis.h"
#include "engine/timeline/phase.h"

namespace advise {

struct StepWork {
  double times = 0;  // kernels and graphs of such a step over those of a usual one; 0 unknown
  // That launched most of what usual steps do not have, if a range names it.
  Phase phase = Phase::kUnnamed;
};

// Of the first device. `steps`: ascending. O(ops log steps).
StepWork WorkOf(const Basis& basis, const Phases& phases, const std::vector<std::size_t>& steps);

}  // namespace advise
