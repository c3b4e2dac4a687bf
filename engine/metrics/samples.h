// What the GPU's sampled counters say of the kernels that ran: samples explain kernels, they never
// replace them.
#pragma once

#include "engine/metrics/loss.h"

namespace advise {

struct Samples {
  // Means over the samples that fell into the named time of the same device, as shares; -1 without
  // such samples.
  double tensor_in_matrix = -1;  // "Tensor Active" while matrix and convolution kernels ran
  std::size_t tensor_samples = 0;
};

// O(samples log kernels).
Samples FindSamples(const Basis& basis);

}  // namespace advise
