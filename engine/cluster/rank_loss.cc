#include "engine/cluster/rank_loss.h"

#include <algorithm>
#include <numeric>

#include "engine/cluster/pace.h"

namespace advise {

RankLossBuilder::RankLossBuilder(const std::vector<RankSummary>& ranks, const Joint& joint,
                                 const Job& job)
    : ranks_(ranks), job_(job), pace_(HostPace(ranks, job)) {
  FindWaits(joint);
}

// Every exposed wait of a rank, as a span of its own clock.
void RankLossBuilder::FindWaits(const Joint& joint) {
  if (joint.all.empty()) return;
  waits_.resize(ranks_.size());
  for (const JointCollective& collective : joint.all) {
    for (const JointMember& member : collective.members) {
      const Interval wait = WaitOf(ranks_[member.rank], member, collective);
      if (wait.Length() > 0) waits_[member.rank].push_back(wait);
    }
  }
  for (auto& list : waits_) {
    const IntervalSet once = IntervalSet::Of(std::move(list));
    list.assign(once.intervals().begin(), once.intervals().end());
  }
}

void RankLossBuilder::Complete(RankLoss* loss) const {
  loss->gain = job_.Gain(loss->cuts);
  loss->lost.by_device.resize(ranks_.size());
  if (loss->gain <= 0) return;
  if (waits_.empty()) return ClaimEndsOfSteps(loss);
  ClaimAll(loss);
}

void RankLossBuilder::ClaimAll(RankLoss* loss) const {
  for (std::uint32_t r = 0; r < waits_.size(); ++r) ClaimWaits(waits_[r], r, loss);
}

// Where no waits are recorded: on each rank, what its steps are longer than they need be. A delay
// that reaches a rank by way of others comes to it in a later step; one that lets a rank get ahead
// of another, in none.
void RankLossBuilder::ClaimEndsOfSteps(RankLoss* loss) const {
  const auto then = [&](std::uint32_t rank, std::size_t step) {
    const auto& cuts = loss->cuts[rank];
    return job_.Own(rank, step) - (cuts.empty() ? 0 : cuts[step]);
  };
  std::vector<Nanos> shorter(job_.steps, 0);  // the job, by step
  for (std::size_t s = 0; s < job_.steps; ++s) {
    Nanos now = 0;
    Nanos needed = 0;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      now = std::max(now, job_.Own(r, s));
      needed = std::max(needed, then(r, s));
    }
    shorter[s] = now - needed;
  }
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    std::vector<Nanos> claimed(job_.steps, 0);
    Nanos due = 0;
    for (std::size_t s = 0; s < job_.steps; ++s) {
      due += shorter[s];
      const Nanos longer = job_.SpanOf(ranks_, r, s).Length() - then(r, s);
      claimed[s] = std::min(due, std::max<Nanos>(0, longer));
      due -= claimed[s];
    }
    std::vector<Interval> ends;
    for (std::size_t s = 0; s < job_.steps; ++s) {
      const Interval step = job_.SpanOf(ranks_, r, s);
      const Nanos more = std::min({due, shorter[s], step.Length() - claimed[s]});
      claimed[s] += more;
      due -= more;
      if (claimed[s] > 0) ends.push_back({step.end - claimed[s], step.end});
    }
    ClaimWaits(ends, r, loss);
  }
}

Nanos RankLossBuilder::Alone(std::uint32_t rank, std::size_t step) const {
  return std::max(job_.Own(rank, step), pace_[rank][step]);
}

Nanos RankLossBuilder::AllAlone(std::uint32_t rank) const {
  Nanos sum = 0;
  for (std::size_t s = 0; s < job_.steps; ++s) sum += Alone(rank, s);
  return sum;
}

// Copies that run while the rank waits for a slow one would take its time as they take that of
// the slow one, if they did not.
Nanos RankLossBuilder::CopiesOf(std::uint32_t rank, std::size_t step,
                                const std::set<std::uint32_t>& slow) const {
  const RankTime& time = job_.TimeOf(ranks_, rank, step);
  Nanos exposed = 0;
  for (const std::uint32_t r : slow)
    exposed = std::max(exposed, job_.TimeOf(ranks_, r, step).copy_exposed);
  return std::min({time.copying_beside_comm, job_.waited[rank * job_.steps + step],
                   std::max<Nanos>(0, exposed - time.copy_exposed)});
}

void RankLossBuilder::CutToNext(const std::set<std::uint32_t>& slow, bool moved,
                                RankCuts* cuts) const {
  const auto count = static_cast<double>(ranks_.size());
  // What the others take when they no longer wait for the slow ones.
  const auto alone = [&](std::uint32_t rank, std::size_t step) {
    return slow.contains(rank)
               ? Alone(rank, step)
               : std::max(Alone(rank, step), job_.Own(rank, step) + CopiesOf(rank, step, slow));
  };
  double next = 0;
  std::vector<double> all(ranks_.size(), 0);
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    for (std::size_t s = 0; s < job_.steps; ++s) all[r] += static_cast<double>(alone(r, s));
    all[r] = std::max(all[r], static_cast<double>(job_.host_works[r]));
    if (!slow.contains(r)) next = std::max(next, all[r]);
  }
  if (moved) next = std::max(next, std::accumulate(all.begin(), all.end(), 0.0) / count);
  for (std::size_t s = 0; s < job_.steps; ++s) {
    Nanos others = 0;
    double sum = 0;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      sum += static_cast<double>(alone(r, s));
      if (!slow.contains(r)) others = std::max(others, alone(r, s));
    }
    const auto level = moved ? std::max(others, static_cast<Nanos>(sum / count)) : others;
    for (const std::uint32_t r : slow) {
      if ((*cuts)[r].empty()) (*cuts)[r].assign(job_.steps, 0);
      // As fast as the others in this step, and on the whole.
      const auto own = static_cast<double>(Alone(r, s));
      const double share = all[r] > 0 ? std::max(0.0, 1 - next / all[r]) : 0;
      (*cuts)[r][s] = std::max({Nanos{0}, job_.Own(r, s) - level, static_cast<Nanos>(share * own)});
    }
  }
}

void ClaimWaits(const std::vector<Interval>& waits, std::uint32_t rank, RankLoss* loss) {
  Nanos all = 0;
  for (const Interval& wait : waits) all += wait.Length();
  const double part =
      std::min(1.0, static_cast<double>(loss->gain) / static_cast<double>(std::max<Nanos>(1, all)));
  for (const Interval& wait : waits) {
    loss->lost.by_device[rank].Append(
        wait.start, wait.start + static_cast<Nanos>(part * static_cast<double>(wait.Length())));
  }
}

}  // namespace advise
