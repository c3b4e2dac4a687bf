// What the catalogue says of a run of several reports: the facts of the ranks together, and those
// of single reports that have a meaning for all of them. The rest is absent: it is judged a report.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/cluster/cluster.h"
#include "engine/facts/catalog.h"
#include "engine/facts/fact_writer.h"
#include "engine/metrics/losses/loss.h"

namespace advise {
namespace {

using facts::FactWriter;

constexpr const char* kOfReports = "a fact of single reports, judged for each of them";

void WriteTime(const Cluster& c, FactWriter* w) {
  const auto devices = static_cast<double>(c.ranks.size());
  const auto window = static_cast<double>(c.job.Window());
  w->Number("window.time", window);
  w->Number("window.device_time", window * devices);
  const bool supported = std::any_of(c.ranks.begin(), c.ranks.end(),
                                     [](const RankSummary& r) { return r.supports_verdict; });
  w->Flag("window.supports_verdict", supported);
  w->Number("run.devices", devices);
  double compute = 0, comm = 0, copy = 0, memset = 0, idle = 0;
  std::array<double, kIdleCauseCount> causes{};
  for (const RankSummary& rank : c.ranks) {
    compute += static_cast<double>(rank.time.compute);
    comm += static_cast<double>(rank.time.comm_exposed);
    copy += static_cast<double>(rank.time.copy_exposed);
    memset += static_cast<double>(rank.time.memset_exposed);
    idle += static_cast<double>(rank.time.idle);
    for (std::size_t i = 0; i < kIdleCauseCount; ++i) {
      causes[i] += static_cast<double>(rank.time.causes[i]);
    }
  }
  w->Number("budget.compute", compute / devices);
  w->Number("budget.comm_exposed", comm / devices);
  w->Number("budget.copy_exposed", copy / devices);
  w->Number("budget.memset_exposed", memset / devices);
  w->Number("budget.idle", idle / devices);
  for (std::size_t i = 0; i < kIdleCauseCount; ++i) {
    w->Number(std::string("idle.") + IdleCauseName(static_cast<IdleCause>(i)), causes[i] / devices);
  }
  if (c.job.has_steps) {
    w->Number("steps.count", static_cast<double>(c.job.steps));
    w->Number("steps.median", static_cast<double>(Median(c.job.job_length)));
    w->Text("steps.source", c.ranks.front().steps_source);
  }
}

void WriteComm(const Cluster& c, FactWriter* w) {
  struct Tally {
    double count = 0, time = 0, exposed = 0;
  };
  std::map<std::string, Tally> kinds;
  double count = 0, per_step = 0, time = 0, exposed = 0;
  std::vector<double> lengths;
  for (const RankSummary& rank : c.ranks) {
    const RankCollectives& list = rank.collectives;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto length = static_cast<double>(list.end[i] - list.start[i]);
      const std::string& kind = rank.kinds[list.kind[i]];
      Tally& tally = kinds[kind.empty() ? "unnamed" : kind];
      tally.count += 1;
      tally.time += length;
      tally.exposed += static_cast<double>(list.exposed[i]);
      lengths.push_back(length);
    }
    const auto n = static_cast<double>(list.size());
    count += n;
    per_step += n / static_cast<double>(std::max<std::size_t>(1, rank.steps.size()));
  }
  Rows rows;
  for (const auto& [kind, tally] : kinds) {
    rows.push_back(
        {{"kind", kind}, {"count", tally.count}, {"time", tally.time}, {"exposed", tally.exposed}});
    time += tally.time;
    exposed += tally.exposed;
  }
  const auto ranks = static_cast<double>(c.ranks.size());
  w->Number("comm.count", count);
  w->Number("comm.per_step", per_step / ranks);
  w->Number("comm.time", time / ranks);
  w->Number("comm.overlap", time > 0 ? 1 - exposed / time : 0);
  w->Number("comm.median", Median(std::move(lengths)));
  w->Table("comm.kinds", std::move(rows));
}

void WriteLate(const Cluster& c, FactWriter* w) {
  const LateRank& late = c.lateness.straggler;
  if (late.rank == kNone) {
    for (const char* name :
         {"rank.late.device", "rank.late.share", "rank.late.at", "rank.late.lateness",
          "rank.late.cause", "rank.late.lost", "rank.late.remedy"}) {
      w->Missing(name, "no collective of several ranks was matched, and not every rank has steps",
                 "ranks");
    }
    return;
  }
  w->Number("rank.late.device", c.Number(late.rank));
  w->Number("rank.late.share", late.share);
  w->Text("rank.late.at", late.at_steps ? "steps" : "collectives");
  w->Number("rank.late.lateness", late.lateness_ns);
  w->Text("rank.late.cause", late.cause);
  Loss loss;
  loss.lost->by_device = late.loss.lost.by_device;
  loss.remedy->rank_cuts = late.loss.cuts;
  loss.remedy->rank_gain = late.loss.gain;
  w->Lost("rank.late", loss);
}

// GPUs that the reports of a host list, less those that some rank used.
void WriteIdle(const Cluster& c, FactWriter* w) {
  if (!c.missing.empty() || static_cast<int>(c.ranks.size()) < c.world) {
    for (const char* name : {"rank.idle.devices", "rank.idle.lost"}) {
      w->Missing(name, "not every rank has a report: others may use the remaining GPUs", "ranks");
    }
    return;
  }
  std::map<std::string, std::pair<std::size_t, std::set<std::string>>> hosts;
  std::vector<IntervalSet> compute;
  for (const RankSummary& rank : c.ranks) {
    auto& [listed, used] = hosts[rank.host];
    listed = std::max(listed, static_cast<std::size_t>(std::max(0, rank.devices_listed)));
    used.insert(rank.device_uuid.empty() ? std::to_string(rank.device) : rank.device_uuid);
    compute.push_back(
        IntervalSet::Of({{rank.window_start, rank.window_start + rank.time.compute}}));
  }
  double idle = 0;
  for (const auto& [host, gpus] : hosts) {
    if (gpus.first > gpus.second.size())
      idle += static_cast<double>(gpus.first - gpus.second.size());
  }
  w->Number("rank.idle.devices", idle);
  w->SpansOf("rank.idle.lost", std::move(compute));
}

}  // namespace

std::unique_ptr<Facts> MakeRunFacts(const Cluster& cluster, const std::vector<FactInfo>& list) {
  FactWriter writer;
  for (const FactInfo& info : list) writer.Missing(info.name, kOfReports, "");
  if (!cluster.ranks.empty()) {
    WriteTime(cluster, &writer);
    WriteComm(cluster, &writer);
    WriteLate(cluster, &writer);
    WriteIdle(cluster, &writer);
    writer.KnownNumber("capture.world_size", cluster.world,
                       "the reports do not say how many ranks the job has", "");
  }
  facts::WriteClusterFacts(cluster, false, &writer);
  return std::make_unique<MapFacts>(writer.Take());
}

bool IsAboutRanks(const std::string& fact) {
  static const std::vector<FactInfo> kList = facts::ClusterFactList();
  return fact.starts_with("rank.late.") || fact.starts_with("rank.idle.") ||
         fact == "capture.world_size" ||
         std::any_of(kList.begin(), kList.end(),
                     [&](const FactInfo& info) { return info.name == fact; });
}

}  // namespace advise
