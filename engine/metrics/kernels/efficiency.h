// How well the kernels of the run use the GPU, and for how much of their time anybody measured it.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct Counters;
struct Hardware;
struct Samples;
struct ShapeRows;

// Compute kernels of one name whose efficiency is not known.
struct UnmeasuredKernel {
  std::string name;  // full
  std::string kernel_class;
  std::int64_t count = 0;
  double time_ns = 0;
  double share = 0;  // of the compute kernels' time
};

struct KernelEfficiency {
  // Part of the compute kernels' time whose efficiency was measured: by recorded sizes or by a
  // kernel profiler. Samples of the GPU measure all of it together, no kernel by itself.
  double measured_share = 0;
  std::string source = "none";  // what most of that is from: "shapes", "counters", "samples"
  // Of the window on all its devices: the part that the operations would take at the data sheet's
  // peak of their type, and that the bytes would take at its memory rate. -1 unknown. Lower bounds
  // where not everything was measured.
  double mfu = -1;
  double bandwidth = -1;
  double kernels_reached = -1;  // of rated kernels: what good libraries would take over their time
  std::vector<UnmeasuredKernel> unmeasured;  // most time first
};

// O(kernels).
KernelEfficiency FindEfficiency(const Basis& basis, const Hardware& hardware,
                                const ShapeRows& shapes, const Counters& counters,
                                const Samples& samples);

}  // namespace advise
