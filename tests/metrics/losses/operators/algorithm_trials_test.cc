// Convolutions that try algorithms out, on stories whose numbers add up by hand.
#include "engine/metrics/losses/operators/algorithm_trials.h"

#include "tests/support/operator_story.h"

namespace advise {
namespace {

// A convolution that prepares for 300 us, runs `tried` algorithms of 50 us twice each, waits for
// each, and then computes for 50 us.
Nanos AddSearch(OperatorStory* s, Nanos start, int tried) {
  Nanos now = start + 300_us;
  for (int k = 0; k < 2 * tried; ++k) {
    s->story.Launch("sm80_xmma_fprop_implicit_gemm_" + std::to_string(k / 2), {now, now + 5_us},
                    {now + 10_us, now + 60_us});
    s->story.Sync({now + 6_us, now + 62_us},
                  k % 2 == 0 ? "cudaDeviceSynchronize" : "cudaEventSynchronize");
    now += 70_us;
  }
  s->story.Launch("chosen", {now, now + 5_us}, {now + 10_us, now + 60_us});
  s->operators.push_back({"aten::conv2d", {start - 5_us, now + 15_us}});
  s->operators.push_back({"aten::cudnn_convolution", {start, now + 10_us}});
  return now + 70_us;
}

TEST_CASE("a convolution that waits for what it launches tries algorithms out") {
  OperatorStory s;
  s.story.Launch("before", {0_us, 5_us}, {10_us, 20_us});
  AddSearch(&s, 100_us, 5);
  const Analysis& a = s.Analyze();
  const AlgorithmTrials& trials = a.algorithm_trials;
  CHECK(trials.loss.count == 1);
  CHECK(trials.mean == 5);
  // Ten trials are gone, and what prepares four of the five algorithms.
  CHECK(trials.loss.remedy->scaled_ops.size() == 10);
  REQUIRE(trials.loss.remedy->host_cuts.size() == 1);
  const Interval cut = trials.loss.remedy->host_cuts[0].when.intervals().front();
  CHECK(cut.start == 160_us);
  CHECK(cut.end == 400_us + 9 * 70_us + 62_us);
  // From there to the chosen one the GPU does nothing else.
  CHECK(trials.loss.lost->Total() == cut.end - cut.start);
  CHECK(static_cast<double>(a.replay().Gain(*trials.loss.remedy)) ==
        Approx(static_cast<double>(cut.end - cut.start)).epsilon(0.05));
}

TEST_CASE("trials are told without operators, by kernels that run twice in a row") {
  OperatorStory s;
  s.story.Launch("before", {95_us, 100_us}, {105_us, 120_us});
  s.story.Call("cudaMalloc", {110_us, 120_us});
  const Nanos end = AddSearch(&s, 100_us, 5);
  s.operators.clear();
  s.story.Launch("behind", {end, end + 5_us}, {end + 10_us, end + 20_us});
  s.story.Sync({end + 6_us, end + 30_us});
  const Analysis& a = s.Analyze();
  const AlgorithmTrials& trials = a.algorithm_trials;
  CHECK(trials.loss.count == 1);
  CHECK(trials.mean == 5);
  CHECK(trials.loss.remedy->scaled_ops.size() == 10);
  REQUIRE(trials.loss.remedy->host_cuts.size() == 1);
  const Interval cut = trials.loss.remedy->host_cuts[0].when.intervals().front();
  CHECK(cut.start == 160_us);
  CHECK(cut.end == 400_us + 9 * 70_us + 62_us);
}

TEST_CASE("what is tried out at the start alone is no habit, where no steps are known") {
  const auto tried = [](Nanos rest) {
    OperatorStory s;
    s.story.Launch("before", {0_us, 5_us}, {10_us, 20_us});
    const Nanos end = AddSearch(&s, 100_us, 5);
    s.story.Launch("long", {end, end + 5_us}, {end + 10_us, end + 10_us + rest});
    return s.Analyze().algorithm_trials.loss.count;
  };
  CHECK(tried(100_us) == 1);
  CHECK(tried(5_ms) == 0);
}

TEST_CASE("a program that waits behind each layer tries nothing out") {
  OperatorStory s;
  for (Nanos k = 0; k < 12; ++k) {
    const Nanos at = k * 100_us;
    s.story.Launch("sm80_xmma_fprop_implicit_gemm_" + std::to_string(k % 4), {at, at + 5_us},
                   {at + 10_us, at + 60_us});
    s.story.Sync({at + 20_us, at + 62_us});
  }
  CHECK(s.Analyze().algorithm_trials.loss.count == 0);
}

TEST_CASE("few kernels that run in pairs are no trials, nor are those that convolve nothing") {
  const auto found = [](const std::string& kernel, Nanos kernels) {
    OperatorStory s;
    s.story.Launch("before", {0_us, 5_us}, {10_us, 20_us}).Sync({25_us, 30_us});
    for (Nanos k = 0; k < 12; ++k) {
      const Nanos at = 100_us + k * 100_us;
      s.story.Launch(kernel + std::to_string(k / 2 % kernels), {at, at + 5_us},
                     {at + 10_us, at + 60_us});
      s.story.Sync({at + 20_us, at + 62_us});
    }
    return s.Analyze().algorithm_trials.loss.count;
  };
  CHECK(found("sm80_xmma_fprop_implicit_gemm_", 6) == 1);
  CHECK(found("sm80_xmma_fprop_implicit_gemm_", 2) == 0);
  CHECK(found("stencil_", 6) == 0);
}

TEST_CASE("a convolution that only computes, and one that is waited for, try nothing out") {
  OperatorStory s;
  s.story.Launch("before", {0_us, 5_us}, {10_us, 20_us});
  for (Nanos k = 1; k < 10; ++k) {
    const Nanos at = k * 100_us;
    s.story.Launch("conv", {at, at + 5_us}, {at + 10_us, at + 60_us});
    s.operators.push_back({"aten::cudnn_convolution", {at - 5_us, at + 8_us}});
    s.story.Sync({at + 20_us, at + 62_us});  // by the program
  }
  CHECK(s.Analyze().algorithm_trials.loss.count == 0);
}

TEST_CASE("the checks of anomaly mode beside a convolution are no trials") {
  OperatorStory s;
  s.operators.push_back(
      {"autograd::engine::evaluate_function: ConvolutionBackward0", {90_us, 900_us}});
  s.operators.push_back({"aten::convolution_backward", {95_us, 120_us}});
  s.story.Launch("conv", {100_us, 105_us}, {110_us, 160_us});
  for (Nanos k = 0; k < 6; ++k) {
    const Nanos at = 200_us + k * 100_us;
    s.story.Launch("check", {at, at + 5_us}, {at + 10_us, at + 15_us});
    s.story.Sync({at + 6_us, at + 20_us});
  }
  CHECK(s.Analyze().algorithm_trials.loss.count == 0);
}

}  // namespace
}  // namespace advise
