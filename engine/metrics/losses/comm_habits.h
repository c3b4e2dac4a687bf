// Habits of communication that a program could drop: gradients sent after every micro-step, a model
// copied to all GPUs of one process in each step, and collectives that slow the compute beside
// them.
#pragma once

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct CommHabits {
  // Gradient accumulation. Zero when ranges do not name the backward pass.
  double backwards = 0;   // backward passes a step, median
  double synced = 0;      // of them with gradient collectives
  double optimizers = 0;  // optimizer passes a step; 0 when not named
  Loss early;             // gradient collectives of all backward passes but the last of a step

  // One process, several GPUs.
  std::size_t shared_devices = 0;  // most devices that one process launches work on
  double broadcasts = 0;           // broadcast kernels a step and device
  double reduces = 0;              // reduce kernels a step and device
  Loss replicate;                  // broadcasts, reduces and copies between the GPUs

  // The same kernels with and without a collective beside them.
  double slowdown = 1;  // time beside over time alone, over kernels seen both ways
  double compared = 0;  // kernels beside a collective that were compared
  Loss contention;      // what they take beyond their time alone
};

// O(ops log ops).
CommHabits FindCommHabits(const Basis& basis, const Phases& phases);

}  // namespace advise
