// Which work waited for which by recorded events: cudaEventRecord in one stream,
// cudaStreamWaitEvent in another.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// By op: the op in whose stream an event was recorded behind it, and for which the op's own stream
// was made to wait before it; of several the one that ended last. kNone for none, and where the
// capture lacks the events. O(n log n) in the ops and calls of the run.
std::vector<std::uint32_t> AwaitedByEvents(const Run& run);

}  // namespace advise
