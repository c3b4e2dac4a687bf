// Timers that pace a loop: a thread sleeps for what is left of a period, as renderers and
// simulations in real time do. Whatever its work takes, the next iteration begins with the tick.
#pragma once

#include <vector>

#include "engine/timeline/paced_waits.h"
#include "engine/timeline/run.h"

namespace advise {

// The sleeps of each launching thread that last until a tick, in order: their ends keep the same
// distance, while they themselves are as long as the work before them leaves room for. Where there
// are none, its waits for a source that keeps a clock of its own: `sources`, by thread. Empty for a
// thread that nothing paces. By thread; O(OS calls log of them).
std::vector<std::vector<Interval>> WaitsUntilTicks(const Run& run,
                                                   const std::vector<PacedWaits>& sources);

}  // namespace advise
