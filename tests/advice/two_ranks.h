// Two ranks of one job, and what their reports found.
#pragma once

#include "engine/advice/rank_run.h"
#include "tests/advice/verdicts.h"

namespace advise {

inline constexpr std::size_t kRanks = 2;
inline constexpr std::size_t kSteps = 10;

// Ten steps of 100 us on each rank: 60 us compute, then 40 us in which only communication runs.
inline Cluster TwoRanks() {
  std::vector<RankSummary> ranks(kRanks);
  for (std::size_t r = 0; r < kRanks; ++r) {
    ranks[r].rank = static_cast<int>(r);
    ranks[r].clock = ranks[r].report = static_cast<std::uint32_t>(r);
    ranks[r].window_end = kSteps * 100_us;
    for (std::size_t s = 0; s < kSteps; ++s) {
      RankTime time;
      time.compute = 60_us;
      time.comm_exposed = 40_us;
      const auto start = static_cast<Nanos>(s) * 100_us;
      ranks[r].steps.push_back({start, start + 100_us, time});
    }
  }
  return Cluster(std::move(ranks), ShippedKnowledge());
}

// What both ranks' reports found.
inline std::vector<ReportFindings> OnBothRanks(const std::vector<Finding>& findings) {
  std::vector<ReportFindings> reports;
  for (std::size_t r = 0; r < kRanks; ++r) reports.push_back({findings, {r}});
  return reports;
}

inline RuleInfo Rule(const std::string& id) {
  RuleInfo rule;
  rule.id = id;
  rule.priority = 10;
  return rule;
}

inline Finding Saves(const RuleInfo& rule, double share, double comm_share) {
  Finding finding;
  finding.rule = &rule;
  finding.saving_share = finding.touched_share = share;
  finding.comm_share = comm_share;
  return finding;
}

inline double ShareOf(const std::vector<Finding>& findings, const std::string& id) {
  const Finding* finding = Named(findings, id);
  return finding == nullptr ? 0 : finding->saving_share;
}

}  // namespace advise
