// Gradient accumulation: gradients that are sent in every backward pass of a step, though the last
// would do.
#pragma once

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

// Zero when neither ranges name the backward pass nor losses tell where one begins.
struct Accumulation {
  double backwards = 0;   // backward passes per step, median
  double synced = 0;      // of them with gradient collectives
  double optimizers = 0;  // optimizer passes per step; 0 when not named
  Loss early;             // gradient collectives of all backward passes but the last of a step
};

Accumulation FindAccumulation(const Basis& basis, const Phases& phases);  // O(ops log ops)

}  // namespace advise
