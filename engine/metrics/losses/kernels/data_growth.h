// Whether a program's data grows from step to step, so that its kernels take longer for it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

// The data of steps from `middle` on as a multiple of that before it: by the blocks of kernels that
// are launched with several grids, or by what is uploaded, whichever grows more; 1 where neither
// tells. `kernels`: of the window, in time order. O(ops of the window).
double GrowthOfData(const Basis& basis, const std::vector<std::uint32_t>& kernels,
                    std::uint32_t middle);

}  // namespace advise
