#include "engine/cluster/job.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/cluster/coupling.h"
#include "engine/cluster/step_pairs.h"

namespace advise {
namespace {

// Ranks that wait for each other where no collective shows it, as in MPI calls: a rank waits as
// long as it is without compute for longer than another one, and no longer than the busiest one
// computes more. Exposed copies are part of it: a rank that is ahead has no compute left to hide
// them behind. What a rank idles for reasons of its own, it has without computing less. Where calls
// of MPI were recorded they tell it, too: the rank that is least in them needs that for the
// messages, and another one waits for as long as it is in them for longer.
void InferWaits(const std::vector<RankSummary>& ranks, Job* job) {
  const auto bare = [](const RankTime& time) { return time.Total() - time.compute; };
  for (std::size_t s = 0; s < job->steps; ++s) {
    Nanos most = 0;
    Nanos least = std::numeric_limits<Nanos>::max();
    Nanos least_in_calls = least;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const RankTime& time = job->TimeOf(ranks, r, s);
      most = std::max(most, time.compute);
      least = std::min(least, bare(time));
      least_in_calls = std::min(least_in_calls, time.Cause(IdleCause::kPeerWait));
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const RankTime& time = job->TimeOf(ranks, r, s);
      job->waited[r * job->steps + s] = std::max(std::min(bare(time) - least, most - time.compute),
                                                 time.Cause(IdleCause::kPeerWait) - least_in_calls);
    }
  }
}

// Ranks that exchange data every step take as long for it. Where those of one take many times as
// long, what repeats on it is not what repeats on the others, such as their micro-batches.
bool AreSameSteps(const std::vector<RankSummary>& ranks, const Job& job) {
  Nanos shortest = std::numeric_limits<Nanos>::max();
  Nanos longest = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    Nanos all = 0;
    for (std::size_t s = 0; s < job.steps; ++s)
      all += ranks[r].steps[job.index[r * job.steps + s]].Length();
    shortest = std::min(shortest, all);
    longest = std::max(longest, all);
  }
  return longest <= 2 * shortest;
}

void TakeWindows(std::size_t ranks, Job* job) {
  job->has_steps = false;
  job->by_clock = false;
  job->steps = 1;
  job->index.assign(ranks, 0);
}

// How much later than that of the first rank the capture of each begins, on the common clock;
// nothing for ranks of one report, where collectives do not bring the clocks together, or where a
// window ended before another began.
std::vector<Nanos> BeginsAfter(const std::vector<RankSummary>& ranks, const Clocks& clocks) {
  std::vector<Nanos> after(ranks.size(), 0);
  const auto of_first = [&](const RankSummary& rank) {
    return rank.report == ranks.front().report;
  };
  if (std::all_of(ranks.begin(), ranks.end(), of_first)) return after;
  Nanos first = std::numeric_limits<Nanos>::max();
  Nanos last = std::numeric_limits<Nanos>::min();
  Nanos first_end = first;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const ClockSource source = clocks.source[ranks[r].clock];
    if (source != ClockSource::kOne && source != ClockSource::kCollectives)
      return std::vector<Nanos>(ranks.size(), 0);
    const Nanos offset = clocks.offset[ranks[r].clock];
    after[r] = ranks[r].window_start + offset;
    first = std::min(first, after[r]);
    last = std::max(last, after[r]);
    first_end = std::min(first_end, ranks[r].window_end + offset);
  }
  if (last >= first_end) return std::vector<Nanos>(ranks.size(), 0);
  for (Nanos& one : after) one -= first;
  return after;
}

Nanos CutAt(const RankCuts& cuts, std::size_t rank, std::size_t step) {
  return rank < cuts.size() && !cuts[rank].empty() ? cuts[rank][step] : 0;
}

// The sum of a column of a rank's steps over those of the job; 0 where some of it is unknown.
Nanos SumOfSteps(const std::vector<Nanos>& column, const RankSummary& rank, const Job& job,
                 std::size_t r) {
  if (!job.has_steps || column.size() != rank.steps.size()) return 0;
  Nanos sum = 0;
  for (std::size_t s = 0; s < job.steps; ++s) sum += column[job.index[r * job.steps + s]];
  return sum;
}

// What the host of each rank works in all steps of the job. The rank that is shortest in exchanges
// of hosts waits for nobody there: each host needs as long for them.
std::vector<Nanos> HostWorks(const std::vector<RankSummary>& ranks, const Job& job) {
  std::vector<Nanos> works;
  Nanos shortest = std::numeric_limits<Nanos>::max();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    works.push_back(SumOfSteps(ranks[r].host_works, ranks[r], job, r));
    shortest = std::min(shortest, SumOfSteps(ranks[r].host_exchanges, ranks[r], job, r));
  }
  for (Nanos& one : works) one += one > 0 ? shortest : 0;
  return works;
}

// A wait counts in the steps in which the rank waits: a kernel that is launched ahead begins in the
// step before the one in which its rank waits for the others, or before the first one.
void AddWait(const std::vector<RankSummary>& ranks, const Job& job, std::uint32_t rank,
             const Interval& wait, std::vector<std::vector<Interval>>* waits) {
  for (std::size_t s = job.FirstToEndAfter(ranks, rank, wait.start); s < job.steps; ++s) {
    const Interval step = job.SpanOf(ranks, rank, s);
    if (step.start >= wait.end) break;
    const Interval part{std::max(wait.start, step.start), std::min(wait.end, step.end)};
    if (part.Length() > 0) (*waits)[rank * job.steps + s].push_back(part);
  }
}

// Of several sends that are pending at once, one waits while another one transfers. What a rank
// idles because of transfers is no waiting for late ranks.
void LeaveOutTransfers(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                       std::vector<std::vector<Interval>>* waits) {
  for (std::size_t r = 0; r < joint.owed.size(); ++r) {
    std::vector<Interval> moves;
    for (std::size_t row = 0; row < joint.owed[r].size(); ++row) {
      const Nanos end = ranks[r].collectives.end[row];
      if (joint.owed[r][row] > 0) moves.push_back({end - joint.owed[r][row], end});
    }
    if (moves.empty()) continue;
    const IntervalSet moving = IntervalSet::Of(std::move(moves));
    for (std::size_t s = 0; s < job.steps; ++s) {
      std::vector<Interval>& list = (*waits)[r * job.steps + s];
      const IntervalSet rest = IntervalSet::Of(std::move(list)).Subtract(moving);
      list.assign(rest.intervals().begin(), rest.intervals().end());
    }
  }
}

// Hosts that run ahead load the data of later steps while their GPU waits for other ranks: loading
// keeps a step no longer than the host works in a step on average.
void FindWaitsForData(const std::vector<RankSummary>& ranks, Job* job) {
  for (std::size_t r = 0; r < job->ranks; ++r) {
    const Nanos host_mean = job->host_works[r] / static_cast<Nanos>(job->steps);
    for (std::size_t s = 0; s < job->steps; ++s) {
      const std::size_t cell = r * job->steps + s;
      Nanos& loads = job->waited_for_data[cell];
      loads = std::min(job->waited[cell], job->TimeOf(ranks, r, s).loading_beside_comm);
      if (host_mean == 0) continue;
      const Nanos busy = job->length[cell] - job->waited[cell];
      loads = std::min(loads, std::max<Nanos>(0, host_mean - busy));
    }
  }
}

}  // namespace

Nanos Job::Needed() const { return NeededWith({}, {}); }

Nanos Job::NeededWith(const RankCuts& cuts, const RankCuts& comm_cuts) const {
  Nanos sum = 0;
  for (std::size_t s = 0; s < steps; ++s) {
    Nanos most = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      most = std::max(most, Own(r, s) - CutAt(cuts, r, s) - CutAt(comm_cuts, r, s));
    }
    sum += most;
  }
  return sum;
}

Nanos Job::Window() const {
  Nanos most = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto begin = length.begin() + static_cast<std::ptrdiff_t>(r * steps);
    most = std::max(most,
                    std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(steps), Nanos{0}));
  }
  return most;
}

Nanos Job::LongestWith(const RankCuts& cuts, const RankCuts& comm_cuts,
                       const std::vector<double>& eased) const {
  Nanos longest = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    Nanos own = 0;
    Nanos cut = 0;
    Nanos comm_cut = 0;
    for (std::size_t s = 0; s < steps; ++s) {
      own += Own(r, s);
      cut += CutAt(cuts, r, s);
      comm_cut += CutAt(comm_cuts, r, s);
    }
    const double part = r < eased.size() ? eased[r] : 0;
    const auto of_eased = static_cast<Nanos>(part * static_cast<double>(own));
    const Nanos host = static_cast<Nanos>((1 - part) * static_cast<double>(host_works[r])) -
                       std::max<Nanos>(0, cut - of_eased);
    own -= cut + comm_cut;
    longest = std::max({longest, own, host});
  }
  return longest;
}

Nanos Job::MeanOfCuts(const RankCuts& cuts, const RankCuts& comm_cuts) const {
  if (ranks == 0) return 0;
  Nanos sum = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t s = 0; s < steps; ++s)
      sum += std::min(Own(r, s), CutAt(cuts, r, s) + CutAt(comm_cuts, r, s));
  }
  return sum / static_cast<Nanos>(ranks);
}

Nanos Job::Gain(const RankCuts& cuts, const RankCuts& comm_cuts, const std::vector<double>& eased,
                double fewer) const {
  if (!coupled) return MeanOfCuts(cuts, comm_cuts);
  const Nanos needed = Needed();
  const Nanos window = Window();
  const Nanos needed_then = NeededWith(cuts, comm_cuts);
  const Nanos longest_then = LongestWith(cuts, comm_cuts, eased);
  if (needed <= window) {
    const double in_turn = (1 - std::sqrt(1 - fewer)) * static_cast<double>(window - needed);
    return std::min(needed - needed_then + static_cast<Nanos>(in_turn),
                    std::max<Nanos>(0, window - longest_then));
  }
  // Ranks may be ahead of each other: the job took less than if they had met in every step, and as
  // much more than the longest of them alone as they meet.
  const Nanos longest = LongestWith({}, {}, {});
  const double met = needed > longest ? std::clamp(static_cast<double>(window - longest) /
                                                       static_cast<double>(needed - longest),
                                                   0.0, 1.0)
                                      : 1.0;
  const auto then =
      static_cast<Nanos>(met * static_cast<double>(std::max<Nanos>(0, needed_then - longest_then)));
  return std::max<Nanos>(0, std::max(window, longest) - (longest_then + then));
}

std::size_t Job::FirstToEndAfter(const std::vector<RankSummary>& all, std::size_t rank,
                                 Nanos time) const {
  if (!has_steps) return 0;
  const auto begin = index.begin() + static_cast<std::ptrdiff_t>(rank * steps);
  const std::vector<RankStep>& own = all[rank].steps;
  const auto at = std::partition_point(begin, begin + static_cast<std::ptrdiff_t>(steps),
                                       [&](std::uint32_t s) { return own[s].end <= time; });
  return static_cast<std::size_t>(at - begin);
}

std::size_t Job::StepAt(const std::vector<RankSummary>& all, std::size_t rank, Nanos time) const {
  if (!has_steps) return 0;
  const auto begin = index.begin() + static_cast<std::ptrdiff_t>(rank * steps);
  const std::vector<RankStep>& own = all[rank].steps;
  const auto after = std::partition_point(begin, begin + static_cast<std::ptrdiff_t>(steps),
                                          [&](std::uint32_t s) { return own[s].start <= time; });
  if (after == begin || time >= own[*std::prev(after)].end) return steps;
  return static_cast<std::size_t>(after - begin) - 1;
}

Job BuildJob(const std::vector<RankSummary>& ranks, const Clocks& clocks, const Joint& joint,
             double least_coupled) {
  Job job;
  job.ranks = ranks.size();
  if (ranks.empty()) return job;
  job.has_steps = std::all_of(ranks.begin(), ranks.end(),
                              [](const RankSummary& rank) { return !rank.steps.empty(); });
  if (job.has_steps) {
    PairedSteps paired = PairSteps(ranks, clocks, joint);
    job.steps = paired.steps;
    job.most_steps = paired.most_steps;
    job.by_clock = paired.by_clock;
    job.index = std::move(paired.index);
  }
  if (!job.has_steps || (!joint.all.empty() && !AreSameSteps(ranks, job))) {
    TakeWindows(ranks.size(), &job);
    if (!joint.all.empty()) job.before = BeginsAfter(ranks, clocks);
  }
  job.before.resize(ranks.size());
  const RankSummary& first = ranks.front();
  job.start = job.has_steps ? first.steps[job.index.front()].start : first.window_start;
  job.end = job.has_steps ? first.steps[job.index[job.steps - 1]].end : first.window_end;
  job.length.resize(job.ranks * job.steps);
  job.waited.resize(job.ranks * job.steps);
  job.waited_for_data.resize(job.ranks * job.steps);
  job.job_length.resize(job.steps);
  for (std::size_t r = 0; r < job.ranks; ++r) {
    for (std::size_t s = 0; s < job.steps; ++s) {
      const std::size_t cell = r * job.steps + s;
      job.length[cell] = job.has_steps ? ranks[r].steps[job.index[cell]].Length()
                                       : job.before[r] + ranks[r].Window();
      job.job_length[s] = std::max(job.job_length[s], job.length[cell]);
    }
  }
  job.host_works = HostWorks(ranks, job);
  if (joint.all.empty() && job.ranks > 1 && job.has_steps) {
    InferWaits(ranks, &job);
    job.coupled = AreCoupled(ranks, job, least_coupled);
    if (!job.coupled) std::fill(job.waited.begin(), job.waited.end(), Nanos{0});
  }
  std::vector<std::vector<Interval>> waits(job.waited.size());
  for (const JointCollective& collective : joint.all) {
    for (const JointMember& member : collective.members) {
      const RankSummary& rank = ranks[member.rank];
      const Interval wait = WaitOf(rank, member, collective);
      if (wait.Length() == 0) continue;
      AddWait(ranks, job, member.rank, wait, &waits);
    }
  }
  LeaveOutTransfers(ranks, joint, job, &waits);
  for (std::size_t cell = 0; cell < waits.size(); ++cell) {
    if (waits[cell].empty()) continue;
    const Nanos waited = IntervalSet::Of(std::move(waits[cell])).Total();
    // Several receives may be pending beside compute: none knows which part of it is exposed.
    const Nanos exposed = job.TimeOf(ranks, cell / job.steps, cell % job.steps).comm_exposed;
    job.waited[cell] = std::min(job.waited[cell] + std::min(waited, exposed), job.length[cell]);
  }
  FindWaitsForData(ranks, &job);
  return job;
}

}  // namespace advise
