// Sums over the ranks of a run.
#pragma once

#include <vector>

#include "engine/cluster/rank_summary.h"
#include "engine/metrics/losses/ranks/comm.h"

namespace advise {

// Count, times and kinds of the communication kernels of all ranks; the rest stays empty. Times are
// means over ranks, but those of kinds are summed. O(collectives x log kinds).
Comm CommOfRanks(const std::vector<RankSummary>& ranks);

}  // namespace advise
