// Steps of a server that reads prompts and generates tokens as requests come and go.
#include "engine/timeline/step.h"
#include "tests/support/analyzed.h"
#include "tests/support/dice.h"
#include "tests/support/loops.h"
#include "tests/support/trace_builder.h"

namespace advise {
namespace {

constexpr int kSteps = 60;

// Each step generates a token, as a graph for as many sequences as there are, or reads a prompt of
// some length before, kernel by kernel. It ends with the copy of the tokens that were chosen.
// In step `late` the host does something else for 30 ms.
TraceBuilder Serving(const char* also, int late = -1) {
  TraceBuilder story;
  Dice dice(5);
  Nanos at = 1_ms;
  const auto launch = [&](const char* name, Nanos length, std::uint32_t blocks) {
    story.Launch(name, {at - 8_us, at - 5_us}, {at, at + length}, {.blocks = blocks});
    at += length + 1_us;
  };
  for (int step = 0; step < kSteps; ++step) {
    if (step == late) at += 30_ms;
    story.CopyToGpu(2'048, MemoryKind::kPinned, {at - 20_us, at - 17_us}, {at - 9_us, at - 8_us});
    const bool prompt = dice.Between(0, 2) > 0;
    const auto blocks = static_cast<std::uint32_t>(dice.Between(100, 900));
    for (int layer = 0; prompt && layer < 16; ++layer) {
      launch("gemm_qkv", 60_us, blocks);
      launch("reshape_and_cache_flash_kernel", 5_us, blocks);
      launch("flash_fwd_kernel", 90_us, blocks);
      launch("gemm_mlp", 120_us, blocks);
    }
    if (!prompt) {
      const auto graph = static_cast<std::uint32_t>(dice.Between(1, 4));
      story.Graph(graph, {at - 8_us, at - 5_us}, {at, at + 2_ms + graph * 10_us});
      at += 2_ms + graph * 10_us + 1_us;
    }
    launch("gemm_head", 60_us, 132);
    if (also != nullptr) launch(also, 20_us, 132);
    launch("argmax", 10_us, 8);
    story.CopyFromGpu(8 * (1 + step % 16), MemoryKind::kPinned, {at - 3_us, at}, {at, at + 2_us});
    story.Sync({at, at + 4_us});
    at += 200_us;
  }
  return story;
}

TEST_CASE("a server's steps reach from answer to answer, whatever they read") {
  const Analyzed run(Serving(nullptr), kAuto);
  const Steps& steps = run->run.steps;
  REQUIRE(steps.source == "period");
  CHECK(steps.all.size() == kSteps - 2);
  CHECK(steps.first_steady == 0);
  CHECK(steps.outliers.empty());
}

TEST_CASE("a prompt makes no outlier of a server's step, a pause does") {
  const Analyzed run(Serving(nullptr, 41), kAuto);
  CHECK(run->run.steps.all.size() == kSteps - 2);
  CHECK(run->run.steps.outliers == std::vector<std::size_t>{39});
}

TEST_CASE("answers tell no steps of a program that trains") {
  const Analyzed run(Serving("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel"), kAuto);
  CHECK(run->run.steps.all.size() < kSteps - 2);
}

// The rank beside one that hands the tokens to the host: it computes for other lengths each time,
// and sums with that one in each step, or in few of them.
TraceBuilder Beside(const Steps& first, std::size_t sums_every) {
  TraceBuilder story;
  Dice dice(7);
  for (std::size_t i = 0; i < first.all.size(); ++i) {
    Nanos at = first.all[i].start + 3_us;
    const auto kernels = dice.Between(1, 12);
    for (int k = 0; k < kernels; ++k) {
      const std::string name =
          "kernel_" + std::string(1, static_cast<char>('a' + dice.Between(0, 6)));
      story.Launch(name, {at - 2_us, at - 1_us}, {at, at + 15_us});
      at += 18_us;
    }
    if (i % sums_every == 0) story.Kernel(kAllReduce, {at, at + 20_us});
  }
  return story;
}

TEST_CASE("a rank without steps has those of the rank with which it communicates in most of them") {
  const Analyzed first(Serving(nullptr), kAuto);
  const Steps& peer = first->run.steps;
  const auto steps = [&](std::size_t sums_every) {
    const Analyzed second(Beside(peer, sums_every), kAuto);
    CHECK_FALSE(second->run.steps.known());
    return FindSteps(second->run, &peer);
  };
  const Steps found = steps(1);
  CHECK(found.of_device);
  REQUIRE(found.all.size() == peer.all.size());
  CHECK(found.all.front().start == peer.all.front().start);
  CHECK(found.all.back().end == peer.all.back().end);
  CHECK_FALSE(steps(3).known());
}

}  // namespace
}  // namespace advise
