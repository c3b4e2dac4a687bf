// Dense gradients of tables of which a step looks up few rows: the whole gradient is cleared, and
// the optimizer reads and writes the whole table. Known where the sizes of operators were recorded.
#pragma once

#include "engine/metrics/kernels/operators.h"

namespace advise {

struct DenseGradients {
  Loss loss;  // backward passes of such tables, and what passes over whole tables beside
  bool recorded = false;  // sizes of operators were
  double tables = 0;      // per step
  double rows = 0;        // of the largest table
  double lookups = 0;     // rows of it that one backward pass adds to, at most
};

// O(operators + calls + ops + idle pieces).
DenseGradients FindDenseGradients(const Basis& basis, const Operators& operators);

}  // namespace advise
