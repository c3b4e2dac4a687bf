// What it costs a job that some of its ranks are slow: who waits for them, and what the job wins
// once they are as fast as the others.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "engine/cluster/job.h"
#include "engine/trace/spans.h"

namespace advise {

// Something that makes the job longer than its ranks need it to be.
struct RankLoss {
  Spans lost;     // by rank: what the others wait because of it, at most what its end would win
  RankCuts cuts;  // what the fix takes off ranks, by rank and step, but for communication
  RankCuts comm_cuts;  // what it takes off their communication
  Nanos gain = 0;      // what the job wins by it
};

// Claims for one rank a part of its waits, the same of each: as much in all as the job gains.
void ClaimWaits(const std::vector<Interval>& waits, std::uint32_t rank, RankLoss* loss);

// Times of ranks, in nanoseconds of the job's common steps. What it is given must outlive it.
class RankLossBuilder {
 public:
  // O(ranks x steps + members of collectives).
  RankLossBuilder(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job);

  // What the rank's step takes if it waits for nobody: neither its GPU nor its host is faster.
  Nanos Alone(std::uint32_t rank, std::size_t step) const;
  Nanos AllAlone(std::uint32_t rank) const;  // the same, of all steps

  // The work of hosts, by rank and step (pace.h).
  const RankCuts& pace() const { return pace_; }

  // The named ranks take no longer than the slowest of the others. Work that is moved to others
  // does not vanish: then none gets below the mean of all.
  void CutToNext(const std::set<std::uint32_t>& slow, bool moved, RankCuts* cuts) const;

  // From cuts to what the job gains, and the waits of all ranks, of each no more than that: hosts
  // run ahead of their GPUs by different amounts, so that a wait may stand in another step than its
  // reason.
  void Complete(RankLoss* loss) const;

  // Claims a part of the waits of all ranks (ClaimWaits).
  void ClaimAll(RankLoss* loss) const;

 private:
  void FindWaits(const Joint& joint);
  void ClaimEndsOfSteps(RankLoss* loss) const;
  Nanos CopiesOf(std::uint32_t rank, std::size_t step, const std::set<std::uint32_t>& slow) const;

  const std::vector<RankSummary>& ranks_;
  const Job& job_;
  const RankCuts pace_;
  std::vector<std::vector<Interval>> waits_;  // by rank, on its clock; none where none are recorded
};

}  // namespace advise
