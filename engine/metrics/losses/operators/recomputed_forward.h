// Activation checkpointing: operators of the forward pass that run again inside the backward pass.
// Autograd numbers them there, as it numbers the forward pass; what a backward pass computes itself
// has no numbers, but for gradients of gradients.
#pragma once

#include "engine/metrics/kernels/sized_operators.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct RecomputedForward {
  Loss loss;          // stretches of the forward pass inside the backward pass
  double bytes = -1;  // of what they read, per step: about what would be kept; -1 unknown
};

// O(operators + calls + ops log stretches).
RecomputedForward FindRecomputedForward(const Basis& basis, const SizedOperators& sized);

}  // namespace advise
