// What PyTorch's profiler itself costs the program.
#pragma once

#include <cstddef>

#include "engine/replay/remedy.h"
#include "engine/timeline/run.h"

namespace advise {

struct ProfilerCost {
  std::size_t events = 0;  // operators and calls of launching threads in the window
  double time_ns = 0;      // about what recording them takes on these threads, in all
  Remedy gone;             // the run without it: that time is cut from their code
};

// PyTorch's profiler takes `capture.cost_per_event` on the thread that runs an operator or a call,
// so a program that the host limits is slower under it: by half or more, measured. On a faster host
// it takes less, and there events also begin sooner after each other: it takes no more than
// `capture.cost_by_spacing` of the pauses between the starts of two events, as short as the
// shortest are, and no more than `capture.cost_at_most` of the time. Nothing where another profiler
// made the capture, which costs less and tells itself. O(n log n) in the operators and calls.
ProfilerCost CostOfProfiler(const Run& run);

}  // namespace advise
