#include "engine/trace/intervals.h"

#include <algorithm>

namespace advise {
namespace {

// The first interval that ends after `time`.
std::vector<Interval>::const_iterator FirstEndingAfter(const std::vector<Interval>& intervals,
                                                       Nanos time) {
  return std::upper_bound(intervals.begin(), intervals.end(), time,
                          [](Nanos t, const Interval& i) { return t < i.end; });
}

}  // namespace

IntervalSet IntervalSet::Of(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.end <= i.start; });
  if (!std::is_sorted(intervals.begin(), intervals.end(),
                      [](const Interval& a, const Interval& b) { return a.start < b.start; })) {
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
  }
  IntervalSet set;
  for (const Interval& i : intervals) set.Append(i.start, i.end);
  return set;
}

void IntervalSet::Append(Nanos start, Nanos end) {
  if (end <= start) return;
  if (!intervals_.empty() && start <= intervals_.back().end) {
    intervals_.back().end = std::max(intervals_.back().end, end);
  } else {
    intervals_.push_back({start, end});
  }
}

Nanos IntervalSet::Total() const {
  Nanos total = 0;
  for (const Interval& i : intervals_) total += i.Length();
  return total;
}

IntervalSet IntervalSet::Union(const IntervalSet& other) const {
  IntervalSet set;
  set.intervals_.reserve(intervals_.size() + other.intervals_.size());
  auto a = intervals_.begin();
  auto b = other.intervals_.begin();
  while (a != intervals_.end() || b != other.intervals_.end()) {
    const bool take_a =
        b == other.intervals_.end() || (a != intervals_.end() && a->start <= b->start);
    const Interval& next = take_a ? *a++ : *b++;
    set.Append(next.start, next.end);
  }
  return set;
}

IntervalSet IntervalSet::Intersect(const IntervalSet& other) const {
  IntervalSet set;
  auto a = intervals_.begin();
  auto b = other.intervals_.begin();
  while (a != intervals_.end() && b != other.intervals_.end()) {
    const Nanos start = std::max(a->start, b->start);
    const Nanos end = std::min(a->end, b->end);
    if (start < end) set.intervals_.push_back({start, end});
    (a->end < b->end) ? ++a : ++b;
  }
  return set;
}

IntervalSet IntervalSet::Subtract(const IntervalSet& other) const {
  IntervalSet set;
  auto b = other.intervals_.begin();
  for (const Interval& a : intervals_) {
    Nanos at = a.start;
    while (b != other.intervals_.end() && b->end <= at) ++b;
    for (auto cut = b; cut != other.intervals_.end() && cut->start < a.end; ++cut) {
      if (cut->start > at) set.intervals_.push_back({at, cut->start});
      at = std::max(at, cut->end);
    }
    if (at < a.end) set.intervals_.push_back({at, a.end});
  }
  return set;
}

IntervalSet IntervalSet::Clip(Nanos start, Nanos end) const {
  IntervalSet set;
  for (auto i = FirstEndingAfter(intervals_, start); i != intervals_.end() && i->start < end; ++i) {
    set.Append(std::max(i->start, start), std::min(i->end, end));
  }
  return set;
}

IntervalSet IntervalSet::GapsWithin(Nanos start, Nanos end) const {
  IntervalSet gaps;
  Nanos at = start;
  for (auto i = FirstEndingAfter(intervals_, start); i != intervals_.end() && i->start < end; ++i) {
    gaps.Append(at, i->start);
    at = std::max(at, i->end);
  }
  gaps.Append(at, end);
  return gaps;
}

Nanos IntervalSet::OverlapWith(Nanos start, Nanos end) const {
  Nanos total = 0;
  for (auto i = FirstEndingAfter(intervals_, start); i != intervals_.end() && i->start < end; ++i) {
    total += std::min(i->end, end) - std::max(i->start, start);
  }
  return total;
}

bool IntervalSet::Contains(Nanos time) const {
  const auto i = FirstEndingAfter(intervals_, time);
  return i != intervals_.end() && i->start <= time;
}

}  // namespace advise
