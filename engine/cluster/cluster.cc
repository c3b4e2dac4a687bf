#include "engine/cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "engine/base/median.h"
#include "engine/cluster/cut_alike.h"
#include "engine/cluster/identity.h"

namespace advise {
namespace {

// Ranks that neither the report nor its environment number, by the number in which file names
// differ.
void NumberByNames(std::vector<RankSummary>* ranks) {
  std::map<std::string, std::vector<RankSummary*>> reports;
  for (RankSummary& rank : *ranks) {
    if (rank.rank >= 0) return;  // some are known: numbers of file names may mean anything
    reports[rank.path].push_back(&rank);
  }
  std::vector<std::string> paths;
  for (const auto& [path, list] : reports) {
    if (list.size() > 1) return;
    paths.push_back(path);
  }
  int world = 0;
  for (const RankSummary& rank : *ranks) world = std::max(world, rank.world_size);
  const std::vector<int> numbers = NumberThatDiffers(paths, world);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    RankSummary& rank = *reports[paths[i]].front();
    rank.rank = numbers[i];
    rank.rank_source = "file name";
  }
}

constexpr std::size_t kMostListed = 8;  // ranks without a report: of more, their number

// In order of rank, and their clocks numbered in that order: the first rank's clock is the run's.
void PutInOrder(Cluster* run) {
  std::set<std::uint32_t> clock_numbers;
  for (const RankSummary& rank : run->ranks) clock_numbers.insert(rank.clock);
  run->reports = clock_numbers.size();
  if (run->reports > 1) NumberByNames(&run->ranks);
  std::stable_sort(run->ranks.begin(), run->ranks.end(),
                   [](const RankSummary& a, const RankSummary& b) {
                     const auto order = [](const RankSummary& r) {
                       return r.rank < 0 ? std::numeric_limits<int>::max() : r.rank;
                     };
                     return order(a) < order(b);
                   });
  std::map<std::uint32_t, std::uint32_t> dense;
  for (RankSummary& rank : run->ranks) {
    rank.clock =
        dense.try_emplace(rank.clock, static_cast<std::uint32_t>(dense.size())).first->second;
  }
}

void CountRanks(Cluster* run) {
  run->numbered = std::all_of(run->ranks.begin(), run->ranks.end(),
                              [](const RankSummary& r) { return r.rank >= 0; });
  std::set<std::string> host_names;
  for (const RankSummary& rank : run->ranks) {
    if (!rank.host.empty()) host_names.insert(rank.host);
    run->world = std::max(run->world, rank.world_size);
  }
  run->hosts = host_names.size();
  // Containers give processes the same numbers: those of different reports are different ones.
  std::set<std::pair<std::string, std::int64_t>> processes;
  for (const RankSummary& rank : run->ranks) processes.insert({rank.path, rank.pid});
  const bool all_known = std::all_of(run->ranks.begin(), run->ranks.end(),
                                     [](const RankSummary& rank) { return rank.pid != 0; });
  run->processes = all_known ? processes.size() : 0;
}

void NoteMissingRanks(Cluster* run) {
  if (run->numbered) {
    std::set<int> present;
    for (const RankSummary& rank : run->ranks) {
      present.insert(rank.rank);
      present.insert(rank.shares_gpu_with.begin(), rank.shares_gpu_with.end());
    }
    const int last = std::max(run->world - 1, *present.rbegin());
    for (int number = 0; number <= last; ++number) {
      if (!present.contains(number)) run->missing.push_back(number);
    }
    const std::size_t missing = run->missing.size();
    if (missing > kMostListed) {
      run->notes.push_back(
          fmt::format("only {} of {} ranks have a report: what the others show is not known",
                      present.size(), last + 1));
    } else if (missing > 0) {
      run->notes.push_back(fmt::format("no report of rank{} {} of {}: what only {} not known",
                                       missing == 1 ? "" : "s", fmt::join(run->missing, ", "),
                                       last + 1, missing == 1 ? "it shows is" : "they show is"));
    }
  } else if (run->reports > 1) {
    run->notes.emplace_back(
        "the reports do not say which rank each is: name files by rank (run.%q{SLURM_PROCID}), or "
        "capture the environment");
  }
  if (run->world > 0 && !run->numbered && static_cast<int>(run->ranks.size()) < run->world) {
    run->notes.push_back(
        fmt::format("{} of {} ranks have a report", run->ranks.size(), run->world));
  }
}

// Reports of processes that share a GPU are put together, where they can be. Of the others each
// shows what its own process does.
void NoteSharedGpus(Cluster* run) {
  for (std::size_t r = 0; r < run->ranks.size(); ++r) {
    const std::vector<int>& others = run->ranks[r].shares_gpu_with;
    if (others.empty()) continue;
    const bool known = run->ranks[r].rank >= 0 && others.front() >= 0;
    run->notes.push_back(
        known ? fmt::format("rank{} {} share{} the GPU of rank {}: their reports were put together",
                            others.size() > 1 ? "s" : "", fmt::join(others, ", "),
                            others.size() > 1 ? "" : "s", run->ranks[r].rank)
              : fmt::format("{} reports are of the same GPU: they were put together",
                            others.size() + 1));
  }
  std::map<std::pair<std::string, std::string>, std::set<std::uint32_t>> reports;
  std::size_t most = 0;
  for (const RankSummary& rank : run->ranks) {
    if (rank.device_uuid.empty()) continue;
    auto& of_gpu = reports[{rank.host, rank.device_uuid}];
    of_gpu.insert(rank.report);
    most = std::max(most, of_gpu.size());
  }
  if (most < 2) return;
  run->notes.push_back(
      fmt::format("{} reports are of the same GPU, which computes for another process where one of "
                  "them shows a gap: record the processes of a node in one report",
                  most));
}

// What a reader must know of how ranks were put beside each other.
void NoteAlignment(const Knowledge& knowledge, Cluster* run) {
  std::vector<std::string> apart;
  for (std::size_t r = 0; r < run->ranks.size(); ++r) {
    if (!run->clocks.Known(run->ranks[r].clock)) apart.push_back(run->Label(r));
  }
  if (!apart.empty()) {
    const std::size_t shown = std::min<std::size_t>(apart.size(), 4);
    run->notes.push_back(fmt::format(
        "the collectives of {}{} match no other rank's: other steps were captured, or another "
        "program",
        fmt::join(apart.begin(), apart.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        apart.size() > shown ? fmt::format(" and {} more", apart.size() - shown) : ""));
  }
  if (!run->job.coupled) {
    run->notes.emplace_back("the processes do not wait for each other: each is judged by itself");
    return;
  }
  if (run->job.has_steps && run->job.steps < run->job.most_steps) {
    run->notes.push_back(fmt::format("ranks are compared in their {} common steps (of up to {})",
                                     run->job.steps, run->job.most_steps));
  }
  const auto stray = knowledge.Time("cluster.utc_stray");
  if (run->clocks.skew > stray) {
    run->notes.push_back(
        fmt::format("the hosts' clocks are up to {:.3g} s apart: times were aligned on "
                    "collectives",
                    static_cast<double>(run->clocks.skew) / kNanosPerSecond));
  }
}

void MeasureEfficiency(Cluster* run) {
  double compute_sum = 0;
  double compute_most = 0;
  double busy_most = 0;
  const auto window = static_cast<double>(run->job.Window());
  for (std::size_t r = 0; r < run->ranks.size(); ++r) {
    double compute = 0;
    double busy = 0;
    for (std::size_t s = 0; s < run->job.steps; ++s) {
      const RankTime& time = run->job.TimeOf(run->ranks, r, s);
      compute += static_cast<double>(time.compute);
      busy += static_cast<double>(time.Total() - time.idle);
      run->waited_ns += static_cast<double>(run->job.waited[r * run->job.steps + s]);
      run->transfer_ns +=
          static_cast<double>(time.comm_exposed - run->job.waited[r * run->job.steps + s]);
    }
    compute_sum += compute;
    compute_most = std::max(compute_most, compute);
    busy_most = std::max(busy_most, busy);
  }
  const auto count = static_cast<double>(run->ranks.size());
  const auto for_absent = static_cast<double>(run->absent.loss.lost.Total());
  run->waited_ns = (run->waited_ns + for_absent) / count;
  run->transfer_ns = std::max(0.0, (run->transfer_ns - for_absent) / count);
  const auto over = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  run->efficiency.parallel = over(compute_sum / count, window);
  run->efficiency.load_balance = over(compute_sum / count, compute_most);
  run->efficiency.communication = over(compute_most, busy_most);
  run->efficiency.orchestration = over(busy_most, window);
}

// Copies of the slowest stage of a pipeline decide a step by turns. What they compute longer than
// the mean stage is the stage's, and told as that: no uneven batches of ranks.
void LeaveToSlowestStage(Cluster* run) {
  const Pipeline& pipe = run->pipeline;
  Imbalance& uneven = run->lateness.compute;
  if (pipe.stages == 0 || uneven.deciding.empty()) return;
  const bool of_stage =
      std::all_of(uneven.deciding.begin(), uneven.deciding.end(), [&](std::uint32_t rank) {
        return std::find(pipe.slowest_ranks.begin(), pipe.slowest_ranks.end(), rank) !=
               pipe.slowest_ranks.end();
      });
  std::vector<Nanos> compute(run->ranks.size(), 0);
  for (std::size_t r = 0; r < run->ranks.size(); ++r)
    for (std::size_t s = 0; s < run->job.steps; ++s)
      compute[r] += run->job.TimeOf(run->ranks, r, s).compute;
  std::vector<Nanos> slowest;
  for (const std::uint32_t rank : pipe.slowest_ranks) slowest.push_back(compute[rank]);
  const auto excess = static_cast<double>(LowerMedian(slowest) - LowerMedian(compute));
  if (!of_stage || 2 * excess < uneven.spread * static_cast<double>(run->job.Window())) return;
  uneven = Imbalance();
  uneven.loss.lost.by_device.resize(run->ranks.size());
}

}  // namespace

std::string Cluster::Label(std::size_t rank) const {
  const RankSummary& one = ranks[rank];
  return one.rank >= 0 ? fmt::format("rank {}", one.rank) : fmt::format("GPU {}", one.device);
}

int Cluster::Number(std::size_t rank) const {
  return numbered ? ranks[rank].rank : static_cast<int>(rank);
}

Cluster::Cluster(std::vector<RankSummary> ranks_in, const Knowledge& knowledge)
    : ranks(std::move(ranks_in)) {
  if (ranks.empty()) return;
  PutInOrder(this);
  CountRanks(this);
  NoteMissingRanks(this);
  NoteSharedGpus(this);
  clocks = AlignClocks(ranks, knowledge);
  joint = MatchRanks(ranks, clocks, knowledge);
  NoteWaitsForAbsent(ranks, !missing.empty() || static_cast<int>(ranks.size()) < world, knowledge,
                     &joint);
  if (joint.all.empty() && many()) {
    for (std::string& note : CutAlike(clocks, &ranks)) notes.push_back(std::move(note));
  }
  job = BuildJob(ranks, clocks, joint, knowledge.Number("cluster.coupled"));
  if (many()) NoteAlignment(knowledge, this);
  absent = FindAbsent(ranks, joint, job, knowledge);
  stalled = FindStalled(ranks, joint, job, knowledge);
  slow_groups = FindSlowGroups(ranks, joint, job, knowledge);
  MeasureEfficiency(this);
  lateness = FindLateness(ranks, clocks, joint, job, knowledge);
  pipeline = FindPipeline(ranks, joint, job, knowledge);
  LeaveToSlowestStage(this);
  strategy = FindStrategy(ranks, joint, job, pipeline, knowledge);
  std::tie(inside, across) = FindPathSpeed(ranks, joint, job, knowledge);
  transferring_ns = Transferring(ranks, joint, job);
  for (const RankSummary& rank : ranks)
    queued_ns += static_cast<double>(rank.queued_sums) / static_cast<double>(ranks.size());
  halved = TransferLoss(ranks, joint, job, knowledge.Number("comm.halved"),
                        [](const JointCollective&) { return true; });
}

}  // namespace advise
