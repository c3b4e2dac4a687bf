// What charts show that is computed of facts.
#include "engine/advice/views.h"

#include <catch2/catch.hpp>

#include "tests/support/analyzed.h"
#include "tests/support/fact_infos.h"

namespace advise {
namespace {

Row Operator(const char* name, double intensity, double achieved, double share, double balance) {
  return {{"op", std::string(name)},      {"shape", std::string("[64, 64] x [64, 64]")},
          {"dtype", std::string("bf16")}, {"time", 2000.0},
          {"intensity", intensity},       {"achieved", achieved},
          {"achieved_share", share},      {"balance", balance}};
}

Report WithShapes(Rows rows) {
  Report report;
  NamedFact fact;
  fact.info = InfoOf("roofline.shapes.rows");
  fact.fact.value = std::move(rows);
  report.facts.push_back(std::move(fact));
  return report;
}

TEST_CASE("operators of known shapes lie under the roofs of the GPU, as an estimate") {
  const Roofline roofline = RooflineOfShapes(WithShapes(
      {Operator("aten::mm", 200, 150e12, 0.5, 150), Operator("aten::bmm", 20, 30e12, 0.1, 150),
       Operator("aten::mul", 0.1, 0.1e12, 0.005, 10), Operator("aten::copy_", 0, 0, -1, -1)}));
  CHECK(roofline.estimated);
  REQUIRE(roofline.points.size() == 3);
  CHECK(roofline.points[0].kernel == "aten::mm [64, 64] x [64, 64] bf16");
  CHECK(roofline.points[0].flop_per_byte == 200);
  CHECK(roofline.points[0].flops == 150e12);
  CHECK(roofline.points[0].time_ns == 2000);
  CHECK(roofline.without_place == 1);
  REQUIRE(roofline.roofs.size() == 2);  // without and with tensor cores
  CHECK(roofline.roofs[0].peak_flops == Approx(20e12));
  CHECK(roofline.roofs[1].peak_flops == Approx(300e12));
  CHECK(roofline.roofs[1].bytes_per_s == Approx(2e12));
}

TEST_CASE("of many operators those with most time are drawn, the others counted") {
  Rows rows;
  for (int i = 0; i < 305; ++i) rows.push_back(Operator("aten::mm", 200, 150e12, 0.5, 150));
  rows.push_back(Operator("aten::copy_", 0, 0, -1, -1));
  const Roofline roofline = RooflineOfShapes(WithShapes(rows));
  CHECK(roofline.points.size() == 300);
  CHECK(roofline.left_out == 5);
  CHECK(roofline.without_place == 1);
  CHECK(roofline.roofs.size() == 1);
}

TEST_CASE("what surrounds an example is half of its length, within the window") {
  TraceBuilder story;
  story.Kernel("a", {0, 100_ms});
  const Analyzed run(story);
  const auto around = [&](Nanos start, Nanos end) {
    return Surroundings(*run, {0, start, end, ""});
  };
  CHECK(around(40_ms, 60_ms) == Interval{30_ms, 70_ms});
  CHECK(around(0, 100_ms) == Interval{0, 100_ms});
  CHECK(around(2_ms, 22_ms) == Interval{0, 32_ms});
  CHECK(around(90_ms, 98_ms) == Interval{86_ms, 100_ms});
  CHECK(around(-20_ms, -10_ms) == Interval{-20_ms, -5_ms});  // outside of the window
}

TEST_CASE("the worst example is the longest claim, or what evidence points at in it") {
  TraceBuilder story;
  story.Kernel("a", {0, 10_ms}).OnDevice(1).Kernel("b", {0, 10_ms});
  const Analyzed run(story);
  RuleInfo rule, other;
  Verdict verdict;
  verdict.rule = &rule;
  verdict.outcome = Outcome::kFired;
  Spans spans;
  spans.by_device = {IntervalSet::Of({{1_ms, 2_ms}, {8_ms, 20_ms}}),
                     IntervalSet::Of({{3_ms, 6_ms}})};
  verdict.saving.claims = std::make_shared<const Spans>(spans);
  Report report;
  report.verdicts = {verdict};
  Finding finding;
  finding.rule = &rule;
  const auto worst = [&] { return FindWorstExample(*run, report, finding); };
  CHECK(worst().device == 1);  // of 12 ms on the first device 2 lie in the window
  CHECK(worst().start == 3_ms);
  CHECK(worst().end == 6_ms);
  CHECK(worst().what.empty());
  Evidence elsewhere, whole, gap;
  elsewhere.start_ns = 7_ms;
  elsewhere.end_ns = 9_ms;
  whole.start_ns = 0;
  whole.end_ns = 10_ms;
  gap.start_ns = 5_ms;
  gap.end_ns = 9_ms;
  gap.what = "the longest gap";
  finding.evidence = {elsewhere, whole, gap};
  CHECK(worst().start == 5_ms);
  CHECK(worst().end == 9_ms);
  CHECK(worst().what == "the longest gap");
  CHECK(worst().device == 1);
  finding.rule = &other;  // claims nothing: the first that points at a part of the window
  CHECK(worst().start == 7_ms);
  finding.evidence = {whole};
  CHECK(worst().end <= worst().start);
}

TEST_CASE("findings that stand under another, or only inform, have no timeline") {
  TraceBuilder story;
  story.Kernel("a", {0, 1_ms}).Kernel("b", {2_ms, 3_ms});
  const Analyzed run(story);
  RuleInfo rule;
  Verdict verdict;
  verdict.rule = &rule;
  verdict.outcome = Outcome::kFired;
  Spans spans;
  spans.by_device = {IntervalSet::Of({{1_ms, 2_ms}})};
  verdict.saving.claims = std::make_shared<const Spans>(spans);
  Report report;
  report.verdicts = {verdict};
  const auto timelines = [&](Severity severity) {
    Finding finding;
    finding.rule = &rule;
    finding.rank = 1;
    finding.severity = severity;
    report.findings = {finding};
    return BuildViews(*run, report);
  };
  const ReportViews views = timelines(Severity::kHigh);
  REQUIRE(views.timelines.size() == 1);
  CHECK(views.timelines[0].finding == 1);
  CHECK(views.timelines[0].start_ns == 1_ms);
  CHECK(views.timelines[0].end_ns == 2_ms);
  CHECK(views.timelines[0].excerpt.start == Approx(500e3));
  CHECK(views.kernels.size() == 2);
  CHECK(views.kernels_left_out == 0);
  CHECK(timelines(Severity::kInfo).timelines.empty());
  // There is room for 60 timelines; the findings behind them say so.
  Finding finding;
  finding.rule = &rule;
  finding.severity = Severity::kHigh;
  report.findings.assign(61, finding);
  const ReportViews many = BuildViews(*run, report);
  CHECK(many.timelines.size() == 60);
  CHECK(many.without_timeline.size() == 1);
}

TEST_CASE("without shapes, or on a GPU that nobody named, there is no roofline") {
  CHECK(RooflineOfShapes({}).points.empty());
  CHECK(RooflineOfShapes(WithShapes({Operator("aten::mm", 200, 150e12, -1, -1)})).points.empty());
}

}  // namespace
}  // namespace advise
