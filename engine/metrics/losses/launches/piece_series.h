// Long series of launches that use next to nothing of the GPU each: pieces of one job, which one
// launch could do side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct PieceSeries {
  Loss loss;          // the time of these kernels, and idle time between them
  double pieces = 0;  // in one series, on average
  double body = 0;    // kernels of one piece, on average
};

// A piece is one kernel, or a few different ones that come again and again in the same order; all
// have a few blocks. `kernels`: of the window, in time order, without communication. O(kernels).
PieceSeries FindPieceSeries(const Basis& basis, const std::vector<std::uint32_t>& kernels);

}  // namespace advise
