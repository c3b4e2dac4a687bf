// Who comes late at collectives, why, and what it costs the job.
#pragma once

#include <vector>

#include "engine/cluster/job.h"
#include "engine/cluster/late_cause.h"
#include "engine/cluster/rank_loss.h"
#include "engine/cluster/slow_node.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct LateRank {
  std::uint32_t rank = kNone;  // index; kNone: no rank comes late, or nothing to compare by
  bool at_steps = false;       // judged by the ends of steps: there are no collectives
  double share = 0;            // of the waiting at collectives with a late rank: that for this one
  double lateness_ns = 0;      // mean, after the median rank
  double largest = 0;          // wait for it, of all of them together; 0: too few to tell
  LateCause cause;             // what it does more than the median rank
  RankLoss loss;
};

// A quantity of which the slowest rank of a step has more than the median rank, changing from rank
// to rank.
struct Imbalance {
  double spread = 0;    // mean over steps of (largest - median) over the median step length
  double steps = 0;     // share of the steps that it decides
  double top_rank = 1;  // share of these steps that one and the same rank decides
  // How far that rank is behind in each step: what it has more than the next rank, summed over all
  // steps, over the sum of the sizes of these differences. 1: always behind; 0: ahead as much.
  double behind = 1;
  double in_turn = 0;  // of the gain, the share that ranks wait in turn within one step
  std::vector<std::uint32_t> deciding;  // ranks that decide a step, ascending
  RankLoss loss;
};

struct Lateness {
  std::size_t judged = 0;            // collectives at which some rank came late
  std::vector<double> late_share;    // by rank: of the waiting where it takes part, that for it
  std::vector<double> mean_late_ns;  // by rank, over the collectives it took part in
  std::vector<Nanos> waited;         // by rank, exposed, in the common steps
  LateRank straggler;
  Imbalance compute;
  Imbalance input;
  Imbalance host;  // code of launching threads
  SlowNode node;
};

Lateness FindLateness(const std::vector<RankSummary>& ranks, const Clocks& clocks,
                      const Joint& joint, const Job& job, const Knowledge& knowledge);

}  // namespace advise
