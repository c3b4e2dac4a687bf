// What the collectives say of the program: which kinds of parallelism, and over how many ranks
// each.
#pragma once

#include <string>
#include <vector>

#include "engine/cluster/patterns.h"
#include "engine/cluster/pipeline.h"
#include "engine/cluster/rank_loss.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct Strategy {
  std::vector<PatternRow> rows;
  std::string name;  // "ddp", "zero-1", "zero-2", "zero-3", "tensor", …, joined by " + "; "" none
  std::string evidence;  // what it was inferred from, in words
  int data = 1;          // ranks of a data-parallel group, 1 none (so all below)
  int tensor = 1;
  int pipeline = 1;
  int expert = 1;
  int context = 1;
  int zero_stage = -1;  // 0 DDP, 1..3; -1 no data parallelism
  bool tensor_across_nodes = false;
  bool gather_across_nodes = false;
  double gather_bytes = 0;  // of parameter gathers, a step and rank; 0 unknown
  double reduce_bytes = 0;  // of gradients, a step and rank; 0 unknown
  RankLoss gather_loss;     // exposed transfer of parameter gathers
  RankLoss regather_loss;   // of those in the backward pass, which weights that are kept save
  // Exposed transfer of gathers and scatters across nodes; what shards inside each node save of it.
  RankLoss across_loss;
  // Exposed transfer of tensor-parallel collectives; what groups inside a node save of it.
  RankLoss tensor_loss;
  // Inside a node, of all-reduces so short that they take the latency of the library: exposed
  // transfer beyond that of an all-reduce in one kernel over peer memory.
  RankLoss latency_loss;
  double tensor_call_ns = 0;  // median transfer of a tensor-parallel all-reduce; 0 without any
  // Exposed transfer, by rank and step, that layers and stages wait for at once: sums of shared
  // layers and sends of a pipeline; and of exchanges, which other compute could hide, but not more
  // or larger messages.
  RankCuts needed;
  RankCuts exchanged;
};

// O(collectives x members).
Strategy FindStrategy(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const Pipeline& pipeline, const Knowledge& knowledge);

}  // namespace advise
