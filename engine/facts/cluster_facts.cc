// cluster.*, rank.imbalance.*, rank.node.*: the ranks of a run beside each other. All of it comes
// from rank summaries, so that reports and facts files say the same.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/base/median.h"
#include "engine/facts/declare.h"
#include "engine/facts/of_ranks.h"

namespace advise::facts {
namespace {

constexpr std::size_t kRowsShown = 256;

const Cluster& All(const Cluster& c) { return c; }

bool Aligned(const Cluster& c) {
  return std::all_of(c.ranks.begin(), c.ranks.end(),
                     [&](const RankSummary& rank) { return c.clocks.Known(rank.clock); });
}

Rows RankRows(const Cluster& c) {
  Rows rows;
  const auto steps = static_cast<double>(std::max<std::size_t>(1, c.job.steps));
  for (std::size_t r = 0; r < std::min(c.ranks.size(), kRowsShown); ++r) {
    double length = 0, compute = 0, loading = 0, idle = 0;
    for (std::size_t s = 0; s < c.job.steps; ++s) {
      const RankTime& time = c.job.TimeOf(c.ranks, r, s);
      length += static_cast<double>(c.job.length[r * c.job.steps + s]);
      compute += static_cast<double>(time.compute);
      loading += static_cast<double>(time.Loading());
      idle += static_cast<double>(time.idle);
    }
    rows.push_back({{"rank", static_cast<double>(c.Number(r))},
                    {"host", c.ranks[r].host},
                    {"device", static_cast<double>(c.ranks[r].device)},
                    {"step", length / steps},
                    {"compute", compute / steps},
                    {"loading", loading / steps},
                    {"idle", idle / steps},
                    {"waited", static_cast<double>(c.lateness.waited[r]) / steps},
                    {"late", c.lateness.late_share[r]},
                    {"lateness", c.lateness.mean_late_ns[r]}});
  }
  return rows;
}

// The slowest rank of each step, and how far it is from the median one.
Rows StepRows(const Cluster& c) {
  Rows rows;
  for (std::size_t s = 0; s < std::min(c.job.steps, kRowsShown); ++s) {
    std::size_t slowest = 0;
    std::vector<Nanos> own;
    for (std::size_t r = 0; r < c.ranks.size(); ++r) {
      own.push_back(c.job.Own(r, s));
      if (own[r] > own[slowest]) slowest = r;
    }
    const Nanos most = own[slowest];
    rows.push_back({{"step", static_cast<double>(s)},
                    {"time", static_cast<double>(c.job.job_length[s])},
                    {"slowest", static_cast<double>(c.Number(slowest))},
                    {"excess", static_cast<double>(most - LowerMedian(std::move(own)))}});
  }
  return rows;
}

// A factor of the efficiency, which independent jobs do not have together.
auto IfCoupled(double Efficiency::*factor) {
  return If([](const Cluster& c) { return c.job.coupled; }, In(&Cluster::efficiency, factor),
            "the processes do not wait for each other", "");
}

void DeclareMembers(Catalog* catalog) {
  auto& any = catalog->OfRanks(All);
  any.Add("cluster.ranks", "count", "Ranks (devices that did work) in all reports.",
          [](const Cluster& c) { return c.ranks.size(); });
  any.Add("cluster.reports", "count", "Number of reports that hold the ranks.", &Cluster::reports);
  auto& many = NeedMany(&catalog->OfRanks(All));
  many.Add("cluster.hosts", "count", "Number of hosts that the ranks ran on.",
           IfPositive(&Cluster::hosts, "the reports do not name their hosts", ""));
  many.Add("cluster.processes", "count", "Number of processes that drive the devices of the run.",
           IfPositive(&Cluster::processes, "the reports do not name their processes", ""));
  many.Add("cluster.world", "count", "Ranks that the job has, as the launcher says.",
           IfPositive(&Cluster::world, kNoWorld, ""));
  many.Add("cluster.missing", "count", "Ranks of the job without a report.",
           If(
               &Cluster::numbered, [](const Cluster& c) { return c.missing.size(); },
               "the reports do not say which rank each is", ""));
  many.Add("cluster.steps", "count",
           "Steps that all ranks have: those in which ranks are compared.",
           If(HasCommonSteps, In(&Cluster::job, &Job::steps), kNoCommonSteps, "steps"));
  many.Add("cluster.window", "ns",
           "Length of the steps in which ranks are compared, each as long as on its slowest rank.",
           In(&Cluster::job, &Job::Window));
  many.Add("cluster.aligned", "flag", "The clocks of all reports could be brought together.",
           Aligned);
  many.Add("cluster.residual", "ns",
           "Largest median deviation of the ends of the same collective after alignment.",
           In(&Cluster::clocks, &Clocks::residual));
  many.Add("cluster.skew", "ns", "Largest difference of the hosts' own clocks.",
           UnlessNegative(In(&Cluster::clocks, &Clocks::skew),
                          "the reports do not say when they were captured", ""));
  many.Add("cluster.matched", "share", "Share of the collectives found on more than one rank.",
           [](const Cluster& c) {
             return ShareOf(static_cast<double>(c.joint.matched),
                            static_cast<double>(c.joint.rows));
           });
}

void DeclareTimes(Catalog* catalog) {
  auto& many = NeedMany(&catalog->OfRanks(All));
  many.Add("cluster.transfer", "ns",
           "Exposed communication less waiting for late ranks, mean over ranks.",
           &Cluster::transfer_ns);
  many.Add("cluster.transferring", "ns",
           "Time in which collectives transfer, overlapped or not, without waiting for late ranks; "
           "mean over ranks.",
           &Cluster::transferring_ns);
  many.Add(
      "cluster.queued", "ns",
      "Exposed time of gradient sums that could not begin earlier (comm.queued.lost), mean over "
      "ranks.",
      &Cluster::queued_ns);
  many.Add("cluster.waited", "ns",
           "Exposed waiting for late ranks inside collectives, mean over ranks.",
           &Cluster::waited_ns);
  AddLoss(&many, "cluster.halved_", "Half of the exposed transfer inside collectives.",
          "Collectives transfer half as long: they are half as many, or send half the bytes.",
          &Cluster::halved);
  many.Add("cluster.efficiency.parallel", "share",
           "Mean compute time of the ranks over the job's time: load balance times communication "
           "times host keeping up.",
           IfCoupled(&Efficiency::parallel));
  many.Add("cluster.efficiency.load_balance", "share",
           "Mean compute time of the ranks over the largest of a rank.",
           IfCoupled(&Efficiency::load_balance));
  many.Add("cluster.efficiency.communication", "share",
           "Largest compute time of a rank over the largest busy time (compute, exposed "
           "communication and copies).",
           IfCoupled(&Efficiency::communication));
  many.Add("cluster.efficiency.orchestration", "share",
           "Largest busy time of a rank over the job's time.",
           IfCoupled(&Efficiency::orchestration));
  many.Add("cluster.table", "rows",
           "Ranks one by one: rank, host, device, step, compute, loading, idle, waited (all per "
           "step), late (share of the collectives at which it comes last), lateness (mean).",
           RankRows);
  many.Add("cluster.lateness", "rows",
           "Steps one by one: step, time, slowest (rank), excess (its own time over that of the "
           "median rank).",
           StepRows);
}

void DeclareAbsent(Catalog* catalog) {
  auto& absent = NeedMany(&catalog->OfRanks([](const Cluster& c) -> auto& { return c.absent; }));
  absent.Add("rank.absent.count", "count",
             "Collectives in which all ranks that have a report wait for one that has none.",
             &AbsentRanks::count);
  absent.Add("rank.absent.by_places", "flag",
             "Waits of all ranks for one without a report show by other collectives of the step: "
             "the reports do not say how much each sends.",
             [](const AbsentRanks& a) { return 2 * a.by_places > a.count; });
  absent.Add("rank.absent.longest", "ns", "Longest wait of all ranks for one without a report.",
             &AbsentRanks::longest_ns);
  AddLoss(&absent, "rank.absent.",
          "Exposed time in which all ranks that have a report wait for one that has none.",
          "Ranks without a report come to collectives with the others.", &AbsentRanks::loss);
}

void DeclareStalled(Catalog* catalog) {
  auto& stalled = NeedMany(&catalog->OfRanks([](const Cluster& c) -> auto& { return c.stalled; }));
  stalled.Add("comm.stalled.count", "count",
              "Collectives that transfer for many times as long as their like, although no rank is "
              "late.",
              &StalledCollectives::count);
  stalled.Add("comm.stalled.all", "count",
              "Collectives of the kinds and sizes of which single ones take many times as long.",
              &StalledCollectives::all);
  stalled.Add("comm.stalled.longest", "ns",
              "Longest transfer of a collective that takes many times as long as its like.",
              &StalledCollectives::longest_ns);
  stalled.Add("comm.stalled.usual", "ns",
              "Median transfer of the like of the collective that stands out most.",
              &StalledCollectives::usual_ns);
  AddLoss(&stalled, "comm.stalled.",
          "Exposed transfer of single collectives beyond what their like take.",
          "Each collective takes as long as its like.", &StalledCollectives::loss);
}

std::string SlowRanks(const Cluster& c) {
  std::vector<std::string> labels;
  for (const std::uint32_t rank : c.slow_groups.members) {
    if (labels.size() < 8) labels.push_back(std::to_string(c.Number(rank)));
  }
  const std::size_t more = c.slow_groups.members.size() - labels.size();
  return fmt::format("{}{}", fmt::join(labels, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

void DeclareSlowGroups(Catalog* catalog) {
  auto& slow = NeedMany(&catalog->OfRanks([](const Cluster& c) -> auto& { return c.slow_groups; }));
  slow.Add("comm.slow_group.count", "count",
           "Collectives of groups of ranks in which they transfer far longer than the same ones in "
           "other groups, although no rank is late.",
           &SlowGroups::count);
  slow.Add("comm.slow_group.time", "ns",
           "Mean transfer of the collectives of groups in which they take far longer.",
           &SlowGroups::time_ns);
  slow.Add("comm.slow_group.usual", "ns",
           "Mean transfer of the same collectives in the other groups.", &SlowGroups::usual_ns);
  AddLoss(&slow, "comm.slow_group.",
          "Exposed transfer of groups of ranks beyond what the same collectives take in others.",
          "Collectives take as long in all groups of ranks.", &SlowGroups::loss);
  auto& all = NeedMany(&catalog->OfRanks(All));
  all.Add("comm.slow_group.ranks", "name",
          "The ranks of groups in which collectives take far longer; empty when there are none.",
          SlowRanks);
}

void DeclareImbalances(Catalog* catalog) {
  const auto needing_steps = [&](auto source) -> auto& {
    return NeedMany(&catalog->OfRanks(source))
        .Needs([](const Known& known) { return HasCommonSteps(known.ranks); }, kNoCommonSteps,
               "steps");
  };
  auto& compute = needing_steps([](const Cluster& c) -> auto& { return c.lateness.compute; });
  compute.Add("rank.imbalance.compute.spread", "share",
              "Largest less median compute time of a step over its length, mean over steps.",
              &Imbalance::spread);
  compute.Add("rank.imbalance.compute.steps", "share",
              "Share of the steps whose slowest rank owes half of its excess to compute.",
              &Imbalance::steps);
  compute.Add("rank.imbalance.compute.top_rank", "share",
              "Of the steps that a rank slow in compute delays, the share in which it is the same "
              "rank.",
              &Imbalance::top_rank);
  compute.Add(
      "rank.imbalance.compute.behind", "share",
      "What the rank that delays the others most by its compute computes longer than the next "
      "slowest one, summed over all steps, over "
      "the sum of the sizes of the differences: 1 when it is always behind, 0 when it is "
      "ahead as much.",
      &Imbalance::behind);
  compute.Add("rank.imbalance.compute.in_turn", "share",
              "Of what balance wins, the share for which the ranks wait in turn inside steps, even "
              "the rank that waits least.",
              &Imbalance::in_turn);
  AddLoss(&compute, "rank.imbalance.compute.",
          "Waiting for ranks that are slow in compute, up to what balance wins.",
          "The ranks share what they compute equally: none takes longer than the mean of all.",
          &Imbalance::loss);
  auto& input = needing_steps([](const Cluster& c) -> auto& { return c.lateness.input; });
  input.Add("rank.imbalance.input.spread", "share",
            "Largest less median waiting for data in a step over its length, mean over steps.",
            &Imbalance::spread);
  input.Add("rank.imbalance.input.steps", "share",
            "Share of the steps whose slowest rank owes half of its excess to waiting for data.",
            &Imbalance::steps);
  input.Add("rank.imbalance.input.top_rank", "share",
            "Of the steps that a rank waiting for data delays, the share in which it is the same "
            "rank.",
            &Imbalance::top_rank);
  AddLoss(&input, "rank.imbalance.input.",
          "Waiting for ranks that wait for data, up to what balance wins.",
          "Ranks that wait for data wait as long as the median rank.", &Imbalance::loss);
  auto& host = needing_steps([](const Cluster& c) -> auto& { return c.lateness.host; });
  host.Add(
      "rank.imbalance.host.spread", "share",
      "Largest less median idle time because of host code in a step over its length, mean over "
      "steps.",
      &Imbalance::spread);
  host.Add("rank.imbalance.host.steps", "share",
           "Share of the steps whose slowest rank owes half of its excess to host code.",
           &Imbalance::steps);
  host.Add("rank.imbalance.host.top_rank", "share",
           "Of the steps that a rank delays by its host code, the share in which it is the same "
           "rank.",
           &Imbalance::top_rank);
  AddLoss(&host, "rank.imbalance.host.",
          "Waiting for ranks whose host code takes longer, up to what balance wins.",
          "No rank's GPU is idle for longer because of host code than that of the median rank.",
          &Imbalance::loss);
}

void DeclareSlowNode(Catalog* catalog) {
  auto& node =
      NeedMany(&catalog->OfRanks([](const Cluster& c) -> auto& { return c.lateness.node; }))
          .Needs([](const Known& known) { return known.ranks.hosts >= 2; },
                 "the ranks are not on several named hosts", "");
  node.Add("rank.node.name", "name",
           "The host all of whose ranks are slower than every other rank; empty when there is "
           "none.",
           &SlowNode::host);
  node.Add("rank.node.ranks", "count", "Number of ranks of the slow host.", &SlowNode::ranks);
  node.Add("rank.node.excess", "share",
           "Share by which the median rank of the slow host is slower than the slowest other rank.",
           &SlowNode::excess);
  node.Add("rank.node.cause", "name", "What ranks of the slow host do more than the others.",
           In(&SlowNode::cause, &LateCause::words));
  AddLoss(&node, "rank.node.", "Waiting of the other ranks for the slow host.",
          "The slow host is as fast as the slowest other rank.", &SlowNode::loss);
}

}  // namespace

void DeclareClusterFacts(Catalog* catalog) {
  DeclareMembers(catalog);
  DeclareTimes(catalog);
  DeclareAbsent(catalog);
  DeclareStalled(catalog);
  DeclareSlowGroups(catalog);
  DeclareImbalances(catalog);
  DeclareSlowNode(catalog);
}

}  // namespace advise::facts
