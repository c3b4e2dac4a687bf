#include "engine/cluster/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/cluster/sharding.h"
#include "engine/cluster/stages.h"
#include "engine/cluster/transfer.h"

namespace advise {
namespace {

const std::string kBackward = "backward";

// What is saved of a transfer by keeping it inside the node.
double InsideGain(const std::vector<RankSummary>& ranks, const Knowledge& knowledge) {
  const HardwareEntry* gpu = knowledge.FindHardware(ranks.front().device_name);
  if (gpu != nullptr) {
    const auto nvlink = gpu->facts.find("nvlink_bytes_per_s");
    if (nvlink != gpu->facts.end() && nvlink->second.value > 0) {
      return std::max(0.0, 1 - knowledge.Number("cluster.network_rate") / nvlink->second.value);
    }
  }
  return knowledge.Number("cluster.inside_gain");
}

void Scale(const Job& job, double part, RankLoss* loss) {
  for (std::vector<Nanos>& cuts : loss->comm_cuts) {
    for (Nanos& cut : cuts) cut = static_cast<Nanos>(part * static_cast<double>(cut));
  }
  loss->gain = job.Gain(loss->comm_cuts);
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
  if (name == "embedding") return ", and look-ups in embedding tables without attention";
  return "";
}

// Each rank talks with exactly two others, and all of a ring of three and more are connected.
bool IsRing(const std::map<std::uint32_t, std::set<std::uint32_t>>& neighbours) {
  return neighbours.size() > 2 &&
         std::all_of(neighbours.begin(), neighbours.end(),
                     [](const auto& one) { return one.second.size() == 2; });
}

}  // namespace

Strategy FindStrategy(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const Pipeline& pipeline, const Knowledge& knowledge) {
  Strategy found;
  found.rows = FindPatterns(ranks, joint);
  const std::vector<PatternRow>& rows = found.rows;
  const double part_often = knowledge.Number("cluster.part_often");
  const auto part_of = [&](const char* kind, const char* phase) {
    return PartOf(rows, kind, phase, part_often);
  };
  const PatternSum exchange = part_of("alltoall", "*");
  const PatternSum sends = part_of("sendrecv", "*");
  const double often = knowledge.Number("cluster.often");  // a step: more than flags and norms
  std::vector<std::string> names;
  std::vector<std::string> reasons;
  const auto add = [&](std::string name, std::string reason) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
    reasons.push_back(std::move(reason));
  };
  const double inside = InsideGain(ranks, knowledge);

  // Shared layers add up their results in the forward pass; with the sequence divided between
  // layers they scatter the sums and gather them again.
  const PatternSum sums = part_of("allreduce", "forward");
  const PatternSum parts = part_of("reducescatter", "forward");
  const bool divided = parts.per_step >= often && parts.per_step > sums.per_step;
  PatternSum tensor = divided ? parts : sums;
  if (tensor.per_step < often) tensor = PatternSum();
  const auto of_tensor = [&](const JointCollective& c) {
    const std::string& kind = joint.Kind(c);
    const bool kind_fits =
        divided ? kind == "reducescatter" || kind == "allgather" : kind == "allreduce";
    return tensor.per_step > 0 && kind_fits &&
           static_cast<double>(c.members.size()) == tensor.group &&
           StrideOf(ranks, c) == tensor.stride;
  };
  if (tensor.per_step > 0) {
    found.tensor = static_cast<int>(tensor.group);
    found.tensor_across_nodes = tensor.across;
    found.tensor_loss = TransferLoss(ranks, joint, job, 1, of_tensor);
    if (found.tensor_across_nodes) Scale(job, inside, &found.tensor_loss);
    add("tensor",
        fmt::format("{:.0f} {} a step in the forward pass among {} ranks{}", tensor.per_step,
                    divided ? "reduce-scatters" : "all-reduces", found.tensor,
                    divided ? ", which divide the sequence between layers" : ""));
  }
  const Sharding sharding = FindSharding(rows, tensor, ranks, knowledge);
  if (sharding.stage >= 0) {
    found.zero_stage = sharding.stage;
    found.data = sharding.ranks;
    add(sharding.name, sharding.reason);
  }
  if (sharding.stage == 3) {
    found.gather_across_nodes = sharding.gathers.across;
    found.gather_bytes = part_of("allgather", "forward").bytes;
    if (found.gather_bytes == 0) found.gather_bytes = sharding.gathers.bytes / 2;
    const auto of_weights = [&](const JointCollective& c) {
      return joint.Kind(c) == "allgather" && !of_tensor(c);
    };
    found.gather_loss = TransferLoss(ranks, joint, job, 1, of_weights);
    const bool phases = part_of("allgather", "backward").per_step > 0;
    found.regather_loss =
        TransferLoss(ranks, joint, job, phases ? 1 : 0.5, [&](const JointCollective& c) {
          return of_weights(c) && (!phases || PartOfStep(c.phase) == kBackward);
        });
    found.across_loss = TransferLoss(ranks, joint, job, 1, [&](const JointCollective& c) {
      return (of_weights(c) || (joint.Kind(c) == "reducescatter" && !of_tensor(c))) &&
             AcrossNodes(ranks, c);
    });
    Scale(job, inside, &found.across_loss);
  }
  if (exchange.per_step > 0) {
    const int size = static_cast<int>(exchange.group);
    const char* const name = WhatIsExchanged(ranks);
    if (name == std::string("expert")) found.expert = size;
    if (name == std::string("context")) found.context = size;
    add(name, fmt::format("{:.0f} all-to-alls a step among {} ranks{}", exchange.per_step, size,
                          WhyExchanged(name)));
  }
  if (sends.per_step > 0 && pipeline.stages > 1) {
    found.pipeline = pipeline.stages;
    add("pipeline",
        fmt::format("{:.0f} sends and receives a step along chains of {} ranks{}, which wait for "
                    "each other {:.0f} % of the time",
                    sends.per_step, found.pipeline,
                    pipeline.chunks > 1
                        ? fmt::format(" and on from the last to the first ({} chunks of layers a "
                                      "rank: an interleaved schedule)",
                                      pipeline.chunks)
                        : "",
                    100 * pipeline.bubble));
  } else if (sends.per_step > exchange.per_step / 2) {  // else they are strays of the exchange
    // With two ranks, a ring and an all-to-all are the same sends.
    const auto neighbours = Neighbours(joint, knowledge.Number("cluster.edge_share"));
    const bool ring = IsRing(neighbours);
    const int size =
        static_cast<int>(std::max(sends.group, static_cast<double>(neighbours.size())));
    const char* const name = ring ? "context" : WhatIsExchanged(ranks);
    if (name == std::string("expert")) found.expert = size;
    if (name == std::string("context")) found.context = size;
    add(name, fmt::format("{:.0f} sends and receives a step {} {} ranks that hardly wait for each "
                          "other: blocks are exchanged{}",
                          sends.per_step, ring ? "round a ring of" : "among", size,
                          ring ? "" : WhyExchanged(name)));
  }
  found.needed = TransferLoss(ranks, joint, job, 1, [&](const JointCollective& c) {
                   return of_tensor(c) || (found.pipeline > 1 && joint.IsPointToPoint(c));
                 }).comm_cuts;
  found.exchanged =
      TransferLoss(ranks, joint, job, 1, [&](const JointCollective& c) {
        return joint.Kind(c) == "alltoall" || (found.pipeline == 1 && joint.IsPointToPoint(c));
      }).comm_cuts;
  found.reduce_bytes =
      sharding.scatters.per_step > 0 ? sharding.scatters.bytes : part_of("allreduce", "*").bytes;
  found.name = fmt::format("{}", fmt::join(names, " + "));
  found.evidence = fmt::format("{}", fmt::join(reasons, "; "));
  return found;
}

}  // namespace advise
