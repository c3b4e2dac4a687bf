// A pipeline as its sends and receives show it: stages, micro-batches, and the time that stages
// wait for each other.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "engine/cluster/lateness.h"

namespace advise {

struct Pipeline {
  int stages = 0;            // 0: no pipeline
  double micro_batches = 0;  // a step
  double bubble = 0;         // share of the step that stages wait for each other, mean
  double expected = 0;       // (p-1)/(m+p-1)
  double imbalance = 0;      // largest compute of a stage over the mean, less one
  int slowest_stage = -1;
  std::vector<std::uint32_t> slowest_ranks;
  RankLoss bubble_loss;   // the half of the bubble that twice as many micro-batches would win
  RankLoss balance_loss;  // the slowest stage as fast as the mean
};

// A chain of sends and receives whose ranks wait for each other about as much as a pipeline must.
// Ranks that exchange blocks (all-to-all by sends, rings) form chains, too, but hardly wait.
// O(collectives log collectives).
Pipeline FindPipeline(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const Knowledge& knowledge);

// By rank, those that it sends to or receives from: at least `least_share` of the sends of the
// quieter of two ranks go between them.
std::map<std::uint32_t, std::set<std::uint32_t>> Neighbours(const Joint& joint, double least_share);

}  // namespace advise
