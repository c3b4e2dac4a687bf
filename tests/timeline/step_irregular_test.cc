// Steps of a run that names none, although some of their work comes irregularly.
#include "engine/timeline/step.h"
#include "tests/support/analyzed.h"
#include "tests/support/dice.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// `kernels` one after the other, without pause; of a grid, where the name ends with its number.
void LaunchAll(TraceBuilder* story, Nanos* at, Nanos length, std::vector<const char*> kernels) {
  for (const char* name : kernels) {
    story->Launch(name, {*at - 20_us, *at - 17_us}, {*at, *at + length});
    *at += length;
  }
}

TEST_CASE("steps whose lengths follow their data are steps when the work and the host say so") {
  TraceBuilder story;
  Nanos at = 1_ms;
  for (int i = 0; i < 24; ++i) {
    story.CopyToGpu(1 << 20, MemoryKind::kPinned, {at - 20_us, at - 15_us}, {at, at + 10_us});
    at += 10_us;
    const Nanos length = (10 + 37 * i % 90) * 1_us;  // 10 to 100 us
    for (int layer = 0; layer < 6; ++layer)
      LaunchAll(&story, &at, length, {"gather", "gemm_nn", "relu"});
    LaunchAll(&story, &at, 20_us, {"update"});
  }
  const Analyzed run(story, kAuto);
  const Steps& steps = run->run.steps;
  CHECK(steps.all.size() >= 22);
  CHECK(steps.all.size() <= 24);
}

TEST_CASE(
    "a train of tiny kernels is part of an iteration, also where some of these end with a "
    "reduction") {
  TraceBuilder story;
  Nanos at = 1_ms;
  for (int i = 0; i < 30; ++i) {
    for (int stage = 0; stage < 3; ++stage) {
      LaunchAll(&story, &at, 400_us, {"advect"});
      LaunchAll(&story, &at, 2_us, std::vector<const char*>(40, "pack"));
    }
    LaunchAll(&story, &at, 10_us, {"dot", "dot", "dot", "dot"});
  }
  const Analyzed run(story, kAuto);
  const Steps& steps = run->run.steps;
  CHECK(steps.Median() == 480_us);
}

TEST_CASE("inputs whose sizes follow the data do not hide the rhythm") {
  TraceBuilder story;
  Dice dice(7);
  for (int i = 0; i < 30; ++i) {
    const Nanos at = i * 1_ms;
    for (int c = 0; c < 5; ++c) {
      const std::int64_t bytes = std::int64_t{64} << (2 * dice.Roll(5));
      const Nanos copy = at + c * 10_us;
      story.CopyToGpu(bytes, MemoryKind::kPinned, {copy, copy + 2_us}, {copy + 4_us, copy + 5_us});
    }
    story.Launch("decode", {at + 60_us, at + 64_us}, {at + 70_us, at + 600_us});
    story.Launch("sample", {at + 65_us, at + 69_us}, {at + 600_us, at + 700_us});
  }
  CHECK(Analyzed(story, kAuto)->run.steps.Median() == 1_ms);
}

// The median step of `tokens`, one graph each; before the `turn`-th of every so many comes a
// prompt, whose kernels take so long.
Nanos MedianWithPrompts(int tokens, int every, int turn, int kernels, Nanos length) {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < tokens; ++i) {
    if (i % every == turn) {
      for (int k = 0; k < kernels; ++k) {
        constexpr std::array kNames = {"gemm_nn", "attention", "norm"};
        story.Launch(kNames[static_cast<std::size_t>(k % 3)], {at, at + 5_us},
                     {at + 8_us, at + 8_us + length});
        at += length + 1_us;
      }
      at += 10_us;
    }
    story.CopyToGpu(1_KiB, MemoryKind::kPinned, {at, at + 2_us}, {at + 4_us, at + 5_us});
    story.Graph(1, {at + 10_us, at + 20_us}, {at + 30_us, at + 1900_us});
    story.Launch("sample", {at + 25_us, at + 29_us}, {at + 1900_us, at + 1910_us});
    at += 2_ms;
  }
  return Analyzed(story, kAuto)->run.steps.Median();
}

// What a graph holds was not recorded: beside long kernels it looks like a few of these.
TEST_CASE("a token is a step also where prompts come between") {
  CHECK(MedianWithPrompts(40, 8, 5, 60, 12_us) == 2_ms);
  CHECK(MedianWithPrompts(80, 20, 13, 147, 90_us) == 2_ms);
}

TEST_CASE("a graph that is built anew for each launch is the same iteration") {
  TraceBuilder story;
  Repeat(20, 4_ms, [&](int i, Nanos at) {
    story.Call("cudaGraphInstantiate", {at, at + 800_us});
    story.Graph(static_cast<std::uint32_t>(i), {at + 800_us, at + 810_us},
                {at + 820_us, at + 4_ms + i * 1_us});
  });
  CHECK(Analyzed(story, kAuto)->run.steps.all.size() >= 18);
}

// A token that the host never waits for: forty layers, and then the head.
TEST_CASE("what holds the same attention many times is longer than a layer") {
  TraceBuilder story;
  Nanos at = 1_ms;
  Nanos first = 0;
  for (int token = 0; token < 12; ++token) {
    if (token == 1) first = at;
    for (int layer = 0; layer < 40; ++layer)
      LaunchAll(&story, &at, 20_us, {"gemv_qkv", "flash_fwd_kernel", "gemv_mlp"});
    LaunchAll(&story, &at, 90_us, {"gemv_head"});
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.Median() == first - 1_ms);
}

// A second thread uploads and downloads beside the thread that launches, whenever it comes to it.
TEST_CASE("copies that come anywhere among the kernels of a step do not hide the rhythm") {
  TraceBuilder story;
  Dice dice(7);
  Nanos at = 1_ms;
  for (int step = 0; step < 20; ++step) {
    const std::int64_t down = dice.Between(0, 19);
    const auto up = dice.Between(0, 19);
    for (int layer = 0; layer < 20; ++layer) {
      story.Thread("launcher");
      LaunchAll(&story, &at, 20_us, {"gemm_a", "flash_fwd_kernel", "gemm_b"});
      story.Thread("reader");
      if (layer == down)
        story.CopyFromGpu(1_MiB, MemoryKind::kPinned, {at - 9_us, at - 7_us}, {at, at + 5_us});
      if (layer == up)
        story.CopyToGpu(1_MiB, MemoryKind::kPinned, {at - 6_us, at - 4_us}, {at + 5_us, at + 9_us});
      at += layer == down || layer == up ? 10_us : 0;
    }
    story.Thread("launcher");
    LaunchAll(&story, &at, 100_us, {"softmax_loss"});
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.all.size() >= 18);
}

// A fluid whose user stirs it: forces come as the mouse moves, up to three of them in a frame.
TEST_CASE("kernels that run as often as the user wants do not hide the frames") {
  TraceBuilder story;
  Dice dice(3);
  Repeat(60, 16_ms, [&](int, Nanos at) {
    at += 1_ms;
    for (const char* name : {"advect", "fft_forward", "diffuse", "fft_back", "fft_back"})
      LaunchAll(&story, &at, 10_us, {name});
    for (auto i = dice.Between(0, 3); i > 0; --i) LaunchAll(&story, &at, 5_us, {"add_forces"});
    LaunchAll(&story, &at, 10_us, {"move_particles"});
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->run.steps.all.size() >= 58);
  CHECK(run->run.steps.Median() == Approx(16e6).margin(1e5));
}

// Every fifth batch of this rank is longer, by chance: with their grids, five steps repeat.
TEST_CASE("longer batches at even distances make no step of several") {
  TraceBuilder story;
  Nanos at = 1_ms;
  for (int step = 0; step < 20; ++step) {
    const std::uint32_t blocks = step % 5 == 2 ? 1400 : 1000;
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {at - 9_us, at - 7_us}, {at, at + 9_us});
    at += 10_us;
    const auto launch = [&](const std::string& name) {
      story.Launch(name, {at - 8_us, at - 5_us}, {at, at + 50_us}, {.blocks = blocks});
      at += 51_us;
    };
    for (int layer = 0; layer < 10; ++layer) {
      launch("layer_norm");
      launch("gemm_qkv");
      launch("flash_fwd_kernel");
    }
    for (const char* name : {"loss", "flash_bwd_kernel", "wgrad", "adam_a", "adam_b"}) launch(name);
  }
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.all.size() >= 18);
}

}  // namespace
}  // namespace advise
