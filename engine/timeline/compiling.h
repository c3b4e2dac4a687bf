// When threads compiled the code that they load next.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// By thread: when it compiled. It made no recorded call of CUDA for long (see LongPauses), and then
// loaded code from its own memory; where the call may load a library on its first use, it did so
// several times (`launch.compile_repeats`). Loads of one step, and those without a launch in
// between, are of one compilation: it is traced first, which takes longest, and then its kernels
// are loaded one by one. What a pause has beyond `launch.compile_most` times the longest pause of
// the usual compilation was something else, such as a wait for data. A wait between two loads
// without a launch is for the compiler, and so are waits before the first load that take no more
// than `launch.compile_most` times as long. O((calls + OS calls of threads that load) log steps).
std::vector<IntervalSet> CompilingPauses(const Run& run);

}  // namespace advise
