// Runs of small kernels of one kind on one stream, which one launch could do: the idle time between
// them.
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
  Loss pieces;                 // long series of kernels for a few SMs, see FindPieceSeries
  double pieces_mean = 0;      // pieces in one of them
  double pieces_body = 0;      // kernels of one piece, on average
};

// `kernels`: of the window, in time order, without communication. O(kernels).
KernelTrains FindKernelTrains(const Basis& basis, const std::vector<std::uint32_t>& kernels);

}  // namespace advise
