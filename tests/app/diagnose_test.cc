// The main job from end to end, on traces that the simulator makes.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/app/evidence.h"
#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"
#include "tests/support/schema.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

constexpr const char* kFaulty = "scenarios/transfer/blocking-batch-cnn";
constexpr const char* kHealthy = "scenarios/healthy/cnn-a100";

TEST_CASE("the report of a trace obeys the schema") {
  const Folder folder;
  for (const char* scenario : {kFaulty, kHealthy}) {
    const Ran ran = RunAdvise(folder, Simulated(scenario) + " --format json");
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    CHECK(SchemaProblems(ParseJson(ran.out)) == std::vector<std::string>());
  }
}

TEST_CASE("budgets and idle causes add up, and savings do not exceed the run") {
  const Folder folder;
  const Json report = ParseJson(RunAdvise(folder, Simulated(kFaulty) + " --format json").out);
  for (const Json& device : report["devices"]) {
    const Json& budget = device["budget"];
    CHECK(budget["compute_ns"].get<std::int64_t>() + budget["comm_exposed_ns"].get<std::int64_t>() +
              budget["copy_exposed_ns"].get<std::int64_t>() +
              budget["memset_exposed_ns"].get<std::int64_t>() +
              budget["idle_ns"].get<std::int64_t>() ==
          budget["window_ns"].get<std::int64_t>());
    std::int64_t idle = 0;
    for (const auto& cause : device["idle"].items()) idle += cause.value().get<std::int64_t>();
    CHECK(idle == budget["idle_ns"].get<std::int64_t>());
  }
  double share = 0;
  for (const Json& finding : report["findings"]) share += finding["saving"]["share"].get<double>();
  CHECK(share <= 1.0 + 1e-9);
}

TEST_CASE("the same report gives the same bytes, whatever --jobs says") {
  const Folder folder;
  const std::string trace = Simulated(kFaulty);
  const std::string one = RunAdvise(folder, trace + " --format json --jobs 1").out;
  CHECK(one == RunAdvise(folder, trace + " --format json --jobs 4").out);
  CHECK(RunAdvise(folder, trace + " --jobs 1").out == RunAdvise(folder, trace + " --jobs 4").out);
}

TEST_CASE("every statement of the evidence runs") {
  const Folder folder;
  const std::string trace = Simulated(kFaulty);
  const Json report = ParseJson(RunAdvise(folder, trace + " --format json").out);
  const std::vector<Answer> answers = RunEvidence(folder, report, trace);
  CHECK_FALSE(answers.empty());
  for (const Answer& answer : answers) {
    INFO(answer.where);
    CHECK_FALSE(answer.out.empty());
  }
}

TEST_CASE("a planted fault is the first finding, and its page says how it was reached") {
  const Folder folder;
  const std::string trace = Simulated(kFaulty);
  const Json report = ParseJson(RunAdvise(folder, trace + " --format json").out);
  REQUIRE_FALSE(report["findings"].empty());
  const std::string rule = report["findings"][0]["rule"];
  CHECK(rule.starts_with("transfer/"));
  const Ran why = RunAdvise(folder, "why " + rule + " " + trace);
  CHECK(why.status == 0);
  CHECK_THAT(why.out, Contains("fired") && Contains("it compared"));
}

TEST_CASE("--fail-on and --baseline decide on the exit status") {
  const Folder folder;
  const std::string trace = Simulated(kFaulty);
  CHECK(RunAdvise(folder, trace + " --fail-on low").status == 1);
  REQUIRE(RunAdvise(folder, trace + " --format json -o base.json").status == 0);
  CHECK(RunAdvise(folder, trace + " --baseline base.json").status == 0);
  CHECK(RunAdvise(folder, trace + " --fail-on low --baseline base.json").status == 0);
  // What a healthy run did not have is new.
  REQUIRE(RunAdvise(folder, Simulated(kHealthy) + " --format json -o healthy.json").status == 0);
  const Ran worse = RunAdvise(folder, trace + " --fail-on low --baseline healthy.json");
  CHECK(worse.status == 1);
  CHECK_THAT(worse.err, Contains("new finding") && Contains("transfer/"));
  CHECK(RunAdvise(folder, Simulated(kHealthy) + " --fail-on low").status == 0);
}

TEST_CASE("a baseline fails a run whose steps became longer, without another option") {
  const Folder folder;
  const std::string run = Simulated(kFaulty) + " --baseline base.json";
  REQUIRE(RunAdvise(folder, Simulated(kFaulty) + " --format json -o base.json").status == 0);
  const Json whole = ParseJson(ReadAll(folder / "base.json"));
  const auto faster_by = [&](double share) {
    Json base = whole;
    base["window"]["seconds"] = base["window"]["seconds"].get<double>() / (1 + share);
    folder.Write("base.json", base.dump());
  };
  faster_by(0.04);
  CHECK(RunAdvise(folder, run).status == 0);
  faster_by(0.07);
  const Ran slower = RunAdvise(folder, run);
  CHECK(slower.status == 1);
  CHECK_THAT(slower.err, Contains("--baseline: a step takes 7 % longer than in the baseline"));
  CHECK(RunAdvise(folder, run + " --fail-on critical").status == 1);
  CHECK(RunAdvise(folder, run + " --fail-on slower:8%").status == 0);
  CHECK(RunAdvise(folder, run + " --set compare.slower=0.08").status == 0);
  faster_by(-0.5);
  CHECK(RunAdvise(folder, run).status == 0);
  // Where the times cannot be held against each other, the findings are judged, and that is said.
  Json base = whole;
  base["devices"][0]["name"] = "another";
  folder.Write("base.json", base.dump());
  const Ran other = RunAdvise(folder, run);
  CHECK(other.status == 0);
  CHECK_THAT(other.err, Contains("slower was not judged: the baseline ran on other GPUs"));
  // A brief report names no GPUs.
  base = whole;
  base.erase("devices");
  base["window"]["seconds"] = base["window"]["seconds"].get<double>() / 1.07;
  folder.Write("base.json", base.dump());
  CHECK(RunAdvise(folder, run).status == 1);
}

TEST_CASE("with a baseline, --fail-on slower looks at the time of a step") {
  const Folder folder;
  const std::string slow = Simulated(kFaulty);
  REQUIRE(RunAdvise(folder, slow + " --format json -o base.json").status == 0);
  const std::string gate = slow + " --baseline base.json --fail-on slower:3%";
  CHECK(RunAdvise(folder, gate).status == 0);
  // The same findings, but each step took a tenth less.
  Json base = ParseJson(ReadAll(folder / "base.json"));
  base["window"]["seconds"] = base["window"]["seconds"].get<double>() * 0.9;
  folder.Write("base.json", base.dump());
  const Ran slower = RunAdvise(folder, gate);
  CHECK(slower.status == 1);
  CHECK_THAT(slower.err, Contains("--fail-on: a step takes 11 % longer than in the baseline"));
  CHECK(RunAdvise(folder, slow + " --baseline base.json --fail-on slower:12%").status == 0);
  // What cannot be compared is said, not passed.
  base["run"]["unit"] = "token";
  folder.Write("base.json", base.dump());
  CHECK(RunAdvise(folder, gate).status == 3);
  base["devices"][0]["name"] = "another";
  base["run"]["unit"] = "step";
  folder.Write("base.json", base.dump());
  CHECK_THAT(RunAdvise(folder, gate).err, Contains("other GPUs"));
  base.erase("run");
  folder.Write("base.json", base.dump());
  CHECK(RunAdvise(folder, gate).status == 3);
  CHECK(RunAdvise(folder, slow + " --fail-on slower:3%").status == 2);
}

TEST_CASE("a run that became slower fails against its own better days, and not the other way") {
  const Folder folder;
  const std::string slow = Simulated(kPair);
  const std::string fast = Simulated(kPair, "--without all");
  REQUIRE(RunAdvise(folder, fast + " --format json -o fast.json").status == 0);
  REQUIRE(RunAdvise(folder, slow + " --format json -o slow.json").status == 0);
  const auto judged = [&](const std::string& run, const char* baseline) {
    return RunAdvise(folder,
                     run + " --baseline " + baseline + " --fail-on critical --fail-on slower:5%");
  };
  const Ran slower = judged(slow, "fast.json");
  CHECK(slower.status == 1);
  CHECK_THAT(slower.err, Contains("a step takes") && Contains("longer than in the baseline"));
  CHECK(judged(fast, "fast.json").status == 0);
  CHECK_THAT(judged(fast, "slow.json").err, !Contains("a step takes"));
}

TEST_CASE("GPUs that mostly communicate are not called healthy, also when no fix is known") {
  const Folder folder;
  const Ran ran =
      RunAdvise(folder, Simulated("scenarios/ranks/cross-node-gather-x4") + " --format json");
  REQUIRE(ran.status == 0);
  const Json report = ParseJson(ran.out);
  CHECK(report["healthy"] == false);
  CHECK_THAT(RunAdvise(folder, Simulated("scenarios/ranks/cross-node-gather-x4")).out,
             Contains("wait for communication"));
}

TEST_CASE("a run that loses nothing has nothing above info, and is not healthy unmeasured") {
  const Folder folder;
  const Json report = ParseJson(RunAdvise(folder, Simulated(kHealthy) + " --format json").out);
  CHECK(report["healthy"] == false);  // nobody measured its kernels
  CHECK(report["efficiency"]["source"] == "none");
  for (const Json& finding : report["findings"]) CHECK(finding["severity"] == "info");
  CHECK_THAT(RunAdvise(folder, Simulated(kHealthy)).out,
             Contains("no time is lost between kernels") && Contains("ncu "));
}

TEST_CASE("an input is never written to") {
  const Folder folder;
  std::filesystem::copy(Simulated(kFaulty), folder / "run.sqlite");
  const std::string before = ReadAll(folder / "run.sqlite");
  const Ran ran = RunAdvise(folder, "run.sqlite -o ./run.sqlite");
  CHECK(ran.status == 2);
  CHECK(ReadAll(folder / "run.sqlite") == before);
}

TEST_CASE("a folder is taken as all reports in it") {
  const Folder folder;
  folder.Write("ranks/notes.txt", "not a report");
  std::filesystem::copy(Simulated(kFaulty), folder / "ranks/a.sqlite");
  const Ran ran = RunAdvise(folder, "ranks --format json");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  CHECK(ParseJson(ran.out)["inputs"][0]["path"] == "ranks/a.sqlite");
}

TEST_CASE("output that is no terminal has neither color nor progress") {
  const Folder folder;
  const Ran ran = RunAdvise(folder, Simulated(kFaulty));
  CHECK(ran.out.find('\x1b') == std::string::npos);
  CHECK(ran.err.empty());
  CHECK_FALSE(RunAdvise(folder, Simulated(kFaulty) + " --progress always").err.empty());
}

TEST_CASE("only and skip narrow what is looked for") {
  const Folder folder;
  const std::string trace = Simulated(kFaulty);
  const Json only = ParseJson(RunAdvise(folder, trace + " --only input --format json").out);
  for (const Json& finding : only["findings"]) {
    CHECK(finding["rule"].get<std::string>().starts_with("input/"));
  }
  const Json skip = ParseJson(RunAdvise(folder, trace + " --skip transfer --format json").out);
  for (const Json& finding : skip["findings"]) {
    CHECK_FALSE(finding["rule"].get<std::string>().starts_with("transfer/"));
  }
}

TEST_CASE("what an area does not ask for is left out, and changes nothing that is said of it") {
  const Folder folder;
  const std::string trace = Simulated(kFaulty);
  std::set<std::string> areas;
  const Json list = ParseJson(RunAdvise(folder, "rules list --format json").out);
  for (const Json& rule : list["rules"]) {
    const std::string id = rule["id"];
    areas.insert(id.substr(0, id.find('/')));
  }
  REQUIRE(areas.size() > 10);
  const Json all = ParseJson(RunAdvise(folder, trace + " --format json --facts").out);
  for (const std::string& area : areas) {
    INFO(area);
    const std::string ask = trace + " --format json --only " + area;
    Json with_facts = ParseJson(RunAdvise(folder, ask + " --facts").out);
    CHECK(with_facts["facts"] == all["facts"]);
    with_facts.erase("facts");
    CHECK(ParseJson(RunAdvise(folder, ask).out) == with_facts);
  }
}

TEST_CASE("facts are printed by name, and as JSON") {
  const Folder folder;
  const std::string trace = Simulated(kFaulty);
  const Ran text = RunAdvise(folder, "facts " + trace);
  CHECK(text.status == 0);
  CHECK_THAT(text.out, Contains("window.time"));
  const Json json = ParseJson(RunAdvise(folder, "facts " + trace + " --tables --format json").out);
  CHECK(json["facts"].size() > 20);
}

}  // namespace
}  // namespace advise
