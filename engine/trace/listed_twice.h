// Rows that a report lists twice, as where exports were appended to one file or traces were merged
// that overlap: what they say happened once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/trace/columns.h"

namespace advise {

// Note on a report whose rows were counted once. Who counts its rows must do the same.
inline constexpr std::string_view kRowsListedTwice =
    "the same GPU work is listed twice, and counted once";

// The rows that stay of a table sorted by `start`: those that are the `same` as none of the few
// before them that start together. Empty when all stay. O(n).
template <typename Same>
std::vector<std::uint32_t> ListedOnce(const std::vector<Nanos>& start, Same same) {
  constexpr std::size_t kMostBefore = 16;  // so that rows without times stay cheap
  std::vector<std::uint32_t> kept;
  kept.reserve(start.size());
  for (std::uint32_t row = 0; row < start.size(); ++row) {
    const auto repeats = [&](std::size_t back) { return same(kept[kept.size() - back], row); };
    bool known = false;
    for (std::size_t back = 1; !known && back <= std::min(kept.size(), kMostBefore); ++back) {
      if (start[kept[kept.size() - back]] != start[row]) break;
      known = repeats(back);
    }
    if (!known) kept.push_back(row);
  }
  if (kept.size() == start.size()) kept.clear();
  return kept;
}

// Whether all cells of two rows agree.
template <typename Table>
bool SameRow(const Table& table, std::uint32_t a, std::uint32_t b) {
  bool same = true;
  ForEachColumn<Table>([&](auto column) {
    const auto& cells = table.*column;
    same = same && (cells.empty() || cells[a] == cells[b]);
  });
  return same;
}

}  // namespace advise
