// Tokens that a generation computes again: each pass runs over the whole sequence, a token longer
// than the pass before, because keys and values are not kept. Known where sizes of operators were
// recorded: queries grow from pass to pass together with the keys they look at. With a cache only
// the keys do.
#pragma once

#include "engine/metrics/kernels/sized_operators.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct Hardware;

struct RecomputedTokens {
  Loss loss;              // passes over tokens that were computed before; what that takes
  bool recorded = false;  // sizes of operators were
  double tokens = 0;      // of a sequence in the longest such pass
  double added = 0;       // of them, that are new in that pass
};

// O(operators + ops log passes).
RecomputedTokens FindRecomputedTokens(const Basis& basis, const SizedOperators& operators,
                                      const Hardware& hardware);

}  // namespace advise
