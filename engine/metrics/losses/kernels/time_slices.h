// Kernels that the GPU put aside for the work of another process, which was not recorded.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

// Time of launches beyond what the same kernel and grid usually takes, where that is a turn of
// another process: most launches of each kernel take about the same, single ones of several kernels
// take longer by about as much, whatever they compute, and nothing of the recorded process runs
// beside them. Nothing where several processes were recorded on the device. `kernels`: of the
// window, in time order, without communication. O(ops + kernels log kernels).
Loss FindTimeSlices(const Basis& basis, const std::vector<std::uint32_t>& kernels);

}  // namespace advise
