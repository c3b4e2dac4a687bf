// A program that was stopped for a while: by a person, by the scheduler of a cluster, with the
// machine.
#pragma once

#include "engine/timeline/run.h"

namespace advise {

// Where nothing happens for far longer than all steps take, no call of CUDA on any thread, no range
// that tells what this is, and no wait of the thread that goes on that would say for what, the
// steps on the longer side of that pause stay, and run.steps.standstill tells of it. O(ops + ranges
// + calls of the operating system).
void LeaveOutStandstill(const Run& run, Steps* steps);

}  // namespace advise
