// Ranks that wait for each other in turn within a step: now this one has more to compute before a
// collective, now that one, so that all take about as long for the whole step.
#pragma once

#include <vector>

#include "engine/cluster/job.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct WaitsInTurn {
  std::vector<Nanos> waited;  // by step: what even the rank that waits least waits for others
  double top_rank = 1;        // share of the collectives at which one and the same rank is last
  Nanos Total() const;
  double Steps() const;  // share of the steps in which all ranks wait
};

// Counts collectives at which a rank comes late by more than clocks and launches tell, and by more
// than usual differences between like GPUs of what it did since the collective before. Sends are
// left out: stages of a pipeline wait for each other. No step where the ranks idle for half as long
// as they come late: their hosts may be late then. O(members of collectives + ranks x steps).
WaitsInTurn FindWaitsInTurn(const std::vector<RankSummary>& ranks, const Clocks& clocks,
                            const Joint& joint, const Job& job, const Knowledge& knowledge);

}  // namespace advise
