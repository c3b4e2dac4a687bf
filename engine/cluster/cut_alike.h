// Ranks whose steps were cut at different lengths: one meets its host in each iteration of the
// program, and the others in each fifth.
#pragma once

#include <string>
#include <vector>

#include "engine/cluster/clocks.h"
#include "engine/cluster/rank_summary.h"

namespace advise {

// Puts together steps of ranks that do several in the time of one step of the rank with the longest
// ones: ranks that wait for each other do as many iterations in the same time. Ranks whose clocks
// are apart or unknown, or that do not do a whole number of steps in that time, stay as they are.
// Returns what a reader must know of it. O(steps of all ranks).
std::vector<std::string> CutAlike(const Clocks& clocks, std::vector<RankSummary>* ranks);

}  // namespace advise
