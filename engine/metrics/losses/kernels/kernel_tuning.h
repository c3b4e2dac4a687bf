// Kernels that are tuned in the loop: a compiler (Triton's autotuner) runs each candidate dozens of
// times, and clears a buffer as large as the cache before each run, to time it alone.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct KernelTuning {
  Loss loss;  // runs of candidates, what clears the cache before them, and the idle time between
  double runs = 0;  // of candidates in one tuning, on average
};

// Told from series of at least `kernel.tuning_runs` launches of small kernels on one thread, each
// behind a memset of one and the same size of at least `kernel.tuning_clear`. O(ops + idle pieces).
KernelTuning FindKernelTuning(const Basis& basis);

}  // namespace advise
