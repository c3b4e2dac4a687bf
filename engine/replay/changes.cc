#include "engine/replay/changes.h"

#include <utility>

namespace advise {

Changes Spread(const Remedy& remedy, const RowIndex& call_index, const RowIndex& op_index,
               std::size_t calls, std::size_t ops) {
  Changes changes;
  changes.unblocked.assign(calls, 0);
  changes.vanished.assign(calls, 0);
  changes.detached.assign(ops, 0);
  changes.freed.assign(ops, 0);
  changes.factor.assign(ops, 1.0F);
  const auto set = [](const std::vector<std::uint32_t>& rows, const RowIndex& index, auto* flags) {
    for (const std::uint32_t row : rows) {
      if (At(index, row) != kNone) (*flags)[index[row]] = 1;
    }
  };
  set(remedy.unblocked_calls, call_index, &changes.unblocked);
  set(remedy.vanished_calls, call_index, &changes.vanished);
  set(remedy.detached_ops, op_index, &changes.detached);
  set(remedy.freed_ops, op_index, &changes.freed);
  for (const auto* list : {&remedy.scaled_ops, &remedy.lighter_ops}) {
    for (const auto& [row, factor] : *list) {
      if (At(op_index, row) != kNone) changes.factor[op_index[row]] *= factor;
    }
  }
  for (auto& [thread, cut] : CutsByThread(remedy.host_cuts)) {
    changes.cuts.resize(thread + 1);
    changes.cuts.back() = OverlapWalk(std::move(cut));
  }
  return changes;
}

}  // namespace advise
