// Steps of a run that names none: from the rhythm of its kernels.
#include <array>

#include "engine/timeline/step.h"
#include "tests/support/analyzed.h"
#include "tests/support/dice.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TraceBuilder Unnamed(int steps, Nanos apart = 1_ms) {
  TraceBuilder story;
  Repeat(steps, apart, [&](int, Nanos at) { AddLayeredStep(&story, at, 50_us); });
  return story;
}

TEST_CASE("a repeating sequence of kernels is a step, the layers inside it are not") {
  const Analyzed run(Unnamed(10), kAuto);
  const Steps& steps = run->run.steps;
  CHECK(steps.source == "period");
  CHECK(steps.Median() == 1_ms);
  CHECK(steps.all.size() >= 9);
  CHECK(steps.all.size() <= 10);
}

TEST_CASE("a step found by its rhythm begins after the gap between steps") {
  const Analyzed run(Unnamed(10), kAuto);
  for (const Step& step : run->run.steps.all) {
    // The first kernel of each step starts 100 us into its millisecond.
    CHECK(step.start % 1_ms == 100_us);
  }
}

TEST_CASE("the last step of a rhythm is complete or left out") {
  TraceBuilder story = Unnamed(10);
  const Nanos at = 10_ms;  // an eleventh step, cut after four kernels
  for (int k = 0; k < 4; ++k) {
    const Nanos start = at + 100_us + k * 50_us;
    story.Launch(k == 0       ? "embed"
                 : k % 2 == 1 ? "attention_part"
                              : "mlp_part",
                 {start - 60_us, start - 57_us}, {start, start + 50_us});
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.known());
  CHECK(run->run.steps.all.back().end <= 10_ms + 100_us);
  CHECK(run->run.window.end <= 10_ms + 100_us);
}

TEST_CASE("a rhythm with waits ends where the last of its steps begins") {
  const Analyzed run(Unnamed(10), kAuto);  // 700 us of work each millisecond
  CHECK(run->run.steps.all.size() == 9);
  CHECK(run->run.window.end == 9_ms + 100_us);
  CHECK(run->times[0].idle.Total() == 9 * 300_us);
}

TEST_CASE("a rhythm without waits ends with its last kernel") {
  TraceBuilder story;
  Repeat(10, 700_us, [&](int, Nanos at) {
    story.Sync({at + 10_us, at + 20_us}, "cudaEventSynchronize");
    AddLayeredStep(&story, at, 50_us);
  });
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.all.size() == 10);
  CHECK(run->run.window.end == 7_ms + 100_us);
}

TEST_CASE("the wait for code that a rhythm meets a few steps late is warm-up") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 60; ++i) {
    if (i == 4) story.Call("cuModuleLoadData", {at, at + 8_ms});
    if (i == 4) at += 8_ms;
    AddLayeredStep(&story, at, 50_us);
    at += 1_ms;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.first_steady == 4);  // the wait lies at the end of the fourth
  CHECK(run->run.window.start == 12_ms + 100_us);
}

// Twenty steps of ten kernels, 1 ms each; in the middle of one of them, these kernels run as well.
std::vector<Step> StepsWith(const std::vector<std::string>& names,
                            const std::vector<std::string>& extra) {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      const Nanos start = at + 100_us + static_cast<Nanos>(k) * 60_us;
      story.Launch(names[k], {start - 60_us, start - 57_us}, {start, start + 30_us});
      for (std::size_t e = 0; i == 12 && k == 6 && e < extra.size(); ++e) {
        const Nanos more = start + 32_us + static_cast<Nanos>(e) * 8_us;
        const Nanos call = start - 50_us + static_cast<Nanos>(e) * 10_us;
        story.Launch(extra[e], {call, call + 3_us}, {more, more + 6_us});
      }
    }
  });
  return Analyzed(story, kAuto)->run.steps.all;
}

TEST_CASE("what comes once more inside a step neither opens another one nor moves its beginning") {
  const std::vector<std::string> distinct = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  const std::vector<std::string> layers = {"in", "x", "y", "x", "y", "x", "y", "x", "y", "out"};
  for (const std::vector<Step>& steps :
       {StepsWith(distinct, {"a"}), StepsWith(distinct, {"log", "save"}),
        StepsWith(layers, {"in", "out"}), StepsWith(layers, {"out", "in"})}) {
    CHECK(steps.size() == 19);
    for (const Step& step : steps) CHECK(step.Length() == 1_ms);
  }
}

TEST_CASE("a pass of fewer kernels that the same one opens is no part of the step behind it") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    Nanos start = at + 100_us;
    for (int k = 0; k < 10; ++k) {
      if (i == 12 && k > 2 && k < 9) continue;
      const char* const name = k == 0 ? "in" : k == 9 ? "out" : k % 2 == 1 ? "x" : "y";
      story.Launch(name, {start - 60_us, start - 57_us}, {start, start + 30_us});
      start += 60_us;
    }
  });
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.all.size() == 19);
  for (const Step& step : run->run.steps.all) CHECK(step.Length() == 1_ms);
}

TEST_CASE("fewer than three repetitions are no steps") {
  TraceBuilder story;
  Repeat(2, 1_ms, [&](int, Nanos at) { AddPlainStep(&story, at, 50_us); });
  const Analyzed run(story, kAuto);
  CHECK_FALSE(run->run.steps.known());
  CHECK(run->run.window.mode == "all");
}

TEST_CASE("work without a rhythm has no steps") {
  TraceBuilder story;
  std::uint32_t state = 12345;
  for (int i = 0; i < 300; ++i) {
    state = state * 1664525U + 1013904223U;
    const Nanos start = 100_us + i * 60_us;
    story.Launch("kernel_" + std::to_string(state >> 28U), {start - 50_us, start - 46_us},
                 {start, start + 50_us});
  }
  CHECK_FALSE(Analyzed(story, kAuto)->run.steps.known());
}

TEST_CASE("communication on the same stream does not break the rhythm") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    AddLayeredStep(&story, at, 50_us);
    // One all-reduce in some steps, two in the others.
    for (int k = 0; k <= i % 2; ++k) {
      const Nanos start = at + 810_us + k * 20_us;
      story.Launch(kAllReduce, {start - 50_us, start - 47_us}, {start, start + 15_us});
    }
  });
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.source == "period");
  CHECK(run->run.steps.Median() == 1_ms);
}

TEST_CASE("a stream full of communication is not the one that gives the rhythm") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.OnStream(7);
    AddLayeredStep(&story, at, 50_us);
    story.OnStream(13);  // more collectives than kernels, and not the same number in each step
    for (int k = 0; k < 20 + i % 3; ++k) {
      const Nanos start = at + 110_us + k * 30_us;
      story.Launch(kAllReduce, {start - 50_us, start - 49_us}, {start, start + 15_us});
    }
  });
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.source == "period");
  CHECK(run->run.steps.Median() == 1_ms);
}

// Every fourth of 16 steps of 1 ms ends with eight downloads of 500 us each, which hold the host.
TraceBuilder WithCheckpoints() {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 16; ++i) {
    AddPlainStep(&story, at, 80_us);
    at += 1_ms;
    if (i % 4 != 3) continue;
    for (int k = 0; k < 8; ++k) {
      story.CopyFromGpu(4_MiB, MemoryKind::kPageable, {at, at + 500_us}, {at, at + 500_us});
      at += 500_us;
    }
  }
  return story;
}

TEST_CASE("copies between some steps do not break the rhythm of the others") {
  const Analyzed run(WithCheckpoints(), kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.Median() == 1_ms);
  CHECK(run->run.steps.all.size() >= 15);
}

// A solver that never waits: every fourth of 24 iterations ends with eight downloads.
TEST_CASE("a program that is nothing but a short loop has iterations, although it meets nobody") {
  TraceBuilder story;
  Nanos at = 100_us;
  for (int i = 0; i < 24; ++i) {
    for (const char* name : {"stencil", "halo", "stencil", "update", "reduce"}) {
      story.Launch(name, {at - 60_us, at - 57_us}, {at, at + 100_us});
      at += 100_us;
    }
    if (i % 4 != 3) continue;
    for (int k = 0; k < 8; ++k) {
      story.CopyFromGpu(4_MiB, MemoryKind::kPageable, {at, at + 500_us}, {at, at + 500_us});
      at += 500_us;
    }
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.Median() == 500_us);
  CHECK(run->step_stats.stall_every == 4);
}

// Stages of one kernel, after the last of which the host waits, `stages` of them per iteration.
TraceBuilder Staged(int iterations, int stages) {
  TraceBuilder story;
  Repeat(iterations, stages * 400_us + 200_us, [&](int, Nanos at) {
    for (int k = 0; k < stages; ++k) {
      story.Launch("wave_update", {at + k * 5_us, at + k * 5_us + 4_us},
                   {at + 10_us + k * 400_us, at + 409_us + k * 400_us});
    }
    story.Sync({at + stages * 5_us, at + stages * 400_us + 15_us});
  });
  return story;
}

TEST_CASE("stages of one kernel between two waits of the host are one iteration") {
  const Analyzed run(Staged(40, 4), kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.Median() == 1800_us);
  CHECK(run->step_stats.stall_every == 0);  // no "every 4th iteration takes longer"
}

TEST_CASE("a host that asks again until the stages are done waits for them") {
  const auto median = [](int queries) {
    TraceBuilder story;
    Repeat(40, 2_ms, [&](int, Nanos at) {
      for (int k = 0; k < 4; ++k) {
        story.Launch("wave_update", {at + k * 5_us, at + k * 5_us + 4_us},
                     {at + 10_us + k * 400_us, at + 409_us + k * 400_us});
      }
      for (int q = 0; q < queries; ++q)
        story.Call("cudaEventQuery", {at + 30_us + q * 50_us, at + 31_us + q * 50_us});
    });
    const Analyzed run(story, kAuto);
    return run->run.steps.all.empty() ? 0 : run->run.steps.Median();
  };
  CHECK(median(32) == 2_ms);
  CHECK(median(3) == 400_us);  // an allocator asks for the blocks that it lent
}

TEST_CASE("stages are counted by the visits of the thread that launches them") {
  TraceBuilder story = Staged(40, 4);
  // Another thread drives another GPU, and waits for it while this one still launches its stages.
  story.Thread("second").OnDevice(1);
  Repeat(40, 1800_us, [&](int i, Nanos at) {
    story.Launch("wave_update", {at, at + 4_us}, {at + 10_us, at + 1500_us});
    story.Sync({at + 6_us + (i % 3) * 5_us, at + 1515_us});
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.Median() == 1800_us);
}

// A stage of a pipeline: ten layers of three kernels for each request, whose result it sends on.
// The host waits after every second request.
TEST_CASE("layers between two sends are one iteration of a stage") {
  const auto median = [](int layers_sent) {
    TraceBuilder story;
    int layer = 0;
    Repeat(22, 10_ms, [&](int, Nanos at) {
      for (int k = 0; k < 20; ++k, ++layer) {
        const Nanos on_host = at + k * 100_us;
        const Nanos on_gpu = at + 10_us + k * 480_us;
        story.Launch("gemm_qkv", {on_host, on_host + 4_us}, {on_gpu, on_gpu + 200_us});
        story.Launch("flash_fwd", {on_host + 5_us, on_host + 9_us},
                     {on_gpu + 200_us, on_gpu + 280_us});
        story.Launch("gemm_qkv", {on_host + 10_us, on_host + 14_us},
                     {on_gpu + 280_us, on_gpu + 470_us});
        if (layer % layers_sent != layers_sent - 1) continue;
        story.OnStream(20).Launch("ncclDevKernel_SendRecv", {on_host + 15_us, on_host + 19_us},
                                  {on_gpu + 470_us, on_gpu + 480_us});
        story.OnStream(7);
      }
      story.Sync({at + 2100_us, at + 9700_us});
    });
    const Analyzed run(story, kAuto);
    return run->run.steps.all.empty() ? 0 : run->run.steps.Median();
  };
  CHECK(median(10) == Approx(4.8e6).epsilon(0.1));
  CHECK(median(1) == 480_us);  // each repeat sends
}

TEST_CASE("a sweep that the host checks now and then is an iteration of its own") {
  const Analyzed run(Staged(10, 50), kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.Median() == Approx(400e3).epsilon(0.05));
}

// A solver of 150 iterations, which sums up the residual and reads it in the first, the 51st and
// the 101st of them: three of these are too few for steps, and are none.
TEST_CASE("a check that comes three times does not hide the iterations of a solver") {
  TraceBuilder story;
  Repeat(150, 400_us, [&](int n, Nanos at) {
    const Nanos lead = n == 0 ? 0 : 100_us;  // the host is ahead
    story.Launch("flux", {at - lead, at - lead + 4_us}, {at + 10_us, at + 150_us});
    story.Launch("update", {at - lead + 5_us, at - lead + 9_us}, {at + 151_us, at + 380_us});
    if (n % 50 != 0) return;
    story.Launch("residual", {at + 10_us, at + 14_us}, {at + 381_us, at + 390_us});
    story.CopyFromGpu(8, MemoryKind::kPinned, {at + 15_us, at + 19_us}, {at + 391_us, at + 392_us});
    story.Sync({at + 20_us, at + 394_us});
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.known());
  CHECK(run->run.steps.all.size() >= 148);
  CHECK(run->run.steps.Median() == Approx(400e3).epsilon(0.1));
}

// Molecular dynamics on the GPU: the list of neighbors is pruned in every 20th of 200 steps, and
// the host launches ahead all the time.
TEST_CASE("what comes in every 20th step does not hide the steps of a loop that meets nobody") {
  TraceBuilder story;
  Nanos at = 1_ms;
  for (int i = 0; i < 200; ++i) {
    const auto add = [&](const char* name, Nanos length) {
      story.Launch(name, {at - 900_us, at - 897_us}, {at, at + length});
      at += length + 1_us;
    };
    if (i % 20 == 0) add("prune", 400_us);
    for (const char* name : {"nonbonded", "spread", "transform", "solve", "transform", "collect",
                             "leapfrog", "constraints"})
      add(name, 60_us);
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.all.size() >= 190);
}

// No kernel runs once per step: each batch is rarer than what the update runs.
TEST_CASE("a step of several batches is no batch, also where the update repeats its kernels") {
  TraceBuilder story;
  Nanos at = 1_ms;
  const auto add = [&](const std::string& name) {
    story.Launch(name, {at - 900_us, at - 897_us}, {at, at + 20_us});
    at += 21_us;
  };
  for (int batch = 0; batch < 4; ++batch) {  // kernels are tried first
    for (int i = 0; i < 30; ++i) add("cudnn_convolution_fprop");
    add("loss");
  }
  for (int step = 0; step < 12; ++step) {
    story.OnStream(9).CopyToGpu(1 << 20, MemoryKind::kPinned, {at - 950_us, at - 947_us},
                                {at - 500_us, at - 450_us});
    story.OnStream(7);
    for (int batch = 0; batch < 4; ++batch) {
      add("loss");
      for (int k = 0; k < 40; ++k) {
        add("cudnn_convolution_fprop");
        add("relu");
      }
    }
    for (int k = 0; k < 6; ++k) add("multi_tensor_apply");
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.Median() == (4 * 81 + 6) * 21_us);
}

TEST_CASE("copies that other steps do not make are what a periodic stall loses") {
  const Analyzed run(WithCheckpoints(), kAuto);
  CHECK(run->step_stats.stall_every == 4);
  // Three whole checkpoints lie between steps; a fourth one may end the window.
  CHECK(run->step_stats.stall.lost->Total() >= 3 * 4_ms);
  CHECK(run->step_stats.stall.lost->Total() <= 4 * 4_ms);
  // Beside the kernels, eight copies of 500 us fit into four steps of 1 ms.
  CHECK(run->replay().Gain(*run->step_stats.stall.remedy) >= 3 * 3_ms);
}

TEST_CASE("the first steps of a rhythm that load code are warm-up") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 12; ++i) {
    if (i == 0) story.Call("cuModuleLoadData", {at, at + 4_ms});
    if (i == 0) at += 4_ms;
    AddLayeredStep(&story, at, 50_us);
    at += 1_ms;
    if (i == 0) at += 5_ms;  // the rest of the first step's own waiting
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.known());
  CHECK(run->run.steps.first_steady == 1);
  CHECK(run->run.steps.Median() == 1_ms);
}

TEST_CASE("asking for all work keeps the steps and widens the window") {
  const TraceBuilder story = Unnamed(10);
  const Analyzed all(story, WindowRequest::Mode::kAll);
  CHECK(all->run.steps.known());
  CHECK(all->run.window.start == 100_us);
  CHECK(all->run.window.end == 9_ms + 800_us);
}

TEST_CASE("times that are moved as a whole move the steps and change nothing else") {
  const Analyzed here(Unnamed(10), kAuto);
  const Analyzed later(Unnamed(10).Shift(700_ms), kAuto);
  REQUIRE(here->run.steps.all.size() == later->run.steps.all.size());
  for (std::size_t i = 0; i < here->run.steps.all.size(); ++i)
    CHECK(here->run.steps.all[i].start + 700_ms == later->run.steps.all[i].start);
  CHECK(here->run.steps.Median() == later->run.steps.Median());
}

// Thirteen layers and a head for each token, 2 ms; in six of the layers the host reads a number
// back.
TEST_CASE("layers in some of which the host reads a number back are no iterations") {
  TraceBuilder story;
  Repeat(12, 2_ms, [&](int, Nanos at) {
    Nanos next = at + 100_us;
    const auto kernel = [&](const char* name) {
      story.Launch(name, {next - 20_us, next - 15_us}, {next, next + 40_us});
      next += 50_us;
    };
    for (int layer = 0; layer < 13; ++layer) {
      kernel("attention_part");
      kernel("mlp_part");
      if (layer % 2 == 0 && layer < 12) {
        story.CopyFromGpu(4, MemoryKind::kPinned, {next - 20_us, next - 18_us},
                          {next, next + 2_us});
        story.Sync({next - 17_us, next + 4_us});
        next += 30_us;
      }
    }
    kernel("head");
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.Median() == 2_ms);
}

// Forty pieces are uploaded one by one, each spread by a small kernel, before the work proper.
TEST_CASE("a train of copies, also one that feeds a kernel each, is a part of an iteration") {
  for (const bool feeds : {false, true}) {
    TraceBuilder story;
    Repeat(12, 4_ms, [&](int, Nanos at) {
      Nanos next = at + 100_us;
      for (int piece = 0; piece < 40; ++piece) {
        story.CopyToGpu(1_KiB, MemoryKind::kPinned, {next - 10_us, next - 8_us},
                        {next, next + 5_us});
        if (feeds) story.Launch("spread", {next - 7_us, next - 5_us}, {next + 6_us, next + 10_us});
        next += 20_us;
      }
      for (const char* name : {"embed", "attention", "mlp", "norm", "head", "loss"}) {
        story.Launch(name, {next - 10_us, next - 5_us}, {next, next + 200_us});
        next += 210_us;
      }
    });
    const Analyzed run(story, kAuto);
    INFO(feeds);
    REQUIRE(run->run.steps.source == "period");
    CHECK(run->run.steps.Median() == 4_ms);
  }
}

}  // namespace
}  // namespace advise
