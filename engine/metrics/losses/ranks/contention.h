// Collectives that slow the compute beside them: the same kernels with and without one.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

// Kernels of the same name, grid and block are the same.
struct Contention {
  double slowdown = 1;  // time beside over time alone, over kernels seen both ways
  double compared = 0;  // kernels beside a collective that were compared
  Loss loss;            // what they take beyond their time alone
};

Contention FindContention(const Basis& basis);  // O(ops log ops)

}  // namespace advise
