// Graph breaks of torch.compile: a pass of compiled pieces, with Python between them.
#pragma once

#include <cstddef>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct GraphBreaks {
  // Times between two pieces of one step, and what the GPU waits for the launching thread in them;
  // with the fix, nothing is done there.
  Loss loss;
  std::size_t pieces = 0;  // that were compiled apart and ran in the steps
};

// O(operators + ranges + idle pieces); each distinct name is looked up once.
GraphBreaks FindGraphBreaks(const Basis& basis);

}  // namespace advise
