#include "engine/cluster/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/metrics/median.h"
#include "engine/metrics/names.h"

namespace advise {
namespace {

const char* PartOfStep(std::uint8_t phase) {
  switch (static_cast<Phase>(phase)) {
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
    default:
      return "";
  }
}

bool AcrossNodes(const std::vector<RankSummary>& ranks, const JointCollective& collective) {
  const std::string& host = ranks[collective.members.front().rank].host;
  return std::any_of(collective.members.begin(), collective.members.end(),
                     [&](const JointMember& member) {
                       const std::string& other = ranks[member.rank].host;
                       return !host.empty() && !other.empty() && other != host;
                     });
}

double StepsOf(const RankSummary& rank) {
  return static_cast<double>(std::max<std::size_t>(1, rank.steps.size()));
}

// The exposed transfer (not the waiting before it) of the collectives that `keep` accepts, `part`
// of it, as time that ranks would no longer need.
template <typename Keep>
RankLoss TransferLoss(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      double part, Keep keep) {
  RankLoss loss;
  loss.lost.by_device.resize(ranks.size());
  loss.cuts.assign(ranks.size(), std::vector<Nanos>(job.steps, 0));
  std::vector<std::vector<Interval>> spans(ranks.size());
  for (const JointCollective& collective : joint.all) {
    if (!keep(collective)) continue;
    for (const JointMember& member : collective.members) {
      const RankSummary& rank = ranks[member.rank];
      const Nanos waited = WaitedExposed(rank, member, collective);
      const auto own = static_cast<Nanos>(
          part * static_cast<double>(rank.collectives.exposed[member.row] - waited));
      if (own <= 0) continue;
      const Nanos start = rank.collectives.start[member.row];
      const std::size_t step = job.StepAt(ranks, member.rank, start);
      if (step == job.steps) continue;
      loss.cuts[member.rank][step] += own;
      spans[member.rank].push_back({start + waited, start + waited + own});
    }
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    loss.lost.by_device[r] = IntervalSet::Of(std::move(spans[r]));
  }
  loss.gain = job.Gain(loss.cuts);
  return loss;
}

std::vector<PatternRow> FindRows(const std::vector<RankSummary>& ranks, const Joint& joint) {
  using Key = std::tuple<std::string, std::string, std::size_t>;  // kind, phase, ranks
  struct Tally {
    std::map<std::uint32_t, double> per_rank;
    double bytes = 0;
    double transfer = 0;
    double exposed = 0;
    bool across = false;
  };
  std::map<Key, Tally> tallies;
  for (const JointCollective& collective : joint.all) {
    Tally& tally =
        tallies[{joint.Kind(collective), PartOfStep(collective.phase), collective.members.size()}];
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
  double bytes = 0;
  bool across = false;
};
Part PartOf(const std::vector<PatternRow>& rows, const std::string& kind,
            const std::string& phase) {
  Part part;
  for (const PatternRow& row : rows) {
    if (row.kind != kind || (phase != "*" && row.phase != phase)) continue;
    if (part.per_step == 0) part.group = row.group;
    part.per_step += row.per_step;
    part.bytes += row.bytes;
    part.across = part.across || row.across_nodes;
  }
  return part;
}

// Who sends to whom, as the ends of send-receive kernels tell.
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
    names.push_back(std::move(name));
    reasons.push_back(std::move(reason));
  };

  if (forward_reduce.per_step >= often) {
    found.tensor = static_cast<int>(forward_reduce.group);
    found.tensor_across_nodes = forward_reduce.across;
    found.tensor_loss = TransferLoss(ranks, joint, job, 1, [&](const JointCollective& c) {
      return joint.Kind(c) == "allreduce" &&
             static_cast<double>(c.members.size()) == forward_reduce.group;
    });
    add("tensor", fmt::format("{:.0f} all-reduces a step in the forward pass among {} ranks",
                              forward_reduce.per_step, found.tensor));
  }
  // Gradients: what is reduced beside the tensor-parallel groups.
  double gradient_reduces = 0;
  double gradient_group = 1;
  for (const PatternRow& row : rows) {
    if (row.kind != "allreduce" || row.phase == "forward") continue;
    const bool of_tensor = found.tensor > 1 && row.group == forward_reduce.group &&
                           row.per_step >= forward_reduce.per_step / 2;
    if (of_tensor) continue;
    if (gradient_reduces == 0) gradient_group = row.group;
    gradient_reduces += row.per_step;
  }
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
    found.expert = static_cast<int>(exchange.group);
    add("expert",
        fmt::format("{:.0f} all-to-alls a step among {} ranks", exchange.per_step, found.expert));
  }
  if (sends.per_step > 0 && pipeline.stages > 1) {
    found.pipeline = pipeline.stages;
    add("pipeline", fmt::format("{:.0f} sends and receives a step along chains of {} ranks, which "
                                "wait for each other {:.0f} % of the time",
                                sends.per_step, found.pipeline, 100 * pipeline.bubble));
  } else if (sends.per_step > 0) {
    const auto neighbours = Neighbours(joint, knowledge.Number("cluster.edge_share"));
    found.context = static_cast<int>(std::max(sends.group, static_cast<double>(neighbours.size())));
    add("context",
        fmt::format("{:.0f} sends and receives a step among {} ranks that hardly wait for "
                    "each other: blocks are exchanged",
                    sends.per_step, found.context));
  }
  found.reduce_bytes = found.zero_stage >= 2 ? scatter.bytes : reduce.bytes;
  found.name = fmt::format("{}", fmt::join(names, " + "));
  found.evidence = fmt::format("{}", fmt::join(reasons, "; "));
  return found;
}

Pipeline FindPipeline(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const Knowledge& knowledge) {
  Pipeline pipe;
  pipe.bubble_loss.lost.by_device.resize(ranks.size());
  pipe.balance_loss.lost.by_device.resize(ranks.size());
  const auto chains = Chains(Neighbours(joint, knowledge.Number("cluster.edge_share")));
  std::size_t stages = 0;
  for (const auto& chain : chains) stages = std::max(stages, chain.size());
  if (stages < 2 || job.steps == 0) return pipe;
  for (const auto& chain : chains) {
    if (chain.size() != stages) return pipe;  // not one pipeline in several copies
  }
  pipe.stages = static_cast<int>(stages);
  // Each micro-batch passes an outer stage once forward and once backward.
  std::vector<double> per_step(ranks.size(), 0);
  std::vector<double> waited(ranks.size(), 0);
  std::vector<std::vector<Interval>> waits(ranks.size());
  for (const JointCollective& collective : joint.all) {
    if (!joint.IsPointToPoint(collective)) continue;
    for (const JointMember& member : collective.members) {
      const RankSummary& rank = ranks[member.rank];
      per_step[member.rank] += 1 / StepsOf(rank);
      const Nanos wait = WaitedExposed(rank, member, collective);
      waited[member.rank] += static_cast<double>(wait);
      const Nanos start = rank.collectives.start[member.row];
      if (wait > 0) waits[member.rank].push_back({start, start + wait});
    }
  }
  std::vector<double> compute(stages, 0);
  double bubble = 0;
  double members = 0;
  std::vector<double> ends;
  for (const auto& chain : chains) {
    ends.push_back(per_step[chain.front()]);
    for (std::size_t stage = 0; stage < stages; ++stage) {
      const RankSummary& rank = ranks[chain[stage]];
      compute[stage] += static_cast<double>(rank.time.compute) /
                        static_cast<double>(chains.size()) / StepsOf(rank);
      const auto window = static_cast<double>(std::max<Nanos>(1, rank.Window()));
      bubble +=
          (waited[chain[stage]] + static_cast<double>(rank.time.Cause(IdleCause::kPeerWait))) /
          window;
      members += 1;
    }
  }
  pipe.micro_batches = std::max(1.0, Median(ends) / 2);
  pipe.bubble = bubble / members;
  const double p = static_cast<double>(stages) - 1;
  pipe.expected = p / (pipe.micro_batches + p);
  if (pipe.bubble < knowledge.Number("cluster.least_bubble") * pipe.expected) {
    pipe.stages = 0;
    return pipe;
  }
  double mean = 0;
  for (const double c : compute) mean += c / static_cast<double>(stages);
  const auto slowest = std::max_element(compute.begin(), compute.end());
  pipe.slowest_stage = static_cast<int>(slowest - compute.begin());
  pipe.imbalance = mean > 0 ? *slowest / mean - 1 : 0;
  for (const auto& chain : chains) {
    pipe.slowest_ranks.push_back(chain[static_cast<std::size_t>(pipe.slowest_stage)]);
  }

  // A step of m micro-batches takes m + p - 1 times the slowest stage.
  const auto window = static_cast<double>(job.Window());
  const double doubled = p / (2 * pipe.micro_batches + p);
  pipe.bubble_loss.gain =
      static_cast<Nanos>(window * std::max(0.0, std::min(pipe.bubble, pipe.expected) - doubled));
  const double longer = (pipe.micro_batches + p) / pipe.micro_batches;
  pipe.balance_loss.gain =
      static_cast<Nanos>(std::min((*slowest - mean) * longer * static_cast<double>(job.steps),
                                  std::max(0.0, pipe.bubble) * window));
  pipe.balance_loss.cuts.resize(ranks.size());
  for (const std::uint32_t r : pipe.slowest_ranks) pipe.balance_loss.cuts[r].assign(job.steps, 0);
  // Who waits: each rank up to what is won.
  const auto fill = [&](RankLoss* loss, const std::vector<std::uint32_t>& but) {
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
      if (std::find(but.begin(), but.end(), r) != but.end()) continue;
      std::sort(waits[r].begin(), waits[r].end(),
                [](const Interval& a, const Interval& b) { return a.start < b.start; });
      Nanos all = 0;
      for (const Interval& wait : waits[r]) all += wait.Length();
      const double part = std::min(
          1.0, static_cast<double>(loss->gain) / static_cast<double>(std::max<Nanos>(1, all)));
      for (const Interval& wait : waits[r]) {
        loss->lost.by_device[r].Append(
            wait.start, wait.start + static_cast<Nanos>(part * static_cast<double>(wait.Length())));
      }
    }
  };
  fill(&pipe.bubble_loss, {});
  fill(&pipe.balance_loss, pipe.slowest_ranks);
  return pipe;
}

double BusFactor(const std::string& kind, double ranks) {
  if (ranks < 2) return 1;
  if (kind == "allreduce") return 2 * (ranks - 1) / ranks;
  if (kind == "allgather" || kind == "reducescatter" || kind == "alltoall") {
    return (ranks - 1) / ranks;
  }
  return 1;
}

std::pair<PathSpeed, PathSpeed> FindPathSpeed(const std::vector<RankSummary>& ranks,
                                              const Joint& joint, const Job& job,
                                              const Knowledge& knowledge) {
  struct Tally {
    double bus_bytes = 0, bytes = 0, transfer = 0;
    std::int64_t count = 0;
    std::map<std::string, double> kinds;
  };
  Tally tallies[2];
  const auto least = static_cast<std::int64_t>(knowledge.Number("cluster.large_message"));
  const auto of_path = [&](const JointCollective& collective, int path) {
    return collective.bytes >= least && collective.transfer > 0 &&
           (AcrossNodes(ranks, collective) ? 1 : 0) == path;
  };
  for (const JointCollective& collective : joint.all) {
    const int path = of_path(collective, 0) ? 0 : of_path(collective, 1) ? 1 : -1;
    if (path < 0) continue;
    Tally& tally = tallies[path];
    const auto bytes = static_cast<double>(collective.bytes);
    tally.bytes += bytes;
    tally.bus_bytes +=
        bytes * BusFactor(joint.Kind(collective), static_cast<double>(collective.members.size()));
    tally.transfer += static_cast<double>(collective.transfer);
    tally.kinds[joint.Kind(collective)] += static_cast<double>(collective.transfer);
    ++tally.count;
  }
  std::pair<PathSpeed, PathSpeed> speeds;
  for (int i = 0; i < 2; ++i) {
    PathSpeed& speed = i == 0 ? speeds.first : speeds.second;
    const Tally& tally = tallies[i];
    speed.across_nodes = i == 1;
    speed.count = tally.count;
    speed.bytes = tally.bytes;
    if (tally.transfer <= 0) continue;
    speed.bus_bytes_per_s = tally.bus_bytes / (tally.transfer / kNanosPerSecond);
    double most = 0;
    for (const auto& [kind, time] : tally.kinds) {
      if (time > most) most = time, speed.kind = kind;
    }
    if (i == 1) {
      speed.path = "the network between nodes";
      speed.peak_bytes_per_s = knowledge.Number("cluster.network_rate");
    } else if (const HardwareEntry* gpu = knowledge.FindHardware(ranks.front().device_name)) {
      const auto nvlink = gpu->facts.find("nvlink_bytes_per_s");
      if (nvlink != gpu->facts.end() && nvlink->second.value > 0) {
        speed.path = "NVLink";
        speed.peak_bytes_per_s = nvlink->second.value;
      }
    }
    if (speed.peak_bytes_per_s <= 0) continue;
    const double usual = knowledge.Number("cluster.reached_share") * speed.peak_bytes_per_s;
    const double part = std::max(0.0, 1 - speed.bus_bytes_per_s / usual);
    speed.loss = TransferLoss(ranks, joint, job, part,
                              [&](const JointCollective& c) { return of_path(c, i); });
  }
  return speeds;
}

}  // namespace advise
