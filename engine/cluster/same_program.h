// Whether several reports are of one run: ranks of a job run the same program at the same time.
#pragma once

#include <string>
#include <vector>

#include "engine/cluster/rank_summary.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// Says why they cannot be, naming two of them; "" when nothing speaks against it. Job ids and world
// sizes that differ, hardly a kernel in common, or recordings far apart in time. O(ranks x
// kernels).
std::string DifferentRuns(const std::vector<RankSummary>& ranks, const Knowledge& knowledge);

}  // namespace advise
