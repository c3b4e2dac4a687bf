// One report that holds several ranks says what their own reports say, and its checks hold in it.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <catch2/catch.hpp>

#include "tests/app/evidence.h"
#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"

namespace advise {
namespace {

Json Diagnosed(const Folder& folder, const std::string& report) {
  const Ran ran = RunAdvise(folder, report + " --format json --facts");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return ParseJson(ran.out);
}

// Rules that claim time, in order, without what informs.
std::vector<std::string> Claiming(const Json& report) {
  std::vector<std::string> rules;
  for (const Json& finding : report["findings"]) {
    if (finding["severity"] != "info") rules.push_back(finding["rule"]);
  }
  return rules;
}

// The same ranks, the same findings in the same order, the first at the same price.
void CheckAlike(const Json& one, const Json& many) {
  CHECK(Claiming(one) == Claiming(many));
  CHECK(one["facts"]["cluster.ranks"] == many["facts"]["cluster.ranks"]);
  if (Claiming(one).empty() || Claiming(many).empty()) return;
  CHECK(one["findings"][0]["saving"]["share"].get<double>() ==
        Approx(many["findings"][0]["saving"]["share"].get<double>()).margin(0.01));
}

TEST_CASE("ranks in one report are judged as their own reports are") {
  for (const char* scenario :
       {"ranks/uneven-loading", "ranks/pipeline-uneven", "ranks/zero3-overhead-x4",
        "ranks/healthy-experts-x4", "ranks/healthy-pipeline-alternating-x4"}) {
    INFO(scenario);
    const Folder folder;
    Simulate(folder, std::string("scenarios/") + scenario, "-o one.sqlite");
    Simulate(folder, std::string("scenarios/") + scenario, "--per-rank many");
    const Json one = Diagnosed(folder, "one.sqlite");
    const Json many = Diagnosed(folder, "many");
    CheckAlike(one, many);
    double share = 0;
    for (const Json& finding : one["findings"]) share += finding["saving"]["share"].get<double>();
    CHECK(share <= 1.0 + 1e-9);
    // What single reports can tell beside findings is there as well.
    CHECK(one["facts"].contains("launch.count"));
    CHECK(one["inputs"].size() == 1);
  }
}

TEST_CASE("reports of processes that share a GPU are judged as the one report of all is") {
  const Folder folder;
  Simulate(folder, "scenarios/host/gpu-context-switch-a100", "-o one.sqlite");
  Simulate(folder, "scenarios/host/gpu-context-switch-a100", "--per-rank many");
  const Json one = Diagnosed(folder, "one.sqlite");
  const Json many = Diagnosed(folder, "many");
  CHECK(Claiming(many).front() == "host/gpu-context-switch");
  CheckAlike(one, many);
  CHECK(one["facts"]["launch.count"] == many["facts"]["launch.count"]);
  CHECK(many["inputs"].size() == 3);
  // Each check holds in the report that it names.
  int checked = 0;
  for (const Json& finding : many["findings"]) {
    for (const Json& item : finding["evidence"]) {
      const std::string sql = item["sql"];
      if (sql.empty()) continue;
      const SQLite::Database report(folder / item["source"].get<std::string>());
      SQLite::Statement statement(report, sql);
      REQUIRE(statement.executeStep());
      CHECK(statement.getColumn(0).getDouble() == item["value"].get<double>());
      ++checked;
    }
  }
  CHECK(checked > 1);
}

TEST_CASE("GPUs of one process that communicate as equals are judged as ranks are") {
  for (const char* scenario :
       {"ranks/uneven-loading", "ranks/pipeline-uneven", "ranks/tensor-across-nodes-x4",
        "ranks/healthy-experts-x4", "rank/straggler-compute-x4"}) {
    INFO(scenario);
    const Folder folder;
    Simulate(folder, std::string("scenarios/") + scenario, "-o many.sqlite");
    Simulate(folder, std::string("scenarios/") + scenario, "--one-process -o one.sqlite");
    const Json many = Diagnosed(folder, "many.sqlite");
    const Json one = Diagnosed(folder, "one.sqlite");
    CheckAlike(one, many);
  }
  // One GPU that sends the model to the others is the program's design, and no rank is late.
  const Folder folder;
  Simulate(folder, "scenarios/comm/data-parallel-x4", "-o one.sqlite");
  CHECK(Claiming(Diagnosed(folder, "one.sqlite")).front() == "comm/data-parallel-replicate");
}

void CheckEvidence(const Folder& folder, const Json& report, std::size_t at_least) {
  std::size_t checked = 0;
  for (const Answer& answer : RunEvidence(folder, report, "one.sqlite")) {
    const Json& value = (*answer.item)["value"];
    if (!value.is_number()) continue;
    INFO(answer.where);
    if ((*answer.item)["sql"].get<std::string>().starts_with("select start,")) {
      CHECK_FALSE(answer.out.empty());  // rows to look at, no number
    } else {
      CHECK(std::stod(answer.out) == Approx(value.get<double>()));
    }
    ++checked;
  }
  CHECK(checked >= at_least);
}

TEST_CASE("what is wrong on some ranks is said of these, and its checks count these alone") {
  const Folder folder;
  Simulate(folder, "scenarios/ranks/uneven-loading", "-o one.sqlite");
  CheckEvidence(folder, Diagnosed(folder, "one.sqlite"), 2);
  Simulate(folder, "scenarios/ranks/uneven-loading", "--one-process -o one.sqlite");
  CheckEvidence(folder, Diagnosed(folder, "one.sqlite"), 2);
  Simulate(folder, "scenarios/comm/serial-sync-a100-x2", "--one-process -o one.sqlite");
  CheckEvidence(folder, Diagnosed(folder, "one.sqlite"), 2);
}

TEST_CASE("why, slice, whatif and the page know the findings of one report's ranks") {
  const Folder folder;
  Simulate(folder, "scenarios/ranks/uneven-loading", "-o one.sqlite");
  const Ran why = RunAdvise(folder, "why rank/input-imbalance one.sqlite");
  CHECK(why.status == 0);
  CHECK_THAT(why.out, Catch::Matchers::Contains("fired"));
  const Ran slice = RunAdvise(folder, "slice one.sqlite --finding 2 -o slice.json");
  INFO(slice.err);
  CHECK(slice.status == 0);
  const Ran whatif = RunAdvise(folder, "whatif one.sqlite --fix input/no-workers");
  INFO(whatif.err);
  CHECK(whatif.status == 0);
  const Ran html = RunAdvise(folder, "one.sqlite --format html -o one.html");
  INFO(html.err);
  CHECK(html.status == 0);
}

TEST_CASE("hosts of several ranks a report: a folder of such reports is one run") {
  const Folder folder;
  Simulate(folder, "scenarios/rank/straggler-compute-x4", "-o a.sqlite");
  const Json alone = Diagnosed(folder, "a.sqlite");
  const Ran made = RunAdvise(folder, "facts a.sqlite -o a.facts");
  REQUIRE(made.status == 0);
  const Json saved = Diagnosed(folder, "a.facts");
  CHECK(Claiming(saved) == Claiming(alone));
  REQUIRE_FALSE(Claiming(alone).empty());
  CHECK(Claiming(alone).front() == "rank/straggler");
  CHECK(alone["findings"][0]["where"]["ranks"] == saved["findings"][0]["where"]["ranks"]);
}

}  // namespace
}  // namespace advise
