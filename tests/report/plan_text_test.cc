// The plan in words: what holds the run back at its end, and what becomes of other findings.
#include "engine/report/plan_text.h"

#include <catch2/catch.hpp>

#include "engine/report/html.h"
#include "engine/report/text_report.h"
#include "tests/report/sample_report.h"

namespace advise {
namespace {

using Catch::Matchers::Contains;

// Findings "a/0" and so on, numbered from 1, of which the first ones make the plan.
struct Planned {
  std::unique_ptr<SampleReport> sample = MakeSampleReport();
  Report& report = sample->report;

  explicit Planned(std::size_t findings, std::size_t planned) {
    const Finding like = report.findings.front();
    report.findings.assign(findings, like);
    report.plan.clear();
    for (std::size_t i = 0; i < findings; ++i) {
      Finding& finding = report.findings[i];
      finding.rule = sample->Rule("a/" + std::to_string(i), "Fix it", RuleKind::kRoot);
      finding.rank = static_cast<int>(i) + 1;
      if (i < planned) {
        report.plan.push_back({finding.rule->id, 0.9 - 0.1 * static_cast<double>(i), {}, {}, ""});
      }
    }
  }
};

using Texts = std::vector<std::string>;

TEST_CASE("the plan ends with what holds the run back then") {
  Planned plan(2, 2);
  CHECK(PlanStages(plan.report, 5) == Texts{"323 ms per step", "→ 300 ms", "→ 267 ms"});
  plan.report.plan[0].next_bound = "the data loader";
  CHECK(PlanLimit(plan.report).empty());
  plan.report.plan[1].next_bound = "the GPU's own work";
  CHECK(PlanStages(plan.report, 5) ==
        Texts{"323 ms per step", "→ 300 ms", "→ 267 ms;", "then the GPU's own work is the limit"});
  CHECK_THAT(RenderText(plan.report, {}), Contains("then the GPU's own work is the limit"));
  CHECK_THAT(RenderHtml(plan.report, {}), Contains("<p>Then the GPU&#39;s own work is the limit."));
}

TEST_CASE("of a long plan the first fixes and the end are shown") {
  const Planned plan(7, 7);
  CHECK(PlanStages(plan.report, 4) ==
        Texts{"323 ms per step", "→ 300 ms", "→ 267 ms", "→ 233 ms", "→ …", "→ 100 ms"});
}

TEST_CASE("times of a plan have one unit, and are said once") {
  Planned plan(3, 3);
  plan.report.step_count = 600;  // of 1.62 ms
  plan.report.plan[1].after_seconds = plan.report.plan[2].after_seconds = 0.5502;
  CHECK(PlanStages(plan.report, 5) == Texts{"1.62 ms per step", "→ 1.50 ms", "→ 0.92 ms"});
}

TEST_CASE("a whole capture is more than its steps, so that its plan has no times per step") {
  Planned plan(3, 3);
  plan.report.window.mode = "all";
  CHECK(PlanStages(plan.report, 5).front() == "970 ms");
}

TEST_CASE("the plan has stages and effects of findings with a number only") {
  Planned plan(4, 3);
  plan.report.plan[1].makes_needless = {"a/3"};
  plan.report.plan[1].next_bound = "the GPU's own work";
  plan.report.findings[1].explained_by = {"a/0"};
  plan.report.findings[1].saving_share = 0.04;
  plan.report.findings[1].touched_share = 0.5;
  plan.report.findings[1].severity = Severity::kMedium;
  REQUIRE(plan.report.findings[1].UnderCause());
  CHECK(PlanStages(plan.report, 5) == Texts{"323 ms per step", "→ 300 ms", "→ 267 ms"});
  CHECK(ListedPlan(plan.report).back().rank == 3);
  CHECK(PlanEffects(plan.report).empty());
  plan.report.plan.pop_back();
  CHECK(PlanStages(plan.report, 5).empty());
  CHECK(PlanLimit(plan.report).empty());
}

TEST_CASE("what saves little or pays only once others are fixed is said in two sentences") {
  Planned plan(6, 4);
  plan.report.plan[0].makes_needless = {"a/5", "a/4", "b/not-listed"};
  plan.report.plan[2].makes_needless = {"a/3"};
  plan.report.plan[1].unlocks = {"a/3"};
  plan.report.findings[3].alone_share = 0.002;
  CHECK(PlanEffects(plan.report) == Texts{"5 and 6 save little once 1 is fixed; 4 once 3 is fixed.",
                                          "4 pays only once 2 is fixed."});
  plan.report.findings[5].explained_by = {"a/0"};
  plan.report.findings[5].saving_share = 0;  // told there
  CHECK(PlanEffects(plan.report).front() == "5 saves little once 1 is fixed; 4 once 3 is fixed.");
  CHECK_THAT(RenderText(plan.report, {}), Contains("4 pays only once 2 is fixed."));
  CHECK_THAT(RenderHtml(plan.report, {}), Contains("<p>4 pays only once 2 is fixed.</p>"));
}

TEST_CASE("what pays by itself is not said to pay only once others are fixed") {
  Planned plan(4, 4);
  plan.report.plan[0].unlocks = {"a/1", "a/2", "a/3"};
  plan.report.findings[1].alone_share = 0.07;
  plan.report.findings[2].alone_share = plan.report.findings[3].alone_share = 0;
  CHECK(PlanEffects(plan.report) ==
        Texts{"3 and 4 pay only once 1 is fixed.", "2 saves more once 1 is fixed."});
}

TEST_CASE("the plan says that the profiler is in its times, where that matters") {
  Planned plan(3, 2);
  plan.report.findings[2].unprofiled_share = 0.1;
  CHECK(PlanEffects(plan.report).empty());  // not in the plan
  plan.report.findings[1].unprofiled_share = plan.report.findings[1].saving_share;
  CHECK(PlanEffects(plan.report).empty());
  plan.report.findings[1].unprofiled_share = plan.report.findings[1].saving_share / 2;
  CHECK(PlanEffects(plan.report) == Texts{"These times include what the profiler costs."});
  plan.report.read_with_care.push_back({Care::kProfilerCost, "the profiler costs the host 2 ms"});
  CHECK(PlanEffects(plan.report).empty());
}

TEST_CASE("what its cause leaves to win is a finding with a number, as in the plan") {
  Planned plan(2, 2);
  Finding& second = plan.report.findings[1];
  second.explained_by = {"a/0"};
  second.fixes = {{"Do this too", "", "", {}}};
  CHECK_THAT(RenderText(plan.report, {}), Contains("Do     Do this too"));
  CHECK_THAT(RenderHtml(plan.report, {}), Contains("Do this too"));
  second.saving_share = 0;
  CHECK_THAT(RenderText(plan.report, {}), !Contains("Do     Do this too"));
}

TEST_CASE("a fix that was said is not said again") {
  Planned plan(2, 2);
  for (Finding& finding : plan.report.findings)
    finding.fixes = {{"Compile it", "compile(it)", "", {}}};
  const std::string text = RenderText(plan.report, {});
  CHECK(text.find("compile(it)") == text.rfind("compile(it)"));
  CHECK_THAT(text, Contains("Do     Compile it (the fix of 1)"));
  TextOptions all;
  all.all_fixes = true;
  CHECK_THAT(RenderText(plan.report, all), !Contains("(the fix of 1)"));
}

TEST_CASE("a plan that changes nothing for other findings says nothing of them") {
  CHECK(PlanEffects(Planned(2, 2).report).empty());
}

}  // namespace
}  // namespace advise
