#include "engine/cluster/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "engine/base/median.h"
#include "engine/cluster/pace.h"
#include "engine/cluster/sharding.h"
#include "engine/cluster/stages.h"
#include "engine/cluster/transfer.h"

namespace advise {
namespace {

const std::string kBackward = "backward";

// What is saved of a transfer by keeping it inside the node.
double InsideGain(const std::vector<RankSummary>& ranks, const Knowledge& knowledge) {
  const double nvlink = NvlinkRate(ranks, knowledge);
  if (nvlink > 0) return std::max(0.0, 1 - knowledge.Number("cluster.network_rate") / nvlink);
  return knowledge.Number("cluster.inside_gain");
}

void Scale(const Job& job, double part, RankLoss* loss) {
  for (std::vector<Nanos>& cuts : loss->comm_cuts) {
    for (Nanos& cut : cuts) cut = static_cast<Nanos>(part * static_cast<double>(cut));
  }
  loss->gain = job.Gain({}, loss->comm_cuts);
}

bool Runs(const std::vector<RankSummary>& ranks, const char* trait) {
  return std::any_of(ranks.begin(), ranks.end(), [&](const RankSummary& rank) {
    return std::find(rank.traits.begin(), rank.traits.end(), trait) != rank.traits.end();
  });
}

// All-to-alls move tokens to experts, parts of a sequence between heads (Ulysses), or rows of
// embedding tables. Which of them, only the other kernels tell.
const char* WhatIsExchanged(const std::vector<RankSummary>& ranks) {
  if (Runs(ranks, "moe_routing")) return "expert";
  if (Runs(ranks, "attention")) return "context";
  if (Runs(ranks, "embedding")) return "embedding";
  return "exchange";
}
std::string WhyExchanged(const std::string& name) {
  if (name == "expert") return ", and kernels that route tokens to experts";
  if (name == "context") return ", attention, and no kernels that route tokens";
  if (name == "embedding") return ", and lookups in embedding tables without attention";
  return "";
}

// Each rank talks with exactly two others, and all of a ring of three and more are connected.
bool IsRing(const std::map<std::uint32_t, std::set<std::uint32_t>>& neighbours) {
  return neighbours.size() > 2 &&
         std::all_of(neighbours.begin(), neighbours.end(),
                     [](const auto& one) { return one.second.size() == 2; });
}

// Counts are of the window where no steps are known.
void SayInTheWindow(std::string* evidence) {
  constexpr std::string_view kPerStep = " per step";
  for (std::size_t at = 0; (at = evidence->find(kPerStep, at)) != std::string::npos;)
    evidence->replace(at, kPerStep.size(), " in the window");
}

class StrategyFinder {
 public:
  StrategyFinder(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                 const Pipeline& pipeline, const Knowledge& knowledge)
      : ranks_(ranks),
        joint_(joint),
        job_(job),
        pipeline_(pipeline),
        knowledge_(knowledge),
        part_often_(knowledge.Number("cluster.part_often")),
        inside_(InsideGain(ranks, knowledge)),
        infers_(Runs(ranks, "inference")) {
    found_.rows = FindPatterns(ranks, joint);
  }

  Strategy Find() {
    Tensor();
    Sharded();
    const PatternSum exchange = PartOf("alltoall", "*");
    if (exchange.per_step > 0) {
      const int size = static_cast<int>(exchange.group);
      const std::string name = Exchanged(WhatIsExchanged(ranks_), size);
      Add(name, fmt::format("{:.0f} all-to-alls per step {}{}", exchange.per_step,
                            AmongRanks(size, ranks_.size()), WhyExchanged(name)));
    }
    Sent(exchange);
    found_.needed = LossOf([&](const JointCollective& c) {
                      return OfTensor(c) || (found_.pipeline > 1 && joint_.IsPointToPoint(c));
                    }).comm_cuts;
    found_.exchanged =
        LossOf([&](const JointCollective& c) {
          return joint_.Kind(c) == "alltoall" || (found_.pipeline == 1 && joint_.IsPointToPoint(c));
        }).comm_cuts;
    found_.name = fmt::format("{}", fmt::join(names_, " + "));
    found_.evidence = fmt::format("{}", fmt::join(reasons_, "; "));
    if (!job_.has_steps) SayInTheWindow(&found_.evidence);
    return std::move(found_);
  }

 private:
  PatternSum PartOf(const char* kind, const char* phase) const {
    return advise::PartOf(found_.rows, kind, phase, part_often_);
  }
  RankLoss LossOf(const std::function<bool(const JointCollective&)>& keep, double part = 1) const {
    return TransferLoss(ranks_, joint_, job_, part, keep);
  }
  void Add(const std::string& name, std::string reason) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    reasons_.push_back(std::move(reason));
  }

  // Shared layers add up their results in the forward pass; with the sequence divided between
  // layers they scatter the sums and gather them again.
  void Tensor() {
    const double often = knowledge_.Number("cluster.often");  // a step: more than flags and norms
    const PatternSum sums = PartOf("allreduce", "forward");
    const PatternSum parts = PartOf("reducescatter", "forward");
    divided_ = parts.per_step >= often && parts.per_step > sums.per_step;
    tensor_ = divided_ ? parts : sums;
    // Where no range names the passes, the rhythm tells.
    const PatternSum any = PartOf("allreduce", "*");
    const bool named = 2 * PartOf("allreduce", "backward").per_step > any.per_step;
    const bool unnamed = tensor_.per_step < often && any.per_step >= often && !named;
    const bool by_rhythm = unnamed && IsOfLayers(any);
    if (by_rhythm || (unnamed && infers_)) tensor_ = any;
    if (tensor_.per_step < often) tensor_ = PatternSum();
    if (tensor_.per_step <= 0) return;
    found_.tensor = static_cast<int>(tensor_.group);
    found_.tensor_across_nodes = tensor_.across;
    found_.tensor_loss = LossOf([&](const JointCollective& c) { return OfTensor(c); });
    if (found_.tensor_across_nodes) Scale(job_, inside_, &found_.tensor_loss);
    Latency();
    Add("tensor", fmt::format("{:.0f} {} per step {} {}{}", tensor_.per_step,
                              divided_ ? "reduce-scatters" : "all-reduces",
                              by_rhythm ? "all through the step, one after each part of a layer,"
                              : unnamed ? "of a program without a backward pass"
                                        : "in the forward pass",
                              AmongRanks(found_.tensor, ranks_.size()),
                              divided_ ? ", which divide the sequence between layers" : ""));
  }

  // Small sums inside a node take as long as the library needs for any, and one kernel that reads
  // its peers' memory needs less: of two GPUs, or of more that are linked with each other. Where
  // sizes are not known, they are small for single tokens and products of a few rows: those of
  // whole sequences may take as long on the links.
  void Latency() {
    if (divided_ || tensor_.across || Runs(ranks_, "one-kernel-all-reduce")) return;
    if (found_.tensor > 2 && NvlinkRate(ranks_, knowledge_) <= 0) return;
    const bool tokens = Runs(ranks_, "tokens") || Runs(ranks_, "few-rows");
    const auto longest = knowledge_.Time("cluster.latency_call");
    const auto large = knowledge_.BytesOf("cluster.latency_message");
    const double one_shot = knowledge_.Number("cluster.one_shot_call");
    std::vector<Nanos> calls;
    for (const JointCollective& c : joint_.all) {
      if (OfTensor(c)) calls.push_back(c.Moving());
    }
    found_.tensor_call_ns = static_cast<double>(Median(calls));
    found_.latency_loss = TransferLoss(ranks_, joint_, job_, [&](const JointCollective& c) {
      const bool small = c.bytes < 0 ? tokens : c.bytes <= large;
      if (!OfTensor(c) || !small || c.Moving() <= 0 || c.Moving() > longest) return 0.0;
      return 1 - one_shot / static_cast<double>(c.Moving());
    });
    LeaveHostsTheirTime(&found_.latency_loss);
  }

  // No step gets shorter than what the host works for it. Where layers are launched one by one,
  // that is what a token takes, and not the sums.
  void LeaveHostsTheirTime(RankLoss* loss) const {
    const RankCuts pace = HostPace(ranks_, job_);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      for (std::size_t s = 0; s < job_.steps; ++s) {
        Nanos& cut = loss->comm_cuts[r][s];
        cut = std::min(cut, std::max<Nanos>(0, job_.Own(r, s) - pace[r][s]));
      }
    }
    loss->gain = job_.Gain({}, loss->comm_cuts);
  }

  // Sums of a layer's parts are as large each time, come at an even pace through both passes, and
  // the next kernel needs them. Sums of gradients leave out the forward pass.
  bool IsOfLayers(const PatternSum& sums) const {
    std::vector<const JointCollective*> all;
    double transfer = 0;
    double bare = 0;
    for (const JointCollective& c : joint_.all) {
      if (joint_.Kind(c) != "allreduce" || static_cast<double>(c.members.size()) != sums.group)
        continue;
      all.push_back(&c);
      transfer += static_cast<double>(c.transfer);
      bare += static_cast<double>(c.bare_transfer);
    }
    if (all.size() < 2 || bare < knowledge_.Number("cluster.layer_bare") * transfer) return false;
    std::vector<Nanos> lengths;
    std::vector<Nanos> gaps;
    for (std::size_t i = 0; i < all.size(); ++i) {
      lengths.push_back(all[i]->transfer);
      if (i > 0) gaps.push_back(std::max<Nanos>(0, all[i]->last_start - all[i - 1]->end));
    }
    const Nanos usual = Median(lengths);
    const auto alike = std::count_if(lengths.begin(), lengths.end(), [&](Nanos length) {
      return 2 * length > usual && length < 2 * usual;
    });
    const double pace = knowledge_.Number("cluster.layer_pace") * static_cast<double>(Median(gaps));
    double apart = 0;
    double beyond = 0;
    for (const Nanos gap : gaps) {
      apart += static_cast<double>(gap);
      if (static_cast<double>(gap) > pace) beyond += static_cast<double>(gap);
    }
    const double most = knowledge_.Number("cluster.layer_beyond");
    return static_cast<double>(alike) >= (1 - most) * static_cast<double>(lengths.size()) &&
           beyond <= most * apart;
  }

  bool OfTensor(const JointCollective& c) const {
    const std::string& kind = joint_.Kind(c);
    const bool kind_fits =
        divided_ ? kind == "reducescatter" || kind == "allgather" : kind == "allreduce";
    return tensor_.per_step > 0 && kind_fits &&
           static_cast<double>(c.members.size()) == tensor_.group &&
           StrideOf(ranks_, c) == tensor_.stride;
  }

  void Sharded() {
    const Sharding sharding = FindSharding(found_.rows, tensor_, ranks_, knowledge_);
    found_.reduce_bytes =
        sharding.scatters.per_step > 0 ? sharding.scatters.bytes : PartOf("allreduce", "*").bytes;
    if (sharding.stage < 0 || infers_) return;  // inference has no gradients
    found_.zero_stage = sharding.stage;
    found_.data = sharding.ranks;
    Add(sharding.name, sharding.reason);
    if (sharding.stage != 3) return;
    found_.gather_across_nodes = sharding.gathers.across;
    found_.gather_bytes = PartOf("allgather", "forward").bytes;
    if (found_.gather_bytes == 0) found_.gather_bytes = sharding.gathers.bytes / 2;
    const auto of_weights = [&](const JointCollective& c) {
      return joint_.Kind(c) == "allgather" && !OfTensor(c);
    };
    found_.gather_loss = LossOf(of_weights);
    const bool phases = PartOf("allgather", "backward").per_step > 0;
    found_.regather_loss = LossOf(
        [&](const JointCollective& c) {
          return of_weights(c) && (!phases || PartOfStep(c.phase) == kBackward);
        },
        phases ? 1 : knowledge_.Number("cluster.regather_part"));
    found_.across_loss = LossOf([&](const JointCollective& c) {
      return (of_weights(c) || (joint_.Kind(c) == "reducescatter" && !OfTensor(c))) &&
             AcrossNodes(ranks_, c);
    });
    Scale(job_, inside_, &found_.across_loss);
  }

  // Notes how many ranks exchange, and returns what they exchange.
  std::string Exchanged(std::string name, int size) {
    if (name == "expert") found_.expert = size;
    if (name == "context") found_.context = size;
    return name;
  }

  void Sent(const PatternSum& exchange) {
    const PatternSum sends = PartOf("sendrecv", "*");
    // Two stages of a pipeline and two ranks that exchange blocks look alike, unless ranges tell.
    if (sends.per_step > 0 && pipeline_.stages > 1 && !Runs(ranks_, "all_to_all")) {
      found_.pipeline = pipeline_.stages;
      Add("pipeline",
          fmt::format(
              "{:.0f} sends and receives per step along chains of {} ranks{}, which wait for "
              "each other {:.0f} % of the time",
              sends.per_step, found_.pipeline,
              pipeline_.chunks > 1
                  ? fmt::format(" and on from the last to the first ({} chunks of layers per "
                                "rank: an interleaved schedule)",
                                pipeline_.chunks)
                  : "",
              100 * pipeline_.bubble));
      return;
    }
    if (sends.per_step <= exchange.per_step / 2) return;  // strays of the exchange
    // With two ranks, a ring and an all-to-all are the same sends.
    const auto neighbours = Neighbours(joint_, knowledge_.Number("cluster.edge_share"));
    const bool ring = IsRing(neighbours);
    const int size =
        static_cast<int>(std::max(sends.group, static_cast<double>(neighbours.size())));
    const std::string name = Exchanged(ring ? "context" : WhatIsExchanged(ranks_), size);
    Add(name,
        fmt::format("{:.0f} sends and receives per step {} {} ranks that hardly wait for each "
                    "other: blocks are exchanged{}",
                    sends.per_step, ring ? "round a ring of" : "among", size,
                    ring ? "" : WhyExchanged(name)));
  }

  const std::vector<RankSummary>& ranks_;
  const Joint& joint_;
  const Job& job_;
  const Pipeline& pipeline_;
  const Knowledge& knowledge_;
  double part_often_;
  double inside_;
  bool infers_;           // nothing is trained
  PatternSum tensor_;     // of tensor parallelism, nothing unless it happens often
  bool divided_ = false;  // the sequence, between layers
  std::vector<std::string> names_;
  std::vector<std::string> reasons_;
  Strategy found_;
};

}  // namespace

Strategy FindStrategy(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const Pipeline& pipeline, const Knowledge& knowledge) {
  return StrategyFinder(ranks, joint, job, pipeline, knowledge).Find();
}

}  // namespace advise
