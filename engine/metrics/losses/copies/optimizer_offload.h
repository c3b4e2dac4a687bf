// Optimizers that run on the host: each step, gradients go there in the backward pass, the host
// updates weights, and the weights go back, before the next forward pass can start.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct OptimizerOffload {
  Loss loss;             // a count for each update; bytes: what went down
  double up_bytes = 0;   // of all updates
  double host_time = 0;  // ns, from the last gradient to the first weight, summed
};

// `copies`: ops of the window, by start. Nothing where no backward pass is known, or where kernels
// update weights. O(copies + calls of the threads that upload).
OptimizerOffload FindOptimizerOffload(const Basis& basis, const Phases& phases,
                                      const std::vector<std::uint32_t>& copies);

}  // namespace advise
