// What two reports say of each other, on figures that can be worked out by hand.
#include "engine/compare/compare.h"

#include "engine/compare/bootstrap.h"
#include "engine/compare/work_match.h"
#include "tests/compare/reports.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

// Ten steps of `ms`, of which each runs the same 4 kernels.
ReportStory Run(double ms) {
  ReportStory story;
  story.Steps(std::vector<double>(10, ms)).Kernel("gemm", 100, 30, 60).Kernel("relu", 50, 10, 20);
  return story;
}

TEST_CASE("a step that takes half as long is twice as fast, however long the captures are") {
  ReportStory before = Run(40);
  ReportStory after;
  after.Steps(std::vector<double>(25, 20)).Kernel("gemm", 100, 75, 150).Kernel("relu", 50, 25, 50);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  REQUIRE(c.comparable);
  CHECK(c.unit == "step");
  CHECK(c.speedup == Approx(2));
  CHECK(c.before.ns == Approx(40e6));
  CHECK(c.after.ns == Approx(20e6));
  CHECK(c.work_ratio == Approx(1));
  CHECK(c.certain == true);
  CHECK(c.units_before == 10);
  CHECK(c.units_after == 25);
}

TEST_CASE("parts of the budget are per unit of work and compare") {
  ReportStory before = Run(40);
  before.Number("budget.idle", 300e6).Number("budget.compute", 100e6);
  before.Number("idle.data_loading", 300e6);
  ReportStory after = Run(20);
  after.Number("budget.idle", 100e6).Number("budget.compute", 100e6);
  after.Number("idle.data_loading", 100e6);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  REQUIRE(c.comparable);
  REQUIRE(c.budget.size() == 6);
  CHECK(c.budget[0].name == "compute");
  CHECK(c.budget[0].before_ns == Approx(10e6));
  CHECK(c.budget[0].after_ns == Approx(10e6));
  CHECK(c.budget[4].name == "idle");
  CHECK(c.budget[4].before_ns == Approx(30e6));
  CHECK(c.budget[4].after_ns == Approx(10e6));
  CHECK(c.budget[5].name == "idle.data_loading");
}

TEST_CASE("findings are fixed, new or left, and what is fixed had promised something") {
  ReportStory before = Run(40);
  before.Fires("input/no-workers", 180)
      .Fires("launch/bound", 40)
      .Fires("capture/no-ranges", 0, Severity::kInfo);
  ReportStory after = Run(20);
  after.Fires("launch/bound", 50).Fires("comm/exposed", 10);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  REQUIRE(c.fixed.size() == 1);
  CHECK(c.fixed[0].rule == "input/no-workers");
  REQUIRE(c.left.size() == 1);
  CHECK(c.left[0].rule == "launch/bound");
  CHECK(c.left[0].before_ns == Approx(4e6));
  CHECK(c.left[0].after_ns == Approx(5e6));
  REQUIRE(c.added.size() == 1);
  CHECK(c.added[0].rule == "comm/exposed");
  CHECK(c.predicted_ns == Approx(18e6));  // 180 ms over ten steps
  CHECK(c.achieved_ns == Approx(20e6));
}

TEST_CASE("what other findings covered before is left, and not new") {
  ReportStory before = Run(40);
  before.Fires("input/no-workers", 180).Fires("memory/zeroed-gradients", 0, Severity::kInfo);
  ReportStory after = Run(20);
  after.Fires("memory/zeroed-gradients", 10);
  Report first = before.Done();
  Verdict fired;
  fired.rule = first.findings.back().rule;
  fired.outcome = Outcome::kFired;
  first.verdicts.push_back(fired);
  const RunComparison c = CompareRuns(first, after.Done(), Shipped());
  CHECK(c.added.empty());
  REQUIRE(c.left.size() == 1);
  CHECK(c.left[0].rule == "memory/zeroed-gradients");
}

// Of a run that pays for a rule's find so often per step.
Report OftenPerStep(ReportStory* story, Severity severity, double saving_ms, double per_step) {
  Report report = story->Fires("sync/item-in-loop", saving_ms, severity).Done();
  Verdict fired;
  fired.rule = report.findings.back().rule;
  fired.outcome = Outcome::kFired;
  fired.evidence["per_step"] = per_step;
  report.verdicts.push_back(fired);
  return report;
}

TEST_CASE("what happens as often as before was not fixed, however little it costs now") {
  ReportStory first = Run(40);
  ReportStory second = Run(20);
  ReportStory third = Run(20);
  const Report before = OftenPerStep(&first, Severity::kHigh, 26, 33);
  const RunComparison same =
      CompareRuns(before, OftenPerStep(&second, Severity::kInfo, 2, 33), Shipped());
  CHECK(same.fixed.empty());
  REQUIRE(same.left.size() == 1);
  CHECK(same.left[0].after_ns == Approx(2e5));
  CHECK(same.predicted_ns == 0);
  const Report rare = OftenPerStep(&third, Severity::kInfo, 2, 27);
  CHECK(CompareRuns(before, rare, Shipped()).fixed.size() == 1);
}

TEST_CASE("a part of a cause of idle time is no cause beside it") {
  ReportStory before = Run(40);
  before.Number("idle.unknown", 100e6).Number("idle.in_graphs", 60e6);
  const RunComparison c = CompareRuns(before.Done(), Run(20).Done(), Shipped());
  for (const BudgetChange& part : c.budget) CHECK(part.name != "idle.in_graphs");
}

std::string ReasonOf(const Report& before, const Report& after) {
  std::string all;
  for (const std::string& reason : CompareRuns(before, after, Shipped()).reasons) all += reason;
  return all;
}

TEST_CASE("kernels of two makers divide the same work otherwise, and tell no other batch") {
  ReportStory before = Run(40);
  ReportStory after;
  after.Steps(std::vector<double>(10, 20)).Kernel("gemm", 250, 75, 150).Kernel("relu", 125, 25, 50);
  CHECK_THAT(ReasonOf(before.Done(), after.Done()), Catch::Contains("another batch or model size"));
  after.Text("hw.name", "AMD Instinct MI300X");
  CHECK_THAT(ReasonOf(before.Done(), after.Done()), Catch::Contains("of two makers"));
}

TEST_CASE("a finding that the second capture could not show is not called fixed") {
  ReportStory before = Run(40);
  before.Fires("input/no-workers", 180);
  ReportStory after = Run(40);
  after.CannotTell("input/no-workers");
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  CHECK(c.fixed.empty());
  REQUIRE(c.unknown.size() == 1);
  CHECK(c.predicted_ns == 0);
}

TEST_CASE("a difference inside the spread of the steps is no change") {
  ReportStory before, after;
  before.Steps({40, 44, 36, 41, 39, 45, 35, 40, 42, 38}).Kernel("gemm", 100, 10, 60);
  after.Steps({41, 43, 37, 42, 40, 44, 35, 41, 42, 38}).Kernel("gemm", 100, 10, 60);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  REQUIRE(c.certain.has_value());
  CHECK_FALSE(*c.certain);
  CHECK(*c.speedup_low < 1);
  CHECK(*c.speedup_high > 1);
}

TEST_CASE("a fix of every fifth step shows, although the median step stays") {
  ReportStory before, after;
  before.Steps({10, 10, 10, 10, 60, 10, 10, 10, 10, 60, 10}).Kernel("gemm", 100, 11, 60);
  after.Steps({10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}).Kernel("gemm", 100, 11, 60);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  CHECK(c.before.median_ns == Approx(10e6));
  CHECK(c.before.ns == Approx(20e6));
  CHECK(c.speedup == Approx(2));
}

// The end of the capture can only shorten the last step: one that is longer than another was not
// cut, and counts.
TEST_CASE("the last step counts, unless it may have been cut") {
  ReportStory before, whole, cut;
  before.Steps({200, 200, 200, 200, 200, 200}).Kernel("gemm", 100, 6, 60);
  whole.Steps({151.7, 118.1, 108.4, 124.1, 115.0, 152.1}).Kernel("gemm", 100, 6, 60);
  CHECK(CompareRuns(before.Done(), whole.Done(), Shipped()).after.ns == Approx(128.2333e6));
  cut.Steps({150, 120, 110, 120, 100, 40}).Kernel("gemm", 100, 6, 60);
  CHECK(CompareRuns(before.Done(), cut.Done(), Shipped()).after.ns == Approx(120e6));
}

TEST_CASE("other GPUs, another number of them, or of ranks cannot be compared") {
  ReportStory before = Run(40);
  ReportStory gpu = Run(20);
  gpu.Text("hw.name", "NVIDIA H100");
  RunComparison c = CompareRuns(before.Done(), gpu.Done(), Shipped());
  CHECK_FALSE(c.comparable);
  REQUIRE(c.reasons.size() == 1);
  CHECK_THAT(c.reasons[0], Contains("NVIDIA A100") && Contains("NVIDIA H100"));
  ReportStory four = Run(20);
  four.Number("run.devices", 4).Number("run.processes", 4);
  c = CompareRuns(before.Done(), four.Done(), Shipped());
  CHECK_FALSE(c.comparable);
  CHECK_THAT(c.reasons.at(0), Contains("number of GPUs: 1 before, 4 after"));
  ReportStory ranks = Run(20);
  ranks.Number("run.processes", 2);
  CHECK_FALSE(CompareRuns(before.Done(), ranks.Done(), Shipped()).comparable);
  ReportStory table = Run(20);
  table.Number("run.processes", 0);  // of the GPU's work alone
  CHECK(CompareRuns(before.Done(), table.Done(), Shipped()).comparable);
}

TEST_CASE("another batch cannot be compared: the same kernels work on other sizes") {
  ReportStory before = Run(40);
  ReportStory after;
  after.Steps(std::vector<double>(10, 80)).Kernel("gemm", 200, 30, 120).Kernel("relu", 100, 10, 40);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  CHECK_FALSE(c.comparable);
  CHECK_THAT(c.reasons.at(0), Contains("another batch") && Contains("2.00 times"));
}

TEST_CASE("another batch shows in few kernels, where products fill the GPU whatever their size") {
  const auto run = [](double step, double blocks, double upload) {
    ReportStory story;
    story.Steps(std::vector<double>(10, step)).Uploads(upload);
    story.Kernel("nvjet", 132, 30, step * 7).Kernel("relu", blocks, 10, step);
    return story.Done();
  };
  const RunComparison c = CompareRuns(run(26, 50, 65.5e3), run(49, 100, 131e3), Shipped());
  CHECK_FALSE(c.comparable);
  CHECK_THAT(c.reasons.at(0), Contains("another batch size") && Contains("2.00 times"));
  // A kernel of another size beside a larger upload that has nothing to do with it.
  CHECK(CompareRuns(run(26, 50, 65.5e3), run(24, 50, 131e3), Shipped()).comparable);
  CHECK(CompareRuns(run(26, 50, 65.5e3), run(24, 80, 131e3), Shipped()).comparable);
}

TEST_CASE(
    "fewer and larger micro-batches are the same work, where products fill the GPU whatever") {
  // `batches` for one update, of as many samples in all.
  const auto run = [](double step, double batches) {
    ReportStory story;
    story.Steps(std::vector<double>(10, step)).Uploads(1e6 / batches);
    story.Kernel("nvjet", 132, 30 * batches, step * 7)
        .Kernel("relu", 400 / batches, 10 * batches, step)
        .Kernel("adam", 320, 10, 20);
    return story.Done();
  };
  const RunComparison c = CompareRuns(run(49.4, 8), run(42, 2), Shipped());
  REQUIRE(c.comparable);
  CHECK(c.work_ratio == Approx(1));
  CHECK(c.speedup == Approx(49.4 / 42));
  // As many samples in each batch, and fewer batches, are less work.
  ReportStory fewer;
  fewer.Steps(std::vector<double>(10, 13)).Kernel("nvjet", 132, 60, 91).Kernel("relu", 50, 20, 13);
  CHECK(CompareRuns(run(49.4, 8), fewer.Done(), Shipped()).work_ratio == Approx(0.25));
}

// A model of half the layers on smaller batches, four of them per step, is no fix that makes a step
// of twice the work seven times as fast.
TEST_CASE("kernels that take as much less time as the grids of others shrink are another batch") {
  const auto run = [](double step, double launches, double blocks, double launch_ms) {
    ReportStory story;
    story.Steps(std::vector<double>(10, step));
    story.Kernel("nvjet", 132, launches, launches * launch_ms)
        .Kernel("flash", 512, launches / 2, launches * launch_ms / 4)
        .Kernel("gelu", blocks, launches / 2, launches * launch_ms / 50);
    return story.Done();
  };
  const RunComparison c = CompareRuns(run(65, 120, 112, 0.19), run(18, 240, 26, 0.0427), Shipped());
  CHECK_FALSE(c.comparable);
  CHECK_THAT(c.reasons.at(0), Contains("another batch or model size") && Contains("0.23 times"));
  // A faster kernel beside a grid that changed for reasons of its own.
  CHECK(CompareRuns(run(65, 120, 112, 0.19), run(60, 120, 26, 0.17), Shipped()).comparable);
}

// One size whatever they do, all of them: how long a launch takes tells how much it does.
TEST_CASE("smaller micro-batches are the same work where no kernel shows its size") {
  const auto run = [](double step, double batches, double launch_ms) {
    ReportStory story;
    story.Steps(std::vector<double>(10, step));
    story.Kernel("nvjet", 132, 30 * batches, 30 * batches * launch_ms)
        .Kernel("flash", 512, 20 * batches, 10 * batches * launch_ms)
        .Kernel("adam", 320, 10, 20);
    return story.Done();
  };
  const RunComparison c = CompareRuns(run(29.8, 4, 0.5), run(20.6, 16, 0.125), Shipped());
  REQUIRE(c.comparable);
  CHECK(c.work_ratio == Approx(1));
  CHECK(c.speedup == Approx(29.8 / 20.6));
  // Larger ones make better use of the GPU.
  CHECK(CompareRuns(run(49.4, 8, 0.5), run(42, 2, 1.72), Shipped()).speedup == Approx(49.4 / 42));
  // Four times as many that take as long each are four times the work.
  CHECK(CompareRuns(run(30, 4, 0.5), run(120, 16, 0.5), Shipped()).work_ratio == Approx(4));
  CHECK(CompareRuns(run(30, 4, 0.5), run(100, 16, 0.4), Shipped()).work_ratio == Approx(4));
}

// Before, an encoder runs again for each token of a decoder, and a token is a step; after, it runs
// once for each clip of 24 tokens, which is uploaded.
TEST_CASE("what is uploaded as often as some kernels run tells the work of a step") {
  ReportStory before, after;
  before.Steps(std::vector<double>(240, 4.5)).Uploads(1e6, 10, 10.0 / 240);
  before.Kernel("gemm", 432, 240 * 48, 800).Kernel("gemv", 200, 240 * 48, 120);
  before.Kernel("attention", 200, 240 * 12, 20);
  after.Steps(std::vector<double>(10, 24)).Uploads(1e6, 10, 1);
  after.Kernel("gemm", 432, 10 * 48, 33).Kernel("gemv", 200, 240 * 48, 120);
  after.Kernel("attention", 200, 240 * 12, 20);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  REQUIRE(c.comparable);
  CHECK(c.work_ratio == Approx(24));
  CHECK(c.speedup == Approx(4.5));
  REQUIRE(c.notes.size() == 1);
  CHECK_THAT(c.notes[0], Contains("24.00 times the work") && Contains("uploads"));
}

TEST_CASE("a stall of each epoch is no noise, and neither is a longer step in four") {
  std::vector<double> stalls(75, 32.7);
  for (const std::size_t step : {22U, 46U, 70U}) stalls[step] = 1400;
  const auto run = [](const std::vector<double>& steps) {
    ReportStory story;
    story.Steps(steps).Kernel("gemm", 100, static_cast<double>(steps.size()), 2000);
    return story.Done();
  };
  const RunComparison c = CompareRuns(run(stalls), run(std::vector<double>(75, 32.7)), Shipped());
  CHECK(c.certain == true);
  CHECK(c.speedup == Approx(87.4 / 32.7).epsilon(0.01));
  CHECK(c.speedup_low.value_or(0) == Approx(c.speedup).epsilon(0.01));
  // Two stalls may be chance, and so may three at uneven distances.
  stalls[46] = 32.7;
  CHECK(CompareRuns(run(stalls), run(std::vector<double>(75, 32.7)), Shipped()).certain == false);
  stalls[33] = 1400;
  CHECK(CompareRuns(run(stalls), run(std::vector<double>(75, 32.7)), Shipped()).certain == false);
  CHECK(TurnOf({13, 13, 13, 17, 13, 13, 13, 17, 13, 13, 13, 17}, 0.9) == 4);
  CHECK(TurnOf({13, 14, 12, 17, 13, 11, 16, 13, 12, 13, 15, 11}, 0.9) == 1);
  CHECK(TurnOf({13, 13, 13, 13}, 0.9) == 1);
}

TEST_CASE("that all kernels take longer by one factor is said: it is the GPU, not the program") {
  ReportStory before = Run(40);
  ReportStory after;
  after.Steps(std::vector<double>(10, 48)).Kernel("gemm", 100, 30, 72).Kernel("relu", 50, 10, 24);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  REQUIRE(c.notes.size() == 1);
  CHECK_THAT(c.notes[0], Contains("1.20 times as long") && Contains("clock"));
  ReportStory one;
  one.Steps(std::vector<double>(10, 48)).Kernel("gemm", 100, 30, 72).Kernel("relu", 50, 10, 20);
  CHECK(CompareRuns(before.Done(), one.Done(), Shipped()).notes.empty());
}

TEST_CASE("the parts of a step add up to it, also where the window holds more of a rank") {
  ReportStory before = Run(40);
  // Two ranks: 10 steps of 40 ms in common, of which each recorded 11.
  before.Number("budget.compute", 11 * 30e6).Number("budget.idle", 11 * 10e6);
  ReportStory after = Run(20);
  after.Number("budget.compute", 10 * 15e6).Number("budget.idle", 10 * 5e6);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  bool found = false;
  for (const auto& change : c.budget) {
    if (change.name != "compute") continue;
    found = true;
    CHECK(change.before_ns == Approx(30e6));
    CHECK(change.after_ns == Approx(15e6));
  }
  CHECK(found);
}

TEST_CASE("another program cannot be compared") {
  ReportStory before = Run(40);
  ReportStory after;
  after.Steps(std::vector<double>(10, 20)).Kernel("fft", 100, 30, 60).Kernel("scan", 50, 10, 20);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  CHECK_FALSE(c.comparable);
  CHECK_THAT(c.reasons.at(0), Contains("hardly any kernels in common"));
}

TEST_CASE("a fix that exchanges most kernels is still the same program") {
  ReportStory before, after;
  before.Steps(std::vector<double>(10, 200))
      .Kernel("sgemm", 100, 100, 1900)
      .Kernel("adam", 50, 10, 40);
  after.Steps(std::vector<double>(10, 30))
      .Kernel("bf16gemm", 80, 100, 200)
      .Kernel("adam", 50, 10, 40);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  CHECK(c.comparable);
  CHECK(c.matched_before == Approx(40.0 / 1940));
  // That so little is shared is said.
  REQUIRE(c.notes.size() == 1);
  CHECK_THAT(c.notes[0], Contains("hold only 2 % of the kernel time before and 17 % after"));
  CHECK(CompareRuns(before.Done(), before.Done(), Shipped()).notes.empty());
}

TEST_CASE("a step that holds four times the work is compared by the work") {
  ReportStory before = Run(40);
  ReportStory after;
  after.Steps(std::vector<double>(10, 120))
      .Kernel("gemm", 100, 120, 240)
      .Kernel("relu", 50, 40, 80);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  REQUIRE(c.comparable);
  CHECK(c.work_ratio == Approx(4));
  CHECK(c.after.ns == Approx(30e6));
  CHECK(c.speedup == Approx(40.0 / 30));
}

TEST_CASE("without steps the launches that both make count the work, never the window's length") {
  ReportStory before, after;
  // Both were cut to 1000 ms; the second did three times as much in it.
  before.Window(1000).Kernel("gemm", 100, 100, 400).Kernel("relu", 50, 200, 100);
  after.Window(1000).Kernel("gemm", 100, 300, 600).Kernel("relu", 50, 600, 200);
  const RunComparison c = CompareRuns(before.Done(), after.Done(), Shipped());
  REQUIRE(c.comparable);
  CHECK(c.unit == "window");
  CHECK(c.speedup == Approx(3));
  CHECK_FALSE(c.certain.has_value());
  // Three kernels of like weight that tell three different amounts of work.
  ReportStory three, uneven;
  three.Window(1000)
      .Kernel("gemm", 100, 100, 200)
      .Kernel("relu", 50, 100, 200)
      .Kernel("adam", 20, 100, 200);
  uneven.Window(1000)
      .Kernel("gemm", 100, 300, 200)
      .Kernel("relu", 50, 20, 200)
      .Kernel("adam", 20, 100, 200);
  const RunComparison u = CompareRuns(three.Done(), uneven.Done(), Shipped());
  CHECK_FALSE(u.comparable);
}

TEST_CASE("the bootstrap gives the same interval each time, and a wider one for noisier steps") {
  const std::vector<double> calm = {10, 10.1, 9.9, 10, 10.2, 9.8};
  const std::vector<double> noisy = {10, 14, 6, 11, 13, 8};
  const BootstrapPair once = Bootstrap(calm, noisy, 1000, 0.9);
  const BootstrapPair again = Bootstrap(calm, noisy, 1000, 0.9);
  CHECK(once.low_a == again.low_a);
  CHECK(once.high_ratio == again.high_ratio);
  CHECK(once.low_a <= MeanOf(calm));
  CHECK(once.high_a >= MeanOf(calm));
  CHECK(once.high_b - once.low_b > 5 * (once.high_a - once.low_a));
}

TEST_CASE("the interval holds the true mean in about 95 of 100 samples") {
  // Samples from a uniform distribution on 0..100 (mean 50), by a plain generator.
  std::uint32_t state = 1;
  const auto draw = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<double>(state >> 8U) / 16777216.0 * 100;
  };
  int holds = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> sample(25);
    for (double& value : sample) value = draw();
    const BootstrapPair pair = Bootstrap(sample, sample, 400, 0.9);
    holds += pair.low_a <= 50 && pair.high_a >= 50 ? 1 : 0;
  }
  CHECK(holds >= 176);  // 88 %: bootstrap intervals of 25 values are a little narrow
  CHECK(holds <= 200);
}

TEST_CASE("the weighted median follows the weight") {
  CHECK(WeightedMedian({{1, 1}, {2, 1}, {10, 5}}) == 10);
  CHECK(WeightedMedian({{1, 3}, {2, 1}, {10, 1}}) == 1);
  CHECK(WeightedMedian({}) == 1);
}

}  // namespace
}  // namespace advise
