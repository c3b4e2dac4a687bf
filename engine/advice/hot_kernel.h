// Whether a fix is about the kernel that takes most of the time.
#pragma once

#include <vector>

#include "engine/advice/finding.h"
#include "engine/metrics/analysis.h"

namespace advise {

// `hot`: a verdict on one kernel, whose name is its evidence `name`. `claims`: the time that a fix
// is about, by device. True where most of the kernel time among it is of other kernels; gaps say
// nothing of it. O(ops).
bool IsOfOtherKernels(const Verdict& hot, const std::vector<IntervalSet>& claims,
                      const Analysis& analysis);

}  // namespace advise
