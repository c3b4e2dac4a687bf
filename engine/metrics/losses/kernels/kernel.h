// What runs on the GPU: classes, precision, shape of the grids, and sequences that a better kernel
// would replace.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct KernelRow {
  std::string name;
  std::string kernel_class;
  std::int64_t count = 0;
  double time_ns = 0;
  double median_ns = 0;
  double blocks = 0;
  double waves = 0;
  double local_bytes = 0;
  double registers = 0;
};

struct Kernels {
  std::int64_t count = 0;
  double time_ns = 0;              // summed over kernels
  double compute_ns = 0;           // device time with compute, summed over devices
  std::vector<KernelRow> top;      // by time
  std::vector<KernelRow> classes;  // by time
  KernelRow unnamed;               // all that the report gives no name: count and time
  Loss small_grid, tail, elementwise, attention, optimizer, zeroing, layout, fp32, cast, unaligned,
      waiting;  // the last: kernels that occupy the GPU and compute nothing
  std::vector<KernelRow> small_grid_rows, tail_rows, spilling_rows;
  double small_grid_blocks = 0, small_grid_threads = 0, small_grid_fill = 0;
  double elementwise_runs = 0;
  double zeroing_added = 0;       // kernels per step that add to what was zeroed
  double optimizer_norms = 0;     // share of its kernels that take the norm of a tensor
  double optimizer_one_grid = 0;  // share of its kernels that have the commonest number of blocks
  double tail_waste_ns = 0, tail_counted_ns = 0;  // the latter: of kernels with counted waves
  double spilling_ns = 0;
  double matrix_ns = 0, tensor_ns = 0;
  std::string fp32_top;
  double concurrency = 0;
  double narrow_ns = 0;
  std::size_t streams = 0;
};

// Of the device: peak tensor rate over peak FP32 rate, what its memory moves, and the peak FP32
// rate; 0 unknown or none.
struct KernelRates {
  double tensor_speedup = 0;
  double memory_bytes_per_s = 0;
  double fp32_flops = 0;
};

// O(ops).
Kernels FindKernels(const Basis& basis, const Phases& phases, const KernelRates& rates);

// Kernels of the window, in time order, without communication.
std::vector<std::uint32_t> ComputeKernels(const Basis& basis);

}  // namespace advise
