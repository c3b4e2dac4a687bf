// Sets of time: sorted, disjoint, non-empty half-open intervals [start, end), and their algebra.
// Every operation is one linear pass over its inputs.
#pragma once

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

  // Appends an interval that starts at or after the start of the last one; merges where they touch.
  void Append(Nanos start, Nanos end);

  const std::vector<Interval>& intervals() const { return intervals_; }
  bool empty() const { return intervals_.empty(); }
  Nanos Total() const;  // summed length

  IntervalSet Union(const IntervalSet& other) const;
  IntervalSet Intersect(const IntervalSet& other) const;
  IntervalSet Subtract(const IntervalSet& other) const;
  IntervalSet Clip(Nanos start, Nanos end) const;        // the part inside [start, end)
  IntervalSet GapsWithin(Nanos start, Nanos end) const;  // what [start, end) has beside this set
  Nanos OverlapWith(Nanos start, Nanos end) const;  // length inside [start, end); O(log n + hits)
  bool Contains(Nanos time) const;                  // O(log n)

  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

 private:
  std::vector<Interval> intervals_;
};

}  // namespace advise
