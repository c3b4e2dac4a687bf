// A node whose ranks are slower than all others: the reason is in the machine, not in one rank.
#pragma once

#include <string>
#include <vector>

#include "engine/cluster/late_cause.h"
#include "engine/cluster/rank_loss.h"

namespace advise {

struct SlowNode {
  std::string host;       // "" when there is none
  std::size_t ranks = 0;  // on it
  double excess = 0;      // its median own time over that of the next-slowest node, less one
  LateCause cause;
  RankLoss loss;
};

// The host of the slowest rank, if the reason is the host. O(ranks x steps).
SlowNode FindSlowNode(const std::vector<RankSummary>& ranks, const Job& job,
                      const RankLossBuilder& losses, const Knowledge& knowledge);

}  // namespace advise
