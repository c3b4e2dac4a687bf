#include "engine/cluster/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "engine/cluster/transfer.h"
#include "engine/metrics/names.h"

namespace advise {
namespace {

const std::string kBackward = "backward";

// The phases that a step is made of; "" for the others.
const char* PartOfStep(std::uint8_t of_op) {
  const auto phase = static_cast<Phase>(of_op);
  const bool part =
      phase == Phase::kForward || phase == Phase::kBackward || phase == Phase::kOptimizer;
  return part ? PhaseName(phase) : "";
}

double StepsOf(const RankSummary& rank) {
  return static_cast<double>(std::max<std::size_t>(1, rank.steps.size()));
}

// Ranks that share layers are neighbours, and those that hold copies are as far apart as the groups
// are large: groups of one size are told apart by it.
int StrideOf(const std::vector<RankSummary>& ranks, const JointCollective& collective) {
  const auto number = [&](std::size_t i) {
    const std::uint32_t r = collective.members[i].rank;
    return ranks[r].rank >= 0 ? ranks[r].rank : static_cast<int>(r);
  };
  const int stride = number(1) - number(0);
  for (std::size_t i = 2; i < collective.members.size(); ++i) {
    if (number(i) - number(i - 1) != stride) return 0;
  }
  return stride;
}

std::vector<PatternRow> FindRows(const std::vector<RankSummary>& ranks, const Joint& joint) {
  using Key = std::tuple<std::string, std::string, std::size_t, int>;  // kind, phase, ranks, stride
  struct Tally {
    std::map<std::uint32_t, double> per_rank;
    double bytes = 0;
    double transfer = 0;
    double exposed = 0;
    bool across = false;
  };
  std::map<Key, Tally> tallies;
  for (const JointCollective& collective : joint.all) {
    Tally& tally = tallies[{joint.Kind(collective), PartOfStep(collective.phase),
                            collective.members.size(), StrideOf(ranks, collective)}];
    for (const JointMember& member : collective.members) {
      const RankSummary& rank = ranks[member.rank];
      tally.per_rank[member.rank] += 1 / StepsOf(rank);
      tally.exposed += static_cast<double>(rank.collectives.exposed[member.row] -
                                           WaitedExposed(rank, member, collective));
    }
    tally.transfer += static_cast<double>(collective.transfer);
    for (const JointMember& member : collective.members) {
      if (collective.bytes < 0) break;
      tally.bytes += static_cast<double>(collective.bytes) / StepsOf(ranks[member.rank]);
    }
    tally.across = tally.across || AcrossNodes(ranks, collective);
  }
  std::vector<PatternRow> rows;
  for (auto& [key, tally] : tallies) {
    PatternRow row;
    row.kind = std::get<0>(key);
    row.phase = std::get<1>(key);
    row.group = static_cast<double>(std::get<2>(key));
    row.stride = std::get<3>(key);
    for (const auto& [rank, count] : tally.per_rank) row.per_step += count;
    row.per_step /= static_cast<double>(tally.per_rank.size());
    row.across_nodes = tally.across;
    row.bytes = tally.bytes / static_cast<double>(tally.per_rank.size());
    row.transfer_ns = tally.transfer;
    row.exposed_ns = tally.exposed / static_cast<double>(ranks.size());
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const PatternRow& a, const PatternRow& b) {
    return a.transfer_ns > b.transfer_ns;
  });
  return rows;
}

// What all rows of a kind in a phase ("*": any) add up to.
struct Part {
  double per_step = 0;
  double group = 1;  // of the row with most transfer time
  int stride = 0;
  double bytes = 0;
  bool across = false;
};
// The row that stands for all of them: that with most transfer time, unless groups of a part of its
// size are there as well often enough. Two groups that end together by chance look like one of
// twice the size.
const PatternRow* MainRow(const std::vector<const PatternRow*>& rows) {
  constexpr double kOftenEnough = 0.25;
  const PatternRow* main = nullptr;
  for (const PatternRow* row : rows) {
    if (main == nullptr || row->transfer_ns > main->transfer_ns) main = row;
  }
  const PatternRow* smaller = main;
  for (const PatternRow* row : rows) {
    const bool part = row->group < smaller->group && std::fmod(main->group, row->group) == 0;
    if (part && row->per_step >= kOftenEnough * main->per_step) smaller = row;
  }
  return smaller;
}

Part PartOf(const std::vector<PatternRow>& rows, const std::string& kind,
            const std::string& phase) {
  Part part;
  std::vector<const PatternRow*> of_kind;
  for (const PatternRow& row : rows) {
    if (row.kind != kind || (phase != "*" && row.phase != phase)) continue;
    of_kind.push_back(&row);
    part.per_step += row.per_step;
    part.bytes += row.bytes;
  }
  if (const PatternRow* main = MainRow(of_kind)) {
    part.group = main->group;
    part.stride = main->stride;
    part.across = main->across_nodes;
  }
  return part;
}

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
  for (std::vector<Nanos>& cuts : loss->cuts) {
    for (Nanos& cut : cuts) cut = static_cast<Nanos>(part * static_cast<double>(cut));
  }
  loss->gain = job.Gain(loss->cuts);
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
  found.rows = FindRows(ranks, joint);
  const std::vector<PatternRow>& rows = found.rows;
  const Part forward_reduce = PartOf(rows, "allreduce", "forward");
  const Part reduce = PartOf(rows, "allreduce", "*");
  const Part gather = PartOf(rows, "allgather", "*");
  const Part late_gather = PartOf(rows, "allgather", "optimizer");
  const Part scatter = PartOf(rows, "reducescatter", "*");
  const Part exchange = PartOf(rows, "alltoall", "*");
  const Part sends = PartOf(rows, "sendrecv", "*");
  const double often = knowledge.Number("cluster.often");  // a step: more than flags and norms
  std::vector<std::string> names;
  std::vector<std::string> reasons;
  const auto add = [&](std::string name, std::string reason) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
    reasons.push_back(std::move(reason));
  };
  const double inside = InsideGain(ranks, knowledge);

  if (forward_reduce.per_step >= often) {
    found.tensor = static_cast<int>(forward_reduce.group);
    found.tensor_across_nodes = forward_reduce.across;
    found.tensor_loss = TransferLoss(ranks, joint, job, 1, [&](const JointCollective& c) {
      return joint.Kind(c) == "allreduce" &&
             static_cast<double>(c.members.size()) == forward_reduce.group &&
             StrideOf(ranks, c) == forward_reduce.stride;
    });
    if (found.tensor_across_nodes) Scale(job, inside, &found.tensor_loss);
    add("tensor", fmt::format("{:.0f} all-reduces a step in the forward pass among {} ranks",
                              forward_reduce.per_step, found.tensor));
  }
  // Gradients: what is reduced beside the tensor-parallel groups.
  double gradient_reduces = 0;
  std::vector<const PatternRow*> gradient_rows;
  for (const PatternRow& row : rows) {
    if (row.kind != "allreduce" || row.phase == "forward") continue;
    const bool of_tensor = found.tensor > 1 && row.group == forward_reduce.group &&
                           row.stride == forward_reduce.stride &&
                           row.per_step >= forward_reduce.per_step / 2;
    if (of_tensor) continue;
    gradient_rows.push_back(&row);
    gradient_reduces += row.per_step;
  }
  const double gradient_group = gradient_rows.empty() ? 1 : MainRow(gradient_rows)->group;
  const double gathers_per_scatter = knowledge.Number("cluster.gathers_per_scatter");
  if (scatter.per_step > 0 && gather.per_step >= gathers_per_scatter * scatter.per_step) {
    found.zero_stage = 3;
    found.data = static_cast<int>(scatter.group);
    found.gather_across_nodes = gather.across;
    found.gather_bytes = PartOf(rows, "allgather", "forward").bytes;
    if (found.gather_bytes == 0) found.gather_bytes = gather.bytes / 2;
    found.gather_loss = TransferLoss(ranks, joint, job, 1, [&](const JointCollective& c) {
      return joint.Kind(c) == "allgather";
    });
    const bool phases = PartOf(rows, "allgather", "backward").per_step > 0;
    found.regather_loss =
        TransferLoss(ranks, joint, job, phases ? 1 : 0.5, [&](const JointCollective& c) {
          return joint.Kind(c) == "allgather" && (!phases || PartOfStep(c.phase) == kBackward);
        });
    found.across_loss = TransferLoss(ranks, joint, job, 1, [&](const JointCollective& c) {
      return (joint.Kind(c) == "allgather" || joint.Kind(c) == "reducescatter") &&
             AcrossNodes(ranks, c);
    });
    Scale(job, inside, &found.across_loss);
    add("zero-3", fmt::format("{:.0f} all-gathers and {:.0f} reduce-scatters a step among {} ranks:"
                              " parameters are gathered in the forward and the backward pass",
                              gather.per_step, scatter.per_step, found.data));
  } else if (scatter.per_step > 0) {
    found.zero_stage = 2;
    found.data = static_cast<int>(scatter.group);
    add("zero-2",
        fmt::format("{:.0f} reduce-scatters and {:.0f} all-gathers a step among {} ranks: "
                    "gradients are sharded",
                    scatter.per_step, gather.per_step, found.data));
  } else if (gradient_reduces > 0 && late_gather.per_step > 0) {
    found.zero_stage = 1;
    found.data = static_cast<int>(gradient_group);
    add("zero-1", fmt::format("{:.0f} all-reduces a step, and {:.0f} all-gathers in the optimizer, "
                              "among {} ranks: the optimizer is sharded",
                              gradient_reduces, late_gather.per_step, found.data));
  } else if (gradient_reduces > 0) {
    found.zero_stage = 0;
    found.data = static_cast<int>(gradient_group);
    add("ddp", fmt::format("{:.0f} all-reduces a step among {} ranks, and no all-gathers or "
                           "reduce-scatters",
                           gradient_reduces, found.data));
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
    add("pipeline", fmt::format("{:.0f} sends and receives a step along chains of {} ranks, which "
                                "wait for each other {:.0f} % of the time",
                                sends.per_step, found.pipeline, 100 * pipeline.bubble));
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
  const auto of_tensor = [&](const JointCollective& c) {
    return found.tensor > 1 && joint.Kind(c) == "allreduce" &&
           static_cast<double>(c.members.size()) == forward_reduce.group &&
           StrideOf(ranks, c) == forward_reduce.stride;
  };
  found.needed = TransferLoss(ranks, joint, job, 1, [&](const JointCollective& c) {
                   return of_tensor(c) || (found.pipeline > 1 && joint.IsPointToPoint(c));
                 }).cuts;
  found.exchanged =
      TransferLoss(ranks, joint, job, 1, [&](const JointCollective& c) {
        return joint.Kind(c) == "alltoall" || (found.pipeline == 1 && joint.IsPointToPoint(c));
      }).cuts;
  found.reduce_bytes = found.zero_stage >= 2 ? scatter.bytes : reduce.bytes;
  found.name = fmt::format("{}", fmt::join(names, " + "));
  found.evidence = fmt::format("{}", fmt::join(reasons, "; "));
  return found;
}

}  // namespace advise
