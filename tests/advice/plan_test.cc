// The plan: what each fix makes needless, and what becomes worthwhile only after it.
#include "engine/advice/plan.h"

#include <algorithm>

#include "engine/advice/rank_run.h"
#include "tests/advice/verdicts.h"

namespace advise {
namespace {

constexpr int kStepsOfPart = 30;

// Three parts of 30 steps each. In the first and the last the host's code sets the pace; in the
// second the host waits for each kernel, and the GPU then waits for the host's code.
struct ThreeParts {
  TraceBuilder story;
  std::vector<Interval> first, second, third;  // the host's code
  Nanos ends[3] = {};

  ThreeParts() {
    Nanos at = 0;
    const auto step = [&](Nanos kernel, Nanos length, bool waits, std::vector<Interval>* code) {
      story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 10_us + kernel});
      if (waits) story.Sync({at + 6_us, at + 11_us + kernel});
      code->push_back({at + (waits ? 11_us + kernel : 5_us), at + length});
      at += length;
    };
    for (int i = 0; i < kStepsOfPart; ++i) step(50_us, 400_us, false, &first);
    ends[0] = at;
    for (int i = 0; i < kStepsOfPart; ++i) step(100_us, 200_us, true, &second);
    ends[1] = at;
    for (int i = 0; i < kStepsOfPart; ++i) step(100_us, 250_us, false, &third);
    ends[2] = at;
  }
};

std::shared_ptr<Remedy> Cut(const std::vector<Interval>& code) {
  auto remedy = std::make_shared<Remedy>();
  remedy->host_cuts.push_back({0, IntervalSet::Of(code)});
  return remedy;
}

const PlanStep* StepOf(const std::vector<PlanStep>& plan, const std::string& rule) {
  for (const PlanStep& step : plan) {
    if (step.rule == rule) return &step;
  }
  return nullptr;
}

using Rules = std::vector<std::string>;

TEST_CASE("the fix that makes another needless or worthwhile is named, not the first of the plan") {
  const ThreeParts parts;
  const Analyzed run(parts.story);
  auto no_waits = std::make_shared<Remedy>();
  no_waits->unblocked_calls = run.Calls("cudaStreamSynchronize");
  auto faster = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op) {
    if (run.trace().ops.start[op] >= parts.ends[1]) faster->scaled_ops.emplace_back(op, 0.1F);
  }
  Verdicts verdicts;
  verdicts.Add({.id = "a/first", .claims = {parts.first}, .remedy = Cut(parts.first)});
  verdicts.Add({.id = "b/waits", .claims = {parts.second}, .remedy = no_waits});
  verdicts.Add({.id = "b/code", .claims = {parts.second}, .remedy = Cut(parts.second)});
  verdicts.Add({.id = "c/code", .claims = {parts.third}, .remedy = Cut(parts.third)});
  verdicts.Add({.id = "c/kernels", .claims = {{{parts.ends[1], parts.ends[2]}}}, .remedy = faster});
  Report report;
  report.window = {"all", run->run.window.start, run->run.window.end};
  report.findings = verdicts.Rank(run);
  FillPlan(&report);
  const auto& plan = report.plan;
  REQUIRE(plan.size() >= 4);
  CHECK(plan[0].rule == "a/first");
  CHECK(plan[0].makes_needless.empty());
  CHECK(plan[0].unlocks.empty());
  const PlanStep* waits = StepOf(plan, "b/waits");
  const PlanStep* cut = StepOf(plan, "b/code");
  REQUIRE((waits != nullptr || cut != nullptr));
  const bool waits_first = cut == nullptr || (waits != nullptr && waits < cut);
  CHECK((waits_first ? waits : cut)->makes_needless == Rules{waits_first ? "b/code" : "b/waits"});
  REQUIRE(StepOf(plan, "c/code") != nullptr);
  CHECK(StepOf(plan, "c/code")->unlocks == Rules{"c/kernels"});
  CHECK(StepOf(plan, "c/code")->makes_needless.empty());
}

TEST_CASE("what wins only once a note is fixed is a note") {
  // The host takes half a percent longer than the GPU.
  TraceBuilder story;
  std::vector<Interval> code;
  std::vector<Interval> gaps;
  Nanos at = 0;
  for (int i = 0; i < 200; ++i) {
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 120_us});
    code.push_back({at + 5_us, at + 110_us + 500});
    gaps.push_back({at + 120_us, at + 120_us + 500});
    at += 110_us + 500;
  }
  const Analyzed run(story);
  auto faster = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    faster->scaled_ops.emplace_back(op, 0.1F);
  Verdicts verdicts;
  verdicts.Add({.id = "a/code", .claims = {gaps}, .remedy = Cut(code)});
  verdicts.Add({.id = "b/kernels", .claims = {{{0, at}}}, .remedy = faster});
  const std::vector<Finding> findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 2);
  for (const Finding& finding : findings) {
    CHECK(finding.severity == Severity::kInfo);
    CHECK(finding.saving_share < 0.01);
  }
}

TEST_CASE("what is told under its cause is made needless by this cause") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/large", .priority = 90, .claims = {Percent(run, 0, 50)}});
  verdicts.Add({.id = "b/cause", .priority = 80, .claims = {Percent(run, 50, 80)}});
  verdicts.Add({.id = "b/effect", .priority = 20, .claims = {Percent(run, 55, 80)}});
  Report report;
  report.window = {"all", run->run.window.start, run->run.window.end};
  report.findings = verdicts.Rank(run);
  FillPlan(&report);
  REQUIRE(report.plan.size() == 2);
  CHECK(report.plan[0].rule == "a/large");
  CHECK(report.plan[0].makes_needless.empty());
  CHECK(report.plan[1].makes_needless == Rules{"b/effect"});
}

TEST_CASE("what makes room for code comes behind the code that wins the same, however specific") {
  const auto first = [](bool makes_room) {
    const ThreeParts parts;
    const Analyzed run(parts.story);
    std::vector<Interval> even, odd;
    for (std::size_t i = 0; i < parts.first.size(); ++i)
      (i % 2 == 0 ? even : odd).push_back(parts.first[i]);
    auto room = std::make_shared<Remedy>(*Cut(even));
    room->makes_room = makes_room;
    Verdicts verdicts;
    verdicts.Add({.id = "a/room", .priority = 80, .claims = {even}, .remedy = room});
    verdicts.Add({.id = "b/code", .priority = 20, .claims = {odd}, .remedy = Cut(odd)});
    Report report;
    report.window = {"all", run->run.window.start, run->run.window.end};
    report.findings = verdicts.Rank(run);
    FillPlan(&report);
    REQUIRE(report.plan.size() == 2);
    return report.plan.front().rule;
  };
  CHECK(first(false) == "a/room");
  CHECK(first(true) == "b/code");
}

TEST_CASE("what is explained and keeps time of its own is not needless") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/cause",
                .priority = 80,
                .claims = {Percent(run, 0, 40)},
                .explains = {"a/symptom"}});
  verdicts.Add({.id = "a/symptom", .priority = 20, .claims = {Percent(run, 50, 80)}});
  Report report;
  report.window = {"all", run->run.window.start, run->run.window.end};
  report.findings = verdicts.Rank(run);
  FillPlan(&report);
  REQUIRE(report.plan.size() == 2);
  CHECK(report.plan[0].makes_needless.empty());
}

TEST_CASE("a fix that only two others together make needless is listed beside them") {
  // In each step the host runs three pieces of code, 100 us each but for the last one, while a
  // kernel takes 120 us.
  Verdicts of_little, of_much;
  const auto findings_of = [](Nanos last, Verdicts* verdicts) {
    TraceBuilder story;
    std::vector<Interval> code[3];
    std::vector<Interval> gaps;
    Nanos at = 0;
    for (int i = 0; i < 50; ++i) {
      story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 130_us});
      const Nanos next = at + 205_us + last;
      gaps.push_back({at + 130_us, next + 10_us});
      code[0].push_back({at + 5_us, at + 105_us});
      code[1].push_back({at + 105_us, at + 205_us});
      code[2].push_back({at + 205_us, next});
      at = next;
    }
    gaps.pop_back();
    const Analyzed run(story);
    for (const int n : {0, 1, 2}) {
      verdicts->Add({.id = std::string("a/code-") + std::to_string(n),
                     .priority = 80 - n,
                     .claims = {gaps},
                     .remedy = Cut(code[n]),
                     .explains = n < 2 ? Rules{"a/code-2"} : Rules{}});
    }
    return verdicts->Rank(run);
  };
  const std::vector<Finding> alike = findings_of(95_us, &of_much);
  REQUIRE(alike.size() == 3);
  CHECK(alike[2].rule->id == "a/code-2");
  CHECK(alike[2].saving_share < 0.01);
  CHECK(alike[2].alone_share == Approx(0.31).margin(0.02));
  CHECK(alike[2].explained_by.empty());
  CHECK(alike[0].explains.empty());
  CHECK(alike[1].makes_needless == Rules{"a/code-2"});
  // Little code is told under what makes it needless.
  CHECK(findings_of(20_us, &of_little).size() == 2);
}

}  // namespace
}  // namespace advise
