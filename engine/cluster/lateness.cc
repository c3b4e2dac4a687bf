#include "engine/cluster/lateness.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/base/median.h"
#include "engine/cluster/waits_in_turn.h"

namespace advise {
namespace {

class LatenessFinder {
 public:
  LatenessFinder(const std::vector<RankSummary>& ranks, const Clocks& clocks, const Joint& joint,
                 const Job& job, const Knowledge& knowledge)
      : ranks_(ranks),
        clocks_(clocks),
        joint_(joint),
        job_(job),
        knowledge_(knowledge),
        losses_(ranks, joint, job) {}

  Lateness Find() {
    const std::size_t n = ranks_.size();
    result_.late_share.assign(n, 0);
    result_.mean_late_ns.assign(n, 0);
    result_.waited.assign(n, 0);
    if (n < 2 || job_.steps == 0 || !job_.coupled) return std::move(result_);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t s = 0; s < job_.steps; ++s) {
        result_.waited[r] += job_.waited[r * job_.steps + s];
      }
    }
    Straggler();
    if (job_.has_steps) {
      result_.compute = Uneven([](const RankTime& time) { return time.compute; }, true);
      AddTurns(&result_.compute);
      result_.input = Uneven([](const RankTime& time) { return time.Loading(); }, false);
      result_.host =
          Uneven([](const RankTime& time) { return time.Cause(IdleCause::kHostCompute); }, false);
    }
    result_.node = FindSlowNode(ranks_, job_, losses_, knowledge_);
    return std::move(result_);
  }

 private:
  void Straggler() {
    std::vector<double> late_ns(ranks_.size(), 0);
    std::vector<double> late_at(ranks_.size(), 0);
    std::vector<double> waits_for(ranks_.size(), 0);
    std::vector<double> waits_among(ranks_.size(), 0);
    std::vector<double> took_part(ranks_.size(), 0);
    const auto least = knowledge_.Time("cluster.late_least");
    const double together = knowledge_.Number("comm.together_share");
    std::vector<std::uint8_t> met(ranks_.size(), 0);
    std::vector<std::vector<double>> waits(ranks_.size());  // for each, one by one
    for (const JointCollective& collective : joint_.all) {
      if (joint_.IsPointToPoint(collective)) continue;
      if (job_.has_steps && MeetFirst(collective, &met)) continue;
      const Nanos late = collective.last_start - collective.median_start;
      for (const JointMember& member : collective.members) {
        took_part[member.rank] += 1;
        const RankSummary& rank = ranks_[member.rank];
        const Nanos start = rank.collectives.start[member.row] + clocks_.offset[rank.clock];
        result_.mean_late_ns[member.rank] +=
            static_cast<double>(std::max<Nanos>(0, start - collective.median_start));
      }
      // Together, as far as it matters and as far as clocks tell.
      if (late <=
          std::max({least, 2 * clocks_.residual,
                    static_cast<Nanos>(together * static_cast<double>(collective.transfer))}))
        continue;
      ++result_.judged;
      // One long wait per step weighs more than many short ones.
      const auto waited = static_cast<double>(WaitedAt(collective));
      for (const JointMember& member : collective.members) waits_among[member.rank] += waited;
      waits_for[collective.latest] += waited;
      waits[collective.latest].push_back(waited);
      late_at[collective.latest] += 1;
      late_ns[collective.latest] += static_cast<double>(late);
    }
    if (joint_.all.empty() && job_.has_steps) {
      JudgeSteps(&late_ns, &late_at, &waits_among, &waits);
      waits_for = late_ns;
    }
    std::uint32_t top = kNone;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      if (waits_among[r] > 0) result_.late_share[r] = waits_for[r] / waits_among[r];
      if (took_part[r] > 0) result_.mean_late_ns[r] /= took_part[r];
      const auto weight = [&](std::uint32_t rank) {
        return std::pair(waits_for[rank], late_ns[rank]);
      };
      if (late_at[r] > 0 && (top == kNone || weight(r) > weight(top))) top = r;
    }
    if (top == kNone) return;
    using Kind = LateCause::Kind;
    LateRank& late = result_.straggler;
    late.rank = top;
    late.at_steps = joint_.all.empty();
    late.share = result_.late_share[top];
    late.lateness_ns = late_ns[top] / late_at[top];
    late.largest = LargestPart(waits[top], late.at_steps ? job_.steps : joint_.all.size());
    late.loss.cuts.resize(ranks_.size());
    late.cause = FindLateCause(ranks_, job_, knowledge_, {top},
                               NowAndThen(ranks_, knowledge_, std::move(waits[top])));
    losses_.CutToNext({top},
                      late.cause.kind == Kind::kMoreWork || late.cause.kind == Kind::kMoreAtTimes,
                      &late.loss.cuts);
    losses_.Complete(&late.loss);
  }

  // Ranks start apart, and so do their recordings: where its members meet for the first time, a
  // collective shows who started last, and not who is slow. `met`: by rank, moved on.
  static bool MeetFirst(const JointCollective& collective, std::vector<std::uint8_t>* met) {
    bool first = true;
    for (const JointMember& member : collective.members) {
      first = first && (*met)[member.rank] == 0;
      (*met)[member.rank] = 1;
    }
    return first;
  }

  // What the members of a collective wait for the last of them while nothing hides it.
  Nanos WaitedAt(const JointCollective& collective) const {
    Nanos waited = 0;
    for (const JointMember& member : collective.members) {
      waited += WaitedExposed(ranks_[member.rank], member, collective);
    }
    return waited;
  }

  // Without collectives, who comes last at the end of a step.
  void JudgeSteps(std::vector<double>* late_ns, std::vector<double>* late_at,
                  std::vector<double>* waits_among, std::vector<std::vector<double>>* waits) {
    const auto least = knowledge_.Time("cluster.late_least");
    for (std::size_t s = 0; s < job_.steps; ++s) {
      std::vector<Nanos> owns;
      std::uint32_t slowest = 0;
      for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
        owns.push_back(job_.Own(r, s));
        if (owns[r] > owns[slowest]) slowest = r;
      }
      const Nanos late = owns[slowest] - LowerMedian(owns);
      if (late <= least) continue;
      ++result_.judged;
      for (double& among : *waits_among) among += static_cast<double>(late);
      (*waits)[slowest].push_back(static_cast<double>(late));
      (*late_at)[slowest] += 1;
      (*late_ns)[slowest] += static_cast<double>(late);
    }
  }

  // Steps whose slowest rank owes at least half of its excess over the median rank to `of`. What is
  // `moved` to other ranks does not vanish: then no rank gets below the mean of all.
  Imbalance Uneven(Nanos (*of)(const RankTime&), bool moved) const {
    Imbalance uneven;
    uneven.loss.cuts.assign(ranks_.size(), std::vector<Nanos>(job_.steps, 0));
    std::map<std::uint32_t, std::size_t> decided;
    std::map<std::uint32_t, Nanos> delayed;
    std::size_t decides = 0;
    double spread = 0;
    double length = 0;
    for (std::size_t s = 0; s < job_.steps; ++s) {
      std::vector<Nanos> owns;
      std::vector<Nanos> parts;
      std::uint32_t slowest = 0;
      for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
        owns.push_back(job_.Own(r, s));
        parts.push_back(of(job_.TimeOf(ranks_, r, s)));
        if (owns[r] > owns[slowest]) slowest = r;
      }
      const Nanos own_median = LowerMedian(owns);
      const Nanos part_median = LowerMedian(parts);
      spread += static_cast<double>(*std::max_element(parts.begin(), parts.end()) - part_median);
      length += static_cast<double>(job_.job_length[s]);
      if (2 * (parts[slowest] - part_median) < owns[slowest] - own_median) continue;
      if (owns[slowest] <= own_median) continue;
      ++decides;
      ++decided[slowest];
      delayed[slowest] += owns[slowest] - own_median;
      // Sharing the work makes no host faster, and what all hosts do takes the median one as long.
      std::vector<Nanos> hosts;
      for (const std::vector<Nanos>& pace : losses_.pace()) hosts.push_back(pace[s]);
      const Nanos own_level =
          moved ? std::max({own_median, Mean(owns), *std::max_element(hosts.begin(), hosts.end())})
                : std::max(own_median, LowerMedian(hosts));
      const Nanos part_level = moved ? std::max(part_median, Mean(parts)) : part_median;
      for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
        uneven.loss.cuts[r][s] =
            std::max<Nanos>(0, std::min(owns[r] - own_level, parts[r] - part_level));
      }
    }
    uneven.spread = length > 0 ? spread / length : 0;
    uneven.steps = static_cast<double>(decides) / static_cast<double>(job_.steps);
    std::size_t most = 0;
    for (const auto& [rank, count] : decided) {
      most = std::max(most, count);
      uneven.deciding.push_back(rank);
    }
    if (decides > 0) uneven.top_rank = static_cast<double>(most) / static_cast<double>(decides);
    // By time: one that evaluates now and then outweighs chance, which picks a rank in each step.
    const auto top =
        std::max_element(delayed.begin(), delayed.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (top != delayed.end()) uneven.behind = Behind(top->first, of);
    if (moved) KeepToMean(&uneven.loss.cuts);
    losses_.Complete(&uneven.loss);
    return uneven;
  }

  // Ranks that compute alike in sum may still wait for each other in turn within a step. No cut of
  // one rank's step says what it takes to end that, only the gain does.
  void AddTurns(Imbalance* uneven) const {
    const WaitsInTurn turns = FindWaitsInTurn(ranks_, clocks_, joint_, job_, knowledge_);
    const Nanos inside = turns.Total();
    RankLoss& loss = uneven->loss;
    if (inside <= loss.gain) return;
    uneven->in_turn = static_cast<double>(inside) / static_cast<double>(inside + loss.gain);
    uneven->steps = std::max(uneven->steps, turns.Steps());
    uneven->top_rank = turns.top_rank;
    loss.gain += inside;
    loss.cuts.assign(ranks_.size(), std::vector<Nanos>(job_.steps, 0));
    loss.lost.by_device.assign(ranks_.size(), {});
    losses_.ClaimAll(&loss);
  }

  // Ranks that share all work equally, and are ahead of each other, take the mean of what they
  // take now: no more than the rest is won.
  void KeepToMean(RankCuts* cuts) const {
    double sum = 0;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      for (std::size_t s = 0; s < job_.steps; ++s) sum += static_cast<double>(job_.Own(r, s));
    const double mean = sum / static_cast<double>(ranks_.size());
    const double room = std::max(0.0, static_cast<double>(job_.Window()) - mean);
    const auto gain = static_cast<double>(job_.Gain(*cuts));
    if (gain <= room) return;
    for (std::vector<Nanos>& of_rank : *cuts)
      for (Nanos& cut : of_rank) cut = static_cast<Nanos>(static_cast<double>(cut) * room / gain);
  }

  static Nanos Mean(const std::vector<Nanos>& times) {
    return std::accumulate(times.begin(), times.end(), Nanos{0}) / static_cast<Nanos>(times.size());
  }

  double Behind(std::uint32_t rank, Nanos (*of)(const RankTime&)) const {
    double more = 0;
    double differences = 0;
    for (std::size_t s = 0; s < job_.steps; ++s) {
      Nanos next = 0;
      for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
        if (r != rank) next = std::max(next, of(job_.TimeOf(ranks_, r, s)));
      }
      const auto difference = static_cast<double>(of(job_.TimeOf(ranks_, rank, s)) - next);
      more += difference;
      differences += std::abs(difference);
    }
    return differences > 0 ? std::max(0.0, more / differences) : 1;
  }

  const std::vector<RankSummary>& ranks_;
  const Clocks& clocks_;
  const Joint& joint_;
  const Job& job_;
  const Knowledge& knowledge_;
  const RankLossBuilder losses_;
  Lateness result_;
};

}  // namespace

Lateness FindLateness(const std::vector<RankSummary>& ranks, const Clocks& clocks,
                      const Joint& joint, const Job& job, const Knowledge& knowledge) {
  return LatenessFinder(ranks, clocks, joint, job, knowledge).Find();
}

}  // namespace advise
