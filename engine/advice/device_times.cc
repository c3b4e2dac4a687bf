#include "engine/advice/device_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace advise {

Nanos LengthShared(const IntervalSet& a, const IntervalSet& b) {
  Nanos shared = 0;
  const IntervalList& x = a.intervals();
  const IntervalList& y = b.intervals();
  for (std::size_t i = 0, k = 0; i < x.size() && k < y.size();) {
    const Interval one = x[i];
    const Interval other = y[k];
    shared += std::max<Nanos>(0, std::min(one.end, other.end) - std::max(one.start, other.start));
    ++(one.end < other.end ? i : k);
  }
  return shared;
}

namespace {

Nanos LengthWithout(const IntervalSet& a, const IntervalSet& b) {
  return a.Total() - LengthShared(a, b);
}

}  // namespace

Nanos Sum(const std::vector<IntervalSet>& sets) {
  Nanos sum = 0;
  for (const IntervalSet& set : sets) sum += set.Total();
  return sum;
}

Nanos Longest(const std::vector<IntervalSet>& sets) {
  Nanos longest = 0;
  for (const IntervalSet& set : sets) longest = std::max(longest, set.Total());
  return longest;
}

Nanos SumWithout(const std::vector<IntervalSet>& a, const std::vector<IntervalSet>& b) {
  Nanos sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += LengthWithout(a[d], b[d]);
  return sum;
}

Nanos LongestWithout(const std::vector<IntervalSet>& a, const std::vector<IntervalSet>& b) {
  Nanos longest = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    longest = std::max(longest, LengthWithout(a[d], b[d]));
  }
  return longest;
}

std::vector<IntervalSet> Union(const std::vector<IntervalSet>& a,
                               const std::vector<IntervalSet>& b) {
  std::vector<IntervalSet> all(a.size());
  for (std::size_t d = 0; d < a.size(); ++d) all[d] = a[d].Union(b[d]);
  return all;
}

std::vector<IntervalSet> Subtract(const std::vector<IntervalSet>& a,
                                  const std::vector<IntervalSet>& b) {
  std::vector<IntervalSet> rest(a.size());
  for (std::size_t d = 0; d < a.size(); ++d) rest[d] = a[d].Subtract(b[d]);
  return rest;
}

IntervalSet Trim(const IntervalSet& set, double part) {
  if (part >= 1) return set;
  IntervalSet trimmed;
  trimmed.Reserve(set.intervals().size());
  for (const Interval& i : set.intervals()) {
    const double length = static_cast<double>(i.Length()) * part;
    trimmed.Append(i.start, i.start + static_cast<Nanos>(std::llround(length)));
  }
  return trimmed;
}

}  // namespace advise
