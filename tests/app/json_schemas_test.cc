// What every subcommand prints with --format json obeys the schema that docs/ promises.
#include <catch2/catch.hpp>
#include <set>

#include "engine/import/importer.h"
#include "tests/app/capture_runs.h"
#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/simulated.h"
#include "tests/support/schema.h"

namespace advise {
namespace {

// Runs, checks, and hands on what was printed.
Json Valid(const Folder& folder, const std::string& arguments, const std::string& schema,
           const std::set<int>& statuses = {0}) {
  const Ran ran = RunAdvise(folder, arguments + " --format json");
  INFO(arguments << ": " << ran.err);
  REQUIRE(statuses.count(ran.status) == 1);
  Json json = ParseJson(ran.out);
  CHECK(json["schema"] == 1);
  CHECK(SchemaProblems(json, schema) == std::vector<std::string>());
  return json;
}

TEST_CASE("facts, with tables, absent ones and the list of all, obey their schema") {
  const Folder folder;
  const Json facts = Valid(folder, "facts " + Simulated(kPair) + " --tables", "facts");
  CHECK(facts["facts"].size() > 100);
  Valid(folder, "facts --list", "facts");
  Json broken = facts;
  broken["facts"][0]["colour"] = "red";
  CHECK_FALSE(SchemaProblems(broken, "facts").empty());
}

TEST_CASE("why, rules and whatif obey their schemas, fired or not") {
  const Folder folder;
  const std::string run = Simulated(kPair);
  Json why = Valid(folder, "why input/no-workers " + run, "why");
  CHECK(why["verdicts"][0]["outcome"] == "fired");
  Valid(folder, "why comm/no-rdma " + run, "why");
  Valid(folder, "why memory/leak " + run, "why");
  why["verdicts"][0]["outcome"] = "perhaps";
  CHECK_FALSE(SchemaProblems(why, "why").empty());
  Valid(folder, "rules list", "rules");
  Json rule = Valid(folder, "rules show transfer/pageable-copy", "rules");
  rule["rule"].erase("symptom");
  CHECK_FALSE(SchemaProblems(rule, "rules").empty());
  Json whatif =
      Valid(folder, "whatif " + run + " --fix input/no-workers,transfer/pageable-copy", "whatif");
  whatif.erase("saving");
  CHECK_FALSE(SchemaProblems(whatif, "whatif").empty());
}

// The brief report of what `arguments` name, checked.
Json Brief(const Folder& folder, const std::string& arguments) {
  const Ran ran = RunAdvise(folder, arguments + " --brief");
  INFO(arguments << ": " << ran.err);
  REQUIRE(ran.status == 0);
  CHECK(ran.out.size() <= 4096);
  Json brief = ParseJson(ran.out);
  CHECK(SchemaProblems(brief, "brief") == std::vector<std::string>());
  return brief;
}

TEST_CASE("the brief report has the verdict and fixes of the full one, in 4 KB") {
  const Folder folder;
  for (const char* scenario : {"scenarios/pairs/loading-over-pageable", "exercises/four-gpus",
                               "scenarios/healthy/cnn-t4-no-ranges"}) {
    const std::string run = Simulated(scenario);
    const Json brief = Brief(folder, run);
    const Json full = ParseJson(RunAdvise(folder, run + " --format json").out);
    CHECK(brief["verdict"] == full["verdict"]);
    CHECK_FALSE(full.contains("facts"));
    for (std::size_t i = 0; i < std::min<std::size_t>(1, brief["findings"].size()); ++i) {
      CHECK(brief["findings"][i]["rule"] == full["findings"][i]["rule"]);
      CHECK(brief["findings"][i].contains("do"));
    }
  }
  const std::string pair = Simulated(kPair);
  CHECK(Brief(folder, pair + " --top 1")["findings"].size() == 1);
  const Json quiet = ParseJson(RunAdvise(folder, pair + " --quiet --format json --top 1").out);
  CHECK(SchemaProblems(quiet, "brief") == std::vector<std::string>());
  CHECK(quiet["findings"].size() == 1);
  CHECK_FALSE(quiet["findings"][0].contains("do"));
}

TEST_CASE("the schema of reports knows every format that is read") {
  const Json schema = ParseJson(ReadAll(ADVISE_SOURCE_DIR "/docs/report.schema.json"));
  const std::string text = schema.dump();
  for (const Importer& importer : Importers()) {
    INFO(importer.kind);
    CHECK(text.find("\"" + std::string(importer.kind) + "\"") != std::string::npos);
  }
}

TEST_CASE("brief reports of real captures stay below 4 KB") {
  const Folder folder;
  for (const char* kind : {"nsys", "kineto"}) {
    int of_kind = 0;
    for (const std::string& path : FindCaptures(kind)) {
      std::error_code failed;
      if (std::filesystem::file_size(path, failed) > 4'000'000 || failed || of_kind == 10) continue;
      ++of_kind;
      if (ReportOfCapture(path).status != 0) continue;  // no trace
      Brief(folder, "'" + path + "'");
    }
  }
}

TEST_CASE("compare obeys its schema: a change, runs that cannot be compared, a scaling table") {
  const Folder folder;
  const std::string before = Simulated(kPair);
  Json change =
      Valid(folder, "compare " + before + " " + Simulated(kPair, "--without all"), "compare");
  CHECK(change["comparable"] == true);
  change.erase("time");
  CHECK_FALSE(SchemaProblems(change, "compare").empty());
  const Json refused =
      Valid(folder, "compare " + before + " " + Simulated("scenarios/healthy/cnn-t4-no-ranges"),
            "compare", {0, 3});
  CHECK(refused["comparable"] == false);
  Json scaling = Valid(folder,
                       "compare " + Simulated("exercises/four-gpus", "--ranks 1") + " " +
                           Simulated("exercises/four-gpus") + " --seconds 217,179",
                       "compare");
  CHECK(scaling["mode"] == "scaling");
  scaling["runs"][0].erase("efficiency");
  CHECK_FALSE(SchemaProblems(scaling, "compare").empty());
}

TEST_CASE("grade obeys its schema: a class, a broken submission, the list") {
  const Folder folder;
  const std::string handout = Simulated("exercises/loader-no-workers");
  std::filesystem::create_directories(folder / "ann");
  std::filesystem::copy(Simulated("exercises/loader-no-workers", "--without all"),
                        folder / "ann/run.sqlite");
  folder.Write("ann/answers.toml", "iteration = \"1 ms\"\nworkers = \"many\"\n");
  folder.Write("bob/run.sqlite", "nothing");
  Json graded = Valid(folder, "grade loader-no-workers ann bob no-such-file --baseline " + handout,
                      "grade", {1});
  CHECK(graded["submissions"].size() == 3);
  CHECK(graded["submissions"][2]["status"] == "failed");
  graded["submissions"][0]["marks"][0]["state"] = "wrong";
  CHECK_FALSE(SchemaProblems(graded, "grade").empty());
  Valid(folder, "grade --list", "grade");
}

TEST_CASE("record --dry-run and scrub obey their schemas") {
  const Folder folder;
  const Ran ran = RunAdvise(folder, "record --dry-run --format json -- torchrun train.py");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  Json record = ParseJson(ran.out);
  CHECK(SchemaProblems(record, "record") == std::vector<std::string>());
  record["command"] = Json::array();
  CHECK_FALSE(SchemaProblems(record, "record").empty());
  Json scrubbed = Valid(folder, "scrub " + Simulated(kPair) + " -o clean.sqlite", "scrub");
  scrubbed["replaced"].erase("hosts");
  CHECK_FALSE(SchemaProblems(scrubbed, "scrub").empty());
}

}  // namespace
}  // namespace advise
