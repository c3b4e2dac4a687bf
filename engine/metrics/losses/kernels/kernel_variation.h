// The same kernel at the same place of the step that takes different times.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/kernels/kernel.h"

namespace advise {

struct KernelVariation {
  // Time of launches beyond twice what the same place of the step usually takes, where the other
  // kernels of that step do not take longer alike: then the step has more to do, and kernels whose
  // work grows faster than the data take longer still, all of one shape alike.
  Loss varying;
  Loss slices;  // turns of another process, see FindTimeSlices
  // Time of the second half beyond the median of the first, same kernel and grid; where kernels
  // take longer from step to step, time beyond that of the first steps. Without steps, parts of
  // equally many kernels stand for them.
  Loss slowing;
  double slowing_ratio = 0;  // of the medians, weighted by time; 0 unknown
  double slowing_share = 0;  // of the kernel time that could be compared
  // Of that time, the part in kernels that became slower by at least half of what all did. A GPU
  // that gets slower slows most kernels; where one kernel's data grows, that one takes longer.
  double slowing_alike = 0;
  // By how many standard errors the halves differ, as the kernel time of single steps varies; 0
  // unknown.
  double slowing_sigma = 0;
  double data_growth = 1;  // of the same halves, see GrowthOfData()
};

// `kernels`: of the window, in time order, without communication. O(kernels).
KernelVariation FindKernelVariation(const Basis& basis, const std::vector<std::uint32_t>& kernels);

}  // namespace advise
