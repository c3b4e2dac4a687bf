// What a remedy changes, by the calls and ops of the replay instead of by rows of the trace.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/replay/remedy.h"
#include "engine/replay/row_index.h"
#include "engine/trace/intervals.h"

namespace advise {

// Per-call and per-op flags of one remedy, dense for the replay's own indices.
struct Changes {
  std::vector<std::uint8_t> unblocked, vanished, detached, freed;
  std::vector<float> factor;
  mutable std::vector<OverlapWalk> cuts;  // by thread, as far as the last that is cut

  Nanos CutWithin(std::uint32_t thread, Nanos from, Nanos to) const {
    return thread < cuts.size() ? cuts[thread].With(from, to) : 0;
  }
};

// `calls`, `ops`: how many are replayed. O(calls + ops + changes log of them).
Changes Spread(const Remedy& remedy, const RowIndex& call_index, const RowIndex& op_index,
               std::size_t calls, std::size_t ops);

}  // namespace advise
