// Times on devices, added up by hand.
#include "engine/advice/device_times.h"

#include <catch2/catch.hpp>

namespace advise {
namespace {

// On the first device 10 to 30 and 50 to 60, on the second 0 to 5.
std::vector<IntervalSet> Some() {
  return {IntervalSet::Of({{10, 30}, {50, 60}}), IntervalSet::Of({{0, 5}})};
}
std::vector<IntervalSet> Others() {
  return {IntervalSet::Of({{20, 55}}), IntervalSet::Of({{5, 9}})};
}

TEST_CASE("sums and the longest are of the whole time of each device") {
  CHECK(Sum({}) == 0);
  CHECK(Longest({}) == 0);
  CHECK(Longest({IntervalSet(), IntervalSet()}) == 0);
  CHECK(Sum(Some()) == 30 + 5);
  CHECK(Longest(Some()) == 30);
}

TEST_CASE("what two sets share, and what one has without the other") {
  CHECK(LengthShared(Some()[0], Others()[0]) == 10 + 5);
  CHECK(LengthShared(Others()[0], Some()[0]) == 10 + 5);
  CHECK(LengthShared(Some()[1], Others()[1]) == 0);  // they only touch
  CHECK(LengthShared(IntervalSet::Of({{0, 4}, {6, 8}}), IntervalSet::Of({{3, 7}, {7, 9}})) == 3);
  CHECK(SumWithout(Some(), Others()) == 15 + 5);
  CHECK(LongestWithout(Some(), Others()) == 15);
  CHECK(LongestWithout(Some(), Some()) == 0);
  CHECK(LongestWithout({}, {}) == 0);
}

TEST_CASE("sets are joined and taken off device by device") {
  const auto all = Union(Some(), Others());
  REQUIRE(all.size() == 2);
  CHECK(all[0].Total() == 50);
  CHECK(all[1].Total() == 9);
  const auto rest = Subtract(Some(), Others());
  REQUIRE(rest.size() == 2);
  CHECK(rest[0].intervals().front().end == 20);
  CHECK(rest[0].intervals().back().start == 55);
  CHECK(rest[1].Total() == 5);
}

TEST_CASE("a part of each interval is its beginning") {
  const IntervalSet set = IntervalSet::Of({{100, 200}, {1000, 1007}});
  CHECK(Trim(set, 1).Total() == 107);
  CHECK(Trim(set, 2).Total() == 107);
  const IntervalSet half = Trim(set, 0.5);
  CHECK(half.intervals().front().start == 100);
  CHECK(half.intervals().front().end == 150);
  CHECK(half.intervals().back().end == 1004);  // 3.5 is rounded
  CHECK(Trim(set, 0).Total() == 0);
}

}  // namespace
}  // namespace advise
