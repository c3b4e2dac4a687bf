// Sets of time: sorted, disjoint, non-empty half-open intervals [start, end), and their algebra.
// Every operation is one linear pass over its inputs; where the result equals an input, and when a
// set is copied, the two share their memory until one of them changes.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/units.h"

namespace advise {

struct Interval {
  Nanos start = 0;
  Nanos end = 0;
  Nanos Length() const { return end - start; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

class IntervalSet {
 public:
  IntervalSet() = default;
  // Any intervals in any order: empty and backward ones are dropped, touching and overlapping ones
  // merged. O(n log n).
  static IntervalSet Of(std::vector<Interval> intervals);

  void Reserve(std::size_t intervals);  // room for so many
  // Appends an interval that starts at or after the start of the last one; merges where they touch.
  void Append(Nanos start, Nanos end);

  const std::vector<Interval>& intervals() const { return data_ ? data_->intervals : kNothing; }
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
  std::span<const Interval> StartingIn(Nanos start, Nanos end) const;

  friend bool operator==(const IntervalSet& a, const IntervalSet& b) {
    return a.intervals() == b.intervals();
  }

 private:
  struct Data {
    std::vector<Interval> intervals;
    Nanos total = 0;
    // As IntervalSet::Append.
    void Append(Nanos start, Nanos end) {
      if (end <= start) return;
      if (!intervals.empty() && start <= intervals.back().end) {
        const Nanos more = std::max<Nanos>(0, end - intervals.back().end);
        intervals.back().end += more;
        total += more;
      } else {
        intervals.push_back({start, end});
        total += end - start;
      }
    }
  };
  static IntervalSet From(Data data);
  static const std::vector<Interval> kNothing;
  Data& Own();  // to change: no other set's

  std::shared_ptr<Data> data_;  // null: empty
};

}  // namespace advise
