// Why ranks are late: what they have more of than the others.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/job.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// The one cause whose time is not gone when it is fixed: other ranks take the work.
inline constexpr std::string_view kMoreWork = "it has more work on the GPU";
// The one that nothing in the program explains: the others run the same.
inline constexpr std::string_view kSlowGpu =
    "the same kernels run more slowly there (clock, heat, or another process)";
// Most of it in a few steps.
inline constexpr std::string_view kMoreAtTimes =
    "in some steps it computes far longer, as for an evaluation";

// What the slow ranks (indices) have more of than the median of the others, the largest named.
std::string LateCause(const std::vector<RankSummary>& ranks, const Job& job,
                      const Knowledge& knowledge, const std::set<std::uint32_t>& slow);

}  // namespace advise
