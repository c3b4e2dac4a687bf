// Sets of time: sorted, disjoint, non-empty half-open intervals [start, end), and their algebra.
// Every operation is one linear pass over its inputs; where the result equals an input, and when a
// set is copied, the two share their memory until one of them changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "engine/trace/interval_list.h"

namespace advise {

class IntervalSet {
 public:
  IntervalSet() = default;
  // Any intervals in any order: empty and backward ones are dropped, touching and overlapping ones
  // merged. O(n log n).
  static IntervalSet Of(std::vector<Interval> intervals);

  void Reserve(std::size_t intervals);  // room for so many
  void GiveBackRoom();                  // that is not used, where it counts
  // Appends an interval that starts at or after the start of the last one; merges where they touch.
  void Append(Nanos start, Nanos end);

  const IntervalList& intervals() const { return data_ ? data_->intervals : kNothing; }
  bool empty() const { return !data_ || data_->intervals.empty(); }
  Nanos Total() const { return data_ ? data_->total : 0; }  // summed length; O(1)

  IntervalSet Union(const IntervalSet& other) const;
  IntervalSet Intersect(const IntervalSet& other) const;
  IntervalSet Subtract(const IntervalSet& other) const;
  IntervalSet Clip(Nanos start, Nanos end) const;        // the part inside [start, end)
  IntervalSet GapsWithin(Nanos start, Nanos end) const;  // what [start, end) has beside this set
  Nanos OverlapWith(Nanos start, Nanos end) const;  // length inside [start, end); O(log n + hits)
  bool Contains(Nanos time) const;                  // O(log n)
  // The intervals whose start lies in [start, end); O(log n). Valid until the set changes.
  IntervalList::Part StartingIn(Nanos start, Nanos end) const;

  friend bool operator==(const IntervalSet& a, const IntervalSet& b) {
    return a.intervals() == b.intervals();
  }

 private:
  struct Data {
    IntervalList intervals;
    Nanos total = 0;
    Nanos last = 0;  // where the last interval ends
    // As IntervalSet::Append.
    void Append(Nanos start, Nanos end) {
      if (end <= start) return;
      if (!intervals.empty() && start <= last) {
        if (end <= last) return;
        total += end - last;
        last = end;
        intervals.EndLastAt(end);
      } else {
        intervals.push_back({start, end});
        total += end - start;
        last = end;
      }
    }
  };
  static IntervalSet From(Data data);
  static const IntervalList kNothing;
  Data& Own();  // to change: no other set's

  std::shared_ptr<Data> data_;  // null: empty
};

// Asks one set again and again, for times that mostly come in order: O(hits) then, else
// O(log n + hits).
class OverlapWalk {
 public:
  OverlapWalk() = default;
  explicit OverlapWalk(IntervalSet set) : set_(std::move(set)) {}
  // As IntervalSet::OverlapWith.
  Nanos With(Nanos start, Nanos end);

 private:
  void MoveTo(Nanos time);  // to the first interval that ends after it

  IntervalSet set_;
  std::size_t at_ = 0;
};

// Collects intervals in any order, and as compact as a set while they come in that of their starts.
class IntervalCollector {
 public:
  // Empty and backward ones are dropped.
  void Add(Nanos start, Nanos end) {
    if (end <= start) return;
    if (start < last_start_) {
      earlier_.push_back({start, end});
    } else {
      last_start_ = start;
      in_order_.Append(start, end);
    }
  }
  bool empty() const { return in_order_.empty() && earlier_.empty(); }
  IntervalSet Build() &&;

 private:
  Nanos last_start_ = std::numeric_limits<Nanos>::min();
  IntervalSet in_order_;
  std::vector<Interval> earlier_;
};

}  // namespace advise
