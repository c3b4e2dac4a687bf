// Which steps of different ranks are the same step of the job.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cluster/joint.h"

namespace advise {

struct PairedSteps {
  std::size_t steps = 0;             // that all ranks have
  std::size_t most_steps = 0;        // of any rank
  bool by_clock = false;             // paired by time or collectives, not by number
  std::vector<std::uint32_t> index;  // [rank * steps + step] → RankSummary::steps
};

// By the collectives that steps share; where none tells, by time on the common clock, or by number.
// `ranks` must all have steps. O(ranks x steps + members of collectives).
PairedSteps PairSteps(const std::vector<RankSummary>& ranks, const Clocks& clocks,
                      const Joint& joint);

}  // namespace advise
