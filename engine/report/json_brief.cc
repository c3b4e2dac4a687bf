#include <cmath>

#include "engine/advice/audience.h"
#include "engine/report/json.h"
#include "engine/report/json_run.h"
#include "engine/report/layout.h"

namespace advise {

OrderedJson FiniteNumber(double value) {
  return std::isfinite(value) ? JsonNumber(value) : OrderedJson(0);
}

OrderedJson RunObject(const RunInfo& run, const std::string& why_tentative) {
  return {{"kind", JsonText(run.kind)},
          {"unit", JsonText(run.unit)},
          {"units", run.units},
          {"framework", JsonText(run.framework)},
          {"languages", JsonTexts(run.languages)},
          {"tentative", !why_tentative.empty()},
          {"why_tentative", JsonText(why_tentative)}};
}

OrderedJson EfficiencyObject(const EfficiencyInfo& efficiency) {
  return {{"measured_share", FiniteNumber(efficiency.measured_share)},
          {"mfu", FiniteNumber(efficiency.mfu)},
          {"bandwidth", FiniteNumber(efficiency.bandwidth)},
          {"source", JsonText(efficiency.source)}};
}

namespace {

using Json = OrderedJson;

// A text that is cut where it gets long: what is cut stands in the full report.
Json Short(const std::string& text) {
  constexpr std::size_t kShown = 240;
  return JsonText(CutEnd(text, static_cast<int>(kShown)));
}

Json BriefFinding(const RunInfo& run, const Finding& finding, bool fixes) {
  const RuleInfo none;
  const RuleInfo& rule = finding.rule == nullptr ? none : *finding.rule;
  Json item = {{"rank", finding.rank},
               {"rule", JsonText(rule.id)},
               {"title", Short(rule.title)},
               {"severity", SeverityName(finding.severity)},
               {"confidence", FiniteNumber(finding.confidence)},
               {"tentative", finding.tentative},
               {"risk", RiskName(rule.risk)},
               {"saving",
                {{"seconds", FiniteNumber(finding.saving_s)},
                 {"share", FiniteNumber(finding.saving_share)},
                 {"alone", FiniteNumber(finding.alone_share)}}}};
  if (!fixes) return item;
  item["symptom"] = Short(finding.symptom);
  const std::vector<Fix> fitting = FixesFor(run, finding.fixes);
  if (!fitting.empty()) item["do"] = Short(fitting.front().action);
  return item;
}

}  // namespace

std::string RenderBriefJson(const Report& report, int top, std::size_t limit) {
  Json brief;
  brief["schema"] = 2;
  brief["tool"] = {{"name", "advise"}, {"version", JsonText(report.tool_version)}};
  brief["verdict"] = Short(report.verdict);
  brief["run"] = RunObject(report.run, report.no_verdict_reason);
  brief["efficiency"] = EfficiencyObject(report.efficiency);
  brief["healthy"] = report.healthy;
  if (!report.next_step.empty()) brief["next"] = Short(report.next_step);
  if (!report.next_command.empty()) brief["command"] = Short(report.next_command);
  brief["findings"] = Json::array();
  std::size_t left_out = 0;
  for (const Finding& finding : report.findings) {
    if (!finding.explained_by.empty()) continue;  // it stands under its cause in the full report
    const bool beyond = top >= 0 && brief["findings"].size() >= static_cast<std::size_t>(top);
    if (beyond || left_out > 0) {
      ++left_out;
      continue;
    }
    brief["findings"].push_back(BriefFinding(report.run, finding, limit > 0));
    brief["left_out"] = report.findings.size();  // room for the largest number
    if (limit > 0 && brief.dump().size() >= limit) {
      brief["findings"].erase(brief["findings"].size() - 1);
      ++left_out;
    }
  }
  brief["left_out"] = left_out;
  return brief.dump(limit > 0 ? -1 : 2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace advise
