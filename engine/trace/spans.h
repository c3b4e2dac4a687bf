// Time on devices: one interval set a device. What a finding may claim.
#pragma once

#include <vector>

#include "engine/trace/intervals.h"

namespace advise {

struct Spans {
  std::vector<IntervalSet> by_device;  // as Trace::devices

  Nanos Total() const {  // summed over devices
    Nanos total = 0;
    for (const IntervalSet& set : by_device) total += set.Total();
    return total;
  }
};

}  // namespace advise
