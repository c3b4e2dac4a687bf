#include "engine/trace/intervals.h"

#include <algorithm>
#include <utility>

namespace advise {
namespace {

// Walks forward through a list and holds where it is, so that each interval is read once.
class Cursor {
 public:
  explicit Cursor(const IntervalList& list) : list_(list) { Read(); }
  bool done() const { return at_ == list_.size(); }
  const Interval& operator*() const { return interval_; }
  const Interval* operator->() const { return &interval_; }
  void Next() {
    ++at_;
    Read();
  }

 private:
  void Read() {
    if (!done()) interval_ = list_[at_];
  }

  const IntervalList& list_;
  std::size_t at_ = 0;
  Interval interval_;
};

}  // namespace

const IntervalList IntervalSet::kNothing;

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
  Data merged;
  merged.intervals.reserve(intervals.size());
  for (const Interval& i : intervals) merged.Append(i.start, i.end);
  return From(std::move(merged));
}

IntervalSet IntervalSet::From(Data data) {
  IntervalSet set;
  data.intervals.GiveBackRoom();
  if (!data.intervals.empty()) set.data_ = std::make_shared<Data>(std::move(data));
  return set;
}

IntervalSet IntervalCollector::Build() && {
  in_order_.GiveBackRoom();
  return in_order_.Union(IntervalSet::Of(std::move(earlier_)));
}

void IntervalSet::Reserve(std::size_t intervals) {
  if (intervals > 0) Own().intervals.reserve(intervals);
}

void IntervalSet::GiveBackRoom() {
  if (!empty()) Own().intervals.GiveBackRoom();
}

void IntervalSet::Append(Nanos start, Nanos end) {
  if (end > start) Own().Append(start, end);
}

IntervalSet IntervalSet::Union(const IntervalSet& other) const {
  if (other.empty()) return *this;
  if (empty()) return other;
  Data both;
  both.intervals.reserve(intervals().size() + other.intervals().size());
  Cursor a(intervals());
  Cursor b(other.intervals());
  while (!a.done() || !b.done()) {
    Cursor& next = b.done() || (!a.done() && a->start <= b->start) ? a : b;
    both.Append(next->start, next->end);
    next.Next();
  }
  return From(std::move(both));
}

IntervalSet IntervalSet::Intersect(const IntervalSet& other) const {
  Data both;
  both.intervals.reserve(std::min(intervals().size(), other.intervals().size()));
  Cursor a(intervals());
  Cursor b(other.intervals());
  while (!a.done() && !b.done()) {
    both.Append(std::max(a->start, b->start), std::min(a->end, b->end));
    (a->end < b->end ? a : b).Next();
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
  Cursor cut(other.intervals());
  for (const Interval& a : intervals()) {
    Nanos at = a.start;
    while (!cut.done() && cut->end <= at) cut.Next();
    // A cut that reaches further is needed for the next interval, too.
    for (; !cut.done() && cut->start < a.end; cut.Next()) {
      rest.Append(at, cut->start);
      at = std::max(at, cut->end);
      if (cut->end > a.end) break;
    }
    rest.Append(at, a.end);
  }
  return From(std::move(rest));
}

IntervalSet IntervalSet::Clip(Nanos start, Nanos end) const {
  if (empty() || (start <= intervals().front().start && intervals().back().end <= end))
    return *this;
  Data part;
  const IntervalList& all = intervals();
  const auto first = all.FirstEndingAfter(start);
  const auto last = std::max(first, all.FirstStartingFrom(end));
  part.intervals.reserve(static_cast<std::size_t>(last - first));
  for (const Interval& i : IntervalList::Part{first, last})
    part.Append(std::max(i.start, start), std::min(i.end, end));
  return From(std::move(part));
}

IntervalSet IntervalSet::GapsWithin(Nanos start, Nanos end) const {
  Data gaps;
  Nanos at = start;
  const IntervalList& all = intervals();
  const auto first = all.FirstEndingAfter(start);
  const auto last = std::max(first, all.FirstStartingFrom(end));
  gaps.intervals.reserve(static_cast<std::size_t>(last - first) + 1);
  for (const Interval& i : IntervalList::Part{first, last}) {
    gaps.Append(at, i.start);
    at = std::max(at, i.end);
  }
  gaps.Append(at, end);
  return From(std::move(gaps));
}

Nanos IntervalSet::OverlapWith(Nanos start, Nanos end) const {
  Nanos total = 0;
  const IntervalList& all = intervals();
  for (const Interval& i : IntervalList::Part{all.FirstEndingAfter(start), all.end()}) {
    if (i.start >= end) break;
    total += std::min(i.end, end) - std::max(i.start, start);
  }
  return total;
}

Nanos OverlapWalk::With(Nanos start, Nanos end) {
  const IntervalList& all = set_.intervals();
  if (all.empty()) return 0;
  MoveTo(start);
  Nanos total = 0;
  for (std::size_t i = at_; i < all.size(); ++i) {
    const Interval one = all[i];
    if (one.start >= end) break;
    total += std::min(one.end, end) - std::max(one.start, start);
  }
  return total;
}

void OverlapWalk::MoveTo(Nanos time) {
  constexpr int kNear = 8;  // beyond that a search is faster than a walk
  const IntervalList& all = set_.intervals();
  bool found = at_ == 0 || all[at_ - 1].end <= time;
  for (int i = 0; found && at_ < all.size() && all[at_].end <= time; ++i, ++at_) found = i < kNear;
  if (!found) at_ = static_cast<std::size_t>(all.FirstEndingAfter(time) - all.begin());
}

bool IntervalSet::Contains(Nanos time) const {
  const auto i = intervals().FirstEndingAfter(time);
  return i != intervals().end() && i->start <= time;
}

IntervalList::Part IntervalSet::StartingIn(Nanos start, Nanos end) const {
  const IntervalList& all = intervals();
  return {all.FirstStartingFrom(start), all.FirstStartingFrom(std::max(start, end))};
}

}  // namespace advise
