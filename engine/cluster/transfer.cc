#include "engine/cluster/transfer.h"

#include <algorithm>
#include <map>

namespace advise {

bool AcrossNodes(const std::vector<RankSummary>& ranks, const JointCollective& collective) {
  const std::string& host = ranks[collective.members.front().rank].host;
  return std::any_of(collective.members.begin(), collective.members.end(),
                     [&](const JointMember& member) {
                       const std::string& other = ranks[member.rank].host;
                       return !host.empty() && !other.empty() && other != host;
                     });
}

RankLoss TransferLoss(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      double part, const std::function<bool(const JointCollective&)>& keep) {
  RankLoss loss;
  loss.lost.by_device.resize(ranks.size());
  loss.comm_cuts.assign(ranks.size(), std::vector<Nanos>(job.steps, 0));
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
      loss.comm_cuts[member.rank][step] += own;
      spans[member.rank].push_back({start + waited, start + waited + own});
    }
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    loss.lost.by_device[r] = IntervalSet::Of(std::move(spans[r]));
  }
  loss.gain = job.Gain(loss.comm_cuts);
  return loss;
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
