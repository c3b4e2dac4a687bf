#include "engine/cluster/transfer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/median.h"
#include "engine/metrics/system/paths.h"

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
  return TransferLoss(ranks, joint, job,
                      [&](const JointCollective& c) { return keep(c) ? part : 0; });
}

RankLoss TransferLoss(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const std::function<double(const JointCollective&)>& part_of) {
  return CutOfTransfers(ranks, joint, job, [&](const JointCollective& c) {
    const double part = part_of(c);
    return part <= 0 || c.for_absent == 0
               ? part
               : part * static_cast<double>(c.Moving()) / static_cast<double>(c.transfer);
  });
}

RankLoss CutOfTransfers(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                        const std::function<double(const JointCollective&)>& part_of) {
  RankLoss loss;
  loss.lost.by_device.resize(ranks.size());
  loss.comm_cuts.assign(ranks.size(), std::vector<Nanos>(job.steps, 0));
  std::vector<std::vector<Interval>> spans(ranks.size());
  std::map<std::pair<std::uint32_t, std::size_t>, std::vector<Interval>> sends;  // by rank and step
  for (const JointCollective& collective : joint.all) {
    const double part = part_of(collective);
    if (part <= 0) continue;
    for (const JointMember& member : collective.members) {
      const RankSummary& rank = ranks[member.rank];
      const Nanos waited = WaitedExposed(rank, member, collective);
      // A faster send also lets those begin sooner that wait for who waited for it.
      const Nanos own =
          collective.of_two
              ? static_cast<Nanos>(part * static_cast<double>(joint.owed[member.rank][member.row]))
              : std::min(rank.collectives.exposed[member.row] - waited,
                         static_cast<Nanos>(part * static_cast<double>(collective.transfer)));
      if (own <= 0) continue;
      const Nanos start = collective.of_two ? rank.collectives.end[member.row] - own
                                            : rank.collectives.start[member.row] + waited;
      const std::size_t step = job.StepAt(ranks, member.rank, start);
      if (step == job.steps) continue;
      spans[member.rank].push_back({start, start + own});
      if (collective.of_two) {
        sends[{member.rank, step}].push_back(spans[member.rank].back());
      } else {
        loss.comm_cuts[member.rank][step] += own;
      }
    }
  }
  // A stage may send and receive at the same time.
  for (auto& [at, list] : sends)
    loss.comm_cuts[at.first][at.second] += IntervalSet::Of(std::move(list)).Total();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    loss.lost.by_device[r] = IntervalSet::Of(std::move(spans[r]));
  }
  loss.gain = job.Gain({}, loss.comm_cuts);
  return loss;
}

double Transferring(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job) {
  std::vector<std::vector<Interval>> spans(ranks.size());
  for (const JointCollective& collective : joint.all) {
    for (const JointMember& member : collective.members) {
      const RankCollectives& list = ranks[member.rank].collectives;
      if (job.StepAt(ranks, member.rank, list.start[member.row]) == job.steps) continue;
      const Nanos end = list.end[member.row];
      spans[member.rank].push_back({end - collective.Moving(), end});
    }
  }
  double sum = 0;
  for (std::vector<Interval>& of_rank : spans)
    sum += static_cast<double>(IntervalSet::Of(std::move(of_rank)).Total());
  return sum / static_cast<double>(std::max<std::size_t>(1, ranks.size()));
}

double NvlinkRate(const std::vector<RankSummary>& ranks, const Knowledge& knowledge) {
  const HardwareEntry* gpu = knowledge.FindHardware(ranks.front().device_name);
  if (gpu == nullptr) return 0;
  const auto found = gpu->facts.find("nvlink_bytes_per_s");
  return found == gpu->facts.end() ? 0 : found->second.value;
}

double BusFactor(const std::string& kind, double ranks) {
  if (ranks < 2) return 1;
  if (kind == "allreduce") return 2 * (ranks - 1) / ranks;
  if (kind == "allgather" || kind == "reducescatter" || kind == "alltoall") {
    return (ranks - 1) / ranks;
  }
  return 1;
}

namespace {

// One kind of path, inside or across nodes.
class PathFinder {
 public:
  PathFinder(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
             const Knowledge& knowledge, bool across)
      : ranks_(ranks), joint_(joint), job_(job), knowledge_(knowledge), across_(across) {}

  PathSpeed Find() {
    speed_.across_nodes = across_;
    FindPeak();
    FindOff();
    Measure();
    if (speed_.count > 0) return std::move(speed_);
    Suppose();
    // Between nodes, nothing says that there is a faster network than the one in use.
    if (!speed_.off.empty() && !across_) Blame();
    return std::move(speed_);
  }

 private:
  static double PeakOf(const HardwareEntry& gpu, const char* fact) {
    const auto found = gpu.facts.find(fact);
    return found == gpu.facts.end() ? 0 : found->second.value;
  }

  void FindPeak() {
    gpu_ = knowledge_.FindHardware(ranks_.front().device_name);
    if (across_) {
      speed_.path = "the network between nodes";
      speed_.peak_bytes_per_s = knowledge_.Number("cluster.network_rate");
    } else if (const double rate = NvlinkRate(ranks_, knowledge_); rate > 0 && OnOneNode()) {
      speed_.path = "NVLink";
      speed_.peak_bytes_per_s = rate;
    }
    usual_ = knowledge_.Number("cluster.reached_share") * speed_.peak_bytes_per_s;
  }

  // Of more ranks than a node has GPUs, nothing says which share NVLink, unless reports name hosts.
  bool OnOneNode() const {
    const bool named = std::none_of(ranks_.begin(), ranks_.end(),
                                    [](const RankSummary& rank) { return rank.host.empty(); });
    return named || ranks_.size() <= knowledge_.CountOf("cluster.node_gpus");
  }

  // What ranks were started with.
  void FindOff() {
    std::set<std::string> found;
    for (const RankSummary& rank : ranks_) {
      for (const auto& [name, value] : rank.switches) {
        const std::string path = PathTakenAway(knowledge_, name, value);
        if (path.starts_with(across_ ? "InfiniBand" : "peer-to-peer")) {
          found.insert(fmt::format("{}={}", name, value));
        }
      }
    }
    speed_.off = fmt::format("{}", fmt::join(found, ", "));
  }

  bool IsOn(const JointCollective& collective) const {
    return collective.Moving() > 0 && AcrossNodes(ranks_, collective) == across_;
  }
  double BusFactorOf(const JointCollective& collective) const {
    return BusFactor(joint_.Kind(collective), static_cast<double>(collective.members.size()));
  }

  // The rate of large collectives, and the transfer beyond what they take at the usual rate: the
  // shorter they are, the more of it is start. A few that take a hundred times as long as their
  // like, while the network is down for a moment, say nothing of the path: the median does not see
  // them.
  void Measure() {
    const auto least = knowledge_.BytesOf("cluster.large_message");
    const auto large = [&](const JointCollective& c) { return c.bytes >= least && IsOn(c); };
    const auto ramp_up = static_cast<double>(knowledge_.Time("cluster.ramp_up"));
    std::vector<double> rates;
    std::vector<double> usual;  // of the time that they take, what they usually take
    std::map<std::string, double> kinds;
    for (const JointCollective& collective : joint_.all) {
      if (!large(collective)) continue;
      const auto time = static_cast<double>(collective.Moving());
      const double bytes = static_cast<double>(collective.bytes) * BusFactorOf(collective);
      rates.push_back(bytes / (time / kNanosPerSecond));
      if (usual_ > 0) usual.push_back((ramp_up + bytes / usual_ * kNanosPerSecond) / time);
      kinds[joint_.Kind(collective)] += time;
      ++speed_.count;
    }
    if (speed_.count == 0) return;
    speed_.bus_bytes_per_s = Median(std::move(rates));
    double most = 0;
    for (const auto& [kind, time] : kinds) {
      if (time > most) most = time, speed_.kind = kind;
    }
    if (usual_ <= 0) return;
    const double part = std::max(0.0, 1 - Median(std::move(usual)));
    speed_.loss = TransferLoss(ranks_, joint_, job_, part, large);
  }

  // All-reduces of unknown size: what they would mean at the usual rate.
  void Suppose() {
    const double gradient_bytes = knowledge_.Number("cluster.gradient_bytes");
    const double operations = knowledge_.Number("cluster.token_operations");
    const double peak = gpu_ == nullptr ? 0 : PeakOf(*gpu_, "peak_bf16_flops");
    if (usual_ <= 0 || peak <= 0) return;
    const auto unsized = [&](const JointCollective& c) {
      return c.bytes < 0 && joint_.Kind(c) == "allreduce" && IsOn(c);
    };
    double parameters = 0;  // sent in the window
    for (const JointCollective& collective : joint_.all) {
      if (!unsized(collective)) continue;
      const double seconds = static_cast<double>(collective.Moving()) / kNanosPerSecond;
      parameters += seconds * usual_ / BusFactorOf(collective) / gradient_bytes;
    }
    if (parameters <= 0) return;
    double seconds = 0;  // of computing, per rank
    for (const RankSummary& rank : ranks_) {
      seconds += static_cast<double>(rank.time.compute) / kNanosPerSecond /
                 static_cast<double>(ranks_.size());
    }
    speed_.tokens = seconds * peak / (operations * parameters);
    speed_.kind = "allreduce";
    speed_.loss =
        TransferLoss(ranks_, joint_, job_, knowledge_.Number("cluster.slow_path_part"), unsized);
  }

  // NVLink that is switched off costs all collectives in the node, whatever they send: they take
  // the time of host memory.
  void Blame() {
    const double slow = knowledge_.Number("cluster.host_path_rate");
    if (usual_ <= slow) return;
    speed_.loss = TransferLoss(ranks_, joint_, job_, 1 - slow / usual_,
                               [&](const JointCollective& c) { return IsOn(c); });
  }

  const std::vector<RankSummary>& ranks_;
  const Joint& joint_;
  const Job& job_;
  const Knowledge& knowledge_;
  const bool across_;
  const HardwareEntry* gpu_ = nullptr;
  double usual_ = 0;  // bytes per second that large collectives reach on this path
  PathSpeed speed_;
};

}  // namespace

std::pair<PathSpeed, PathSpeed> FindPathSpeed(const std::vector<RankSummary>& ranks,
                                              const Joint& joint, const Job& job,
                                              const Knowledge& knowledge) {
  return {PathFinder(ranks, joint, job, knowledge, false).Find(),
          PathFinder(ranks, joint, job, knowledge, true).Find()};
}

}  // namespace advise
