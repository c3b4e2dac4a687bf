// Launching calls that return only when their kernel has ended, apart from those that are only
// slow.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

struct AwaitedKernels {
  Loss loss;
  double share = 0;     // of the time of kernels that are long enough to tell
  double alone_ns = 0;  // small kernels by themselves: the next is for another stream
};

// As with CUDA_LAUNCH_BLOCKING=1. O(ops + idle pieces).
AwaitedKernels FindAwaitedKernels(const Basis& basis);

}  // namespace advise
