// Single collectives that take many times as long as their like, although no rank is late: the
// network or a link stopped for a moment.
#pragma once

#include "engine/cluster/rank_loss.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct StalledCollectives {
  double count = 0;
  double all = 0;         // of the same kinds and sizes, these included
  double longest_ns = 0;  // transfer, without waits for late ranks
  double usual_ns = 0;    // what the like of the longest take
  RankLoss loss;          // exposed transfer beyond what their like take
};

// Like are collectives of one kind and size among the same ranks; where reports do not say sizes,
// those at the same place of steps that have as many and compute no longer than most. Waits for
// ranks without a report are none.
// O(n log n) in the collectives.
StalledCollectives FindStalled(const std::vector<RankSummary>& ranks, const Joint& joint,
                               const Job& job, const Knowledge& knowledge);

}  // namespace advise
