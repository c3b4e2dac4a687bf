#include "engine/cluster/waits_in_turn.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace advise {
namespace {

class TurnFinder {
 public:
  TurnFinder(const std::vector<RankSummary>& ranks, const Clocks& clocks, const Joint& joint,
             const Job& job, const Knowledge& knowledge)
      : ranks_(ranks),
        joint_(joint),
        job_(job),
        least_(std::max(knowledge.Time("cluster.late_least"), 2 * clocks.residual)),
        together_(knowledge.Number("comm.together_share")),
        usual_(knowledge.Number("cluster.uneven_segment")) {}

  WaitsInTurn Find() {
    WaitsInTurn turns;
    turns.waited.assign(job_.steps, 0);
    if (ranks_.size() < 2 || !job_.has_steps) return turns;
    FindEnds();
    late_.assign(job_.steps, 0);
    std::vector<std::vector<Interval>> waits(ranks_.size() * job_.steps);
    std::map<std::uint32_t, std::size_t> last;
    std::size_t judged = 0;
    for (const JointCollective& collective : joint_.all) {
      if (!IsUneven(collective)) continue;
      ++judged;
      ++last[collective.latest];
      const std::size_t at = StepOfLatest(collective);
      if (at < job_.steps) late_[at] += collective.last_start - collective.median_start;
      for (const JointMember& member : collective.members) {
        const RankSummary& rank = ranks_[member.rank];
        const Nanos start = rank.collectives.start[member.row];
        const std::size_t step = job_.StepAt(ranks_, member.rank, start);
        if (step == job_.steps) continue;
        waits[member.rank * job_.steps + step].push_back(WaitOf(rank, member, collective));
      }
    }
    for (const auto& [rank, count] : last) {
      const double share = static_cast<double>(count) / static_cast<double>(judged);
      turns.top_rank = rank == last.begin()->first ? share : std::max(turns.top_rank, share);
    }
    for (std::size_t s = 0; s < job_.steps; ++s) turns.waited[s] = WaitedByAll(s, &waits);
    return turns;
  }

 private:
  // By rank and row: when the last collective before it ended.
  void FindEnds() {
    before_.resize(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      Nanos end = ranks_[r].window_start;
      for (std::size_t row = 0; row < ranks_[r].collectives.size(); ++row) {
        before_[r].push_back(end);
        end = std::max(end, ranks_[r].collectives.end[row]);
      }
    }
  }

  static const JointMember& Latest(const JointCollective& collective) {
    return *std::find_if(collective.members.begin(), collective.members.end(),
                         [&](const JointMember& m) { return m.rank == collective.latest; });
  }

  std::size_t StepOfLatest(const JointCollective& collective) const {
    const JointMember& latest = Latest(collective);
    return job_.StepAt(ranks_, latest.rank, ranks_[latest.rank].collectives.start[latest.row]);
  }

  bool IsUneven(const JointCollective& collective) const {
    if (joint_.IsPointToPoint(collective)) return false;
    const Nanos late = collective.last_start - collective.median_start;
    if (late <=
        std::max(least_, static_cast<Nanos>(together_ * static_cast<double>(collective.transfer))))
      return false;
    const JointMember& latest = Latest(collective);
    const Nanos since =
        ranks_[latest.rank].collectives.start[latest.row] - before_[latest.rank][latest.row];
    return static_cast<double>(late) > usual_ * static_cast<double>(since);
  }

  Nanos WaitedByAll(std::size_t step, std::vector<std::vector<Interval>>* waits) const {
    Nanos least = std::numeric_limits<Nanos>::max();
    Nanos idle = 0;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      auto& of_rank = (*waits)[r * job_.steps + step];
      const Nanos waited = IntervalSet::Of(std::move(of_rank)).Total();
      least = std::min({least, waited, job_.waited[r * job_.steps + step]});
      idle += job_.TimeOf(ranks_, r, step).idle;
    }
    return 2 * idle < late_[step] ? least : 0;
  }

  const std::vector<RankSummary>& ranks_;
  const Joint& joint_;
  const Job& job_;
  const Nanos least_;
  const double together_, usual_;
  std::vector<std::vector<Nanos>> before_;
  std::vector<Nanos> late_;  // by step: of those that come last, after the median rank
};

}  // namespace

Nanos WaitsInTurn::Total() const { return std::accumulate(waited.begin(), waited.end(), Nanos{0}); }

double WaitsInTurn::Steps() const {
  if (waited.empty()) return 0;
  const auto none = std::count(waited.begin(), waited.end(), Nanos{0});
  return 1 - static_cast<double>(none) / static_cast<double>(waited.size());
}

WaitsInTurn FindWaitsInTurn(const std::vector<RankSummary>& ranks, const Clocks& clocks,
                            const Joint& joint, const Job& job, const Knowledge& knowledge) {
  return TurnFinder(ranks, clocks, joint, job, knowledge).Find();
}

}  // namespace advise
