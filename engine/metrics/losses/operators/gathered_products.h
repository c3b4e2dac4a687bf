// Products whose matrices a gather copied, one for each row: more copies than there are matrices to
// choose from. With the rows in the order of their matrices, each matrix is read once, and none is
// copied. Known where sizes of operators were recorded.
#pragma once

#include "engine/metrics/kernels/sized_operators.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct GatheredProducts {
  Loss loss;              // gathers, and what products take longer for reading each copy
  bool recorded = false;  // sizes of operators were
  double copies = 0;      // of the largest such gather: rows that are multiplied
  double matrices = 0;    // of it: those that it chooses from
};

// O(ops of the window).
GatheredProducts FindGatheredProducts(const Basis& basis, const SizedOperators& operators);

}  // namespace advise
