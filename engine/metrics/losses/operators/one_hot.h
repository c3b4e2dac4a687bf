// Products of a one-hot matrix, which holds a single 1 in each row: they pick rows of the other
// operand, and a look-up does that without the matrix. Known where sizes of operators were
// recorded.
#pragma once

#include "engine/metrics/kernels/sized_operators.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct Hardware;

struct OneHotProducts {
  Loss loss;              // from clearing the matrix to the product; what a look-up does not need
  bool recorded = false;  // sizes of operators were
  double rows = 0;        // of the largest such matrix: look-ups
  double classes = 0;     // of it: rows of the other operand
};

// O(operators + ops log products).
OneHotProducts FindOneHotProducts(const Basis& basis, const SizedOperators& operators,
                                  const Hardware& hardware);

}  // namespace advise
