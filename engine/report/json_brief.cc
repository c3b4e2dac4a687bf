#include <cmath>
#include <map>

#include "engine/advice/audience.h"
#include "engine/report/budget_text.h"
#include "engine/report/finding_text.h"
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
  constexpr int kShown = 240;
  return JsonText(CutEnd(text, kShown));
}

// Code and commands are of use only whole.
constexpr std::size_t kLongestCode = 400;

// Shares of the window, as means over the devices.
Json BudgetObject(const Report& report) {
  Nanos all = 0;
  std::map<std::string, Nanos> causes;
  for (const DeviceBudget& device : report.devices) {
    all += device.window_ns;
    for (const auto& [cause, ns] : device.idle_causes) causes[cause] += ns;
  }
  const auto share = [all](Nanos ns) {
    const double part = all > 0 ? static_cast<double>(ns) / static_cast<double>(all) : 0;
    return JsonNumber(std::round(part * 1e4) / 1e4);
  };
  Json budget = {{"devices", report.devices.size()}};
  for (const BudgetPart& part : BudgetParts(report.devices)) budget[part.name] = share(part.ns);
  budget["idle_causes"] = Json::object();
  for (const auto& [cause, ns] : causes) {
    if (share(ns) > 0) budget["idle_causes"][cause] = share(ns);
  }
  return budget;
}

Json WindowObject(const Report& report) {
  const Nanos length = report.window.end_ns - report.window.start_ns;
  return {
      {"mode", JsonText(report.window.mode)},
      {"seconds", JsonNumber(static_cast<double>(length) / kNanosPerSecond)},
      {"steps", report.step_count},
      {"step_seconds", JsonNumber(static_cast<double>(report.step_median_ns) / kNanosPerSecond)}};
}

// Without what was not measured: a 0 reads as one that was.
Json MeasuredEfficiency(const EfficiencyInfo& efficiency) {
  Json json = EfficiencyObject(efficiency);
  if (efficiency.mfu <= 0) json.erase("mfu");
  if (efficiency.bandwidth <= 0) json.erase("bandwidth");
  return json;
}

enum class Detail { kLine, kFix, kAll };

Json BriefFinding(const Report& report, const Finding& finding, Detail detail) {
  const RuleInfo none;
  const RuleInfo& rule = finding.rule == nullptr ? none : *finding.rule;
  Json saving = {{"seconds", FiniteNumber(finding.saving_s)},
                 {"share", FiniteNumber(finding.saving_share)},
                 {"alone", FiniteNumber(finding.alone_share)}};
  if (finding.unprofiled_share) saving["unprofiled"] = FiniteNumber(*finding.unprofiled_share);
  Json item = {{"rank", finding.rank},
               {"rule", JsonText(rule.id)},
               {"title", Short(finding.rule == nullptr ? "" : finding.Title())},
               {"severity", SeverityName(finding.severity)},
               {"confidence", FiniteNumber(finding.confidence)},
               {"tentative", finding.tentative},
               {"risk", RiskName(rule.risk)},
               {"saving", saving}};
  if (finding.observed != Observed::kInferred) item["observed"] = ObservedName(finding.observed);
  const std::vector<Fix> fitting = FixesFor(report.run, finding.fixes);
  if (detail == Detail::kLine || fitting.empty()) return item;
  const Fix& best = fitting.front();
  if (detail == Detail::kAll) item["symptom"] = Short(finding.Seen());
  item["do"] = Short(best.action);
  const Finding* const same = WithTheSameFix(report, finding, best);
  if (same != nullptr) item["same_as_finding"] = same->rank;
  if (same == nullptr && detail == Detail::kAll && !best.snippet.empty() &&
      best.snippet.size() <= kLongestCode) {
    item["snippet"] = JsonCode(best.snippet);
  }
  return item;
}

std::string Print(const Json& brief, bool in_one_line) {
  return brief.dump(in_one_line ? -1 : 2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Adds the finding with as much as there is room for; false when there is none.
bool AddFinding(const Report& report, const Finding& finding, std::size_t limit, Json* brief) {
  Json& findings = (*brief)["findings"];
  if (limit == 0) {
    findings.push_back(BriefFinding(report, finding, Detail::kLine));
    return true;
  }
  for (const Detail detail : {Detail::kAll, Detail::kFix}) {
    findings.push_back(BriefFinding(report, finding, detail));
    if (Print(*brief, true).size() <= limit) return true;
    findings.erase(findings.size() - 1);
  }
  return false;
}

}  // namespace

std::string RenderBriefJson(const Report& report, int top, std::size_t limit) {
  Json brief;
  brief["schema"] = 2;
  brief["tool"] = {{"name", "advise"}, {"version", JsonText(report.tool_version)}};
  brief["verdict"] = Short(report.verdict);
  brief["run"] = RunObject(report.run, CutEnd(report.no_verdict_reason, 240));
  brief["window"] = WindowObject(report);
  brief["budget"] = BudgetObject(report);
  brief["efficiency"] = MeasuredEfficiency(report.efficiency);
  brief["healthy"] = report.healthy;
  brief["next"] = {{"step", Short(report.next_step)}};
  for (const auto& [name, command] :
       {std::pair{"command", &report.next_command}, {"capture", &report.capture_command}}) {
    const bool fits = !command->empty() && (limit == 0 || command->size() <= kLongestCode);
    if (fits) brief["next"][name] = JsonCode(*command);
  }
  brief["findings"] = Json::array();
  brief["left_out"] = report.findings.size();  // room for the largest number
  std::size_t left_out = 0;
  for (const Finding& finding : report.findings) {
    if (finding.UnderCause()) continue;  // it stands under its cause in the full report
    const bool beyond = top >= 0 && brief["findings"].size() >= static_cast<std::size_t>(top);
    if (beyond || left_out > 0 || !AddFinding(report, finding, limit, &brief)) ++left_out;
  }
  brief["left_out"] = left_out;
  return Print(brief, limit > 0);
}

}  // namespace advise
