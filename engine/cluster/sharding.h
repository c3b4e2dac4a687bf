// How far a data-parallel job shards its model: nothing (DDP), the optimizer (ZeRO-1), gradients as
// well (ZeRO-2), or weights as well (ZeRO-3, FSDP).
//
// Weights that are sharded are gathered twice, for the forward and the backward pass. Otherwise
// they are there whole, but each rank updates a share of them, so that as much as the gradients is
// sent round once a step: gathered (DeepSpeed, Megatron), or broadcast by each rank (PyTorch's
// ZeroRedundancyOptimizer, FairScale), after the update or ahead of the layers of the next forward
// pass. Gradients of a sharded optimizer are summed on all ranks (all-reduce), or each rank gets
// its share (reduce-scatter, or a reduce to each owner). With several backward passes a step,
// sharded gradients are sent in each of them; gradients that are sent in the last one only have
// been added up whole.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/cluster/patterns.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct Sharding {
  int stage = -1;       // 0 replicated, 1 to 3 as ZeRO counts; -1 no gradients are reduced
  int ranks = 1;        // that share
  std::string name;     // "ddp", "zero-1" …; "" none
  std::string reason;   // in words
  PatternSum gathers;   // of weights
  PatternSum scatters;  // of gradients
};

// `tensor`: the collectives of shared layers, which are left out; per_step 0 without any.
Sharding FindSharding(const std::vector<PatternRow>& rows, const PatternSum& tensor,
                      const std::vector<RankSummary>& ranks, const Knowledge& knowledge);

}  // namespace advise
