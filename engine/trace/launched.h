// How much of the GPU work has a known launching call.
#pragma once

#include <cstddef>

#include "engine/trace/tables.h"

namespace advise {

// Operations of streams: what the driver migrates by itself, nothing launches.
struct Launched {
  std::size_t all = 0;
  std::size_t unknown = 0;  // whose call was not captured

  double UnknownShare() const {
    return all == 0 ? 0 : static_cast<double>(unknown) / static_cast<double>(all);
  }
};

inline Launched CountLaunched(const OpTable& ops) {  // O(ops)
  Launched launched;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (ops.stream[op] == kNone) continue;
    ++launched.all;
    launched.unknown += ops.call[op] == kNone ? 1 : 0;
  }
  return launched;
}

}  // namespace advise
