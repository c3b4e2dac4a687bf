// Waits of the host for GPU work that it asks for again and again: what it does between two
// questions, such as a sleep, ends with the work, however often it has asked by then.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

struct Polls {
  // By call: asks once more, and has to ask again.
  std::vector<std::uint8_t> asks_again;
  // By call: the op that has ended when a thread asks, and need not ask again; kNone for none.
  std::vector<std::uint32_t> awaited;
};

// O((calls + ops) log ops).
Polls FindPolls(const Run& run);

}  // namespace advise
