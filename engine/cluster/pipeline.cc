#include "engine/cluster/pipeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/metrics/median.h"

namespace advise {
namespace {

double StepsOf(const RankSummary& rank) {
  return static_cast<double>(std::max<std::size_t>(1, rank.steps.size()));
}

// Chains of ranks, each from the end with the smaller index; empty when some ranks form a ring.
std::vector<std::vector<std::uint32_t>> Chains(
    const std::map<std::uint32_t, std::set<std::uint32_t>>& neighbours) {
  std::vector<std::vector<std::uint32_t>> chains;
  std::set<std::uint32_t> seen;
  for (const auto& [rank, near] : neighbours) {
    if (near.size() > 2) return {};
  }
  for (const auto& [rank, near] : neighbours) {
    if (near.size() != 1 || seen.count(rank) > 0) continue;
    std::vector<std::uint32_t> chain = {rank};
    seen.insert(rank);
    while (true) {
      const auto& next = neighbours.at(chain.back());
      const auto at = std::find_if(next.begin(), next.end(),
                                   [&](std::uint32_t r) { return seen.count(r) == 0; });
      if (at == next.end()) break;
      chain.push_back(*at);
      seen.insert(*at);
    }
    chains.push_back(std::move(chain));
  }
  if (seen.size() != neighbours.size()) return {};
  return chains;
}

// A backward pass takes about twice as long as a forward pass; both together vary by less.
constexpr double kMuchLonger = 1.3;

class PipelineFinder {
 public:
  PipelineFinder(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                 const Knowledge& knowledge)
      : ranks_(ranks), joint_(joint), job_(job), knowledge_(knowledge) {}

  Pipeline Find() {
    pipe_.bubble_loss.lost.by_device.resize(ranks_.size());
    pipe_.balance_loss.lost.by_device.resize(ranks_.size());
    chains_ = Chains(Neighbours(joint_, knowledge_.Number("cluster.edge_share")));
    for (const auto& chain : chains_) stages_ = std::max(stages_, chain.size());
    const bool alike = std::all_of(chains_.begin(), chains_.end(),
                                   [&](const auto& chain) { return chain.size() == stages_; });
    if (stages_ < 2 || job_.steps == 0 || !alike) return std::move(pipe_);
    FindWaits();
    Bubble();
    if (pipe_.bubble < knowledge_.Number("cluster.least_bubble") * pipe_.expected) {
      return std::move(pipe_);
    }
    pipe_.stages = static_cast<int>(stages_);
    Price();
    return std::move(pipe_);
  }

 private:
  bool IsSend(const RankSummary& rank, std::size_t row) const {
    return rank.kinds[rank.collectives.kind[row]] == "sendrecv";
  }

  // The waits inside sends and receives. A send may end before the other side has come, when its
  // data fits into a buffer; the receive is then matched with nothing, and what it takes beyond the
  // usual transfer is waiting.
  void FindWaits() {
    waits_.resize(ranks_.size());
    std::vector<std::vector<std::uint8_t>> matched(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) matched[r].resize(ranks_[r].collectives.size());
    std::vector<Nanos> transfers;
    for (const JointCollective& collective : joint_.all) {
      if (!joint_.IsPointToPoint(collective)) continue;
      transfers.push_back(collective.transfer);
      for (const JointMember& member : collective.members) {
        matched[member.rank][member.row] = 1;
        const RankSummary& rank = ranks_[member.rank];
        const Nanos start = rank.collectives.start[member.row];
        const Nanos wait = WaitedExposed(rank, member, collective);
        if (wait > 0) waits_[member.rank].push_back({start, start + wait});
      }
    }
    const Nanos usual = Median(std::move(transfers));
    for (const auto& chain : chains_) {
      for (const std::uint32_t r : chain) {
        const RankCollectives& list = ranks_[r].collectives;
        for (std::size_t row = 0; row < list.size(); ++row) {
          if (matched[r][row] != 0 || !IsSend(ranks_[r], row)) continue;
          const Nanos wait = std::min(list.exposed[row], list.end[row] - list.start[row] - usual);
          if (wait > 0) waits_[r].push_back({list.start[row], list.start[row] + wait});
        }
      }
    }
    for (auto& list : waits_) {
      std::sort(list.begin(), list.end(),
                [](const Interval& a, const Interval& b) { return a.start < b.start; });
    }
  }

  double SendsAStep(std::uint32_t r) const {
    std::vector<double> sends(job_.steps, 0);
    for (std::size_t row = 0; row < ranks_[r].collectives.size(); ++row) {
      if (!IsSend(ranks_[r], row)) continue;
      const std::size_t step = job_.StepAt(ranks_, r, ranks_[r].collectives.start[row]);
      if (step < job_.steps) sends[step] += 1;
    }
    return Median(std::move(sends));
  }

  // Where each pass forward and each pass back is a send of its own, an outer stage sends or
  // receives 2 m times. Where the two directions go in one kernel (1F1B), the last stage does so
  // m + 1 times, and the first m + p - 1 times.
  double MicroBatches(const std::vector<std::uint32_t>& chain) const {
    const double first = SendsAStep(chain.front());
    const double last = SendsAStep(chain.back());
    const auto p = static_cast<double>(stages_);
    bool both_ways = std::abs(first - last) > (p - 2) / 2;
    if (stages_ == 2) both_ways = BothWays(chain.back());
    const double fewer = std::min(first, last);
    return std::max(1.0, both_ways ? fewer - 1 : fewer / 2);
  }

  // Of two stages: whether each stretch of compute between two sends of the last stage holds a
  // forward and a backward pass. Else half of them hold a forward pass, and the other half a
  // backward pass, which takes about twice as long, or nothing. Where a step begins does not
  // matter.
  bool BothWays(std::uint32_t r) const {
    const RankCollectives& list = ranks_[r].collectives;
    std::vector<Nanos> gaps;
    Nanos before = -1;
    for (std::size_t row = 0; row < list.size(); ++row) {
      if (!IsSend(ranks_[r], row)) continue;
      if (before >= 0) gaps.push_back(std::max<Nanos>(0, list.start[row] - before));
      before = list.end[row];
    }
    if (std::fmod(std::round(SendsAStep(r)), 2) != 0) return true;  // 2 m are even
    // Two of a step are something else: the turn from forward to backward, and the optimizer.
    std::sort(gaps.begin(), gaps.end());
    if (gaps.size() < 4) return false;
    const auto shorter = static_cast<double>(gaps[gaps.size() / 3]);
    const auto longer = static_cast<double>(gaps[2 * gaps.size() / 3]);
    return longer < kMuchLonger * shorter;
  }

  void Bubble() {
    compute_.assign(stages_, 0);
    std::vector<double> micro_batches;
    double bubble = 0;
    for (const auto& chain : chains_) {
      micro_batches.push_back(MicroBatches(chain));
      for (std::size_t stage = 0; stage < stages_; ++stage) {
        const RankSummary& rank = ranks_[chain[stage]];
        compute_[stage] += static_cast<double>(rank.time.compute) /
                           static_cast<double>(chains_.size()) / StepsOf(rank);
        Nanos waited = rank.time.Cause(IdleCause::kPeerWait);
        for (const Interval& wait : waits_[chain[stage]]) waited += wait.Length();
        bubble +=
            static_cast<double>(waited) / static_cast<double>(std::max<Nanos>(1, rank.Window()));
      }
    }
    pipe_.micro_batches = Median(std::move(micro_batches));
    pipe_.bubble = bubble / static_cast<double>(chains_.size() * stages_);
    const double p = static_cast<double>(stages_) - 1;
    pipe_.expected = p / (pipe_.micro_batches + p);
  }

  void Price() {
    double mean = 0;
    for (const double c : compute_) mean += c / static_cast<double>(stages_);
    const auto slowest = std::max_element(compute_.begin(), compute_.end());
    pipe_.slowest_stage = static_cast<int>(slowest - compute_.begin());
    pipe_.imbalance = mean > 0 ? *slowest / mean - 1 : 0;
    for (const auto& chain : chains_) {
      pipe_.slowest_ranks.push_back(chain[static_cast<std::size_t>(pipe_.slowest_stage)]);
    }
    // With c(s) the compute time of stage s in a step, which is (sum of c + (m-1) max c) / m long:
    // m twice as large takes half of the p-1 fillings away, and equal stages (m-1)/m of what the
    // slowest one has beyond the mean.
    const auto window = static_cast<double>(job_.Window());
    const double m = pipe_.micro_batches;
    pipe_.bubble_loss.gain =
        static_cast<Nanos>(window * std::min(pipe_.bubble, pipe_.expected) / 2);
    pipe_.balance_loss.gain = static_cast<Nanos>(
        std::min((*slowest - mean) * (m - 1) / m * static_cast<double>(job_.steps),
                 std::max(0.0, pipe_.bubble) * window));
    // Cuts of nothing only name the ranks that are to change.
    pipe_.balance_loss.cuts.resize(ranks_.size());
    for (const std::uint32_t r : pipe_.slowest_ranks)
      pipe_.balance_loss.cuts[r].assign(job_.steps, 0);
    Fill({}, &pipe_.bubble_loss);
    Fill(pipe_.slowest_ranks, &pipe_.balance_loss);
  }

  // Who waits: each rank up to what is won.
  void Fill(const std::vector<std::uint32_t>& but, RankLoss* loss) const {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      if (std::find(but.begin(), but.end(), r) != but.end()) continue;
      ClaimWaits(waits_[r], r, loss);
    }
  }

  const std::vector<RankSummary>& ranks_;
  const Joint& joint_;
  const Job& job_;
  const Knowledge& knowledge_;
  std::vector<std::vector<std::uint32_t>> chains_;
  std::size_t stages_ = 0;
  std::vector<std::vector<Interval>> waits_;  // by rank, exposed
  std::vector<double> compute_;               // by stage, a step
  Pipeline pipe_;
};

}  // namespace

std::map<std::uint32_t, std::set<std::uint32_t>> Neighbours(const Joint& joint,
                                                            double least_share) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> edges;
  std::map<std::uint32_t, std::size_t> total;
  for (const JointCollective& collective : joint.all) {
    if (!joint.IsPointToPoint(collective) || collective.members.size() != 2) continue;
    const std::uint32_t a = collective.members[0].rank;
    const std::uint32_t b = collective.members[1].rank;
    ++edges[{a, b}];
    ++total[a];
    ++total[b];
  }
  std::map<std::uint32_t, std::set<std::uint32_t>> neighbours;
  for (const auto& [edge, count] : edges) {
    const auto& [a, b] = edge;
    // Two unrelated pairs that end together by chance make no edge.
    const auto least = static_cast<double>(std::min(total[a], total[b]));
    if (static_cast<double>(count) < least_share * least) continue;
    neighbours[a].insert(b);
    neighbours[b].insert(a);
  }
  return neighbours;
}

Pipeline FindPipeline(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const Knowledge& knowledge) {
  return PipelineFinder(ranks, joint, job, knowledge).Find();
}

}  // namespace advise
