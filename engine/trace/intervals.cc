#include "engine/trace/intervals.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace advise {
namespace {

// The first interval that ends after `time`.
std::vector<Interval>::const_iterator FirstEndingAfter(const std::vector<Interval>& intervals,
                                                       Nanos time) {
  return std::upper_bound(intervals.begin(), intervals.end(), time,
                          [](Nanos t, const Interval& i) { return t < i.end; });
}

// Gives back room that is not used, where it counts: sets are as long as the trace, and stay.
void GiveBackRoom(std::vector<Interval>* intervals) {
  constexpr std::size_t kWorth = std::size_t{1} << 16;  // intervals: a megabyte
  const std::size_t unused = intervals->capacity() - intervals->size();
  if (unused > kWorth && unused > intervals->size() / 8) intervals->shrink_to_fit();
}

}  // namespace

const std::vector<Interval> IntervalSet::kNothing;

IntervalSet::Data& IntervalSet::Own() {
  if (!data_) {
    data_ = std::make_shared<Data>();
  } else if (data_.use_count() > 1) {
    data_ = std::make_shared<Data>(*data_);
  }
  return *data_;
}

IntervalSet IntervalSet::Of(std::vector<Interval> intervals) {
  const auto earlier = [](const Interval& a, const Interval& b) { return a.start < b.start; };
  // Most lists are one sorted run, or two: a few things of their own, then what they caused.
  const auto second = std::is_sorted_until(intervals.begin(), intervals.end(), earlier);
  if (std::is_sorted(second, intervals.end(), earlier)) {
    std::inplace_merge(intervals.begin(), second, intervals.end(), earlier);
  } else {
    std::sort(intervals.begin(), intervals.end(), earlier);
  }
  // Merged in place: such lists are as long as the trace.
  std::size_t kept = 0;
  Nanos total = 0;
  for (const Interval i : intervals) {
    if (i.end <= i.start) continue;
    if (kept > 0 && i.start <= intervals[kept - 1].end) {
      const Nanos more = std::max<Nanos>(0, i.end - intervals[kept - 1].end);
      intervals[kept - 1].end += more;
      total += more;
    } else {
      intervals[kept++] = i;
      total += i.Length();
    }
  }
  intervals.resize(kept);
  GiveBackRoom(&intervals);
  IntervalSet set;
  if (kept > 0) set.Own() = {std::move(intervals), total};
  return set;
}

IntervalSet IntervalSet::From(Data data) {
  IntervalSet set;
  GiveBackRoom(&data.intervals);
  if (!data.intervals.empty()) set.data_ = std::make_shared<Data>(std::move(data));
  return set;
}

void IntervalSet::Reserve(std::size_t intervals) {
  if (intervals > 0) Own().intervals.reserve(intervals);
}

void IntervalSet::Append(Nanos start, Nanos end) {
  if (end > start) Own().Append(start, end);
}

IntervalSet IntervalSet::Union(const IntervalSet& other) const {
  if (other.empty()) return *this;
  if (empty()) return other;
  Data both;
  both.intervals.reserve(intervals().size() + other.intervals().size());
  auto a = intervals().begin();
  auto b = other.intervals().begin();
  while (a != intervals().end() || b != other.intervals().end()) {
    const bool from_a =
        b == other.intervals().end() || (a != intervals().end() && a->start <= b->start);
    const Interval next = from_a ? *a++ : *b++;
    both.Append(next.start, next.end);
  }
  return From(std::move(both));
}

IntervalSet IntervalSet::Intersect(const IntervalSet& other) const {
  Data both;
  both.intervals.reserve(std::min(intervals().size(), other.intervals().size()));
  auto a = intervals().begin();
  auto b = other.intervals().begin();
  while (a != intervals().end() && b != other.intervals().end()) {
    const Nanos start = std::max(a->start, b->start);
    const Nanos end = std::min(a->end, b->end);
    both.Append(start, end);
    (a->end < b->end) ? ++a : ++b;
  }
  return From(std::move(both));
}

IntervalSet IntervalSet::Subtract(const IntervalSet& other) const {
  const auto disjoint = [&] {
    return other.intervals().back().end <= intervals().front().start ||
           intervals().back().end <= other.intervals().front().start;
  };
  if (empty() || other.empty() || disjoint()) return *this;
  Data rest;
  rest.intervals.reserve(intervals().size());  // most cuts take whole intervals, or their ends
  auto b = other.intervals().begin();
  for (const Interval& a : intervals()) {
    Nanos at = a.start;
    while (b != other.intervals().end() && b->end <= at) ++b;
    for (auto cut = b; cut != other.intervals().end() && cut->start < a.end; ++cut) {
      rest.Append(at, cut->start);
      at = std::max(at, cut->end);
    }
    rest.Append(at, a.end);
  }
  return From(std::move(rest));
}

IntervalSet IntervalSet::Clip(Nanos start, Nanos end) const {
  if (empty() || (start <= intervals().front().start && intervals().back().end <= end))
    return *this;
  Data part;
  const std::vector<Interval>& all = intervals();
  const auto first = FirstEndingAfter(all, start);
  const auto last = std::lower_bound(first, all.end(), end,
                                     [](const Interval& i, Nanos t) { return i.start < t; });
  part.intervals.reserve(static_cast<std::size_t>(last - first));
  for (auto i = first; i != last; ++i) {
    part.Append(std::max(i->start, start), std::min(i->end, end));
  }
  return From(std::move(part));
}

IntervalSet IntervalSet::GapsWithin(Nanos start, Nanos end) const {
  Data gaps;
  Nanos at = start;
  const std::vector<Interval>& all = intervals();
  const auto first = FirstEndingAfter(all, start);
  const auto last = std::lower_bound(first, all.end(), end,
                                     [](const Interval& i, Nanos t) { return i.start < t; });
  gaps.intervals.reserve(static_cast<std::size_t>(last - first) + 1);
  for (auto i = first; i != last; ++i) {
    gaps.Append(at, i->start);
    at = std::max(at, i->end);
  }
  gaps.Append(at, end);
  return From(std::move(gaps));
}

Nanos IntervalSet::OverlapWith(Nanos start, Nanos end) const {
  Nanos total = 0;
  const std::vector<Interval>& all = intervals();
  for (auto i = FirstEndingAfter(all, start); i != all.end() && i->start < end; ++i) {
    total += std::min(i->end, end) - std::max(i->start, start);
  }
  return total;
}

bool IntervalSet::Contains(Nanos time) const {
  const auto i = FirstEndingAfter(intervals(), time);
  return i != intervals().end() && i->start <= time;
}

std::span<const Interval> IntervalSet::StartingIn(Nanos start, Nanos end) const {
  const std::vector<Interval>& all = intervals();
  const auto before = [](const Interval& i, Nanos time) { return i.start < time; };
  const auto first = std::lower_bound(all.begin(), all.end(), start, before);
  return {first, std::lower_bound(first, all.end(), std::max(start, end), before)};
}

}  // namespace advise
