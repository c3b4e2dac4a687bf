#include "engine/import/row_order.h"

namespace advise {

std::vector<std::uint32_t> GroupedOrder(const std::vector<std::uint32_t>& group, std::size_t groups,
                                        std::vector<std::size_t>& first) {
  first.assign(groups + 2, 0);
  const auto slot = [&](std::uint32_t g) { return g == kNone ? groups : std::size_t{g}; };
  for (const std::uint32_t g : group) ++first[slot(g) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  std::vector<std::uint32_t> order(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    order[next[slot(group[i])]++] = static_cast<std::uint32_t>(i);
  }
  return order;
}

std::vector<std::uint32_t> OpOrder(const std::vector<Nanos>& start, const std::vector<Nanos>& end) {
  return SortedOrder(start.size(), [&](std::uint32_t a, std::uint32_t b) {
    return start[a] != start[b] ? start[a] < start[b] : end[a] < end[b];
  });
}

std::vector<std::uint32_t> SpanOrder(const std::vector<std::uint32_t>& thread, std::size_t threads,
                                     const std::vector<Nanos>& start,
                                     const std::vector<Nanos>& end) {
  return SortedOrderInGroups(thread, threads, [&](std::uint32_t a, std::uint32_t b) {
    return start[a] != start[b] ? start[a] < start[b] : end[a] > end[b];
  });
}

std::vector<std::uint32_t> InstantOrder(const std::vector<std::uint32_t>& thread,
                                        std::size_t threads, const std::vector<Nanos>& time) {
  return SortedOrderInGroups(thread, threads,
                             [&](std::uint32_t a, std::uint32_t b) { return time[a] < time[b]; });
}

}  // namespace advise
