#include "engine/report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/advice/audience.h"
#include "engine/advice/report_views.h"
#include "engine/base/template.h"
#include "engine/base/text.h"
#include "engine/report/finding_text.h"
#include "engine/report/json_value.h"
#include "engine/report/markdown.h"
#include "engine/report/shell.h"
#include "engine/report/where_text.h"

namespace advise {
namespace {

using Json = nlohmann::ordered_json;

// The level of a result; what only informs is no failure.
const char* Level(Severity severity) {
  if (severity >= Severity::kHigh) return "error";
  if (severity == Severity::kMedium) return "warning";
  return severity == Severity::kLow ? "note" : "none";
}

Json Message(const std::string& text) { return {{"text", SafeText(text)}}; }

// A rule's sentences have places for numbers; without a run they are shown as "…".
std::string WithoutPlaces(const std::string& text) {
  return FillTemplate(text, [](std::string_view, std::string_view) { return "…"; });
}

Json RuleObject(const RuleInfo& rule) {
  std::string help;
  std::string markdown;
  for (const Fix& fix : rule.fixes) {
    const std::string action = WithoutPlaces(fix.action);
    help += (help.empty() ? "" : "\n") + SafeText(action);
    markdown += "- " + MarkdownText(action) + "\n";
    if (!fix.snippet.empty()) markdown += "\n" + MarkdownFence(fix.snippet, fix.language) + "\n";
  }
  if (help.empty()) help = markdown = rule.title;
  Json json = {
      {"id", SafeText(rule.id)},
      {"shortDescription", Message(rule.title)},
      {"fullDescription", Message(rule.cause.empty() ? rule.title : WithoutPlaces(rule.cause))},
      {"help", {{"text", help}, {"markdown", markdown}}},
      {"defaultConfiguration", {{"level", rule.kind == RuleKind::kInfo ? "note" : "warning"}}}};
  json["properties"] = {
      {"tags", Json::array({"performance", "gpu", rule.id.substr(0, rule.id.find('/'))})},
      {"kind", RuleKindName(rule.kind)},
      {"effort", SafeText(rule.effort)},
      {"status", SafeText(rule.status)}};
  return json;
}

// Rules that ran, by id; and those of findings, should their verdicts be gone.
std::map<std::string, const RuleInfo*> RulesOf(const Report& report) {
  std::map<std::string, const RuleInfo*> rules;
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.rule != nullptr) rules[verdict.rule->id] = verdict.rule;
  }
  for (const Finding& finding : report.findings) {
    if (finding.rule != nullptr) rules[finding.rule->id] = finding.rule;
  }
  return rules;
}

// Code scanning shows no more.
constexpr std::size_t kMostLocations = 10;

Json Location(const std::string& path, std::int64_t line) {
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", PathUri(path)}}},
            {"region",
             {{"startLine", line}, {"startColumn", 1}, {"endLine", line}, {"endColumn", 1}}}}}};
}

// The report that the finding was made in: one of its evidence, else the first.
std::string ReportFile(const Report& report, const Finding& finding) {
  for (const Evidence& item : finding.evidence) {
    if (!item.source.empty()) return item.source;
  }
  return report.inputs.empty() ? "" : report.inputs.front().path;
}

// Source lines. GitHub refuses a whole file in which one result has no location, so a finding
// without a source line stands in the first line of the report.
Json Locations(const Report& report, const Finding& finding) {
  Json locations = Json::array();
  if (report.views != nullptr) {
    for (const FindingSource& source : report.views->sources) {
      if (source.finding != finding.rank || locations.size() == kMostLocations) continue;
      Json location = Location(source.file, source.line);
      if (!source.function.empty()) {
        location["logicalLocations"] =
            Json::array({{{"name", SafeText(source.function)}, {"kind", "function"}}});
      }
      locations.push_back(std::move(location));
    }
  }
  const std::string file = ReportFile(report, finding);
  if (locations.empty() && !file.empty()) locations.push_back(Location(file, 1));
  return locations;
}

// 16 hexadecimal digits and a count, as GitHub writes them for a line of code (FNV-1a of the text).
std::string LineHash(const std::string& text) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3ULL;
  return fmt::format("{:016x}:1", hash);
}

std::string MessageText(const Report& report, const Finding& finding) {
  std::string text =
      finding.symptom.empty() && finding.rule != nullptr ? finding.Title() : finding.Seen();
  if (finding.AtStake() > 0) {
    std::string saving = SavingText(report, finding);
    saving[0] = 'S';
    text += fmt::format(" {}.", saving);
  }
  if (!finding.cause.empty()) text += " " + finding.cause;
  for (const Fix& fix : FixesFor(report.run, finding.fixes)) {
    text += "\nFix: " + fix.action;
    const Finding* const same = WithTheSameFix(report, finding, fix);
    if (same != nullptr && same->rule != nullptr)
      text += fmt::format(" (also the fix of {})", same->rule->id);
  }
  return text;
}

Json ResultObject(const Report& report, const Finding& finding, std::size_t rule_index) {
  const bool info = finding.severity == Severity::kInfo;
  Json evidence = Json::array();
  for (const Evidence& item : finding.evidence) {
    Json entry = {{"what", SafeText(item.what)},
                  {"value", SafeText(FormatQuantity(item.value, item.unit))}};
    if (!item.sql.empty()) entry["check"] = SqliteCommand(item.source, item.sql);
    evidence.push_back(std::move(entry));
  }
  Json json = {{"ruleId", SafeText(finding.rule == nullptr ? "" : finding.rule->id)},
               {"ruleIndex", rule_index},
               {"kind", info ? "informational" : "fail"},
               {"level", Level(finding.severity)},
               {"message", {{"text", JsonCode(MessageText(report, finding))}}},
               {"locations", Locations(report, finding)}};
  // The same finding of another run of the same job is the same issue: its rule tells it. GitHub
  // reads the second alone, and makes it of a line of code where it is missing.
  const std::string id = finding.rule == nullptr ? "" : finding.rule->id;
  json["partialFingerprints"] = {{"adviseRule/v1", SafeText(id)},
                                 {"primaryLocationLineHash", LineHash(id)}};
  json["rank"] = std::round(finding.saving_share * 10000) / 100;
  json["properties"] = {{"severity", SeverityName(finding.severity)},
                        {"saving_seconds", finding.saving_s},
                        {"saving_share", finding.saving_share},
                        {"confidence", finding.confidence},
                        {"observed", ObservedName(finding.observed)},
                        {"tentative", finding.tentative},
                        {"where", SafeText(WhereText(report, finding.where))},
                        {"evidence", evidence}};
  return json;
}

Json Notifications(const Report& report) {
  Json list = Json::array();
  const auto add = [&](const char* level, const std::string& text) {
    list.push_back({{"level", level}, {"message", Message(text)}});
  };
  add("note", report.verdict.empty() ? "no verdict" : report.verdict);
  for (const CareNote& note : report.read_with_care) add("warning", "Read with care: " + note.text);
  for (const Diagnostic& item : report.diagnostics) {
    if (item.level != advise::Level::kInfo) {
      add(item.level == advise::Level::kError ? "error" : "warning", item.text);
    }
  }
  return list;
}

}  // namespace

std::string PathUri(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else if (c == '\\') {
      uri += '/';
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return uri;
}

std::string RenderSarif(const Report& report) {
  Json rules = Json::array();
  std::map<std::string, std::size_t> index;
  for (const auto& [id, rule] : RulesOf(report)) {
    index[id] = rules.size();
    rules.push_back(RuleObject(*rule));
  }
  Json results = Json::array();
  for (const Finding& finding : report.findings) {
    if (finding.rule == nullptr) continue;
    results.push_back(ResultObject(report, finding, index[finding.rule->id]));
  }
  Json artifacts = Json::array();
  for (const InputInfo& input : report.inputs) {
    artifacts.push_back({{"location", {{"uri", PathUri(input.path)}}},
                         {"roles", Json::array({"analysisTarget"})},
                         {"description", Message(input.kind + " " + input.producer)}});
  }
  Json run;
  run["tool"] = {
      {"driver",
       {{"name", "advise"}, {"version", SafeText(report.tool_version)}, {"rules", rules}}}};
  run["invocations"] = Json::array(
      {{{"executionSuccessful", true}, {"toolExecutionNotifications", Notifications(report)}}});
  run["artifacts"] = artifacts;
  run["results"] = results;
  run["columnKind"] = "utf16CodeUnits";
  Json json;
  json["$schema"] =
      "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
  json["version"] = "2.1.0";
  json["runs"] = Json::array({run});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace advise
