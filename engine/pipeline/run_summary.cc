#include "engine/pipeline/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/base/text.h"
#include "engine/pipeline/summary.h"

namespace advise {
namespace {

double NumberOf(const Facts& facts, const char* name) {
  const Fact* fact = facts.Find(name);
  const double* number = fact == nullptr ? nullptr : std::get_if<double>(&fact->value);
  return number == nullptr ? 0 : *number;
}

}  // namespace

void FillRanks(const Facts& facts, Report* report) {
  const auto whole = [&](const char* name) { return static_cast<int>(NumberOf(facts, name)); };
  if (whole("cluster.ranks") < 2) return;
  RanksInfo& ranks = report->ranks;
  ranks.ranks = whole("cluster.ranks");
  ranks.reports = whole("cluster.reports");
  ranks.hosts = whole("cluster.hosts");
  ranks.steps = whole("cluster.steps");
  ranks.parallel = NumberOf(facts, "cluster.efficiency.parallel");
  ranks.load_balance = NumberOf(facts, "cluster.efficiency.load_balance");
  ranks.communication = NumberOf(facts, "cluster.efficiency.communication");
  ranks.orchestration = NumberOf(facts, "cluster.efficiency.orchestration");
  const double window = std::max(1.0, NumberOf(facts, "cluster.window"));
  ranks.waited = NumberOf(facts, "cluster.waited") / window;
  ranks.transfer = NumberOf(facts, "cluster.transfer") / window;
}

std::string RunVerdictSentence(const Cluster& cluster, const Report& report) {
  const auto pct = [](double share) { return FormatQuantity(share, "share"); };
  double compute = 0, comm = 0, copy = 0, idle = 0, all = 0;
  std::array<double, kIdleCauseCount> causes{};
  for (const RankSummary& rank : cluster.ranks) {
    compute += static_cast<double>(rank.time.compute);
    comm += static_cast<double>(rank.time.comm_exposed);
    copy += static_cast<double>(rank.time.copy_exposed);
    idle += static_cast<double>(rank.time.idle);
    all += static_cast<double>(rank.Window());
    for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
      causes[c] += static_cast<double>(rank.time.causes[c]);
    }
  }
  const std::size_t n = cluster.ranks.size();
  if (n == 0 || all <= 0) return "No GPU activity was recorded, so there is nothing to judge.";
  if (!report.no_verdict_reason.empty()) {
    return fmt::format("The captures support no verdict: {}.", report.no_verdict_reason);
  }
  if (report.healthy) {
    return fmt::format(
        "The GPUs of {} ranks are busy {} of the time, and nothing was found whose fix would win "
        "one "
        "percent.",
        n, pct(1 - idle / all));
  }
  if (report.findings.empty()) {
    return fmt::format(
        "The GPUs of {} ranks compute {} of the time, and nothing was found whose fix would win "
        "one "
        "percent.",
        n, pct(compute / all));
  }
  const Finding& first = report.findings.front();
  const double waited =
      cluster.waited_ns / static_cast<double>(std::max<Nanos>(1, cluster.job.Window()));
  if (first.rule->id == "rank/straggler" && first.where.ranks.size() == 1) {
    const double others = waited * static_cast<double>(n) / static_cast<double>(n - 1);
    return fmt::format("{} {} of the time for rank {}: {}.",
                       n == 2 ? "The other rank waits" : fmt::format("{} ranks wait", n - 1),
                       pct(others), first.where.ranks.front(), cluster.lateness.straggler.cause);
  }
  if (compute >= 0.8 * all) {
    return fmt::format("The GPUs of {} ranks compute {} of the time; what can still be won: {}.", n,
                       pct(compute / all), InSentence(first.rule->title));
  }
  if (copy >= comm && copy >= idle) {
    return fmt::format("The GPUs of {} ranks wait for copies {} of the time.", n, pct(copy / all));
  }
  if (comm >= idle) {
    return waited >= 0.5 * comm / all
               ? fmt::format("The GPUs of {} ranks wait for each other {} of the time.", n,
                             pct(waited))
               : fmt::format("The GPUs of {} ranks wait for communication {} of the time.", n,
                             pct(comm / all));
  }
  const auto worst = std::max_element(causes.begin(), causes.end()) - causes.begin();
  return fmt::format("The GPUs of {} ranks are idle {} of the time, mostly {}.", n, pct(idle / all),
                     IdleWords(static_cast<IdleCause>(worst)));
}

}  // namespace advise
