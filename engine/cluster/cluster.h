// A distributed run as a whole: who took part, how the clocks were brought together, how efficient
// the ranks are together, and what keeps them waiting. Computed from rank summaries alone.
//
// The efficiency tree (each factor is at most 1, and the three multiply to the first, exactly),
// over the steps that all ranks have, with T the time they took (on the rank that
// took longest), C(r) the compute time of rank r, and
// B(r) the time in which its GPU does anything (compute, or exposed communication, copies,
// memsets):
//   parallel      = mean C / T            how much of all GPUs computes
//   load balance  = mean C / max C        equal shares of compute
//   communication = max C / max B         compute over all that the busiest GPU does
//   orchestration = max B / T             no GPU left without work by its host
#pragma once

#include <string>
#include <vector>

#include "engine/cluster/absent.h"
#include "engine/cluster/lateness.h"
#include "engine/cluster/slow_group.h"
#include "engine/cluster/stalled.h"
#include "engine/cluster/strategy.h"
#include "engine/cluster/transfer.h"

namespace advise {

struct Efficiency {
  double parallel = 0;
  double load_balance = 0;
  double communication = 0;
  double orchestration = 0;
};

struct Cluster {
  // `ranks` is put in order of rank (unknown last, as given). `first` is what the file names of the
  // reports say when nothing else tells ranks apart.
  Cluster(std::vector<RankSummary> ranks_in, const Knowledge& knowledge);

  bool many() const { return ranks.size() > 1; }
  // "rank 3", or "GPU 1" of one report whose ranks have no number.
  std::string Label(std::size_t rank) const;
  int Number(std::size_t rank) const;  // the rank's number; its place in the run when unknown

  std::vector<RankSummary> ranks;
  std::size_t hosts = 0;      // that are named; 0 when none is
  std::size_t processes = 0;  // that the ranks run in; 0 when that of one is not known
  std::size_t reports = 0;
  int world = 0;                   // ranks that the job has; 0 unknown
  std::vector<int> missing;        // ranks without a report, when that is known
  std::vector<std::string> notes;  // what a reader must know of identities, clocks and steps
  bool numbered = false;           // every rank knows its number

  Clocks clocks;
  Joint joint;
  Job job;
  Efficiency efficiency;
  Lateness lateness;
  AbsentRanks absent;
  StalledCollectives stalled;
  SlowGroups slow_groups;
  Strategy strategy;
  Pipeline pipeline;
  PathSpeed inside;            // large collectives inside a node
  PathSpeed across;            // and across nodes
  RankLoss halved;             // `comm.halved` of all transfer inside collectives
  double queued_ns = 0;        // RankSummary::queued_sums, mean over ranks
  double transfer_ns = 0;      // exposed transfer of collectives, mean over ranks, in common steps
  double transferring_ns = 0;  // exposed or not; see Transferring()
  double waited_ns = 0;        // exposed waiting for late ranks, those without a report among
                               // them; mean over ranks, in common steps
};

}  // namespace advise
