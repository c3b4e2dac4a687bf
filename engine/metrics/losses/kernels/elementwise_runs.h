// Runs of element-wise kernels that a compiler would make one.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct ElementwiseRuns {
  Loss loss;  // all kernels of runs; with the fix, the first of each and little more is left
  double per_step = 0;
};

// Kernels of a run follow each other on one stream in one step, and work on as many elements: each
// reads and writes memory that one kernel would touch once. Neighbors on tensors of other sizes,
// such as an activation and the cast of a weight, are no run. What works on fewer elements in
// between is on its own, or an operand of the next kernel that is spread over its elements
// (x * (1 + scale)), and parts no run. A copy to or from the host does.
// `kernels` are those of the window, in time order; `in_update` tells, by op, those of the
// optimizer, which are a finding of their own. O(ops + kernels log operators).
ElementwiseRuns FindElementwiseRuns(const Basis& basis, const Phases& phases,
                                    const std::vector<std::uint32_t>& kernels,
                                    const std::vector<std::uint8_t>& in_update);

}  // namespace advise
