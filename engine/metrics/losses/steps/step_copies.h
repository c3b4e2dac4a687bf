// The copies of single steps, such as those of a checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// A copy by direction and size (to a power of two).
using CopyClass = std::pair<CopyDirection, int>;
CopyClass ClassOfCopy(const Trace& trace, std::uint32_t op);

struct CopyOfStep {
  std::uint32_t op = kNone;
  std::size_t step = 0;
};

// Copies that most steps do not make and that may go on beside the loop, as those of a checkpoint
// do. Where a step sends about as much back, it needs what it sends, and waits for all of it.
// Copies of one kind that follow each other without a kernel between them belong to the step of the
// last of them: where steps are known by what repeats, one may begin among them. O(n log n).
std::vector<CopyOfStep> ExtraCopies(const Run& run);

}  // namespace advise
