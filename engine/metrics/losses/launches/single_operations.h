// Compiled programs that hold one operation each: JAX compiles and calls every operation outside
// jax.jit by itself. In one compiled function they would be a few fused kernels behind one call.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

struct SingleOperations {
  double programs_per_step = 0;  // calls of compiled programs
  double single_share = 0;       // of them: those with as few kernels as one operation has
  Loss loss;                     // series of such calls; fix: one call for all of them
};

// Of the ranges that XLA opens around the launches of each program. O(ranges + calls + gaps).
SingleOperations FindSingleOperations(const Basis& basis);

}  // namespace advise
