// Blocks that waste lanes: threads that are no multiple of a warp, or too few to fill an SM.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/kernels/kernel.h"

namespace advise {

struct BlockShapes {
  Loss partial_warps;                // kernels whose blocks are no multiple of 32 threads
  double partial_warp_waste_ns = 0;  // their time in lanes that no thread has
  std::vector<KernelRow> partial_warp_rows;
  Loss tiny_blocks;  // kernels with at most 32 threads per block and more blocks than SMs
};

// `kernels`: of the window, in time order, without communication. O(kernels).
BlockShapes FindBlockShapes(const Basis& basis, const std::vector<std::uint32_t>& kernels);

}  // namespace advise
