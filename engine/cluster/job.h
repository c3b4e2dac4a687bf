// The job as steps of all ranks, and what a change on some ranks wins for all of them. Ranks that
// exchange data every step all take as long as the slowest; so each rank's step is divided into
// what is its own and what it waited for others, and the job's step is the largest own part. A
// saving on one rank counts only until the next-latest rank decides.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/cluster/joint.h"

namespace advise {

// Time that ranks no longer need, by rank and step as in Job; empty for ranks without any.
using RankCuts = std::vector<std::vector<Nanos>>;

struct Job {
  std::size_t ranks = 0;
  std::size_t steps = 0;       // that all ranks have; 1 for the whole window when steps are unknown
  bool has_steps = false;      // false: the one "step" is the window
  bool coupled = true;         // false: ranks go on whatever the others do, as independent jobs
  bool by_clock = false;       // steps of ranks were paired by time, not by number
  std::size_t most_steps = 0;  // of any rank
  Nanos start = 0;             // of the first common step of the first rank, on its own clock
  Nanos end = 0;
  std::vector<std::uint32_t> index;  // [rank * steps + step] → RankSummary::steps
  std::vector<Nanos> length;         // same shape: how long the rank's step took
  std::vector<Nanos> waited;         // exposed waiting inside collectives; inferred without any
  // Of it: meanwhile its launching thread waited for data, as it would have without the others.
  std::vector<Nanos> waited_for_data;
  // Without steps, by rank: its window began so much after that of the first rank. The time counts
  // to its length, because the others wait for what it did then.
  std::vector<Nanos> before;
  std::vector<Nanos> job_length;  // by step: of the slowest rank
  // By rank: what its host works in all steps together, without waits for the GPU or other ranks; 0
  // unknown. Hosts run ahead while their GPU waits: single steps do not tell what they need.
  std::vector<Nanos> host_works;

  // What the rank's step takes by itself.
  Nanos Own(std::size_t rank, std::size_t step) const {
    const std::size_t cell = rank * steps + step;
    return length[cell] - waited[cell] + waited_for_data[cell];
  }
  // Of the rank's step, what its report shows: what it did before its capture began, no finding of
  // that report can change.
  Nanos Captured(std::size_t rank, std::size_t step) const {
    return length[rank * steps + step] - before[rank];
  }
  // Sum over steps of the largest own part: what the job needs, waiting left out.
  Nanos Needed() const;
  Nanos NeededWith(const RankCuts& cuts, const RankCuts& comm_cuts) const;
  // What the longest rank takes by itself, its GPU or its host: the job needs that at least, even
  // if ranks never met. Cuts of communication leave the host what it works, others do not. Where a
  // fix eases the host, that is the part of its work which goes.
  Nanos LongestWith(const RankCuts& cuts, const RankCuts& comm_cuts,
                    const std::vector<double>& eased) const;
  // The same steps on the rank that took longest for them: how long the job took.
  Nanos Window() const;
  // By how much the job gets shorter with these cuts; never more than it took. Of ranks that are
  // not coupled each is a job of its own: the mean over them. Of the collectives so many are gone,
  // `fewer`: what even the rank that waits least waits for others gets less. Delays between two
  // collectives that become one add up on each rank; independent ones grow as the root of their
  // number, and there is one wait in place of so many.
  Nanos Gain(const RankCuts& cuts, const RankCuts& comm_cuts = {},
             const std::vector<double>& eased = {}, double fewer = 0) const;
  // Of ranks that are not coupled: what a rank needs less.
  Nanos MeanOfCuts(const RankCuts& cuts, const RankCuts& comm_cuts) const;
  // What a rank's step has of exposed communication that waits for nobody: part of Own.
  Nanos Transfer(const std::vector<RankSummary>& all, std::size_t rank, std::size_t step) const {
    const std::size_t cell = rank * steps + step;
    return std::clamp<Nanos>(TimeOf(all, rank, step).comm_exposed - waited[cell], 0,
                             Own(rank, step));
  }
  // The first step of a rank that ends after a time of its own clock; `steps` when none does.
  std::size_t FirstToEndAfter(const std::vector<RankSummary>& all, std::size_t rank,
                              Nanos time) const;
  // The step in which a rank is at a time of its own clock; `steps` when in none.
  std::size_t StepAt(const std::vector<RankSummary>& all, std::size_t rank, Nanos time) const;
  // On the rank's own clock.
  Interval SpanOf(const std::vector<RankSummary>& all, std::size_t rank, std::size_t step) const {
    if (!has_steps) return {all[rank].window_start, all[rank].window_end};
    const RankStep& one = all[rank].steps[index[rank * steps + step]];
    return {one.start, one.end};
  }
  const RankTime& TimeOf(const std::vector<RankSummary>& all, std::size_t rank,
                         std::size_t step) const {
    return has_steps ? all[rank].steps[index[rank * steps + step]].time : all[rank].time;
  }
};

// `least_coupled`: see `cluster.coupled`. O(ranks x steps + members of collectives).
Job BuildJob(const std::vector<RankSummary>& ranks, const Clocks& clocks, const Joint& joint,
             double least_coupled);

}  // namespace advise
