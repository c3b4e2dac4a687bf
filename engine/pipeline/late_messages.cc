#include "engine/pipeline/late_messages.h"

#include <algorithm>
#include <map>

#include "engine/advice/describe.h"
#include "engine/cluster/message_waits.h"

namespace advise {
namespace {

// The share of the time that a finding tells, by what it claims now. Of each rule, one part keeps
// its verdict.
void TellAnew(const std::vector<Part>& parts, Finding* finding) {
  for (const Part& part : parts) {
    if (!part.saved) continue;
    for (const Verdict& verdict : part.saved->report.verdicts) {
      if (verdict.rule != finding->rule || !verdict.evidence.contains("share")) continue;
      Verdict told = verdict;
      told.evidence["share"] = finding->touched_share;
      finding->symptom = FilledTemplate(finding->rule->symptom, told);
      return;
    }
  }
}

void MoveSteps(double part, Finding* late, Finding* transit) {
  std::map<Nanos, double> shares;
  for (const StepPart& step : transit->step_parts) shares[step.start] += step.share;
  for (StepPart& step : late->step_parts) {
    shares[step.start] += part * step.share;
    step.share *= 1 - part;
  }
  transit->step_parts.clear();
  for (const auto& [start, share] : shares) transit->step_parts.push_back({start, share});
}

// That part of one finding to the other.
void Move(double part, Finding* late, Finding* transit) {
  const auto move = [&](double* own, double* other) {
    *other += part * *own;
    *own *= 1 - part;
  };
  double own_late = late->own_share.value_or(late->alone_share);
  double own_transit = transit->own_share.value_or(transit->alone_share);
  move(&own_late, &own_transit);
  late->own_share = own_late;
  transit->own_share = own_transit;
  move(&late->saving_share, &transit->saving_share);
  move(&late->alone_share, &transit->alone_share);
  move(&late->touched_share, &transit->touched_share);
  MoveSteps(part, late, transit);
}

}  // namespace

void TellTransit(const Cluster& cluster, const Knowledge& knowledge, const std::vector<Part>& parts,
                 std::vector<ReportFindings>* findings) {
  const bool all =
      cluster.missing.empty() && static_cast<int>(cluster.ranks.size()) >= cluster.world;
  if (!all || !cluster.job.coupled) return;
  const double least = knowledge.Number("ranking.worth_telling");
  const std::vector<double> late_shares = LateShareOfMessages(cluster.ranks, cluster.clocks);
  for (ReportFindings& of_report : *findings) {
    if (of_report.ranks.size() != 1) continue;
    const double part = 1 - late_shares[of_report.ranks.front()];
    std::vector<Finding>& list = of_report.findings;
    const auto transit = std::find_if(list.begin(), list.end(), [](const Finding& finding) {
      return finding.rule->topic == Topic::kMessages;
    });
    if (part <= 0 || transit == list.end()) continue;
    for (Finding& late : list) {
      if (late.rule->topic != Topic::kLateMessages) continue;
      Move(part, &late, &*transit);
      TellAnew(parts, &late);
    }
    TellAnew(parts, &*transit);
    std::erase_if(list, [&](const Finding& finding) {
      return finding.rule->topic == Topic::kLateMessages && finding.touched_share < least;
    });
  }
}

}  // namespace advise
