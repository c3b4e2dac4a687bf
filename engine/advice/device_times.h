// Times on devices: one set of intervals per device, all of them with as many devices.
#pragma once

#include <vector>

#include "engine/trace/intervals.h"

namespace advise {

Nanos Sum(const std::vector<IntervalSet>& sets);
Nanos Longest(const std::vector<IntervalSet>& sets);  // of one device

// The length of Intersect without the set itself, which is as long as the trace.
Nanos LengthShared(const IntervalSet& a, const IntervalSet& b);

// Of a what lies outside of b.
Nanos SumWithout(const std::vector<IntervalSet>& a, const std::vector<IntervalSet>& b);
Nanos LongestWithout(const std::vector<IntervalSet>& a, const std::vector<IntervalSet>& b);
std::vector<IntervalSet> Subtract(const std::vector<IntervalSet>& a,
                                  const std::vector<IntervalSet>& b);

std::vector<IntervalSet> Union(const std::vector<IntervalSet>& a,
                               const std::vector<IntervalSet>& b);

// The first `part` of each interval.
IntervalSet Trim(const IntervalSet& set, double part);

}  // namespace advise
