// What fixes win of a run that nobody profiles.
#include "engine/advice/unprofiled.h"

#include <algorithm>

#include "tests/advice/verdicts.h"

namespace advise {
namespace {

// A thousand launches, one in 4 us, with a kernel each.
TraceBuilder Launches(Nanos kernel) {
  TraceBuilder story;
  for (int i = 0; i < 1000; ++i) {
    const Nanos at = i * 4_us;
    const Nanos start = 1_us + i * std::max(4_us, kernel);
    story.Launch("kernel", {at, at + 1_us}, {start, start + kernel});
  }
  return story;
}

std::vector<Finding> RankOneLaunch(const Analyzed& run, Verdicts* verdicts) {
  auto gone = std::make_shared<Remedy>();
  gone->vanished_calls = run.Calls("cudaLaunchKernel");
  verdicts->Add({.id = "a/graph", .claims = {Percent(run, 0, 90)}, .remedy = gone});
  auto faster = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    faster->scaled_ops.emplace_back(op, 0.8F);
  verdicts->Add(
      {.id = "b/faster", .priority = 40, .claims = {Percent(run, 0, 50)}, .remedy = faster});
  return verdicts->Rank(run);
}

TEST_CASE("what a fix wins when nobody profiles is told beside what it wins of the recording") {
  // Recording a call takes 2 of these 4 us. Kernels of 1 us then leave half of the rest idle.
  const Analyzed run(Launches(1_us).RecordedBy("PyTorch profiler"));
  Verdicts verdicts;
  const auto findings = RankOneLaunch(run, &verdicts);
  REQUIRE(findings.at(0).rule->id == "a/graph");
  CHECK(findings[0].saving_share == Approx(0.75).margin(0.01));
  REQUIRE(findings[0].unprofiled_share.has_value());
  CHECK(*findings[0].unprofiled_share == Approx(0.5).margin(0.01));
  CHECK(findings[0].severity == Severity::kCritical);

  const Analyzed other(Launches(1_us).RecordedBy("Nsight Systems"));
  Verdicts others;
  CHECK(!RankOneLaunch(other, &others).at(0).unprofiled_share.has_value());
}

TEST_CASE("what wins only while somebody profiles is a note and no part of the plan") {
  const Analyzed run(Launches(3_us).RecordedBy("PyTorch profiler"));
  Verdicts verdicts;
  const auto findings = RankOneLaunch(run, &verdicts);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].rule->id == "b/faster");
  CHECK(findings[0].turn == 1);
  // The profiler hides what faster kernels win: the host is slower than they are.
  CHECK(findings[0].saving_share == Approx(0).margin(0.01));
  CHECK(*findings[0].unprofiled_share == Approx(0.2).margin(0.01));
  CHECK(findings[0].severity == Severity::kHigh);
  CHECK(findings[1].rule->id == "a/graph");
  CHECK(findings[1].saving_share == Approx(0.4).margin(0.01));
  CHECK(*findings[1].unprofiled_share == Approx(0).margin(0.01));
  CHECK(findings[1].severity == Severity::kInfo);
  CHECK(findings[1].turn == 0);
}

TEST_CASE("the order of the plan rests on what wins when nobody profiles, too") {
  // Launches win 55 % of the recording, and a tenth of what is left without the profiler.
  const Analyzed run(Launches(1800).RecordedBy("PyTorch profiler"));
  auto gone = std::make_shared<Remedy>();
  gone->vanished_calls = run.Calls("cudaLaunchKernel");
  Verdicts verdicts;
  verdicts.Add({.id = "a/graph", .claims = {Percent(run, 0, 60)}, .remedy = gone});
  verdicts.Add({.id = "b/other", .claims = {Percent(run, 70, 95)}});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].rule->id == "b/other");
  CHECK(findings[0].turn == 1);
  CHECK(findings[1].rule->id == "a/graph");
  CHECK(findings[1].turn == 2);
  CHECK(findings[1].saving_share > 0.3);
  CHECK(*findings[1].unprofiled_alone_share == Approx(0.1).margin(0.01));
}

TEST_CASE("what would win by itself only while somebody profiles is a note") {
  const Analyzed run(Launches(3_us).RecordedBy("PyTorch profiler"));
  auto gone = std::make_shared<Remedy>();
  gone->vanished_calls = run.Calls("cudaLaunchKernel");
  auto cut = std::make_shared<Remedy>();
  IntervalSet code;
  code.Append(0, run->run.window.end);
  cut->host_cuts.push_back({0, code});
  Verdicts verdicts;
  verdicts.Add({.id = "a/graph", .claims = {Percent(run, 0, 90)}, .remedy = gone});
  verdicts.Add({.id = "c/code", .priority = 60, .claims = {Percent(run, 0, 90)}, .remedy = cut});
  for (const Finding& finding : verdicts.Rank(run)) {
    CHECK(finding.alone_share > 0.2);
    CHECK(*finding.unprofiled_alone_share == Approx(0).margin(0.01));
    CHECK(finding.severity == Severity::kInfo);
  }
}

TEST_CASE("a symptom that is mostly the profiler's cost is a note") {
  const auto severity = [](Nanos kernel, RuleKind kind, double* left) {
    const Analyzed run(Launches(kernel).RecordedBy("PyTorch profiler"));
    auto gone = std::make_shared<Remedy>();
    gone->vanished_calls = run.Calls("cudaLaunchKernel");
    Verdicts verdicts;
    verdicts.Add({.id = "a/code", .claims = {Percent(run, 0, 90)}, .remedy = gone, .kind = kind});
    const Finding finding = verdicts.Rank(run).at(0);
    CHECK(finding.saving_share > 0.45);
    *left = *finding.unprofiled_share;
    return finding.severity;
  };
  double left = 0;
  CHECK(severity(1970, RuleKind::kSymptom, &left) == Severity::kInfo);
  CHECK(left == Approx(0.015).margin(0.0015));
  CHECK(severity(1950, RuleKind::kSymptom, &left) == Severity::kLow);
  CHECK(left == Approx(0.025).margin(0.0015));
  // What shows by itself is there whatever the profiler costs.
  CHECK(severity(1970, RuleKind::kRoot, &left) == Severity::kLow);
}

TEST_CASE("the profiler may matter only once a fix has let the host run ahead") {
  // Kernels of 8 us hide launches of 4; those of 2.4 us would not, but for the 2 us of recording.
  const Analyzed run(Launches(8_us).RecordedBy("PyTorch profiler"));
  auto faster = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    faster->scaled_ops.emplace_back(op, 0.3F);
  Verdicts verdicts;
  verdicts.Add({.id = "a/faster", .claims = {Percent(run, 0, 90)}, .remedy = faster});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_share == Approx(0.5).margin(0.01));
  CHECK(*findings[0].unprofiled_share == Approx(0.7).margin(0.01));
}

}  // namespace
}  // namespace advise
