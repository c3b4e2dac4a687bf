#include "engine/import/row_order.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

using namespace advise;

namespace {

std::vector<std::uint32_t> OrderOf(const std::vector<int>& values) {
  return SortedOrder(values.size(),
                     [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
}

}  // namespace

TEST_CASE("sorted rows need no order") {
  CHECK(OrderOf({}).empty());
  CHECK(OrderOf({3}).empty());
  CHECK(OrderOf({1, 1, 2}).empty());
}

TEST_CASE("runs of any number and length are merged, equal rows in their old order") {
  CHECK(OrderOf({5, 6, 1, 2, 3}) == std::vector<std::uint32_t>{2, 3, 4, 0, 1});
  CHECK(OrderOf({3, 2, 1}) == std::vector<std::uint32_t>{2, 1, 0});
  CHECK(OrderOf({2, 1, 2, 1}) == std::vector<std::uint32_t>{1, 3, 0, 2});
  std::uint32_t state = 7;
  for (std::size_t size = 2; size < 200; ++size) {
    std::vector<int> values;
    for (std::size_t i = 0; i < size; ++i) {
      state = state * 1664525U + 1013904223U;
      values.push_back(static_cast<int>(state >> 28));
    }
    std::vector<std::uint32_t> expected(size);
    std::iota(expected.begin(), expected.end(), 0U);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](auto a, auto b) { return values[a] < values[b]; });
    const auto order = OrderOf(values);
    if (order.empty()) {
      CHECK(std::is_sorted(values.begin(), values.end()));
    } else {
      CHECK(order == expected);
    }
  }
}

TEST_CASE("rows are ordered by group, rows of no group last") {
  const std::vector<std::uint32_t> group = {1, kNone, 0, 1, kNone, 0};
  const std::vector<Nanos> time = {9, 5, 3, 4, 1, 2};
  CHECK(InstantOrder(group, 2, time) == std::vector<std::uint32_t>{5, 2, 3, 0, 4, 1});
  CHECK(InstantOrder({0, 0, 1, kNone}, 2, {1, 2, 1, 0}).empty());
}

TEST_CASE("of spans that start together the longest comes first") {
  CHECK(SpanOrder({0, 0, 0}, 1, {10, 10, 5}, {20, 30, 6}) == std::vector<std::uint32_t>{2, 1, 0});
}

TEST_CASE("columns follow the order, and an empty order changes nothing") {
  CopyTable table;
  table.bytes = {1, 2, 3};
  table.peer = {7, 8, 9};  // the other columns are not recorded
  ReorderRows({}, &table);
  CHECK(table.bytes == std::vector<std::int64_t>{1, 2, 3});
  ReorderRows({2, 0, 1}, &table);
  CHECK(table.bytes == std::vector<std::int64_t>{3, 1, 2});
  CHECK(table.peer == std::vector<std::uint32_t>{9, 7, 8});
  CHECK(table.source.empty());
}
