// Kernels whose grids leave SMs without work: fewer blocks than SMs, a last wave that is nearly
// empty, and how many kernels run at once.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/kernels/kernel.h"

namespace advise {

// Fills in what Kernels says of small grids, tails, spilling and concurrency. `kernels`: ops of the
// window, in time order. O(kernels).
void FindGrids(const Basis& basis, const std::vector<std::uint32_t>& kernels, Kernels* result);

}  // namespace advise
