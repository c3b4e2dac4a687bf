// Drops rows that a report lists twice (see engine/trace/listed_twice.h).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/import/row_order.h"
#include "engine/trace/listed_twice.h"

namespace advise {

// Of GPU work that is sorted and still has the correlation ids of its calls: the rows that stay,
// empty when all do. `nodes` are the ids of nodes of graphs, by row, 0 for none: two nodes of one
// launch may run the same kernel at the same time. Work of no call or of no length all stays. O(n).
std::vector<std::uint32_t> OpsListedOnce(const OpTable& ops, const CopyTable& copies,
                                         const MemsetTable& memsets,
                                         const std::vector<std::uint32_t>& nodes);

// Of a table sorted by thread and time, or by time: drops rows that agree with one before them in
// all columns. O(n).
template <typename Table>
void DropListedTwice(const std::vector<Nanos>& start, Table* table) {
  ReorderRows(
      ListedOnce(start, [&](std::uint32_t a, std::uint32_t b) { return SameRow(*table, a, b); }),
      table);
}

}  // namespace advise
