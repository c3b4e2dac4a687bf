// Sends and receives of a run played again as if links were as fast as can be: what each rank idles
// because data is on its way, to it or to a rank that it waits for, and not because a rank computes
// longer.
#pragma once

#include <vector>

#include "engine/cluster/joint.h"

namespace advise {

// By rank and row of its collectives: of the idle stretch that the end of this send or receive
// ends, what would be gone if no send took longer than `latency`; 0 for others. Where several are
// pending at once, the stretch belongs to the one whose end ends it: the others could have come
// later. A rank computes as long as it did, and each send begins when both sides have come to it as
// they did, behind what ran before it in its stream. O(n log n) in the sends.
std::vector<std::vector<Nanos>> OwedToTransfers(const std::vector<RankSummary>& ranks,
                                                const Clocks& clocks, const Joint& joint,
                                                Nanos latency);

}  // namespace advise
