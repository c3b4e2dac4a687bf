#include "engine/report/json.h"

#include <cmath>

#include "engine/report/json_parts.h"
#include "engine/report/json_run.h"

namespace advise {
namespace {

using json::Code;
using json::EfficiencyObject;
using json::Json;
using json::Number;
using json::Numbers;
using json::Print;
using json::RunObject;
using json::Text;
using json::Texts;

Json Inputs(const Report& report) {
  Json array = Json::array();
  for (const InputInfo& input : report.inputs) {
    array.push_back({{"path", Text(input.path)},
                     {"kind", Text(input.kind)},
                     {"producer", Text(input.producer)},
                     {"rank", input.rank},
                     {"host", Text(input.host)}});
  }
  return array;
}

Json Window(const WindowInfo& window) {
  return {{"mode", Text(window.mode)},
          {"start_ns", window.start_ns},
          {"end_ns", window.end_ns},
          {"seconds", Number(static_cast<double>(window.end_ns - window.start_ns) / 1e9)}};
}

Json Devices(const Report& report) {
  Json array = Json::array();
  for (const DeviceBudget& device : report.devices) {
    Json idle = Json::object();
    for (const auto& [cause, ns] : device.idle_causes) idle[SafeText(cause) + "_ns"] = ns;
    array.push_back({{"rank", device.rank},
                     {"device", device.device},
                     {"name", Text(device.name)},
                     {"budget",
                      {{"compute_ns", device.compute_ns},
                       {"comm_exposed_ns", device.comm_exposed_ns},
                       {"copy_exposed_ns", device.copy_exposed_ns},
                       {"memset_exposed_ns", device.memset_exposed_ns},
                       {"idle_ns", device.idle_ns},
                       {"window_ns", device.window_ns}}},
                     {"idle", idle}});
  }
  return array;
}

// The value of a fact that is a number or a text; null for every other fact.
Json PlainValue(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    return std::isfinite(*number) ? Number(*number) : Json();
  }
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* text = std::get_if<std::string>(&value)) return Text(*text);
  return nullptr;
}

Json RunFacts(const Report& report) {
  Json object = Json::object();
  for (const NamedFact& fact : report.facts) {
    const Json value = PlainValue(fact.fact.value);
    if (value.is_null()) continue;
    object[SafeText(fact.info.name)] = {
        {"value", value}, {"unit", Text(fact.info.unit)}, {"scope", "run"}};
  }
  return object;
}

Json Fixes(const std::vector<Fix>& fixes) {
  Json array = Json::array();
  for (const Fix& fix : fixes) {
    array.push_back({{"action", Text(fix.action)},
                     {"snippet", Code(fix.snippet)},
                     {"language", Text(fix.language)},
                     {"for", Texts(fix.programs)},
                     {"links", Texts(fix.links)}});
  }
  return array;
}

Json EvidenceItem(const Evidence& item) {
  Json json = {{"what", Text(item.what)}, {"value", Number(item.value)}, {"unit", Text(item.unit)}};
  if (item.threshold && std::isfinite(*item.threshold)) json["threshold"] = Number(*item.threshold);
  json["start_ns"] = item.start_ns;
  json["end_ns"] = item.end_ns;
  json["table"] = Text(item.table);
  json["rows"] = Numbers(item.rows);
  json["sql"] = Code(item.sql);
  if (!item.find.empty()) json["find"] = Code(item.find);
  json["source"] = Text(item.source);
  return json;
}

Json FindingObject(const Finding& finding) {
  Json evidence = Json::array();
  for (const Evidence& item : finding.evidence) evidence.push_back(EvidenceItem(item));
  const RuleInfo none;
  const RuleInfo& rule = finding.rule == nullptr ? none : *finding.rule;
  return {{"rank", finding.rank},
          {"rule", Text(rule.id)},
          {"title", Text(rule.title)},
          {"severity", SeverityName(finding.severity)},
          {"confidence", Number(finding.confidence)},
          {"confidence_from", Text(finding.confidence_from)},
          {"effort", Text(rule.effort)},
          {"tentative", finding.tentative},
          {"risk", RiskName(rule.risk)},
          {"saving",
           {{"seconds", Number(finding.saving_s)},
            {"share", Number(finding.saving_share)},
            {"basis", Text(finding.basis)}}},
          {"where",
           {{"ranks", Numbers(finding.where.ranks)},
            {"devices", Numbers(finding.where.devices)},
            {"steps", Numbers(finding.where.steps)},
            {"phase", Text(finding.where.phase)}}},
          {"symptom", Text(finding.Seen())},
          {"cause", Text(finding.cause)},
          {"fixes", Fixes(finding.fixes)},
          {"evidence", evidence},
          {"explains", Texts(finding.explains)},
          {"explained_by", Texts(finding.explained_by)}};
}

Json NotCheckedList(const Report& report) {
  Json array = Json::array();
  for (const NotChecked& item : report.not_checked) {
    array.push_back(
        {{"rule", Text(item.rule)}, {"needs", Texts(item.needs)}, {"how", Text(item.how)}});
  }
  return array;
}

Json DiagnosticList(const Report& report) {
  Json array = Json::array();
  for (const Diagnostic& item : report.diagnostics) {
    if (item.level == Level::kInfo) continue;
    std::string text = item.text;
    if (!item.table.empty()) text += ", in " + item.table;
    if (item.count > 1) text += ", " + std::to_string(item.count) + " times";
    array.push_back(
        {{"level", item.level == Level::kError ? "error" : "warning"}, {"text", Text(text)}});
  }
  return array;
}

Json CellValue(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) {
    return std::isfinite(*number) ? Number(*number) : Json();
  }
  return Text(std::get<std::string>(cell));
}

Json RowsArray(const Rows& rows) {
  Json array = Json::array();
  for (const Row& row : rows) {
    Json object = Json::object();
    for (const auto& [column, cell] : row) object[SafeText(column)] = CellValue(cell);
    array.push_back(object);
  }
  return array;
}

Json VerdictObject(const Verdict& verdict) {
  Json reads = Json::array();
  for (const FactRead& read : verdict.reads) {
    reads.push_back({{"fact", Text(read.name)}, {"value", Text(read.shown)}});
  }
  Json comparisons = Json::array();
  for (const Comparison& item : verdict.comparisons) {
    Json json = {{"check", Text(item.what)},
                 {"threshold_name", Text(item.name)},
                 {"value", Number(item.value)},
                 {"threshold", Number(item.threshold)}};
    if (item.what == "between") json["upper"] = Number(item.upper);
    json["unit"] = Text(item.unit);
    json["holds"] = item.holds;
    comparisons.push_back(json);
  }
  Json evidence = Json::object();
  for (const auto& [name, cell] : verdict.evidence) evidence[SafeText(name)] = CellValue(cell);
  for (const auto& [name, rows] : verdict.tables) evidence[SafeText(name)] = RowsArray(rows);
  Json json = {{"scope", "run"}};
  json["outcome"] = OutcomeName(verdict.outcome);
  json["reason"] = Text(verdict.reason);
  json["missing"] = Texts(verdict.missing);
  json["reads"] = reads;
  json["comparisons"] = comparisons;
  json["evidence"] = evidence;
  return json;
}

Json RuleObject(const RulePage& page) {
  const RuleInfo& rule = *page.rule;
  return {{"id", Text(rule.id)},
          {"title", Text(rule.title)},
          {"status", Text(rule.status)},
          {"since", Text(rule.since)},
          {"kind", RuleKindName(rule.kind)},
          {"effort", Text(rule.effort)},
          {"suppressed", Text(page.suppressed)},
          {"path", Text(rule.path)}};
}

}  // namespace

Json PlanList(const Report& report, std::size_t most) {
  Json array = Json::array();
  for (const PlanStep& step : report.plan) {
    if (array.size() >= most) break;
    array.push_back({{"rule", Text(step.rule)},
                     {"after_seconds", Number(step.after_seconds)},
                     {"unlocks", Texts(step.unlocks)},
                     {"makes_needless", Texts(step.makes_needless)}});
  }
  return array;
}

std::string RenderJson(const Report& report, const JsonOptions& options) {
  const auto most =
      options.top < 0 ? report.findings.size() : static_cast<std::size_t>(options.top);
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    if (findings.size() < most) findings.push_back(FindingObject(finding));
  }
  Json json;
  json["schema"] = 2;
  json["tool"] = {{"name", "advise"}, {"version", Text(report.tool_version)}};
  json["inputs"] = Inputs(report);
  json["verdict"] = Text(report.verdict);
  json["run"] = RunObject(report.run, report.no_verdict_reason);
  json["efficiency"] = EfficiencyObject(report.efficiency);
  json["plan"] = PlanList(report, most);
  json["window"] = Window(report.window);
  json["devices"] = Devices(report);
  if (options.facts) json["facts"] = RunFacts(report);
  json["findings"] = findings;
  json["healthy"] = report.healthy;
  json["checked"] = report.checked;
  json["not_checked"] = NotCheckedList(report);
  json["diagnostics"] = DiagnosticList(report);
  return Print(json);
}

std::string RenderFactsJson(const std::vector<NamedFact>& facts, bool tables) {
  Json list = Json::array();
  for (const NamedFact& fact : facts) {
    Json json = {{"name", Text(fact.info.name)}, {"scope", "run"}};
    if (const auto* absent = std::get_if<Absent>(&fact.fact.value)) {
      json["absent"] = Text(absent->reason);
      json["needs"] = Text(absent->needs);
    } else if (const auto* rows = std::get_if<Rows>(&fact.fact.value)) {
      if (!tables) continue;
      json["rows"] = RowsArray(*rows);
    } else if (const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&fact.fact.value)) {
      json["value"] = *spans == nullptr ? 0 : (*spans)->Total();
    } else {
      const Json value = PlainValue(fact.fact.value);
      if (value.is_null()) continue;
      json["value"] = value;
    }
    json["unit"] = Text(fact.info.unit);
    json["definition"] = Text(fact.info.definition);
    list.push_back(json);
  }
  return Print({{"schema", 1}, {"facts", list}});
}

std::string RenderFactCatalogJson(const std::vector<FactInfo>& catalog) {
  Json list = Json::array();
  for (const FactInfo& fact : catalog) {
    list.push_back({{"name", Text(fact.name)},
                    {"unit", Text(fact.unit)},
                    {"definition", Text(fact.definition)}});
  }
  return Print({{"schema", 1}, {"facts", list}});
}

std::string RenderWhyJson(const Report& report, const std::string& rule) {
  Json verdicts = Json::array();
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.rule != nullptr && verdict.rule->id == rule) {
      verdicts.push_back(VerdictObject(verdict));
    }
  }
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    if (finding.rule != nullptr && finding.rule->id == rule) {
      findings.push_back(FindingObject(finding));
    }
  }
  Json how = Json::array();
  for (const NotChecked& item : report.not_checked) {
    if (item.rule == rule) how.push_back(Text(item.how));
  }
  Json claims = Json::array();
  for (const ClaimFate& fate : report.fates) {
    if (fate.rule == nullptr || fate.rule->id != rule) continue;
    Json taken = Json::array();
    for (const auto& [taker, time] : fate.taken_by)
      taken.push_back({{"rule", Text(taker->id)}, {"ns", time}});
    claims.push_back({{"claimed_ns", fate.claimed},
                      {"gain_ns", fate.gain},
                      {"saving_ns", fate.saving},
                      {"taken_by", taken}});
  }
  return Print({{"schema", 1},
                {"rule", Text(rule)},
                {"verdicts", verdicts},
                {"findings", findings},
                {"claims", claims},
                {"capture", how}});
}

std::string RenderRulesJson(const std::vector<RulePage>& rules) {
  Json list = Json::array();
  for (const RulePage& rule : rules) list.push_back(RuleObject(rule));
  return Print({{"schema", 1}, {"rules", list}});
}

std::string RenderRuleJson(const RulePage& page) {
  const RuleInfo& rule = *page.rule;
  Json json = RuleObject(page);
  json["priority"] = rule.priority;
  json["replaces"] = Text(rule.replaces);
  json["symptom"] = Text(rule.symptom);
  json["cause"] = Text(rule.cause);
  json["fixes"] = Fixes(rule.fixes);
  json["false_positives"] = Text(rule.false_positives);
  json["needs"] = Texts(rule.needs);
  json["optional"] = Texts(rule.optional);
  json["explains"] = Texts(rule.explains);
  json["knowledge"] = Texts(rule.knowledge);
  json["thresholds"] = Json::array();
  for (const RulePage::Threshold& item : page.thresholds) {
    json["thresholds"].push_back({{"name", Text(item.name)},
                                  {"value", Number(item.value)},
                                  {"unit", Text(item.unit)},
                                  {"why", Text(item.why)},
                                  {"source", Text(item.source)},
                                  {"set_by", Text(item.set_by)}});
  }
  json["references"] = Json::array();
  for (const RulePage::Link& link : page.links) {
    json["references"].push_back({{"title", Text(link.title)}, {"url", Text(link.url)}});
  }
  return Print({{"schema", 1}, {"rule", json}});
}

}  // namespace advise
