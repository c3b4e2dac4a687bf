// Parameter updates of many small kernels: one or more per tensor, where one launch could update
// many tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

// What a kernel is part of.
enum InUpdate : std::uint8_t {
  kNoUpdate,
  kUpdate,   // of such an update
  kZeroing,  // of a row of kernels that each set one tensor to a constant, as for new gradients
  kAdding,   // of the backward pass, which adds to these: with nothing there, it would write
};

// By op. Known by ranges or names, else by how they look: so many small elementwise kernels (or
// norms of single tensors) in a row that no layer has them. `kernels`: of the window, in time
// order. `memory_bytes_per_s` of the device, 0 unknown. O(kernels).
std::vector<std::uint8_t> UpdateKernels(const Run& run, const Phases& phases,
                                        const std::vector<std::uint32_t>& kernels,
                                        double memory_bytes_per_s);

// The kernels of this `part`, the idle time between them, and what the GPU waits after them for the
// launching thread until that is ahead again. What zeroes is gone with the fix, and so is what adds
// to zeros; an update takes a part of its time. O(ops + idle pieces).
Loss CostOfUpdates(const Basis& basis, const std::vector<std::uint32_t>& kernels,
                   const std::vector<std::uint8_t>& in_update, InUpdate part);

}  // namespace advise
