// Groups of ranks whose collectives take far longer than the same ones of other groups, although no
// member is late: the path between these ranks is slower.
#pragma once

#include <vector>

#include "engine/cluster/rank_loss.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct SlowGroups {
  std::vector<std::uint32_t> members;  // rank indices, of all slow groups
  double count = 0;                    // collectives of these groups that were compared
  double time_ns = 0;                  // mean transfer of these
  double usual_ns = 0;                 // mean transfer of the same collectives in other groups
  RankLoss loss;                       // exposed transfer beyond that
};

// The same are sums, gathers and scatters of one kind at the same place of a step, in groups of as
// many ranks that have as many of them in a step, and as many bytes where these are known. Groups
// that cross nodes are compared with such groups only, and none that mostly ends together with
// another one. O(n log n) in the collectives.
SlowGroups FindSlowGroups(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                          const Knowledge& knowledge);

}  // namespace advise
