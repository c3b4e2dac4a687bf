// Activation checkpointing: the forward pass runs again inside the backward pass. Autograd numbers
// its operators there, as it numbers the forward pass; what a backward pass computes itself has no
// numbers, but for gradients of gradients. Without operators, the order of kernels tells.
#pragma once

#include "engine/metrics/kernels/sized_operators.h"
#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct RecomputedForward {
  bool known = false;  // operators were recorded, or ranges name the forward pass
  Loss loss;           // stretches of the forward pass inside the backward pass
  double bytes = -1;   // of what they read, per step: about what would be kept; -1 unknown
};

// O(operators + calls + ops log stretches).
RecomputedForward FindRecomputedForward(const Basis& basis, const SizedOperators& sized);

// The same of traces without operators. `memory_bytes_per_s` of the device, 0 unknown.
// O(ops log sequences).
RecomputedForward FindRecomputedKernels(const Basis& basis, const Phases& phases,
                                        double memory_bytes_per_s);

}  // namespace advise
