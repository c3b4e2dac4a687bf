// Programs that are started again and again, one after the other: each loads its libraries and
// makes a context of the GPU before it does little work.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct ProcessStarts {
  std::size_t processes = 0;  // in a row, on the device with most of them; 0 where none follow
  // By device: what is idle between the last op of one process and the first of the next that
  // launches the same kernel first.
  std::vector<IntervalSet> lost;
};

ProcessStarts FindProcessStarts(const Basis& basis);  // O(ops log processes)

}  // namespace advise
