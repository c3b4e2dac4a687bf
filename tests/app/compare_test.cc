// `advise compare` and `advise whatif` from end to end: the truth is the simulated run without the
// faults.
#include <catch2/catch.hpp>

#include "tests/app/json.h"
#include "tests/app/simulated.h"

using Catch::Matchers::Contains;
using Catch::Matchers::VectorContains;

namespace advise {
namespace {

Json Compared(const Folder& folder, const std::string& before, const std::string& after) {
  const Ran ran = RunAdvise(folder, "compare " + before + " " + after + " --format json");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return ParseJson(ran.out);
}

TEST_CASE("a fixed fault is told as fixed, with what it promised and what it won") {
  const Folder folder;
  const std::string before = Simulated("scenarios/input/no-workers-cnn-a100");
  const std::string after = Simulated("scenarios/input/no-workers-cnn-a100", "--without all");
  const Json json = Compared(folder, before, after);
  CHECK(json["comparable"] == true);
  REQUIRE(json["findings"]["fixed"].size() == 1);
  CHECK(json["findings"]["fixed"][0]["rule"] == "input/no-workers");
  CHECK(json["findings"]["left"].empty());
  const double predicted = json["saving"]["predicted_ns"];
  const double achieved = json["saving"]["achieved_ns"];
  CHECK(achieved == Approx(json["time"]["before"]["mean_ns"].get<double>() -
                           json["time"]["after"]["mean_ns"].get<double>()));
  CHECK(predicted / achieved > 0.8);
  CHECK(predicted / achieved < 1.2);
  double sum = 0;
  for (const Json& part : json["budget"]) {
    if (!part["name"].get<std::string>().starts_with("idle."))
      sum += part["before_ns"].get<double>();
  }
  CHECK(sum == Approx(json["time"]["before"]["mean_ns"].get<double>()).epsilon(1e-6));
}

TEST_CASE("one of two faults fixed: the other is left, and nothing changed means no change") {
  const Folder folder;
  const Json half =
      Compared(folder, Simulated(kPair), Simulated(kPair, "--without input/no-workers"));
  // What is left of the other: the copies, and that they can overlap once they are pinned.
  REQUIRE(half["findings"]["left"].size() == 2);
  CHECK(half["findings"]["left"][0]["rule"] == "transfer/pageable-copy");
  CHECK(half["findings"]["left"][1]["rule"] == "transfer/exposed-copy");
  const Json same = Compared(folder, Simulated(kPair), Simulated(kPair));
  CHECK(same["speedup"]["value"] == 1);
  CHECK(same["speedup"]["certain"] == false);
  CHECK(same["findings"]["fixed"].empty());
}

TEST_CASE("only a run that is certainly slower fails --fail-on slower") {
  const Folder folder;
  const std::string slow = Simulated("scenarios/input/no-workers-cnn-a100");
  const std::string fast = Simulated("scenarios/input/no-workers-cnn-a100", "--without all");
  const auto status = [&](const std::string& runs, const std::string& condition) {
    return RunAdvise(folder, "compare " + runs + " --fail-on " + condition);
  };
  const Ran slower = status(fast + " " + slow, "slower:3%");
  CHECK(slower.status == 1);
  CHECK_THAT(slower.err, Contains("--fail-on: AFTER takes") && Contains("more than 3 %"));
  CHECK_THAT(slower.out, Contains("slower"));  // the page is printed all the same
  CHECK(status(slow + " " + fast, "slower:3%").status == 0);
  CHECK(status(slow + " " + slow, "slower:0%").status == 0);
  CHECK(status(fast + " " + slow, "slower:100000%").status == 0);
  for (const char* wrong : {"slower", "slower:3", "faster:3%", "slower:-1%", "slower:x%"}) {
    CHECK(status(slow + " " + fast, wrong).status == 2);
  }
}

TEST_CASE("a comparison as Markdown has the verdict, the time and the findings") {
  const Folder folder;
  const Ran page =
      RunAdvise(folder, "compare " + Simulated(kPair) + " " +
                            Simulated(kPair, "--without input/no-workers") + " --format markdown");
  REQUIRE(page.status == 0);
  CHECK(page.out.starts_with("### A step is "));
  CHECK_THAT(page.out, Contains("| **all** |") && Contains("**Fixed**\n- ") &&
                           Contains("(`input/no-workers`)") && Contains("**Left**\n- ") &&
                           Contains("(`transfer/pageable-copy`)"));
}

TEST_CASE("runs whose kernels a fix fused or captured are compared, and it is said by what") {
  const Folder folder;
  for (const char* scenario :
       {"scenarios/kernel/unfused-elementwise-transformer",
        "scenarios/kernel/unfused-attention-a100", "scenarios/launch/graph-candidate-llm-a100",
        "scenarios/launch/graph-candidate-stencil"}) {
    INFO(scenario);
    const Json json = Compared(folder, Simulated(scenario), Simulated(scenario, "--without all"));
    CHECK(json["comparable"] == true);
    REQUIRE_FALSE(json["matched"]["levels"].empty());
    double before = 0;
    for (const Json& level : json["matched"]["levels"]) before += level["before"].get<double>();
    CHECK(before > 0.5);
    CHECK(before < 1.000001);
  }
}

TEST_CASE("--force shows the figures of runs of different work, and judges neither") {
  const Folder folder;
  const std::string files = Simulated("scenarios/input/no-workers-cnn-a100") + " " +
                            Simulated("scenarios/input/too-few-workers-cnn-h100");
  const Ran text = RunAdvise(folder, "compare --force " + files);
  CHECK(text.status == 0);
  CHECK_THAT(text.out, Contains("cannot be compared") && Contains("other GPUs") &&
                           Contains("Different work: ") && Contains("Where the time went") &&
                           !Contains("Speedup"));
  const Ran json = RunAdvise(folder, "compare --force --format json " + files);
  CHECK(json.status == 0);
  CHECK(ParseJson(json.out)["comparable"] == false);
  CHECK(ParseJson(json.out)["forced"] == true);
  CHECK(RunAdvise(folder, "compare --force --fail-on slower:3% " + files).status == 3);
}

TEST_CASE("a comparison as HTML is one page that fetches and runs nothing") {
  const Folder folder;
  const Ran page =
      RunAdvise(folder, "compare " + Simulated(kPair) + " " +
                            Simulated(kPair, "--without input/no-workers") + " --format html");
  REQUIRE(page.status == 0);
  CHECK(page.out.starts_with("<!DOCTYPE html>"));
  CHECK_THAT(page.out, Contains("<h1>A step is ") && Contains("input/no-workers") &&
                           Contains("by kernel and size") && Contains("<h3 class=\"good\">Fixed") &&
                           !Contains("<script") && !Contains("src="));
}

TEST_CASE("captures of other lengths compare by the step") {
  const Folder folder;
  const Json json = Compared(folder, Simulated(kPair), Simulated(kPair, "--steps 30"));
  CHECK(json["units"]["before"] != json["units"]["after"]);
  CHECK(json["speedup"]["value"].get<double>() == Approx(1).epsilon(0.02));
}

TEST_CASE("runs on other GPUs are refused with a reason, in both forms") {
  const Folder folder;
  const std::string files = Simulated("scenarios/input/no-workers-cnn-a100") + " " +
                            Simulated("scenarios/input/too-few-workers-cnn-h100");
  const Ran text = RunAdvise(folder, "compare " + files);
  CHECK(text.status == 3);
  CHECK_THAT(text.err, Contains("cannot be compared") && Contains("other GPUs"));
  CHECK(std::count(text.err.begin(), text.err.end(), '\n') == 1);
  const Ran json = RunAdvise(folder, "compare --format json " + files);
  CHECK(json.status == 3);
  CHECK(ParseJson(json.out)["comparable"] == false);
}

TEST_CASE("the comparison prints the same bytes each time") {
  const Folder folder;
  const std::string files = Simulated(kPair) + " " + Simulated(kPair, "--without all");
  CHECK(RunAdvise(folder, "compare " + files + " --jobs 1").out ==
        RunAdvise(folder, "compare " + files + " --jobs 4").out);
}

std::vector<std::string> ScaleRules(const Folder& folder, const std::string& files) {
  std::vector<std::string> rules;
  const Json json = ParseJson(RunAdvise(folder, "compare " + files + " --format json").out);
  for (const Json& finding : json["findings"]) rules.push_back(finding["rule"]);
  return rules;
}

TEST_CASE(
    "a slow network shows as poor efficiency of more GPUs, and the same program without it "
    "scales") {
  const Folder folder;
  const std::string slow = "scenarios/comm/exposed-slow-network-x4";
  CHECK(ScaleRules(folder, Simulated(slow, "--ranks 1") + " " + Simulated(slow)) ==
        std::vector<std::string>{"scale/poor-efficiency"});
  CHECK(ScaleRules(folder, Simulated(slow, "--ranks 1 --without all") + " " +
                               Simulated(slow, "--without all"))
            .empty());
}

TEST_CASE("what holds up one GPU and four alike is to be fixed first") {
  const Folder folder;
  const std::string name = "exercises/four-gpus";
  CHECK_THAT(ScaleRules(folder, Simulated(name, "--ranks 1") + " " + Simulated(name)),
             VectorContains(std::string("scale/too-early")));
}

TEST_CASE("times given for runs on one and four GPUs give the worked example of K-M1") {
  const Folder folder;
  const std::string one = Simulated("exercises/four-gpus", "--ranks 1");
  const std::string four = Simulated("exercises/four-gpus");
  const Ran ran = RunAdvise(folder, "compare " + one + " " + four + " --seconds 217,179");
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Contains("1.21") && Contains("30.3 %"));
  const Json json = ParseJson(
      RunAdvise(folder, "compare " + one + " " + four + " --seconds 217,179 --format json").out);
  CHECK(json["mode"] == "scaling");
  CHECK(json["runs"][1]["efficiency"].get<double>() == Approx(0.303).margin(0.0005));
  std::vector<std::string> rules;
  for (const Json& finding : json["findings"]) rules.push_back(finding["rule"]);
  CHECK(rules == std::vector<std::string>{"scale/poor-efficiency", "scale/too-early"});
}

const char* const kSpeedupRule = R"(return {
  id = "site/speedup", title = "Look at the speedup", status = "stable", since = "0.1",
  kind = "root", effort = "code",
  needs = { "scale.runs", "scale.speedup" },
  symptom = "{speedup:num} times as fast.",
  cause = "More GPUs.",
  fixes = { { action = "Look" } },
  false_positives = "None.",
  applies = function(f) return f.scale.runs > 1, "one run" end,
  detect = function(f) return f.scale.speedup < 2 and { speedup = f.scale.speedup } or nil end,
  tests = {
    { name = "slow", facts = { scale = { runs = 2, speedup = 1.2 } }, expect = { speedup = 1.2 } },
    { name = "fast", facts = { scale = { runs = 2, speedup = 4 } }, expect = "silent" },
    { name = "one", facts = { scale = { runs = 1, speedup = 1 } }, expect = "not_applicable" },
  },
}
)";

TEST_CASE("a rule of a site that needs facts of a comparison judges it") {
  const Folder folder;
  folder.Write("site/speedup.lua", kSpeedupRule);
  const std::string runs =
      Simulated("exercises/four-gpus", "--ranks 1") + " " + Simulated("exercises/four-gpus");
  const Ran ran =
      RunAdvise(folder, "compare " + runs + " --seconds 217,179 --format json --rules site");
  INFO(ran.err);
  const Json findings = ParseJson(ran.out)["findings"];
  CHECK(std::any_of(findings.begin(), findings.end(), [](const Json& finding) {
    return finding["rule"] == "site/speedup" && finding["symptom"] == "1.21 times as fast.";
  }));
}

TEST_CASE("runs of several reports are compared as runs") {
  const Folder folder;
  constexpr const char* kScenario = "scenarios/input/no-workers-cnn-a100";
  for (const char* run : {"before", "after"}) {
    std::filesystem::create_directories(folder / run);
    const std::string without = std::string(run) == "after" ? "--without all" : "";
    std::filesystem::copy(Simulated(kScenario, without),
                          folder / (std::string(run) + "/rank0.sqlite"));
    std::filesystem::copy(Simulated(kScenario, without + " --seed 7"),
                          folder / (std::string(run) + "/rank1.sqlite"));
  }
  const Json json = Compared(folder, "before", "after");
  REQUIRE(json["comparable"] == true);
  CHECK(json["unit"] == "step");
  CHECK(json["findings"]["fixed"][0]["rule"] == "input/no-workers");
  CHECK(json["speedup"]["value"].get<double>() > 3);
  CHECK(json["matched"]["before"].get<double>() > 0.9);
  const Ran what = RunAdvise(folder, "whatif before --fix input/no-workers --format json");
  INFO(what.err);
  REQUIRE(what.status == 0);
  const double after = json["time"]["after"]["mean_ns"];
  const double truth = 1 - after / json["time"]["before"]["mean_ns"].get<double>();
  CHECK(ParseJson(what.out)["saving"]["share"].get<double>() == Approx(truth).margin(0.04));
}

TEST_CASE("compare says what is wrong with its command line") {
  const Folder folder;
  CHECK(RunAdvise(folder, "compare " + Simulated(kPair)).status == 2);
  CHECK(RunAdvise(folder, "compare no.sqlite " + Simulated(kPair)).status == 3);
  const Ran ran =
      RunAdvise(folder, "compare " + Simulated(kPair) + " " + Simulated(kPair) + " --seconds 1,x");
  CHECK(ran.status == 2);
  CHECK_THAT(ran.err, Contains("--seconds"));
}

TEST_CASE("whatif with the fixes of the plan ends where the plan ends") {
  const Folder folder;
  for (const char* scenario :
       {"scenarios/pairs/loading-over-pageable", "scenarios/pairs/items-and-launch",
        "scenarios/pairs/upload-and-alloc"}) {
    INFO(scenario);
    const std::string whatif = "whatif " + Simulated(scenario) + " --format json";
    const Json plan = ParseJson(RunAdvise(folder, whatif).out);
    std::string fixes;
    for (const Json& step : plan["plan"])
      fixes += (fixes.empty() ? "" : ",") + step["rule"].get<std::string>();
    REQUIRE_FALSE(fixes.empty());
    const Json together = ParseJson(RunAdvise(folder, whatif + " --fix " + fixes).out);
    CHECK(together["window"] == plan["window"]);
    CHECK(together["next_bound"] == plan["plan"].back()["next_bound"]);
    for (const Json& step : plan["plan"]) {
      const std::string rule = step["rule"];
      INFO(rule);
      const Json what = ParseJson(RunAdvise(folder, whatif + " --fix " + rule).out);
      const double alone = step["saving"]["alone"];
      CHECK(what["fixes"][0]["alone"]["share"].get<double>() == Approx(alone).margin(0.001));
      CHECK(what["saving"]["share"].get<double>() == Approx(alone).margin(0.001));
    }
  }
}

TEST_CASE(
    "whatif of the ranks in one report says what the report says, slow steps of one included") {
  const Folder folder;
  const std::string trace = Simulated("scenarios/ranks/uneven-loading");
  const Json plan = ParseJson(RunAdvise(folder, "whatif " + trace + " --format json").out);
  REQUIRE_FALSE(plan["plan"].empty());
  const std::string first = plan["plan"][0]["rule"];
  const Json what =
      ParseJson(RunAdvise(folder, "whatif " + trace + " --format json --fix " + first).out);
  CHECK(what["saving"]["share"].get<double>() ==
        Approx(plan["plan"][0]["saving"]["alone"].get<double>()).margin(0.001));
}

TEST_CASE("whatif comes near the run in which both faults are really gone") {
  const Folder folder;
  struct Case {
    const char* scenario;
    const char* fixes;
  };
  for (const Case& one :
       {Case{"scenarios/pairs/loading-over-pageable", "input/no-workers,transfer/pageable-copy"},
        Case{"scenarios/pairs/layout-and-small-grid", "kernel/layout-conversion,kernel/small-grid"},
        Case{"scenarios/pairs/fp32-over-casts", "precision/fp32-gemm,precision/repeated-cast"},
        Case{"scenarios/pairs/serial-sync-and-fp32",
             "precision/fp32-gemm,comm/serial-gradient-sync"}}) {
    INFO(one.scenario);
    const std::string before = Simulated(one.scenario);
    const Ran ran =
        RunAdvise(folder, "whatif " + before + " --fix " + one.fixes + " --format json");
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    const Json what = ParseJson(ran.out);
    const Json truth = Compared(folder, before, Simulated(one.scenario, "--without all"));
    const double step = truth["time"]["before"]["mean_ns"];
    const double saved = 1 - truth["time"]["after"]["mean_ns"].get<double>() / step;
    CHECK(what["saving"]["share"].get<double>() == Approx(saved).margin(0.04));
    double alone = 0;
    for (const Json& fix : what["fixes"]) alone += fix["alone"]["share"].get<double>();
    CHECK(alone > 0);
  }
}

TEST_CASE("whatif says how to name a rule that stands where a report should") {
  const Folder folder;
  const Ran ran = RunAdvise(folder, "whatif launch/bound run.sqlite");
  CHECK(ran.status == 2);
  CHECK(ran.err.find("launch/bound is a rule, and no report") != std::string::npos);
  CHECK(ran.err.find("advise whatif REPORT --fix launch/bound") != std::string::npos);
  CHECK(RunAdvise(folder, "whatif no/such run.sqlite").err.find("no such file") !=
        std::string::npos);
}

TEST_CASE("whatif names an unknown rule, and one that did not fire with the reason") {
  const Folder folder;
  const Ran unknown = RunAdvise(folder, "whatif " + Simulated(kPair) + " --fix input/no-worker");
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("did you mean input/no-workers?"));
  const Ran silent = RunAdvise(folder, "whatif " + Simulated(kPair) + " --fix launch/bound");
  CHECK(silent.status == 2);
  CHECK_THAT(silent.err, Contains("launch/bound found nothing") && Contains("input/no-workers"));
}

}  // namespace
}  // namespace advise
