// The same kernel at the same place of the step that takes different times.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/kernel.h"

namespace advise {

struct KernelVariation {
  Loss varying;  // time of launches beyond twice the median of the same place of the step
  std::vector<KernelRow> varying_rows;
  Loss slowing;  // time of the second half beyond the median of the first, same kernel and grid
  double slowing_ratio = 0;  // of the medians, weighted by time; 0 unknown
  double slowing_share = 0;  // of the kernel time that could be compared
};

// `kernels`: of the window, in time order, without communication. O(kernels).
KernelVariation FindKernelVariation(const Basis& basis, const std::vector<std::uint32_t>& kernels);

}  // namespace advise
