#include "engine/cluster/pipeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "engine/base/median.h"
#include "engine/cluster/stages.h"
#include "engine/cluster/transfer.h"

namespace advise {
namespace {

class PipelineFinder {
 public:
  PipelineFinder(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                 const Knowledge& knowledge)
      : ranks_(ranks), joint_(joint), job_(job), knowledge_(knowledge) {}

  Pipeline Find() {
    pipe_.bubble_loss.lost.by_device.resize(ranks_.size());
    pipe_.balance_loss.lost.by_device.resize(ranks_.size());
    pipe_.sends_loss.lost.by_device.resize(ranks_.size());
    const auto order = OrderStages(joint_, knowledge_.Number("cluster.edge_share"),
                                   knowledge_.Number("cluster.around_share"));
    if (!order || job_.steps == 0) return std::move(pipe_);
    chains_ = order->chains;
    stages_ = chains_.front().size();
    around_ = order->around;
    if (stages_ < 2 || !PassStages()) return std::move(pipe_);
    FindExchanges();
    FindWaits();
    Bubble();
    if (waiting_ < knowledge_.Number("cluster.least_bubble") * pipe_.expected) {
      return std::move(pipe_);
    }
    pipe_.stages = static_cast<int>(stages_);
    pipe_.steps_known = job_.has_steps;
    Price();
    return std::move(pipe_);
  }

 private:
  // What goes from stage to stage; an exchange of all ranks by sends does not.
  bool IsSend(std::uint32_t r, std::size_t row) const {
    const RankSummary& rank = ranks_[r];
    return rank.kinds[rank.collectives.kind[row]] == "sendrecv" && exchanged_[r][row] == 0;
  }

  void FindExchanges() {
    for (const RankSummary& rank : ranks_) exchanged_.emplace_back(rank.collectives.size(), 0);
    for (const JointCollective& collective : joint_.all) {
      if (joint_.IsPointToPoint(collective)) continue;
      for (const JointMember& member : collective.members) exchanged_[member.rank][member.row] = 1;
    }
  }

  // A step passes each stage at least once forward and once back. Ranks that exchange with all
  // others leave some sends in pairs as well, where one of them misses a few.
  bool PassStages() const {
    std::vector<std::size_t> pairs(ranks_.size(), 0);
    for (const JointCollective& collective : joint_.all) {
      if (!joint_.IsPointToPoint(collective)) continue;
      for (const JointMember& member : collective.members) ++pairs[member.rank];
    }
    for (const auto& chain : chains_)
      for (const std::uint32_t r : chain)
        if (job_.has_steps && pairs[r] < job_.steps) return false;
    return true;
  }

  // The waits inside sends and receives. A send may end before the other side has come, when its
  // data fits into a buffer; the receive is then matched with nothing, and what it takes beyond the
  // usual transfer is waiting.
  void FindWaits() {
    waits_.resize(ranks_.size());
    waited_.resize(ranks_.size());
    std::vector<std::vector<std::uint8_t>> matched(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) matched[r].resize(ranks_[r].collectives.size());
    std::vector<Nanos> transfers;
    for (const JointCollective& collective : joint_.all) {
      if (!joint_.IsPointToPoint(collective)) continue;
      transfers.push_back(collective.transfer);
      for (const JointMember& member : collective.members) {
        matched[member.rank][member.row] = 1;
        const RankSummary& rank = ranks_[member.rank];
        // A receive that is asked for early has compute beside it first, and waits in the end.
        const Nanos met = rank.collectives.end[member.row] - collective.transfer;
        const Nanos wait = WaitedExposed(rank, member, collective);
        if (wait > 0) Wait(member.rank, {met - wait, met});
      }
    }
    const Nanos usual = Median(std::move(transfers));
    for (const auto& chain : chains_) {
      for (const std::uint32_t r : chain) {
        const RankCollectives& list = ranks_[r].collectives;
        for (std::size_t row = 0; row < list.size(); ++row) {
          if (matched[r][row] != 0 || !IsSend(r, row)) continue;
          const Nanos wait = std::min(list.exposed[row], list.end[row] - list.start[row] - usual);
          const Nanos met = list.end[row] - usual;
          if (wait > 0) Wait(r, {met - wait, met});
        }
      }
    }
    for (auto& list : waits_) {
      const IntervalSet once = IntervalSet::Of(std::move(list));
      list.assign(once.intervals().begin(), once.intervals().end());
    }
  }

  void Wait(std::uint32_t rank, Interval wait) {
    waited_[rank] += wait.Length();
    waits_[rank].push_back(wait);
  }

  // Of the exposed communication of a rank, what is in sends alone.
  Nanos AloneInSends(std::uint32_t r) const {
    const RankSummary& rank = ranks_[r];
    Nanos in_others = 0;
    for (std::size_t row = 0; row < rank.collectives.size(); ++row) {
      if (!IsSend(r, row)) in_others += rank.collectives.exposed[row];
    }
    return std::max<Nanos>(0, rank.time.comm_exposed - in_others);
  }

  // Kernels of several messages wait side by side, each for as long as the rank does: what a rank
  // waits is that part of its time in sends alone that all of them together have of theirs.
  Nanos Waited(std::uint32_t r, Nanos alone) const {
    const RankSummary& rank = ranks_[r];
    Nanos in_sends = 0;
    for (std::size_t row = 0; row < rank.collectives.size(); ++row) {
      if (IsSend(r, row)) in_sends += rank.collectives.exposed[row];
    }
    if (in_sends <= alone) return waited_[r];
    return static_cast<Nanos>(static_cast<double>(waited_[r]) * static_cast<double>(alone) /
                              static_cast<double>(in_sends));
  }

  double SendsAStep(std::uint32_t r) const {
    std::vector<double> sends(job_.steps, 0);
    for (std::size_t row = 0; row < ranks_[r].collectives.size(); ++row) {
      if (!IsSend(r, row)) continue;
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

  // How often a micro-batch passes a rank. With v chunks of the layers a rank, v m activations and
  // as many gradients go between neighbours, and (v-1) m between the last rank and the first one.
  // Of two ranks these are the same, so that it takes the number of passes, v m, to tell.
  int Chunks(const std::vector<std::uint32_t>& chain) const {
    if (stages_ > 2) return around_ > 0 ? ChunksOfMany(chain) : 1;
    const double passes = Passes(chain);
    const double micros = 2 * passes - SendsAStep(chain.front()) / 2;
    if (passes < 2 || micros < 1) return 1;
    const double whole = knowledge_.Number("cluster.whole_passes");
    const double chunks = passes / micros;
    return std::abs(chunks - std::round(chunks)) < whole
               ? std::max(1, static_cast<int>(std::round(chunks)))
               : 1;
  }
  // Inner ranks have 4 v m sends and receives, the outer ones 2 m (2 v - 1). Where a kernel carries
  // several messages, only how much goes round is left.
  int ChunksOfMany(const std::vector<std::uint32_t>& chain) const {
    std::vector<double> inner;
    for (std::size_t stage = 1; stage + 1 < stages_; ++stage) {
      inner.push_back(SendsAStep(chain[stage]));
    }
    const double most = Median(std::move(inner));
    const double outer = (SendsAStep(chain.front()) + SendsAStep(chain.back())) / 2;
    const double whole = knowledge_.Number("cluster.whole_sends");
    const double chunks = most > outer ? most / (2 * (most - outer)) : 0;
    if (chunks > 2 - whole && std::abs(chunks - std::round(chunks)) < whole) {
      return static_cast<int>(std::round(chunks));
    }
    return std::max(2, static_cast<int>(std::round(1 / (1 - around_))));
  }
  // Backward passes of a step, where ranges name them.
  double Passes(const std::vector<std::uint32_t>& chain) const {
    std::vector<double> passes;
    for (const std::uint32_t r : chain) passes.push_back(ranks_[r].backwards);
    return Median(std::move(passes));
  }
  double MicroBatchesInChunks(const std::vector<std::uint32_t>& chain) const {
    return std::max(1.0, std::round(SendsAStep(chain.front()) / (2.0 * (2 * pipe_.chunks - 1))));
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
      if (!IsSend(r, row)) continue;
      if (before >= 0) gaps.push_back(std::max<Nanos>(0, list.start[row] - before));
      before = list.end[row];
    }
    if (std::fmod(std::round(SendsAStep(r)), 2) != 0) return true;  // 2 m are even
    // Two of a step are something else: the turn from forward to backward, and the optimizer.
    std::sort(gaps.begin(), gaps.end());
    if (gaps.size() < 4) return false;
    const auto shorter = static_cast<double>(gaps[gaps.size() / 3]);
    const auto longer = static_cast<double>(gaps[2 * gaps.size() / 3]);
    return longer < knowledge_.Number("cluster.backward_longer") * shorter;
  }

  void Bubble() {
    compute_.assign(stages_, 0);
    std::vector<double> micro_batches;
    double bubble = 0;
    for (const auto& chain : chains_) {
      pipe_.chunks = std::max(pipe_.chunks, Chunks(chain));
      micro_batches.push_back(pipe_.chunks > 1 ? MicroBatchesInChunks(chain) : MicroBatches(chain));
      for (std::size_t stage = 0; stage < stages_; ++stage) {
        const RankSummary& rank = ranks_[chain[stage]];
        const auto window = static_cast<double>(std::max<Nanos>(1, rank.Window()));
        compute_[stage] += ComputeOf(chain[stage]) / static_cast<double>(chains_.size());
        const Nanos alone = AloneInSends(chain[stage]);
        const Nanos waited = Waited(chain[stage], alone);
        const Nanos by_peers = rank.time.Cause(IdleCause::kPeerWait);
        // What it idles because of transfers is none of the bubble.
        const std::vector<Nanos>& owed = joint_.owed[chain[stage]];
        const Nanos rest = alone - std::accumulate(owed.begin(), owed.end(), Nanos{0});
        waiting_ += static_cast<double>(by_peers + waited) / window;
        bubble += static_cast<double>(by_peers + std::clamp<Nanos>(rest, 0, waited)) / window;
      }
    }
    pipe_.micro_batches = Median(std::move(micro_batches));
    const auto places = static_cast<double>(chains_.size() * stages_);
    waiting_ /= places;
    pipe_.bubble = bubble / places;
    const double p = static_cast<double>(stages_) - 1;
    pipe_.expected = p / (pipe_.chunks * pipe_.micro_batches + p);
    pipe_.interleaved = p / (2 * pipe_.chunks * pipe_.micro_batches + p);
  }

  // What a rank computes in a step of the job. Without steps, of windows of the same length: a rank
  // may have been recorded for longer than others.
  double ComputeOf(std::uint32_t rank) const {
    if (!job_.has_steps) {
      const auto window = static_cast<double>(std::max<Nanos>(1, ranks_[rank].Window()));
      return static_cast<double>(ranks_[rank].time.compute) / window *
             static_cast<double>(job_.Window());
    }
    double sum = 0;
    for (std::size_t step = 0; step < job_.steps; ++step)
      sum += static_cast<double>(job_.TimeOf(ranks_, rank, step).compute);
    return sum / static_cast<double>(job_.steps);
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
    pipe_.bubble_loss.gain = static_cast<Nanos>(
        window * (job_.has_steps ? std::min(pipe_.bubble, pipe_.expected) : pipe_.bubble) / 2);
    pipe_.balance_loss.gain = static_cast<Nanos>(
        std::min((*slowest - mean) * (m - 1) / m * static_cast<double>(job_.steps),
                 std::max(0.0, pipe_.bubble) * window));
    // Cuts of nothing only name the ranks that are to change.
    pipe_.balance_loss.cuts.resize(ranks_.size());
    for (const std::uint32_t r : pipe_.slowest_ranks)
      pipe_.balance_loss.cuts[r].assign(job_.steps, 0);
    Fill({}, &pipe_.bubble_loss);
    Fill(pipe_.slowest_ranks, &pipe_.balance_loss);
    pipe_.sends_loss = TransferLoss(ranks_, joint_, job_, 1, [&](const JointCollective& one) {
      return joint_.IsPointToPoint(one);
    });
    FindSlowBoundary();
  }

  // Links between stages are alike in most clusters: one that is slow stands out from the others.
  void FindSlowBoundary() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Nanos>> transfers;
    for (const JointCollective& one : joint_.all) {
      if (!joint_.IsPointToPoint(one) || !one.of_two) continue;
      transfers[{one.members[0].rank, one.members[1].rank}].push_back(one.transfer);
    }
    std::vector<StageBoundary> found;
    const std::size_t boundaries = around_ > 0 && stages_ > 2 ? stages_ : stages_ - 1;
    for (std::size_t stage = 0; stage < boundaries; ++stage) {
      StageBoundary one;
      one.from = static_cast<int>(stage);
      one.to = static_cast<int>((stage + 1) % stages_);
      for (const auto& chain : chains_) {
        const auto [a, b] = std::minmax(chain[stage], chain[(stage + 1) % stages_]);
        const auto at = transfers.find({a, b});
        if (at == transfers.end()) continue;
        const auto median = static_cast<double>(Median(at->second));
        if (median <= one.transfer_ns) continue;
        one.transfer_ns = median;
        one.ranks = {chain[stage], chain[(stage + 1) % stages_]};
      }
      found.push_back(std::move(one));
    }
    const auto slowest = std::max_element(found.begin(), found.end(),
                                          [](const StageBoundary& a, const StageBoundary& b) {
                                            return a.transfer_ns < b.transfer_ns;
                                          });
    std::vector<double> others;
    for (const StageBoundary& one : found) {
      if (one.from != slowest->from && one.transfer_ns > 0) others.push_back(one.transfer_ns);
    }
    if (others.empty()) return;
    slowest->elsewhere_ns = Median(std::move(others));
    if (slowest->transfer_ns >=
        knowledge_.Number("cluster.slow_boundary") * slowest->elsewhere_ns) {
      pipe_.slow = std::move(*slowest);
    }
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
  double around_ = 0;
  double waiting_ = 0;  // share of the time that stages wait for each other, or for transfers
  std::vector<std::vector<std::uint8_t>> exchanged_;  // by rank and row: see FindExchanges
  std::vector<std::vector<Interval>> waits_;          // by rank, exposed; disjoint
  std::vector<Nanos> waited_;                         // by rank, of all kernels
  std::vector<double> compute_;                       // by stage, a step
  Pipeline pipe_;
};

}  // namespace

Pipeline FindPipeline(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const Knowledge& knowledge) {
  return PipelineFinder(ranks, joint, job, knowledge).Find();
}

}  // namespace advise
