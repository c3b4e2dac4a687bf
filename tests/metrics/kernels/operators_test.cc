// What operators cost, whom calls belong to, and which pass they are, on stories added up by hand.
#include "engine/metrics/kernels/operators.h"

#include <catch2/catch.hpp>

#include "tests/support/operator_story.h"

namespace advise {
namespace {

TEST_CASE("an operator's own time is what the operators inside it leave; GPU time goes up to all") {
  OperatorStory s;
  s.story.Launch("before", {0_us, 2_us}, {3_us, 10_us});
  s.story.Launch("gemm", {20_us, 24_us}, {30_us, 130_us});
  s.story.Launch("bias", {40_us, 43_us}, {130_us, 140_us});
  s.operators = {{"aten::linear", {10_us, 60_us}},
                 {"aten::mm", {15_us, 30_us}},
                 {"aten::add_", {35_us, 50_us}},
                 {"aten::linear", {52_us, 55_us}}};  // the same name inside: no second total
  const Analysis& a = s.Analyze();
  const OperatorStat* linear = a.operators.Find(s.trace(), "aten::linear");
  REQUIRE(linear != nullptr);
  CHECK(linear->count == 2);
  CHECK(linear->host_ns == 50'000);
  CHECK(linear->host_self_ns == 50'000 - 15'000 - 15'000);  // the inner linear is its own, too
  CHECK(linear->gpu_ns == 110'000);
  CHECK(linear->gpu_self_ns == 0);
  const OperatorStat* mm = a.operators.Find(s.trace(), "aten::mm");
  REQUIRE(mm != nullptr);
  CHECK(mm->gpu_self_ns == 100'000);
  CHECK(mm->host_self_ns == 15'000);
  CHECK(a.operators.Find(s.trace(), "aten::nothing") == nullptr);
  CHECK(a.operators.by_name.front().name == linear->name);
}

TEST_CASE("a call belongs to the innermost operator that is open when it begins") {
  OperatorStory s;
  s.story.Launch("k", {20_us, 24_us}, {30_us, 40_us});
  s.story.Launch("k", {60_us, 64_us}, {70_us, 80_us});
  s.operators = {{"aten::linear", {10_us, 50_us}}, {"aten::mm", {20_us, 30_us}}};
  const Analysis& a = s.Analyze();
  REQUIRE(a.operators.of_call.size() == 2);
  CHECK(a.operators.of_call[0] == 1);
  CHECK(a.operators.of_call[1] == kNone);
}

TEST_CASE("the line of the program around a call is the innermost of its own files") {
  OperatorStory s;
  s.story.Launch("k", {20_us, 24_us}, {30_us, 40_us});
  s.frames = {{"train.py(80): <module>", {0_us, 90_us}},
              {"train.py(62): step", {5_us, 80_us}},
              {"torch/nn/modules/module.py(1511): _call_impl", {10_us, 70_us}},
              {"<built-in method item of Tensor object at 0x7f>", {15_us, 60_us}}};
  const Analysis& a = s.Analyze();
  CHECK(SourceOfCall(s.trace(), a.operators, 0) == "train.py(62): step");
  CHECK(SourceOfCall(s.trace(), a.operators, kNone) == "");
}

TEST_CASE(
    "backward operators make the backward pass, what autograd recorded before it the forward "
    "pass") {
  OperatorStory s;
  s.story.Launch("k", {12_us, 14_us}, {20_us, 30_us});
  s.story.Launch("k", {210_us, 214_us}, {220_us, 230_us});
  s.story.Launch("k", {310_us, 314_us}, {320_us, 330_us});
  s.operators = {{"aten::zeros", {0_us, 5_us}},  // not recorded by autograd
                 {"aten::mul", {10_us, 20_us}, 1},
                 {"aten::sum", {100_us, 120_us}, 2},
                 {"autograd::engine::evaluate_function: SumBackward0", {200_us, 240_us}, 2},
                 {"aten::expand", {205_us, 220_us}, 3},  // inside backward: no forward
                 {"autograd::engine::evaluate_function: MulBackward0", {250_us, 280_us}, 1},
                 {"aten::add_", {300_us, 340_us}}};
  const Analysis& a = s.Analyze();
  const auto& forward = a.phases.Of(0, Phase::kForward).intervals();
  REQUIRE(forward.size() == 1);
  CHECK(forward[0].start == 10_us);
  CHECK(forward[0].end == 120_us);
  const auto& backward = a.phases.Of(0, Phase::kBackward).intervals();
  REQUIRE(backward.size() == 1);  // the pause between two functions is part of the pass
  CHECK(backward[0].start == 200_us);
  CHECK(backward[0].end == 280_us);
  CHECK(a.phases.OfCall(0) == Phase::kForward);
  CHECK(a.phases.OfCall(1) == Phase::kBackward);
  CHECK(a.phases.OfCall(2) == Phase::kUnnamed);
}

TEST_CASE("operators without a backward pass are no forward pass: it may be inference") {
  OperatorStory s;
  s.story.Launch("k", {12_us, 14_us}, {20_us, 30_us});
  s.operators = {{"aten::mul", {10_us, 20_us}, 1}};
  const Analysis& a = s.Analyze();
  CHECK_FALSE(a.phases.known(Phase::kForward));
}

TEST_CASE("layers of one module are no steps, the same work called again and again is") {
  const auto steps = [](bool one_call) {
    OperatorStory s;
    for (int i = 0; i < 12; ++i) {
      const Nanos at = i * 400_us;
      for (int k = 0; k < 10; ++k) {
        const Nanos start = at + 100_us + k * 20_us;
        s.story.Launch("kernel_" + std::string(1, static_cast<char>('a' + k)),
                       {start - 60_us, start - 57_us}, {start, start + 20_us});
      }
      if (!one_call) s.frames.push_back({"nn.Module: Model_0", {at + 1_us, at + 399_us}});
    }
    if (one_call) s.frames = {{"nn.Module: Model_0", {1_us, 12 * 400_us}}};
    return s.Analyze().run.steps.all.size();
  };
  CHECK(steps(true) == 0);
  CHECK(steps(false) >= 10);
}

}  // namespace
}  // namespace advise
