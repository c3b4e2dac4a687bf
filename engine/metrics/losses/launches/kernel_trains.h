// Runs of small kernels of one kind on one stream, which one launch could do: the idle time between
// them, and their own time where many of a few blocks each could run side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct KernelTrains {
  Loss products;               // of small matrix kernels
  double product_kernels = 0;  // in them, per step
  Loss repeats;                // the same small kernel and grid, neither matrix nor optimizer
  double repeat_kernels = 0;   // in them, per step; of one run of them, where steps are shorter
  Loss pieces;                 // of these runs, long ones of kernels for a few SMs, with their time
  double pieces_mean = 0;      // kernels in one of them
};

// `kernels`: of the window, in time order, without communication. O(kernels).
KernelTrains FindKernelTrains(const Basis& basis, const std::vector<std::uint32_t>& kernels);

}  // namespace advise
