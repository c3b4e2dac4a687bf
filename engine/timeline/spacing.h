// What a GPU needs from one op of a stream to the next, when both are in its queue.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// By device: the shorter distances from the end of an op to the start of the next one of its
// stream, where the launch of that one had reached the device while the first still ran
// (`idle.spacing`); some of these waited for more than their stream. 0 where nothing was queued.
// Nodes of one graph do not count. O(ops).
std::vector<Nanos> UsualSpacing(const Run& run);

}  // namespace advise
