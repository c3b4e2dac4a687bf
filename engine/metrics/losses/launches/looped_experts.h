// Experts of a layer that are worked on one after the other: for each of them, its rows are
// gathered, multiplied, and added to the result, by small kernels. One grouped product does all.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct LoopedExperts {
  Loss loss;           // a count is one such loop
  double experts = 0;  // rounds of one loop, on average
};

// `kernels`: of the window, in time order, without communication. Only what is launched one by one
// counts. O(ops of the window + calls of launching threads).
LoopedExperts FindLoopedExperts(const Basis& basis, const std::vector<std::uint32_t>& kernels);

}  // namespace advise
