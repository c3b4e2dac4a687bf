#include "engine/trace/intervals.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "tests/support/dice.h"

namespace advise {
namespace {

IntervalSet Set(std::vector<Interval> intervals) { return IntervalSet::Of(std::move(intervals)); }

IntervalList ListOf(const std::vector<Interval>& intervals) {
  IntervalList list;
  for (const Interval& one : intervals) list.push_back(one);
  return list;
}

TEST_CASE("overlapping and touching intervals merge, in whatever order they come") {
  CHECK(Set({{5, 8}, {0, 3}, {2, 5}}).intervals() == ListOf({{0, 8}}));
  CHECK(Set({{0, 2}, {3, 5}}).intervals() == ListOf({{0, 2}, {3, 5}}));
  CHECK(Set({{0, 10}, {2, 3}}).intervals() == ListOf({{0, 10}}));
}

TEST_CASE("empty and backward intervals are dropped") {
  CHECK(Set({{5, 5}, {9, 2}}).empty());
  CHECK(Set({{9, 2}, {1, 2}}).intervals() == ListOf({{1, 2}}));
}

// Lengths and distances from nanoseconds to minutes: most fit into few bits, some do not.
TEST_CASE("a list of intervals gives back what it was given, however far apart") {
  Dice dice(2611);
  for (int i = 0; i < 300; ++i) {
    std::vector<Interval> all;
    IntervalList list;
    Nanos at = dice.Roll(1 << 30) * (i % 3 == 0 ? 1'000'000'000 : 1);
    for (std::int64_t k = dice.Roll(300); k > 0; --k) {
      const auto length = [&] {
        return 1 + dice.Roll(1 << 30) * (dice.Roll(40) == 0 ? 60 : 1) / 9;
      };
      const Nanos start = at + length();
      at = start + length();
      all.push_back({start, at});
      list.push_back({start, at});
      if (dice.Roll(5) > 0) continue;
      at += length();
      all.back().end = at;
      list.EndLastAt(at);
    }
    CHECK(std::vector<Interval>(list.begin(), list.end()) == all);
    CHECK(list.size() == all.size());
    CHECK(list == ListOf(all));
    if (!all.empty()) CHECK((list.front() == all.front() && list.back() == all.back()));
    for (int k = 0; k < 50; ++k) {
      const bool edge = !all.empty() && dice.Roll(2) == 0;
      const Interval& near = edge ? all[dice.Roll(all.size())] : Interval{0, at + 10};
      const Nanos time = edge ? (dice.Roll(2) == 0 ? near.start : near.end) - 1 + dice.Roll(3)
                              : dice.Roll(near.end);
      const auto ends =
          std::find_if(all.begin(), all.end(), [&](auto& one) { return one.end > time; });
      const auto starts =
          std::find_if(all.begin(), all.end(), [&](auto& one) { return one.start >= time; });
      CHECK(list.FirstEndingAfter(time) - list.begin() == ends - all.begin());
      CHECK(list.FirstStartingFrom(time) - list.begin() == starts - all.begin());
    }
  }
}

TEST_CASE("a collector gives the same set as all at once, in whatever order they come") {
  Dice dice(2711);
  for (int i = 0; i < 300; ++i) {
    std::vector<Interval> all;
    IntervalCollector collector;
    for (int k = 0; k < 40; ++k) {
      const Nanos start = dice.Roll(4) == 0 ? dice.Roll(1000) : 25 * k + dice.Roll(10);
      all.push_back({start, start + dice.Roll(30) - 2});
      collector.Add(all.back().start, all.back().end);
    }
    CHECK(std::move(collector).Build() == Set(all));
  }
}

TEST_CASE("appending in order of start gives the same set as all at once") {
  IntervalSet set;
  set.Append(0, 4);
  set.Append(2, 3);
  set.Append(4, 6);
  set.Append(7, 7);
  set.Append(8, 9);
  CHECK(set == Set({{0, 6}, {8, 9}}));
}

TEST_CASE("intervals are half-open: they hold their start and not their end") {
  const IntervalSet set = Set({{2, 4}});
  CHECK_FALSE(set.Contains(1));
  CHECK(set.Contains(2));
  CHECK(set.Contains(3));
  CHECK_FALSE(set.Contains(4));
  CHECK_FALSE(IntervalSet().Contains(0));
}

TEST_CASE("gaps reach to both ends of the range that is asked for") {
  CHECK(Set({{2, 4}, {6, 8}}).GapsWithin(0, 10) == Set({{0, 2}, {4, 6}, {8, 10}}));
  CHECK(Set({{0, 10}}).GapsWithin(2, 8).empty());
  CHECK(IntervalSet().GapsWithin(3, 7) == Set({{3, 7}}));
  CHECK(IntervalSet().GapsWithin(3, 3).empty());
}

TEST_CASE("times before zero and large times are times as any other") {
  const Nanos year = 31'557'600LL * 1'000'000'000LL;
  CHECK(Set({{-5, 5}}).Clip(-2, 50).Total() == 7);
  CHECK(Set({{0, 50 * year}}).Subtract(Set({{year, 2 * year}})).Total() == 49 * year);
}

// The algebra against a model that says of each nanosecond whether it is in the set.
constexpr Nanos kSpan = 60;
using Model = std::vector<bool>;

Model ModelOf(const IntervalSet& set) {
  Model model(kSpan, false);
  for (const Interval& i : set.intervals()) {
    for (Nanos t = i.start; t < i.end; ++t) model[static_cast<std::size_t>(t)] = true;
  }
  return model;
}

struct Sample {
  std::vector<Interval> raw;
  IntervalSet set;
  Model model = Model(kSpan, false);
};

Sample RandomSet(Dice* dice) {
  Sample sample;
  for (std::int64_t n = dice->Roll(9); n > 0; --n) {
    const Nanos start = dice->Roll(kSpan);
    const Nanos end = std::min<Nanos>(kSpan, start + dice->Roll(12));
    sample.raw.push_back({start, end});
    for (Nanos t = start; t < end; ++t) sample.model[static_cast<std::size_t>(t)] = true;
  }
  sample.set = IntervalSet::Of(sample.raw);
  return sample;
}

template <typename Keep>
Model Combined(const Model& a, const Model& b, Keep keep) {
  Model model(kSpan);
  for (std::size_t t = 0; t < model.size(); ++t) model[t] = keep(a[t], b[t]);
  return model;
}

// Sorted, not empty, and with space between neighbors: touching ones would have been merged.
bool IsCanonical(const IntervalSet& set) {
  const auto& list = set.intervals();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].end <= list[i].start) return false;
    if (i > 0 && list[i].start <= list[i - 1].end) return false;
  }
  return true;
}

TEST_CASE("union, intersection and difference agree with the model of single nanoseconds") {
  Dice dice(20260101);
  for (int i = 0; i < 4000; ++i) {
    const Sample a = RandomSet(&dice);
    const Sample b = RandomSet(&dice);
    REQUIRE(ModelOf(a.set) == a.model);
    const IntervalSet both = a.set.Union(b.set);
    const IntervalSet common = a.set.Intersect(b.set);
    const IntervalSet rest = a.set.Subtract(b.set);
    CHECK(ModelOf(both) == Combined(a.model, b.model, [](bool x, bool y) { return x || y; }));
    CHECK(ModelOf(common) == Combined(a.model, b.model, [](bool x, bool y) { return x && y; }));
    CHECK(ModelOf(rest) == Combined(a.model, b.model, [](bool x, bool y) { return x && !y; }));
    CHECK((IsCanonical(a.set) && IsCanonical(both) && IsCanonical(common) && IsCanonical(rest)));
  }
}

TEST_CASE("clips, gaps, overlaps and lookups agree with the model of single nanoseconds") {
  Dice dice(7);
  for (int i = 0; i < 4000; ++i) {
    const Sample a = RandomSet(&dice);
    const Nanos from = dice.Roll(kSpan);
    const Nanos to = dice.Between(from, kSpan);
    Model inside(kSpan, false);
    Model gaps(kSpan, false);
    Nanos overlap = 0;
    for (Nanos t = from; t < to; ++t) {
      const bool in = a.model[static_cast<std::size_t>(t)];
      inside[static_cast<std::size_t>(t)] = in;
      gaps[static_cast<std::size_t>(t)] = !in;
      overlap += in ? 1 : 0;
    }
    CHECK(ModelOf(a.set.Clip(from, to)) == inside);
    CHECK(ModelOf(a.set.GapsWithin(from, to)) == gaps);
    CHECK(a.set.OverlapWith(from, to) == overlap);
    std::vector<Interval> starting;
    for (const Interval& one : a.set.intervals()) {
      if (one.start >= from && one.start < to) starting.push_back(one);
    }
    const auto found = a.set.StartingIn(from, to);
    CHECK(std::vector<Interval>(found.begin(), found.end()) == starting);
    CHECK(a.set.Contains(from) == a.model[static_cast<std::size_t>(from)]);
    CHECK((IsCanonical(a.set.Clip(from, to)) && IsCanonical(a.set.GapsWithin(from, to))));
  }
}

TEST_CASE("a walk tells the same overlaps, whether times come in order or not") {
  Dice dice(17);
  for (int i = 0; i < 200; ++i) {
    IntervalSet set;
    for (Nanos at = dice.Roll(50), n = dice.Roll(200); n > 0; --n) {
      const Nanos start = at + 1 + dice.Roll(20);
      at = start + 1 + dice.Roll(20);
      set.Append(start, at);
    }
    OverlapWalk walk(set);
    Nanos from = 0;
    for (int k = 0; k < 100; ++k) {
      const bool back = dice.Chance(10);
      from = back ? dice.Roll(8000) : from + dice.Roll(dice.Chance(5) ? 1000 : 60);
      const Nanos to = from + dice.Roll(100);
      CHECK(walk.With(from, to) == set.OverlapWith(from, to));
    }
  }
  CHECK(OverlapWalk().With(0, 10) == 0);
}

TEST_CASE("sizes add up: a set is its common part and its rest, a union its two parts once") {
  Dice dice(99);
  for (int i = 0; i < 2000; ++i) {
    const IntervalSet a = RandomSet(&dice).set;
    const IntervalSet b = RandomSet(&dice).set;
    CHECK(a.Total() == a.Intersect(b).Total() + a.Subtract(b).Total());
    CHECK(a.Union(b).Total() == a.Total() + b.Subtract(a).Total());
    CHECK(a.Union(b) == b.Union(a));
    CHECK(a.Intersect(b) == b.Intersect(a));
    CHECK(a.Clip(0, kSpan) == a);
  }
}

}  // namespace
}  // namespace advise
