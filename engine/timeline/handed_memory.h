// Data that another process hands a thread in shared memory, as the worker processes of a data
// loader do: the thread waits at a pipe, receives the descriptor of the memory and maps it. Nsight
// Systems does not trace forked workers, so that this is all that a report shows of them. Only
// threads of processes that launch GPU work are asked.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// By thread, in time order: from when the thread began to wait for the memory (from when it
// received it, if it was there already) until it was done with mapping it. O(OS calls).
std::vector<std::vector<Interval>> HandedMemory(const Run& run);

}  // namespace advise
