// Which iterations a run has: from its ranges, or from the rhythm of its GPU work.
#include "engine/timeline/step.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

std::string Numbered(const char* name, int i) { return std::string(name) + std::to_string(i); }

// Every step of a millisecond has a range around the launching of its work.
TraceBuilder RangedLoop(int steps, const std::function<std::string(int)>& name) {
  TraceBuilder story;
  Repeat(steps, 1_ms, [&](int i, Nanos at) {
    story.Range(name(i), {at, at + 900_us});
    AddLayeredStep(&story, at, 50_us);
  });
  return story;
}

// What all the loops above are.
void CheckMillisecondSteps(const Steps& steps, std::size_t count) {
  REQUIRE(steps.all.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(steps.all[i].start == static_cast<Nanos>(i) * 1_ms);
    if (i + 1 < count) CHECK(steps.all[i].end == steps.all[i + 1].start);
  }
  CHECK(steps.Median() == 1_ms);
  CHECK(steps.first_steady == 0);
  CHECK(steps.outliers.empty());
}

TEST_CASE("ranges with numbers are steps, each until the next begins") {
  const Analyzed run(RangedLoop(10, [](int i) { return Numbered("step ", i); }), kAuto);
  CHECK(run->run.steps.source == "range");
  CheckMillisecondSteps(run->run.steps, 10);
}

TEST_CASE("ranges of one name that looks like a step are steps") {
  const Analyzed run(RangedLoop(8, [](int) { return "train_step"; }), kAuto);
  CHECK(run->run.steps.source == "range");
  CHECK(run->run.steps.name == "train_step");
  CheckMillisecondSteps(run->run.steps, 8);
}

TEST_CASE("ranges of any name that follow each other are steps when the host takes part in each") {
  TraceBuilder story;
  Repeat(8, 1_ms, [&](int i, Nanos at) {
    story.Range(Numbered("chunk", i), {at, at + 990_us});
    AddLayeredStep(&story, at, 50_us);
    story.CopyFromGpu(4, MemoryKind::kPinned, {at + 980_us, at + 985_us},
                      {at + 985_us, at + 986_us});
  });
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.source == "range");
  CHECK(run->run.steps.name == "chunk#");
  CheckMillisecondSteps(run->run.steps, 8);
}

TEST_CASE("constructs at different lines of a file are no iterations of one loop") {
  TraceBuilder story;
  Repeat(30, 1_ms, [&](int, Nanos at) {
    for (const int line : {210, 255, 300, 340}) {
      story.Range("OpenACC compute construct at solver.f90:" + std::to_string(line),
                  {at, at + 240_us});
      story.Launch("calc_" + std::to_string(line), {at + 5_us, at + 9_us},
                   {at + 12_us, at + 200_us});
      story.Sync({at + 10_us, at + 205_us});
      at += 250_us;
    }
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.known());
  CHECK(run->run.steps.Median() == 1_ms);
}

TEST_CASE("where only updates of the weights are named, a step lasts from one to the next") {
  TraceBuilder story;
  // Micro-batches in varying numbers: nothing repeats.
  Repeat(8, 1_ms, [&](int i, Nanos at) {
    for (int k = 0; k <= i % 3; ++k) {
      const Nanos start = at + k * 200_us;
      story.Launch("gemm_" + std::to_string(i), {start, start + 3_us},
                   {start + 5_us, start + 150_us});
    }
    story.Range("Optimizer.step#SGD.step", {at + 900_us, at + 995_us});
    story.Launch("update", {at + 900_us, at + 905_us}, {at + 910_us, at + 990_us});
  });
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.source == "range");
  REQUIRE(run->run.steps.all.size() == 7);
  CHECK(run->run.steps.Median() == 1_ms);
}

TEST_CASE("ranges of micro-batches are no steps, unless they are numbered") {
  // 12 steps of four batches of 250 us each, and an update behind them.
  const auto batches = [](const std::function<std::string(int)>& name) {
    TraceBuilder story;
    Repeat(12, 1_ms, [&](int i, Nanos at) {
      for (int k = 0; k < 4; ++k) {
        const Nanos start = at + k * 240_us;
        story.Range(name(4 * i + k), {start, start + 230_us});
        story.Launch("forward", {start + 1_us, start + 5_us}, {start + 6_us, start + 220_us});
      }
      story.Range("[pl][profile]optimizer_step", {at + 960_us, at + 995_us});
      story.Launch("update", {at + 961_us, at + 965_us}, {at + 966_us, at + 990_us});
    });
    return story;
  };
  const Analyzed run(batches([](int) { return "[pl][profile]run_training_batch"; }), kAuto);
  CHECK(run->run.steps.all.size() == 11);
  CHECK(run->run.steps.Median() == 1_ms);
  const Analyzed numbered(batches([](int i) { return Numbered("step ", i); }), kAuto);
  CHECK(numbered->run.steps.all.size() >= 47);
}

TEST_CASE("annotations of the framework are taken before other ranges") {
  TraceBuilder story = RangedLoop(8, [](int i) { return Numbered("ProfilerStep#", i); });
  Repeat(16, 500_us, [&](int i, Nanos at) {
    story.Range(Numbered("batch ", i), {at, at + 499_us});
  });
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.source == "annotation");
  CheckMillisecondSteps(run->run.steps, 8);
}

TEST_CASE("a profiler that pauses leaves no slow step: the longest recording is judged") {
  const auto story = [](int left_out) {
    TraceBuilder made;
    for (int i = 0; i < 12; ++i) {
      const int paused = i >= 9 ? 2 : i >= 5 ? 1 : 0;
      const Nanos at = i * 1_ms + paused * 9'000_us;
      made.Range(Numbered("ProfilerStep#", i + paused * left_out), {at, at + 1_ms});
      AddLayeredStep(&made, at, 50_us);
    }
    return made;
  };
  const Analyzed run(story(9), kAuto);
  CHECK(run->run.steps.recordings == 3);
  CheckMillisecondSteps(run->run.steps, 5);
  CHECK(run->run.window.Length() == 5_ms);
  // Steps that count on are one recording, whatever kept the program.
  const Analyzed kept(story(0), kAuto);
  CHECK(kept->run.steps.recordings == 1);
  CHECK(kept->run.steps.all.size() == 12);
}

TEST_CASE("the time that the profiler takes to stop is no part of the last step") {
  const auto ends = [](Nanos stopping, Nanos work) {
    TraceBuilder made;
    for (int i = 0; i < 8; ++i) {
      const Nanos at = i * 1_ms;
      made.Range(Numbered("ProfilerStep#", i), {at, at + 1_ms + (i == 7 ? stopping : 0)});
      AddLayeredStep(&made, at, 50_us);
    }
    if (work > 0) made.Launch("extra", {7'900_us, 7'905_us}, {7'990_us, 7'990_us + work});
    return Analyzed(made, kAuto)->run.steps.all.back().end;
  };
  const Nanos usual = ends(0, 0);
  CHECK(ends(300_us, 0) == usual);
  // The GPU still works.
  CHECK(ends(300_us, 200_us) >= 8'190_us);
  CHECK(ends(300_us, 200_us) < 8'300_us);
}

TEST_CASE("of nested ranges the outer ones are the steps") {
  TraceBuilder story = RangedLoop(8, [](int i) { return Numbered("step ", i); });
  Repeat(16, 500_us, [&](int i, Nanos at) {
    story.Range(Numbered("iteration ", i), {at + 1_us, at + 400_us});
  });
  const Analyzed run(story, kAuto);
  CheckMillisecondSteps(run->run.steps, 8);
}

TEST_CASE("ranges that were never closed end where the next begins") {
  TraceBuilder story;
  Repeat(8, 1_ms, [&](int i, Nanos at) {
    story.Range(Numbered("step ", i), {at, 8_ms});  // all reach to the end of the trace
    AddLayeredStep(&story, at, 50_us);
  });
  const Analyzed run(story, kAuto);
  CheckMillisecondSteps(run->run.steps, 8);
  CHECK(run->run.steps.all.back().end == 8_ms);
}

TEST_CASE("one range that was never closed does not hide those after it") {
  TraceBuilder story;
  Repeat(8, 1_ms, [&](int i, Nanos at) {
    story.Range(Numbered("step ", i), {at, i == 3 ? 8_ms : at + 900_us});
    AddLayeredStep(&story, at, 50_us);
  });
  const Analyzed run(story, kAuto);
  CheckMillisecondSteps(run->run.steps, 8);
}

TEST_CASE("when the host runs ahead, steps are as long as the GPU's work for them") {
  TraceBuilder story;
  Repeat(8, 100_us, [&](int i, Nanos at) {
    story.Range(Numbered("step ", i), {at, at + 90_us});  // the host is done after a tenth
    for (int k = 0; k < 10; ++k) {
      const Nanos start = i * 1_ms + k * 100_us + 50_us;
      story.Launch("work", {at + k * 8_us, at + k * 8_us + 4_us}, {start, start + 100_us});
    }
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.all.size() == 8);
  CHECK(run->run.steps.Median() == 1_ms);
  CHECK(run->run.steps.all[3].start == 3_ms + 50_us);
}

// The host queues two steps in 0.2 and 1.8 ms, since it waits in every other one only.
TEST_CASE("a host that waits in every other step runs ahead by half of the mean step") {
  TraceBuilder story;
  Repeat(8, 1_ms, [&](int i, Nanos at) {
    const Nanos begun = i % 2 == 1 ? at : at - 800_us;
    story.Range(Numbered("step ", i), {begun, begun + (i % 2 == 1 ? 190_us : 1_ms + 790_us)});
    for (int k = 0; k < 10; ++k) {
      const Nanos start = at + k * 99_us + 5_us;
      story.Launch("work", {begun + k * 15_us, begun + k * 15_us + 4_us}, {start, start + 99_us});
    }
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.all.size() == 8);
  CHECK(run->run.steps.Median() == 1_ms);
}

// A thread marks steps and queues their work, far ahead; another thread launches it.
TEST_CASE("ranges of a thread that only queues the work do not say when its steps begin") {
  TraceBuilder story;
  Repeat(12, 1_ms, [&](int i, Nanos at) {
    story.Thread("loop");
    // The queue holds four steps: the others wait for their turn in the range of every fifth.
    const Nanos queued = i % 5 == 4 ? 900_us : 20_us;
    story.Range(Numbered("step ", i),
                {i / 5 * 5_ms + i % 5 * 30_us, i / 5 * 5_ms + i % 5 * 30_us + queued});
    story.Thread("launcher");
    AddLayeredStep(&story, at + 100_us, 50_us);
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.known());
  CHECK(run->run.steps.Median() == 1_ms);
  CHECK(run->run.steps.outliers.empty());
}

// The same, and every fourth step is saved: the thread waits, copies parts of the model, each in a
// stream of kernels, and writes them for 2 ms. Every other step hands back a result.
TEST_CASE(
    "steps that a thread only queues are told by what computes, however often they are saved") {
  TraceBuilder story;
  constexpr int kSteps = 40;
  Nanos at = 0;
  for (int i = 0; i < kSteps; i += 4) {
    for (int k = 0; k < 4; ++k) {
      const Nanos range = at + k * 30_us;
      story.Thread("loop").Range(Numbered("train_step ", i + k),
                                 {range, k == 3 ? at + 6_ms + 500_us : range + 20_us});
      story.Thread("launcher");
      AddLayeredStep(&story, at + k * 1_ms + 100_us, 50_us);
      if (k % 2 == 0) {
        const Nanos copy = at + k * 1_ms + 950_us;
        story.CopyFromGpu(4, MemoryKind::kPinned, {copy - 5_us, copy - 1_us}, {copy, copy + 2_us});
      }
    }
    story.Thread("loop");
    for (int part = 0; part < 6; ++part) {
      const Nanos copy = at + 4_ms + 200_us + part * 50_us;
      story.CopyFromGpu(1_MiB, MemoryKind::kPageable, {copy, copy + 45_us},
                        {copy + 2_us, copy + 40_us});
    }
    at += 7_ms;
  }
  const Analyzed run(story, kAuto);
  const Steps& steps = run->run.steps;
  REQUIRE(steps.known());
  CHECK(steps.all.size() >= kSteps - 1);
  CHECK(steps.Median() < 1200_us);
  CHECK(steps.outliers.size() >= 9);
}

// Loads for 600 us on the thread that then launches 390 us of work, again and again.
TraceBuilder LoadThenCompute(int steps) {
  TraceBuilder story;
  Repeat(steps, 1_ms, [&](int i, Nanos at) {
    story.Range(Numbered("step ", i), {at, at + 1_ms});
    story.Launch("work", {at + 600_us, at + 603_us}, {at + 610_us, at + 1_ms});
  });
  return story;
}

TEST_CASE("the steady window holds whole steps: as many waits as computations") {
  const Analyzed run(LoadThenCompute(10), kAuto);
  CHECK(run->run.steps.all.size() == 9);  // what follows the tenth is not known
  CHECK(run->run.window.start == 610_us);
  CHECK(run->run.window.end == 9_ms + 610_us);
  CHECK(run->times[0].compute.Total() == 9 * 390_us);
  CHECK(run->times[0].idle.Total() == 9 * 610_us);
}

TEST_CASE("of very few steps none is left out") {
  CHECK(Analyzed(LoadThenCompute(3), kAuto)->run.steps.all.size() == 3);
}

TEST_CASE("of a few steps in the middle of a run, each has the wait before its work") {
  // As LoadThenCompute; `tail` of the work of the step before runs when the recording begins.
  const auto story = [](Nanos tail, int first) {
    TraceBuilder steps;
    if (tail > 0) steps.Kernel("work", {0, tail});
    Repeat(3, 1_ms, [&](int i, Nanos at) {
      steps.Range(Numbered("ProfilerStep#", first + i), {at, at + 1_ms});
      steps.Launch("work", {at + 600_us, at + 603_us}, {at + 610_us, at + 1_ms + tail});
    });
    return steps;
  };
  const Analyzed busy(story(100_us, 6), kAuto);
  REQUIRE(busy->run.steps.all.size() == 3);
  CHECK(busy->run.window.start == 100_us);
  CHECK(busy->run.window.end == 3_ms + 100_us);
  CHECK(busy->times[0].idle.Total() == 3 * 510_us);
  const Analyzed idle(story(0, 6), kAuto);
  CHECK(idle->run.window.start == 0);
  CHECK(idle->times[0].idle.Total() == 3 * 610_us);
  // A program that starts shows no wait of a usual step before its first one.
  CHECK(Analyzed(story(0, 0), kAuto)->times[0].idle.Total() == 2 * 610_us);
}

TEST_CASE("communication between the computing of steps is no wait") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range(Numbered("step ", i), {at, at + 1_ms});
    story.Launch("ncclDevKernel_SendRecv", {at + 5_us, at + 8_us}, {at + 10_us, at + 610_us});
    story.Launch("work", {at + 600_us, at + 603_us}, {at + 610_us, at + 1_ms + 10_us});
  });
  CHECK(Analyzed(story, kAuto)->run.steps.all.size() == 10);
}

TEST_CASE("what is loaded in an early step is warm-up, even behind usual ones") {
  for (const int slow : {4, 30}) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 60; ++i) {
      const Nanos length = i == slow ? 9_ms : 1_ms;
      story.Range(Numbered("step ", i), {at, at + length});
      if (i == slow) story.Call("cuModuleLoadData", {at + 10_us, at + 8_ms});
      AddLayeredStep(&story, at + length - 1_ms, 50_us);
      at += length;
    }
    const Analyzed run(story, kAuto);
    // The GPU waits for it at the end of the step before.
    CHECK(run->run.steps.first_steady == (slow == 4 ? 4 : 0));
    CHECK(run->run.window.start == (slow == 4 ? 12_ms + 100_us : 100_us));
    CHECK(run->run.steps.outliers.size() == (slow == 4 ? 0 : 1));
  }
}

TEST_CASE("leading steps that allocate are warm-up, although the loop goes on loading code") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range(Numbered("step ", i), {at, at + 1_ms});
    if (i < 2) story.Call("cudaMalloc", {at + 10_us, at + 50_us});
    if (i > 4) story.Call("cuModuleLoadData", {at + 10_us, at + 50_us});
    AddLayeredStep(&story, at, 50_us);
  });
  CHECK(Analyzed(story, kAuto)->run.steps.first_steady == 2);
}

TEST_CASE("leading slow steps are warm-up, and the steady window begins after them") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 10; ++i) {
    const Nanos length = i < 2 ? 5_ms : 1_ms;
    story.Range(Numbered("step ", i), {at, at + length});
    AddLayeredStep(&story, at, 50_us);
    at += length;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.first_steady == 2);
  CHECK(run->run.steps.steady_count() == 8);
  CHECK(run->run.steps.Median() == 1_ms);
  CHECK(run->run.window.mode == "steady");
  CHECK(run->run.window.start == 10_ms);
  CHECK(run->run.window.end == 18_ms);
}

TEST_CASE("steps that were faster before the clocks fell are no warm-up") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 13; ++i) {
    const Nanos length = i < 5 ? 1_ms : 2_ms;
    story.Range(Numbered("step ", i), {at, at + length});
    AddLayeredStep(&story, at, i < 5 ? 50_us : 100_us);
    at += length;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.first_steady == 0);
  CHECK(run->run.window.start == 0);
}

TEST_CASE("a slow step in the middle is an outlier that rates leave out") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 12; ++i) {
    const Nanos length = i == 6 ? 4_ms : 1_ms;
    story.Range(Numbered("step ", i), {at, at + length});
    AddLayeredStep(&story, at, 50_us);
    at += length;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.first_steady == 0);
  CHECK(run->run.steps.outliers == std::vector<std::size_t>{6});
  CHECK(run->run.steps.Median() == 1_ms);
  CHECK(run->step_stats.outlier_excess_ns == Approx(3e6));
}

TEST_CASE("a slow step behind a usual first one is an outlier, and no warm-up") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 6; ++i) {
    const Nanos length = i == 1 ? 4_ms : 1_ms;
    story.Range(Numbered("step ", i), {at, at + length});
    AddLayeredStep(&story, at, 50_us);
    at += length;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.first_steady == 0);
  CHECK(run->run.steps.outliers == std::vector<std::size_t>{1});
}

TEST_CASE("two ranges are no steps, and the window begins with the first of them") {
  TraceBuilder story;
  Repeat(2, 1_ms, [&](int i, Nanos at) {
    story.Range(Numbered("step ", i), {at, at + 900_us});
    AddPlainStep(&story, at, 50_us);
  });
  const Analyzed run(story, kAuto);
  CHECK_FALSE(run->run.steps.known());
  CHECK(run->run.steps.source.empty());
  CHECK(run->run.steps.Median() == 0);
  CHECK(run->run.window.start == 0);
  CHECK(run->run.trace.ops.start.front() > 0);
  CHECK(run->support.reason == "only two steps were recorded");
}

TEST_CASE("what repeats inside the only step that a range marks is a layer") {
  const auto steps = [](const char* name) {
    TraceBuilder story;
    story.Range(name, {0, 40_ms});
    Repeat(30, 1_ms, [&](int, Nanos at) {
      for (int k = 0; k < 4; ++k) {
        const Nanos from = at + k * 250_us;
        story.Launch("layer" + std::to_string(k), {from, from + 5_us},
                     {from + 10_us, from + 240_us});
      }
    });
    return Analyzed(story, kAuto)->run.steps.known();
  };
  CHECK_FALSE(steps("step 6"));
  CHECK(steps("main"));
}

TEST_CASE("ranges around no GPU work are no steps") {
  TraceBuilder story;
  story.Launch("once", {0_us, 5_us}, {10_us, 20_us});
  story.Thread("logger");
  Repeat(8, 1_ms, [&](int i, Nanos at) { story.Range(Numbered("step ", i), {at, at + 900_us}); });
  CHECK_FALSE(Analyzed(story, kAuto)->run.steps.known());
}

TEST_CASE("names of phases and of single operators are no steps") {
  const Analyzed run(RangedLoop(8, [](int) { return "optimizer.step"; }), kAuto);
  CHECK(run->run.steps.source != "range");
}

TEST_CASE("steps of a model server are one loop, whether they read prompts or generate") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 60; ++i) {
    const bool reads = i % 8 == 5;
    const Nanos length = reads ? 8_ms : 1_ms;
    story.Range(reads ? "step[EXTEND bs=2 toks=4096]"
                      : "step[DECODE bs=" + std::to_string(20 + i % 3) + "]",
                {at, at + length - 10_us});
    story.Launch(kMatrixBf16, {at + 5_us, at + 9_us}, {at + 20_us, at + length - 20_us});
    at += length;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.source == "range");
  CHECK(run->run.steps.name == "step of SGLang");
  CHECK(run->run.steps.all.size() >= 59);
}

}  // namespace
}  // namespace advise
