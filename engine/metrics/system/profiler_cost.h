// What PyTorch's profiler itself costs the program.
#pragma once

#include <cstddef>

#include "engine/timeline/run.h"

namespace advise {

struct ProfilerCost {
  std::size_t events = 0;  // operators and calls of launching threads in the window
  double time_ns = 0;      // about what recording them takes on these threads, in all
};

// PyTorch's profiler takes `capture.cost_per_event` on the thread that runs an operator or a call,
// so a program that the host limits is slower under it: by half or more, measured. Nothing where
// another profiler made the capture, which costs less and tells itself. O(operators + calls).
ProfilerCost CostOfProfiler(const Run& run);

}  // namespace advise
