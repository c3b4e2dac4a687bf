// Leading slow steps: warm-up, or steps that wait as any may.
#include "engine/timeline/warm_up.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

std::string Numbered(int i) { return "step " + std::to_string(i); }

// Twenty steps of 1 ms, of which the first three and the eleventh begin 4 ms late: `wait` adds what
// happens meanwhile. On the GPU, it is the steps before them that take longer, 0, 1 and 9.
TraceBuilder SlowSteps(const std::function<void(TraceBuilder*, Nanos)>& wait) {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 20; ++i) {
    const bool slow = i < 3 || i == 10;
    const Nanos length = slow ? 5_ms : 1_ms;
    story.Range(Numbered(i), {at, at + length});
    if (slow) wait(&story, at);
    AddLayeredStep(&story, at + length - 1_ms, 50_us);
    at += length;
  }
  return story;
}

std::size_t FirstSteady(const TraceBuilder& story) {
  return Analyzed(story, kAuto)->run.steps.first_steady;
}

// The first steps of `fast` are three times as fast as those behind them, but for one that
// compiles.
TEST_CASE("fast steps before slow ones are no warm-up, whatever lies between them") {
  const auto first_steady = [](int fast) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 24; ++i) {
      const Nanos length = i == 3 ? 9_ms : i < fast ? 1_ms : 3_ms;
      story.Range(Numbered(i), {at, at + length});
      AddLayeredStep(&story, at + length - 1_ms, 50_us);
      at += length;
    }
    return FirstSteady(story);
  };
  CHECK(first_steady(8) == 0);
  CHECK(first_steady(2) > 0);  // cut off
}

TEST_CASE("leading steps of a run under way that wait for data are no warm-up") {
  const auto loads = [](TraceBuilder* story, Nanos at) {
    story->Range("data_loading", {at + 10_us, at + 4_ms});
  };
  const Analyzed run(SlowSteps(loads), kAuto);
  // In the first one, the loader itself may have begun.
  CHECK(run->run.steps.first_steady == 1);
  CHECK(run->run.steps.outliers == std::vector<std::size_t>{1, 9});
  CHECK(run->run.window.start == run->run.steps.all[1].start);
}

// Twenty steps of 1 ms. The GPU waits for data for 4 ms behind the first one and behind a later
// one.
TraceBuilder WaitsBehindTheFirstStep(bool awaits_first_batch) {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 20; ++i) {
    const bool slow = i == 1 || i == 10 || (i == 0 && awaits_first_batch);
    const Nanos length = slow ? 5_ms : 1_ms;
    story.Range(Numbered(i), {at, at + length});
    if (slow) story.Range("data_loading", {at + 10_us, at + 4_ms});
    AddLayeredStep(&story, at + length - 1_ms, 50_us);
    at += length;
  }
  return story;
}

TEST_CASE("a wait for data behind the first step is no warm-up, where a batch was there before") {
  const Analyzed run(WaitsBehindTheFirstStep(false), kAuto);
  CHECK_FALSE(StartsCold(run->run));
  CHECK(run->run.steps.first_steady == 0);
  CHECK(run->run.steps.outliers == std::vector<std::size_t>{0, 9});
  CHECK(run->run.window.start == run->run.steps.all[0].start);
}

TEST_CASE("a wait for data behind the first step is warm-up, where the first batch was late, too") {
  CHECK(FirstSteady(WaitsBehindTheFirstStep(true)) == 1);
}

TEST_CASE("leading steps of a run under way that wait for other ranks are no warm-up") {
  const auto waits = [](TraceBuilder* story, Nanos at) {
    story->Launch(kAllReduce, {at + 20_us, at + 25_us}, {at + 110_us, at + 4_ms});
  };
  CHECK(FirstSteady(SlowSteps(waits)) == 1);
}

TEST_CASE("a run that allocates in each step does not start cold") {
  const auto loads = [](TraceBuilder* story, Nanos at) {
    story->Range("data_loading", {at + 10_us, at + 4_ms});
  };
  const auto allocating = [&](int steps) {
    TraceBuilder story = SlowSteps(loads);
    for (int i = 0; i < steps; ++i) story.Call("cudaMalloc", {i * 1_ms + 1_us, i * 1_ms + 5_us});
    return Analyzed(story, kAuto)->run.steps.first_steady;
  };
  CHECK(allocating(32) == 1);  // the first steps count as those of a run under way
  CHECK(allocating(1) == 2);
}

TEST_CASE("other ranks may know that leading steps are no warm-up") {
  const Analyzed run(SlowSteps([](TraceBuilder*, Nanos) {}), kAuto);
  REQUIRE(run->run.steps.first_steady == 2);
  AnalysisOptions options;
  options.window.mode = kAuto;
  const auto first_since = [&](Nanos since) {
    options.steady_since = since;
    return Analysis(run.trace(), ShippedKnowledge(), options).run.steps.first_steady;
  };
  const std::vector<Step>& steps = run->run.steps.all;
  CHECK(first_since(steps[1].start) == 1);
  CHECK(first_since(steps[1].start + steps[1].Length() / 2) == 1);
  CHECK(first_since(steps[1].start + steps[1].Length() / 2 + 1) == 2);
  CHECK(first_since(0) == 0);
  CHECK(first_since(steps[5].start) == 2);  // none becomes a warm-up
  options.steady_since = steps[1].start;
  const Analysis since(run.trace(), ShippedKnowledge(), options);
  CHECK(since.run.window.start == steps[1].start);
  CHECK(since.run.steps.outliers == std::vector<std::size_t>{1, 9});
}

TEST_CASE("leading steps that are slow for any other reason are warm-up") {
  CHECK(FirstSteady(SlowSteps([](TraceBuilder*, Nanos) {})) == 2);
}

TEST_CASE("leading steps that wait for data at the start of a program are warm-up") {
  bool loaded = false;
  const auto loads = [&](TraceBuilder* story, Nanos at) {
    if (!loaded) story->Call("cuModuleLoadData", {at + 1_us, at + 5_us});
    loaded = true;
    story->Range("data_loading", {at + 10_us, at + 4_ms});
  };
  const Analyzed run(SlowSteps(loads), kAuto);
  CHECK(StartsCold(run->run));
  CHECK(run->run.steps.first_steady == 2);
}

TEST_CASE(
    "a step behind the warm-up that waits for data is none, where a batch came in time before") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 20; ++i) {
    // On the GPU, step 0 loads code, and step 2 waits for the batch of step 3.
    const Nanos length = i <= 1 || i == 3 ? 5_ms : 1_ms;
    story.Range(Numbered(i), {at, at + length});
    if (i == 1) story.Call("cuModuleLoadData", {at + 10_us, at + 3_ms});
    if (i == 3) story.Range("data_loading", {at + 10_us, at + 4_ms});
    AddLayeredStep(&story, at + length - 1_ms, 50_us);
    at += length;
  }
  const Analyzed run(story, kAuto);
  CHECK(StartsCold(run->run));
  CHECK(run->run.steps.first_steady < 3);
  CHECK(run->run.steps.outliers == std::vector<std::size_t>{2});
}

}  // namespace
}  // namespace advise
