#include "engine/cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

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
  const std::vector<int> numbers = NumberThatDiffers(paths);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    RankSummary& rank = *reports[paths[i]].front();
    rank.rank = numbers[i];
    rank.rank_source = "file name";
  }
}

std::string Listed(const std::vector<int>& numbers) {
  const std::size_t shown = std::min<std::size_t>(numbers.size(), 8);
  std::string text = fmt::format(
      "{}", fmt::join(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (numbers.size() > shown) text += fmt::format(" and {} more", numbers.size() - shown);
  return text;
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
  std::set<std::uint32_t> clock_numbers;
  for (const RankSummary& rank : ranks) clock_numbers.insert(rank.clock);
  reports = clock_numbers.size();
  if (reports > 1) NumberByNames(&ranks);
  std::stable_sort(ranks.begin(), ranks.end(), [](const RankSummary& a, const RankSummary& b) {
    const auto order = [](const RankSummary& r) {
      return r.rank < 0 ? std::numeric_limits<int>::max() : r.rank;
    };
    return order(a) < order(b);
  });
  // The first rank's clock is the run's.
  std::map<std::uint32_t, std::uint32_t> dense;
  for (RankSummary& rank : ranks) {
    rank.clock =
        dense.try_emplace(rank.clock, static_cast<std::uint32_t>(dense.size())).first->second;
  }
  numbered =
      std::all_of(ranks.begin(), ranks.end(), [](const RankSummary& r) { return r.rank >= 0; });
  std::set<std::string> host_names;
  for (const RankSummary& rank : ranks) {
    if (!rank.host.empty()) host_names.insert(rank.host);
    world = std::max(world, rank.world_size);
  }
  hosts = host_names.size();
  if (numbered) {
    std::set<int> present;
    for (const RankSummary& rank : ranks) present.insert(rank.rank);
    const int last = std::max(world - 1, *present.rbegin());
    for (int number = 0; number <= last; ++number) {
      if (!present.contains(number)) missing.push_back(number);
    }
    if (!missing.empty()) {
      notes.push_back(fmt::format("no report of rank{} {} of {}: what only they show is not known",
                                  missing.size() == 1 ? "" : "s", Listed(missing), last + 1));
    }
  } else if (reports > 1) {
    notes.emplace_back(
        "the reports do not say which rank each is: name files by rank (run.%q{SLURM_PROCID}), or "
        "capture the environment");
  }
  if (world > 0 && !numbered && static_cast<int>(ranks.size()) < world) {
    notes.push_back(fmt::format("{} of {} ranks have a report", ranks.size(), world));
  }

  clocks = AlignClocks(ranks, knowledge);
  joint = MatchRanks(ranks, clocks, knowledge);
  job = BuildJob(ranks, clocks, joint);
  if (many()) {
    std::vector<std::string> apart;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (!clocks.Known(ranks[r].clock)) apart.push_back(Label(r));
    }
    if (!apart.empty()) {
      const std::size_t shown = std::min<std::size_t>(apart.size(), 4);
      notes.push_back(fmt::format(
          "the collectives of {}{} match no other rank's: other steps were captured, or another "
          "program",
          fmt::join(apart.begin(), apart.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
          apart.size() > shown ? fmt::format(" and {} more", apart.size() - shown) : ""));
    }
    if (job.has_steps && job.steps < job.most_steps) {
      notes.push_back(
          fmt::format("ranks are compared in the {} steps that all of them have (up to {}"
                      " in one report)",
                      job.steps, job.most_steps));
    }
    const auto stray = static_cast<Nanos>(knowledge.Number("cluster.utc_stray"));
    if (clocks.skew > stray) {
      notes.push_back(
          fmt::format("the hosts' clocks are up to {:.3g} s apart: times were aligned on "
                      "collectives",
                      static_cast<double>(clocks.skew) / kNanosPerSecond));
    }
  }

  double compute_sum = 0;
  double compute_most = 0;
  double busy_most = 0;
  const auto window = static_cast<double>(job.Window());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    double compute = 0;
    double busy = 0;
    for (std::size_t s = 0; s < job.steps; ++s) {
      const RankTime& time = job.TimeOf(ranks, r, s);
      compute += static_cast<double>(time.compute);
      busy += static_cast<double>(time.Total() - time.idle);
      waited_ns += static_cast<double>(job.waited[r * job.steps + s]);
      transfer_ns += static_cast<double>(time.comm_exposed - job.waited[r * job.steps + s]);
    }
    compute_sum += compute;
    compute_most = std::max(compute_most, compute);
    busy_most = std::max(busy_most, busy);
  }
  const auto count = static_cast<double>(ranks.size());
  waited_ns /= count;
  transfer_ns = std::max(0.0, transfer_ns / count);
  const auto over = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  efficiency.parallel = over(compute_sum / count, window);
  efficiency.load_balance = over(compute_sum / count, compute_most);
  efficiency.communication = over(compute_most, busy_most);
  efficiency.orchestration = over(busy_most, window);

  lateness = FindLateness(ranks, clocks, joint, job, knowledge);
  pipeline = FindPipeline(ranks, joint, job, knowledge);
  strategy = FindStrategy(ranks, joint, job, pipeline, knowledge);
  std::tie(inside, across) = FindPathSpeed(ranks, joint, job, knowledge);
}

}  // namespace advise
