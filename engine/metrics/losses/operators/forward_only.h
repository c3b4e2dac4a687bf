// Forward passes in training that no backward pass follows: validation, a teacher, a frozen part of
// the model, a rollout. Autograd numbers the operators that it records; those of such passes have
// no number.
#pragma once

#include "engine/metrics/kernels/sized_operators.h"
#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct ForwardOnly {
  Loss loss;                // such passes, from their first product to their last
  bool recorded = false;    // operators with numbers, and backward passes
  double same_layers = -1;  // part of the time of their products whose weights have the sizes of
                            // weights that are trained; -1 unknown
};

// O(operators + calls + ops).
ForwardOnly FindForwardOnly(const Basis& basis, const SizedOperators& sized, const Phases& phases);

}  // namespace advise
