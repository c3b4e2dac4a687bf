// What a GPU needs from one op of a stream to the next, when both are in its queue.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// From a launching call to the start of its kernel, where the stream had nothing left to do: the
// median, and `idle.launch_latency` where none tells. Slow calls make it long. O(ops).
Nanos UsualLatency(const Run& run);

// By device: the shorter distances from the end of an op to the start of the next one of its
// stream, where the launch of that one had reached the device while the first still ran
// (`idle.spacing`); some of these waited for more than their stream. 0 where nothing was queued.
// Nodes of one graph do not count. O(ops).
std::vector<Nanos> UsualSpacing(const Run& run);

}  // namespace advise
