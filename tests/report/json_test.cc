#include "engine/report/json.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/report/sample_report.h"
#include "tests/support/schema.h"

namespace advise {
namespace {

using Json = nlohmann::json;

TEST_CASE("the JSON report obeys its schema") {
  const auto sample = MakeSampleReport();
  CHECK(SchemaProblems(Json::parse(RenderJson(sample->report))) == std::vector<std::string>());
}

TEST_CASE("the schema is strict: an unknown key is refused") {
  const auto sample = MakeSampleReport();
  Json report = Json::parse(RenderJson(sample->report));
  report["findings"][0]["colour"] = "red";
  CHECK_FALSE(SchemaProblems(report).empty());
}

TEST_CASE("keys stand in the order of the contract") {
  const auto sample = MakeSampleReport();
  const auto report = nlohmann::ordered_json::parse(RenderJson(sample->report));
  std::vector<std::string> keys;
  for (const auto& item : report.items()) keys.push_back(item.key());
  CHECK(keys == std::vector<std::string>{"schema", "tool", "inputs", "verdict", "run", "efficiency",
                                         "plan", "window", "devices", "findings", "healthy",
                                         "checked", "not_checked", "diagnostics"});
}

TEST_CASE("run facts are numbers or texts; absent facts and tables are left out") {
  const auto sample = MakeSampleReport();
  CHECK_FALSE(Json::parse(RenderJson(sample->report)).contains("facts"));
  const Json facts = Json::parse(RenderJson(sample->report, {.facts = true}))["facts"];
  CHECK(facts.size() == 2);
  CHECK(facts["copy.pageable.bytes"]["value"] == 1500000000);
  CHECK(facts["steps.source"]["value"] == "period");
}

TEST_CASE("numbers carry no noise of the arithmetic") {
  const auto sample = MakeSampleReport();
  sample->report.findings[0].saving_s = 0.1 + 0.2;
  CHECK(RenderJson(sample->report).find("\"seconds\": 0.3,") != std::string::npos);
}

TEST_CASE("values that are not finite never reach the JSON text") {
  const auto sample = MakeSampleReport();
  sample->report.findings[0].evidence[0].value = std::nan("");
  sample->report.findings[0].evidence[0].threshold = INFINITY;
  sample->report.facts[0].fact.value = std::nan("");
  const Json report = Json::parse(RenderJson(sample->report, {.facts = true}));
  CHECK(SchemaProblems(report) == std::vector<std::string>());
  CHECK_FALSE(report["facts"].contains("copy.pageable.bytes"));
}

TEST_CASE("names of a trace become valid UTF-8 without control characters") {
  const auto sample = MakeSampleReport();
  sample->report.inputs[0].host = "a\x1b[2J\xff";
  const Json report = Json::parse(RenderJson(sample->report));
  CHECK(report["inputs"][0]["host"] == "a [2J\xEF\xBF\xBD");
}

TEST_CASE("snippets keep their lines") {
  const auto sample = MakeSampleReport();
  const Json report = Json::parse(RenderJson(sample->report));
  CHECK(report["findings"][0]["fixes"][0]["snippet"] ==
        sample->report.findings[0].fixes[0].snippet);
}

TEST_CASE("of the fixes, those for this program come first") {
  const auto sample = MakeSampleReport();
  sample->report.run.framework = "JAX";
  sample->report.run.languages = {"Python"};
  sample->report.findings[0].fixes = {{"for PyTorch", "", "", {}, {"pytorch"}, ""},
                                      {"for JAX", "", "", {}, {"jax"}, ""}};
  const Json fixes = Json::parse(RenderJson(sample->report))["findings"][0]["fixes"];
  REQUIRE(fixes.size() == 2);
  CHECK(fixes[0]["action"] == "for JAX");
  CHECK(fixes[0]["fits"] == true);
  CHECK(fixes[1]["fits"] == false);
}

TEST_CASE("--top holds in JSON: findings and plan end there") {
  const auto sample = MakeSampleReport();
  REQUIRE(sample->report.findings.size() > 1);
  const Json report = Json::parse(RenderJson(sample->report, {.top = 1}));
  CHECK(report["findings"].size() == 1);
  CHECK(report["plan"].size() == 1);
  CHECK(SchemaProblems(report) == std::vector<std::string>());
}

TEST_CASE("the brief report fits into its bytes and says what it leaves out") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  const Finding one = report.findings.front();
  for (int i = 0; i < 50; ++i) report.findings.push_back(one);
  const std::string text = RenderBriefJson(report, -1, kBriefBytes);
  CHECK(text.size() <= kBriefBytes);
  const Json brief = Json::parse(text);
  CHECK(brief["verdict"] == report.verdict);
  CHECK(brief["run"]["kind"] == "training");
  CHECK(brief["findings"][0]["do"] == one.fixes.front().action);
  CHECK(brief["left_out"].get<std::size_t>() > 10);
  CHECK(SchemaProblems(brief, "brief") == std::vector<std::string>());
  const Json quiet = Json::parse(RenderBriefJson(report, 2, 0));
  CHECK(SchemaProblems(quiet, "brief") == std::vector<std::string>());
  CHECK(quiet["findings"].size() == 2);
  CHECK_FALSE(quiet["findings"][0].contains("do"));
}

TEST_CASE("the brief report fits whatever the texts are") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  std::string wide;
  for (int i = 0; i < 2000; ++i) wide += "\u4e2d";  // three bytes each
  report.verdict = report.no_verdict_reason = report.next_step = report.next_command = wide;
  report.capture_command = std::string(5000, '"');
  for (Finding& finding : report.findings) finding.symptom = wide;
  const std::string text = RenderBriefJson(report, -1, kBriefBytes);
  CHECK(text.size() <= kBriefBytes);
  const Json brief = Json::parse(text);
  CHECK(SchemaProblems(brief, "brief") == std::vector<std::string>());
  CHECK_FALSE(brief["findings"].empty());
  CHECK_FALSE(brief["next"].contains("capture"));  // half a command helps nobody
}

TEST_CASE("the brief report says what was measured, and what is saved without the profiler") {
  const auto sample = MakeSampleReport();
  Finding& finding = sample->report.findings.front();
  Json brief = Json::parse(RenderBriefJson(sample->report, -1, 0));
  CHECK_FALSE(brief["efficiency"].contains("mfu"));
  CHECK_FALSE(brief["efficiency"].contains("bandwidth"));
  CHECK_FALSE(brief["findings"][0]["saving"].contains("unprofiled"));
  CHECK(SchemaProblems(brief, "brief") == std::vector<std::string>());
  finding.unprofiled_share = 0.2;
  sample->report.efficiency = {0.9, 0.4, 0.3, "shapes"};
  brief = Json::parse(RenderBriefJson(sample->report, -1, 0));
  CHECK(brief["efficiency"]["mfu"] == 0.4);
  CHECK(brief["efficiency"]["bandwidth"] == 0.3);
  CHECK(brief["findings"][0]["saving"]["unprofiled"] == 0.2);
  CHECK(SchemaProblems(brief, "brief") == std::vector<std::string>());
}

TEST_CASE("the budget of the brief report is the mean over devices") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  REQUIRE_FALSE(report.devices.empty());
  DeviceBudget idle = report.devices.front();
  idle.compute_ns = idle.comm_exposed_ns = idle.copy_exposed_ns = idle.memset_exposed_ns = 0;
  idle.idle_ns = idle.window_ns = 1000;
  idle.idle_causes = {{"data_loading", 250}, {"unknown", 750}};
  DeviceBudget busy = idle;
  busy.idle_ns = 0;
  busy.compute_ns = 1000;
  busy.idle_causes = {{"data_loading", 0}, {"unknown", 0}};
  report.devices = {idle, busy};
  const Json budget = Json::parse(RenderBriefJson(report, -1, kBriefBytes))["budget"];
  CHECK(budget["devices"] == 2);
  CHECK(budget["compute"] == 0.5);
  CHECK(budget["idle"] == 0.5);
  CHECK(budget["idle_causes"] == Json({{"data_loading", 0.125}, {"unknown", 0.375}}));
}

TEST_CASE("notes of the importer are no warnings") {
  const auto sample = MakeSampleReport();
  const Json diagnostics = Json::parse(RenderJson(sample->report))["diagnostics"];
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0]["text"] == "rows end before they start, in KERNEL, 3 times");
}

TEST_CASE("why, facts and rules have a JSON form, too") {
  const auto sample = MakeSampleReport();
  const Json why = Json::parse(RenderWhyJson(sample->report, "transfer/repeated-upload"));
  CHECK(why["verdicts"][0]["outcome"] == "fired");
  CHECK(why["verdicts"][0]["comparisons"][0]["holds"] == true);
  const Json facts = Json::parse(RenderFactsJson(sample->report.facts, true));
  CHECK(facts["facts"].size() == 4);
  RulePage page;
  page.rule = &sample->rules.front();
  CHECK(Json::parse(RenderRulesJson({page}, {}))["rules"][0]["id"] == "transfer/repeated-upload");
  CHECK(Json::parse(RenderRuleJson(page))["rule"]["effort"] == "code");
}

}  // namespace
}  // namespace advise
