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
  IntervalSet set;
  if (kept > 0) set.Own() = {std::move(intervals), total};
  return set;
}

void IntervalSet::Append(Nanos start, Nanos end) {
  if (end <= start) return;
  Data& own = Own();
  if (!own.intervals.empty() && start <= own.intervals.back().end) {
    const Nanos more = std::max<Nanos>(0, end - own.intervals.back().end);
    own.intervals.back().end += more;
    own.total += more;
  } else {
    own.intervals.push_back({start, end});
    own.total += end - start;
  }
}

IntervalSet IntervalSet::Union(const IntervalSet& other) const {
  if (other.empty()) return *this;
  if (empty()) return other;
  std::vector<Interval> both;
  both.reserve(intervals().size() + other.intervals().size());
  std::merge(intervals().begin(), intervals().end(), other.intervals().begin(),
             other.intervals().end(), std::back_inserter(both),
             [](const Interval& a, const Interval& b) { return a.start < b.start; });
  return Of(std::move(both));
}

IntervalSet IntervalSet::Intersect(const IntervalSet& other) const {
  IntervalSet set;
  auto a = intervals().begin();
  auto b = other.intervals().begin();
  while (a != intervals().end() && b != other.intervals().end()) {
    const Nanos start = std::max(a->start, b->start);
    const Nanos end = std::min(a->end, b->end);
    set.Append(start, end);
    (a->end < b->end) ? ++a : ++b;
  }
  return set;
}

IntervalSet IntervalSet::Subtract(const IntervalSet& other) const {
  const auto disjoint = [&] {
    return other.intervals().back().end <= intervals().front().start ||
           intervals().back().end <= other.intervals().front().start;
  };
  if (empty() || other.empty() || disjoint()) return *this;
  std::vector<Interval> rest;
  auto b = other.intervals().begin();
  for (const Interval& a : intervals()) {
    Nanos at = a.start;
    while (b != other.intervals().end() && b->end <= at) ++b;
    for (auto cut = b; cut != other.intervals().end() && cut->start < a.end; ++cut) {
      if (cut->start > at) rest.push_back({at, cut->start});
      at = std::max(at, cut->end);
    }
    if (at < a.end) rest.push_back({at, a.end});
  }
  return Of(std::move(rest));
}

IntervalSet IntervalSet::Clip(Nanos start, Nanos end) const {
  if (empty() || (start <= intervals().front().start && intervals().back().end <= end))
    return *this;
  IntervalSet set;
  const std::vector<Interval>& all = intervals();
  for (auto i = FirstEndingAfter(all, start); i != all.end() && i->start < end; ++i) {
    set.Append(std::max(i->start, start), std::min(i->end, end));
  }
  return set;
}

IntervalSet IntervalSet::GapsWithin(Nanos start, Nanos end) const {
  IntervalSet gaps;
  Nanos at = start;
  const std::vector<Interval>& all = intervals();
  for (auto i = FirstEndingAfter(all, start); i != all.end() && i->start < end; ++i) {
    gaps.Append(at, i->start);
    at = std::max(at, i->end);
  }
  gaps.Append(at, end);
  return gaps;
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
