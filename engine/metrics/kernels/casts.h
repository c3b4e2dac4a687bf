// In which direction operators cast tensors: weights go one way, activations both ways.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

struct Casts {
  // Of the casts between 16 and 32 bits whose types were recorded, those that widen; -1 unknown.
  double widening = -1;
};

// Casts of the window. O(operators).
Casts FindCasts(const Basis& basis);

}  // namespace advise
