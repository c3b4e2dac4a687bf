// Sorting of columns: the order of the rows first, then each column after that order. Tables of
// profilers are nearly sorted (a few sorted runs after or inside each other), so runs are found and
// merged instead of sorting from scratch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/side_by_side.h"
#include "engine/base/units.h"
#include "engine/trace/columns.h"

namespace advise {

// Sorts `order` stably by `less`, a strict order of row numbers. O(n log r) for r sorted runs.
template <typename Less>
void MergeRuns(std::span<std::uint32_t> order, Less less) {
  std::vector<std::size_t> starts = {0};  // of each sorted run
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (less(order[i], order[i - 1])) starts.push_back(i);
  }
  if (starts.size() == 1) return;
  std::vector<std::uint32_t> buffer(order.size());
  std::span<std::uint32_t> from = order;
  std::span<std::uint32_t> to = buffer;
  while (starts.size() > 1) {
    std::vector<std::size_t> merged;
    for (std::size_t run = 0; run < starts.size(); run += 2) {
      const std::size_t first = starts[run];
      const std::size_t middle = run + 1 < starts.size() ? starts[run + 1] : order.size();
      const std::size_t last = run + 2 < starts.size() ? starts[run + 2] : order.size();
      std::merge(from.begin() + first, from.begin() + middle, from.begin() + middle,
                 from.begin() + last, to.begin() + first, less);
      merged.push_back(first);
    }
    starts = std::move(merged);
    std::swap(from, to);
  }
  if (from.data() != order.data()) std::copy(from.begin(), from.end(), order.begin());
}

// The order that sorts rows 0 … rows-1 by `less`; empty when they are sorted already.
template <typename Less>
std::vector<std::uint32_t> SortedOrder(std::size_t rows, Less less) {
  bool sorted = true;
  for (std::size_t i = 1; i < rows && sorted; ++i) {
    sorted = !less(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i - 1));
  }
  if (sorted) return {};
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  MergeRuns(std::span(order), less);
  return order;
}

// Row numbers grouped by group (each below `groups`, or kNone, which comes last), in row order
// within a group. `first` receives the start of each group, of the kNone rows, and the end.
std::vector<std::uint32_t> GroupedOrder(const std::vector<std::uint32_t>& group, std::size_t groups,
                                        std::vector<std::size_t>& first);

// The order that sorts rows by (group, less); empty when they are sorted already. O(n) beside the
// merging inside each group.
template <typename Less>
std::vector<std::uint32_t> SortedOrderInGroups(const std::vector<std::uint32_t>& group,
                                               std::size_t groups, Less less) {
  bool sorted = true;
  for (std::uint32_t i = 1; i < group.size() && sorted; ++i) {
    sorted = group[i - 1] < group[i] || (group[i - 1] == group[i] && !less(i, i - 1));
  }
  if (sorted) return {};
  std::vector<std::size_t> first;
  std::vector<std::uint32_t> order = GroupedOrder(group, groups, first);
  for (std::size_t g = 0; g + 1 < first.size(); ++g) {
    MergeRuns(std::span(order).subspan(first[g], first[g + 1] - first[g]), less);
  }
  return order;
}

// The order that sorts rows by one column, from the least.
template <typename T>
std::vector<std::uint32_t> OrderBy(const std::vector<T>& column) {
  return SortedOrder(column.size(),
                     [&](std::uint32_t a, std::uint32_t b) { return column[a] < column[b]; });
}

// The order that sorts rows by (start, end).
std::vector<std::uint32_t> OpOrder(const std::vector<Nanos>& start, const std::vector<Nanos>& end);

// The order that sorts rows by (thread, start, -end): each outer row before those inside it.
std::vector<std::uint32_t> SpanOrder(const std::vector<std::uint32_t>& thread, std::size_t threads,
                                     const std::vector<Nanos>& start,
                                     const std::vector<Nanos>& end);

// The order that sorts rows by (thread, time).
std::vector<std::uint32_t> InstantOrder(const std::vector<std::uint32_t>& thread,
                                        std::size_t threads, const std::vector<Nanos>& time);

// Puts a column into the order. An empty order leaves it as it is, as an empty column is left.
template <typename T>
void Reorder(const std::vector<std::uint32_t>& order, std::vector<T>& column) {
  if (order.empty() || column.empty()) return;
  std::vector<T> sorted;
  sorted.reserve(order.size());
  for (const std::uint32_t row : order) sorted.push_back(column[row]);
  column = std::move(sorted);
}

// Puts all columns of a table into the order, on up to `threads` threads.
template <typename Table>
void ReorderRows(const std::vector<std::uint32_t>& order, Table* table, std::size_t threads = 1) {
  if (order.empty()) return;
  std::vector<std::function<void()>> tasks;
  ForEachColumn<Table>([&](auto column) {
    tasks.push_back([&order, table, column] { Reorder(order, table->*column); });
  });
  SideBySide(tasks.size(), threads, [&](std::size_t i) { tasks[i](); });
}

// Sorts a table by (thread, start, -end).
template <typename Table>
void SortSpans(std::size_t threads, Table* table) {
  ReorderRows(SpanOrder(table->thread, threads, table->start, table->end), table);
}

}  // namespace advise
