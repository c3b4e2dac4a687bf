// A pipeline as its sends and receives show it: stages, micro-batches, and the time that stages
// wait for each other.
#pragma once

#include <vector>

#include "engine/cluster/rank_loss.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// Between two stages that follow each other in a chain; `to` is 0 from the last one on.
struct StageBoundary {
  int from = -1, to = -1;            // stages
  std::vector<std::uint32_t> ranks;  // the two whose sends take longest there
  double transfer_ns = 0;            // of a send, median
  double elsewhere_ns = 0;           // the median of the other boundaries
};

struct Pipeline {
  int stages = 0;            // 0: no pipeline
  int chunks = 1;            // of the layers a rank: how often a micro-batch passes it
  bool steps_known = false;  // otherwise micro_batches and what follows from it count the window
  double micro_batches = 0;  // a step
  double bubble = 0;         // share of the step that stages wait for each other, mean
  double expected = 0;       // (p-1)/(v m+p-1) with v chunks
  double interleaved = 0;    // the same with twice as many chunks
  double imbalance = 0;      // largest compute of a stage over the mean, less one
  int slowest_stage = -1;
  std::vector<std::uint32_t> slowest_ranks;
  RankLoss bubble_loss;   // the half of the bubble that twice as many micro-batches would win
  RankLoss balance_loss;  // the slowest stage as fast as the mean
  RankLoss sends_loss;    // no send transfers while its stage computes nothing
  StageBoundary slow;     // whose sends take much longer than those of others; `from` is -1 if none
};

// A chain of sends and receives whose ranks wait for each other about as much as a pipeline must.
// Ranks that exchange blocks (all-to-all by sends, rings) form chains, too, but hardly wait.
// O(collectives log collectives).
Pipeline FindPipeline(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const Knowledge& knowledge);

}  // namespace advise
