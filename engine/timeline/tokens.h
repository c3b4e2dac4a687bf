// Ops of the GPU as tokens, of which a period is made: two ops that do the same are the same token.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/timeline/period.h"
#include "engine/trace/tables.h"

namespace advise {

inline bool IsCompute(const OpTable& ops, std::uint32_t op) {
  return ops.kind[op] == OpKind::kKernel || ops.kind[op] == OpKind::kGraph;
}

// Which sizes a token tells: those of a step's data may differ from step to step.
struct TellsSize {
  bool of_grids = true;
  bool of_copies = true;
};

// What one launch of a graph, traced node by node, is made of. Nothing divides it: it is one token,
// as where the graph was traced as a whole.
struct GraphLaunch {
  std::uint32_t nodes = 0;
  Nanos time = 0;
  Nanos end = 0;  // of the last node
};
using GraphLaunches = std::unordered_map<std::uint32_t, GraphLaunch>;  // by call

GraphLaunches FindGraphLaunches(const Trace& trace);  // O(ops)

// One for each of these ops; the whole graphs among them that are launched once were built for that
// launch, and the next one may be the same again: their time tells, to a power of two. O(ops).
Tokens TokensOf(const Trace& trace, const GraphLaunches& launches,
                const std::vector<std::uint32_t>& ops, TellsSize size_of);

}  // namespace advise
