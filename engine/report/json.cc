#include "engine/report/json.h"

#include <algorithm>
#include <cmath>

#include "engine/advice/audience.h"
#include "engine/base/text.h"
#include "engine/report/finding_text.h"
#include "engine/report/json_run.h"
#include "engine/trace/idle_cause.h"

namespace advise {
namespace {

using Json = OrderedJson;

Json Inputs(const Report& report) {
  Json array = Json::array();
  for (const InputInfo& input : report.inputs) {
    array.push_back({{"path", JsonText(input.path)},
                     {"kind", JsonText(input.kind)},
                     {"producer", JsonText(input.producer)},
                     {"rank", input.rank},
                     {"host", JsonText(input.host)}});
  }
  return array;
}

Json WindowObject(const WindowInfo& window) {
  return {{"mode", JsonText(window.mode)},
          {"start_ns", window.start_ns},
          {"end_ns", window.end_ns},
          {"seconds", FiniteNumber(static_cast<double>(window.end_ns - window.start_ns) / 1e9)}};
}

Json Devices(const Report& report) {
  Json array = Json::array();
  for (const DeviceBudget& device : report.devices) {
    Json idle = Json::object();
    for (const auto& [cause, ns] : device.idle_causes) {
      // Version 2 of the report began without this cause: readers meet it only where it has time.
      if (ns == 0 && cause == WordsOf(IdleCause::kHostFunction).name) continue;
      idle[SafeText(cause) + "_ns"] = ns;
    }
    array.push_back({{"rank", device.rank},
                     {"device", device.device},
                     {"name", JsonText(device.name)},
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
    return std::isfinite(*number) ? FiniteNumber(*number) : Json();
  }
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* text = std::get_if<std::string>(&value)) return JsonText(*text);
  return nullptr;
}

Json RunFacts(const Report& report) {
  Json object = Json::object();
  for (const NamedFact& fact : report.facts) {
    const Json value = PlainValue(fact.fact.value);
    if (value.is_null()) continue;
    object[SafeText(fact.info->name)] = {
        {"value", value}, {"unit", JsonText(fact.info->unit)}, {"scope", "run"}};
  }
  return object;
}

Json LinksOf(const Fix& fix) {
  Json links = Json::array();
  for (const Link& link : fix.links) links.push_back(JsonText(link.url));
  return links;
}

Json Fixes(const std::vector<Fix>& fixes) {
  Json array = Json::array();
  for (const Fix& fix : fixes) {
    array.push_back({{"action", JsonText(fix.action)},
                     {"snippet", JsonCode(fix.snippet)},
                     {"language", JsonText(fix.language)},
                     {"for", JsonTexts(fix.programs)},
                     {"links", LinksOf(fix)}});
  }
  return array;
}

// Those for this program first, as other formats show them. With the rank of the finding before
// this one that says the fix first, where one does.
Json FixesOf(const Report& report, const Finding& finding) {
  std::vector<std::size_t> order = FittingFixes(report.run, finding.fixes);
  const std::size_t fitting = order.size();
  for (std::size_t i = 0; i < finding.fixes.size(); ++i) {
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  }
  const Json all = Fixes(finding.fixes);
  Json array = Json::array();
  for (std::size_t i = 0; i < order.size(); ++i) {
    array.push_back(all[order[i]]);
    array.back()["fits"] = i < fitting;
    const Finding* const same = WithTheSameFix(report, finding, finding.fixes[order[i]]);
    if (same != nullptr) array.back()["same_as_finding"] = same->rank;
  }
  return array;
}

Json EvidenceItem(const Evidence& item) {
  Json json = {{"what", JsonText(item.what)},
               {"value", FiniteNumber(item.value)},
               {"unit", JsonText(item.unit)}};
  if (item.threshold && std::isfinite(*item.threshold))
    json["threshold"] = FiniteNumber(*item.threshold);
  json["start_ns"] = item.start_ns;
  json["end_ns"] = item.end_ns;
  json["table"] = JsonText(item.table);
  json["rows"] = item.rows;
  json["sql"] = JsonCode(item.sql);
  if (!item.find.empty()) json["find"] = JsonCode(item.find);
  json["source"] = JsonText(item.source);
  return json;
}

Json FindingObject(const Report& report, const Finding& finding) {
  Json evidence = Json::array();
  for (const Evidence& item : finding.evidence) evidence.push_back(EvidenceItem(item));
  const RuleInfo none;
  const RuleInfo& rule = finding.rule == nullptr ? none : *finding.rule;
  const std::string effort = EffortOfFirst(report, finding);
  Json saving = {{"seconds", FiniteNumber(finding.saving_s)},
                 {"share", FiniteNumber(finding.saving_share)},
                 {"alone", FiniteNumber(finding.alone_share)},
                 {"basis", JsonText(BasisText(finding))}};
  if (finding.unprofiled_share) saving["unprofiled"] = FiniteNumber(*finding.unprofiled_share);
  if (finding.unprofiled_alone_share)
    saving["unprofiled_alone"] = FiniteNumber(*finding.unprofiled_alone_share);
  return {{"rank", finding.rank},
          {"rule", JsonText(rule.id)},
          {"title", JsonText(finding.rule == nullptr ? "" : finding.Title())},
          {"severity", SeverityName(finding.severity)},
          {"confidence", FiniteNumber(finding.confidence)},
          {"observed", ObservedName(finding.observed)},
          {"confidence_from", JsonText(finding.confidence_from)},
          {"effort", JsonText(effort.empty() ? rule.effort : effort)},
          {"tentative", finding.tentative},
          {"risk", RiskName(rule.risk)},
          {"saving", saving},
          {"where",
           {{"ranks", finding.where.ranks},
            {"devices", finding.where.devices},
            {"steps", finding.where.steps},
            {"phase", JsonText(finding.where.phase)},
            {"figures", JsonText(finding.where.figures)},
            {"in_turns", finding.where.in_turns}}},
          {"symptom", JsonText(finding.Seen())},
          {"cause", JsonText(finding.cause)},
          {"fixes", FixesOf(report, finding)},
          {"evidence", evidence},
          {"explains", JsonTexts(finding.explains)},
          {"explained_by", JsonTexts(finding.explained_by)}};
}

Json NotCheckedList(const Report& report) {
  Json array = Json::array();
  for (const NotChecked& item : report.not_checked) {
    array.push_back({{"rule", JsonText(item.rule)},
                     {"needs", JsonTexts(item.needs)},
                     {"how", JsonText(item.how)}});
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
        {{"level", item.level == Level::kError ? "error" : "warning"}, {"text", JsonText(text)}});
  }
  return array;
}

Json CellValue(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) {
    return std::isfinite(*number) ? FiniteNumber(*number) : Json();
  }
  return JsonText(std::get<std::string>(cell));
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
    reads.push_back({{"fact", JsonText(read.name)}, {"value", JsonText(read.shown)}});
  }
  Json comparisons = Json::array();
  for (const Comparison& item : verdict.comparisons) {
    Json json = {{"check", JsonText(item.what)},
                 {"threshold_name", JsonText(item.name)},
                 {"value", FiniteNumber(item.value)},
                 {"threshold", FiniteNumber(item.threshold)}};
    if (item.what == "between") json["upper"] = FiniteNumber(item.upper);
    json["unit"] = JsonText(item.unit);
    json["holds"] = item.holds;
    json["of_saving"] = item.of_saving;
    comparisons.push_back(json);
  }
  Json evidence = Json::object();
  for (const auto& [name, cell] : verdict.evidence) evidence[SafeText(name)] = CellValue(cell);
  for (const auto& [name, rows] : verdict.tables) evidence[SafeText(name)] = RowsArray(rows);
  Json json = {{"scope", "run"}};
  json["outcome"] = OutcomeName(verdict.outcome);
  json["reason"] = JsonText(verdict.reason);
  json["missing"] = JsonTexts(verdict.missing);
  json["reads"] = reads;
  json["comparisons"] = comparisons;
  json["evidence"] = evidence;
  return json;
}

Json RuleObject(const RulePage& page) {
  const RuleInfo& rule = *page.rule;
  return {{"id", JsonText(rule.id)},
          {"title", JsonText(rule.title)},
          {"status", JsonText(rule.status)},
          {"since", JsonText(rule.since)},
          {"kind", RuleKindName(rule.kind)},
          {"effort", JsonText(rule.effort)},
          {"suppressed", JsonText(page.suppressed)},
          {"path", JsonText(rule.path)}};
}

}  // namespace

Json PlanList(const Report& report, std::size_t most) {
  Json array = Json::array();
  for (const PlanStep& step : report.plan) {
    if (array.size() >= most) break;
    array.push_back({{"rule", JsonText(step.rule)},
                     {"after_seconds", FiniteNumber(step.after_seconds)},
                     {"unlocks", JsonTexts(step.unlocks)},
                     {"makes_needless", JsonTexts(step.makes_needless)},
                     {"next_bound", JsonText(step.next_bound)}});
  }
  return array;
}

std::string RenderJson(const Report& report, const JsonOptions& options) {
  const auto most =
      options.top < 0 ? report.findings.size() : static_cast<std::size_t>(options.top);
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    if (findings.size() < most) findings.push_back(FindingObject(report, finding));
  }
  Json json;
  json["schema"] = 2;
  json["tool"] = {{"name", "advise"}, {"version", JsonText(report.tool_version)}};
  json["inputs"] = Inputs(report);
  json["verdict"] = JsonText(report.verdict);
  json["run"] = RunObject(report.run, report.no_verdict_reason);
  json["efficiency"] = EfficiencyObject(report.efficiency);
  json["plan"] = PlanList(report, most);
  json["window"] = WindowObject(report.window);
  json["devices"] = Devices(report);
  if (options.facts) json["facts"] = RunFacts(report);
  json["findings"] = findings;
  json["healthy"] = report.healthy;
  json["checked"] = report.checked;
  json["not_checked"] = NotCheckedList(report);
  json["diagnostics"] = DiagnosticList(report);
  return PrintJson(json);
}

std::string RenderFactsJson(const std::vector<NamedFact>& facts, bool tables) {
  Json list = Json::array();
  for (const NamedFact& fact : facts) {
    Json json = {{"name", JsonText(fact.info->name)}, {"scope", "run"}};
    if (const auto* absent = std::get_if<Absent>(&fact.fact.value)) {
      json["absent"] = JsonText(absent->reason);
      json["needs"] = JsonText(absent->needs);
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
    json["unit"] = JsonText(fact.info->unit);
    json["definition"] = JsonText(fact.info->definition);
    list.push_back(json);
  }
  return PrintJson({{"schema", 1}, {"facts", list}});
}

std::string RenderFactCatalogJson(const std::vector<FactInfo>& catalog) {
  Json list = Json::array();
  for (const FactInfo& fact : catalog) {
    list.push_back({{"name", JsonText(fact.name)},
                    {"unit", JsonText(fact.unit)},
                    {"definition", JsonText(fact.definition)}});
  }
  return PrintJson({{"schema", 1}, {"facts", list}});
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
      findings.push_back(FindingObject(report, finding));
    }
  }
  Json how = Json::array();
  for (const NotChecked& item : report.not_checked) {
    if (item.rule == rule) how.push_back(JsonText(item.how));
  }
  Json claims = Json::array();
  for (const ClaimResult& result : report.claim_results) {
    if (result.rule == nullptr || result.rule->id != rule) continue;
    Json taken = Json::array();
    for (const auto& [taker, time] : result.taken_by)
      taken.push_back({{"rule", JsonText(taker->id)}, {"ns", time}});
    claims.push_back({{"claimed_ns", result.claimed},
                      {"gain_ns", result.gain},
                      {"alone_ns", result.alone},
                      {"saving_ns", result.saving},
                      {"taken_by", taken}});
  }
  return PrintJson({{"schema", 1},
                    {"rule", JsonText(rule)},
                    {"verdicts", verdicts},
                    {"findings", findings},
                    {"claims", claims},
                    {"capture", how}});
}

std::string RenderRulesJson(const std::vector<RulePage>& rules,
                            const std::vector<SiteSource>& sources) {
  Json list = Json::array();
  for (const RulePage& rule : rules) list.push_back(RuleObject(rule));
  Json site = Json::array();
  for (const SiteSource& source : sources) {
    site.push_back({{"path", JsonText(source.path)},
                    {"kind", source.kind == SiteSource::kSettings ? "settings" : "rules"},
                    {"named_by", JsonText(source.named_by)},
                    {"rules", source.rules}});
  }
  return PrintJson({{"schema", 1}, {"rules", list}, {"site", site}});
}

std::string RenderRuleJson(const RulePage& page) {
  const RuleInfo& rule = *page.rule;
  Json json = RuleObject(page);
  json["priority"] = rule.priority;
  json["replaces"] = JsonText(rule.replaces);
  json["symptom"] = JsonText(rule.symptom);
  json["cause"] = JsonText(rule.cause);
  json["fixes"] = Fixes(rule.fixes);
  json["false_positives"] = JsonText(rule.false_positives);
  json["needs"] = JsonTexts(rule.needs);
  json["optional"] = JsonTexts(rule.optional);
  json["explains"] = JsonTexts(rule.explains);
  json["knowledge"] = JsonTexts(rule.knowledge);
  json["thresholds"] = Json::array();
  for (const RulePage::Threshold& item : page.thresholds) {
    json["thresholds"].push_back({{"name", JsonText(item.name)},
                                  {"value", FiniteNumber(item.value)},
                                  {"unit", JsonText(item.unit)},
                                  {"why", JsonText(item.why)},
                                  {"source", JsonText(item.source)},
                                  {"set_by", JsonText(item.set_by)}});
  }
  json["references"] = Json::array();
  for (const RulePage::Link& link : page.links) {
    json["references"].push_back({{"title", JsonText(link.title)}, {"url", JsonText(link.url)}});
  }
  return PrintJson({{"schema", 1}, {"rule", json}});
}

}  // namespace advise
