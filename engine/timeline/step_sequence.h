// The GPU work in which steps without annotations are looked for.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// The busiest stream of the device with most ops, in time order without communication (whose order
// varies); of the nodes of a graph the first. O(ops of the device).
std::vector<std::uint32_t> BusiestSequence(const Run& run);

// Ops of kernels that do not run equally often in each iteration: forces that a user's hand adds,
// or refinement where the data ask for it. An iteration reaches from one run of a kernel to the
// next; of which, is told by how often most kinds of kernels run. Nothing where no two agree.
// O(ops log ops).
std::set<std::uint32_t> IrregularKernels(const Run& run,
                                         const std::vector<std::uint32_t>& sequence);

}  // namespace advise
