// From rows of a trace to rows of the replay, as far as the replayed part reaches.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/trace/tables.h"

namespace advise {

using RowIndex = std::vector<std::uint32_t>;
inline std::uint32_t At(const RowIndex& index, std::uint32_t row) {  // kNone: not replayed
  return row < index.size() ? index[row] : kNone;
}

}  // namespace advise
