// From the analysis of one report to the summaries of its ranks.
#pragma once

#include <vector>

#include "engine/cluster/rank_summary.h"
#include "engine/metrics/analysis.h"

namespace advise {

// One summary for each device that did work, by device. O(collectives + steps x gaps of a step).
std::vector<RankSummary> SummarizeRanks(const Analysis& analysis);

// Where a device's time in the window went.
RankTime TimeInWindow(const Analysis& analysis, std::uint32_t device);

}  // namespace advise
