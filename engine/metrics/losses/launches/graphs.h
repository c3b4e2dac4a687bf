// How CUDA graphs are used: how many per step, how long their launches take, and what the GPU does
// between them.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

struct Graphs {
  std::int64_t launches = 0;
  double per_step = 0;
  double call_median_ns = 0;
  double gpu_median_ns = 0;  // from the start of a launch's first op to the end of its last
  Loss gaps;                 // idle before a graph that launching or host code makes
  Loss slow;                 // idle before a graph in its launch; it then takes the usual time
  double miss_share = 0;  // of the steady steps: those without a graph launch, where most have one
  double traced_whole_ns = 0;  // of graphs whose kernels were not traced
  Loss misses;                 // idle for launches in those steps, beyond the others' median
};

Graphs FindGraphs(const Basis& basis);  // O(ops + calls)

}  // namespace advise
