// What kernels show beside their class: trains of small ones that could be one, blocks that waste
// lanes, the same kernel taking different times, and how far number formats are used.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/kernel.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct KernelHabits {
  Loss matrix_trains;  // runs of small matrix kernels on one stream: the idle time between
  double matrix_train_kernels = 0;  // a step
  Loss repeats;  // the same small kernel and grid launched again and again, neither matrix nor
                 // optimizer
  double repeat_kernels = 0;  // a step
  Loss varying;  // kernel time of launches beyond twice the median of the same place of the step
  std::vector<KernelRow> varying_rows;
  Loss slowing;  // kernel time of the second half beyond the median of the first, same kernel and
                 // grid
  double slowing_ratio = 0;          // of the medians, weighted by time; 0 unknown
  double slowing_share = 0;          // of the kernel time that could be compared
  Loss partial_warps;                // kernels whose blocks are no multiple of 32 threads
  double partial_warp_waste_ns = 0;  // their time in lanes that no thread has
  std::vector<KernelRow> partial_warp_rows;
  Loss tiny_blocks;           // kernels with at most 32 threads a block and more blocks than SMs
  Loss fp64;                  // double-precision matrix kernels
  Loss bf16;                  // bfloat16 matrix kernels that are not known to use tensor cores
  double half_ns = 0;         // matrix and convolution time in 16-bit formats
  double fp8_ns = 0;          // and in 8-bit formats
  double whole_graph_ns = 0;  // time of graphs that were traced as a whole
};

// O(kernels log kernels).
KernelHabits FindKernelHabits(const Basis& basis);

}  // namespace advise
