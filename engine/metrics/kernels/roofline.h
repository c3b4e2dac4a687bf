// Work, traffic and limits of one counted kernel, from whatever of its metrics were collected.
#pragma once

#include <string>

#include "engine/metrics/kernels/kernel_counters.h"
#include "engine/trace/counters.h"

namespace advise {

// Values of one instance; see CountedKernel for the meaning of each. Name, class, times and weight
// are left as they are.
void ReadCounters(const KernelCounters& counters, const Knowledge& knowledge,
                  CountedKernel* kernel);

// How long the instance ran, in ns; 0 where that was not collected.
double CountedTime(const KernelCounters& counters, const Knowledge& knowledge);

// Work, traffic, intensity, what is attainable, what bounds the kernel, and its headroom.
void PlaceUnderRoofline(const KernelCounters& counters, const Hardware& hardware,
                        const Knowledge& knowledge, CountedKernel* kernel);

}  // namespace advise
