// Checks for NaN and infinity, on stories whose numbers add up by hand.
#include "engine/metrics/losses/operators/value_checks.h"

#include "tests/support/operator_story.h"

namespace advise {
namespace {

constexpr const char* kBackwardNode = "autograd::engine::evaluate_function: MulBackward0";

// A test, a reduction and a read of 90 us, in which the GPU computes for 20 us.
void AddCheck(OperatorStory* s, Nanos at, const char* reduction) {
  s->operators.push_back({"aten::isnan", {at, at + 20_us}});
  s->operators.push_back({"aten::ne", {at + 2_us, at + 18_us}});
  s->story.Launch("elementwise", {at + 5_us, at + 10_us}, {at + 15_us, at + 25_us});
  s->operators.push_back({reduction, {at + 25_us, at + 45_us}});
  s->story.Launch("reduce", {at + 30_us, at + 35_us}, {at + 40_us, at + 50_us});
  s->operators.push_back({"aten::item", {at + 50_us, at + 90_us}});
  s->story.CopyFromGpu(1, MemoryKind::kPinned, {at + 55_us, at + 60_us}, {at + 62_us, at + 63_us});
  s->story.Sync({at + 61_us, at + 70_us});
}

TEST_CASE("checks inside the backward pass are those of anomaly mode") {
  OperatorStory s;
  s.story.Launch("forward", {0_us, 5_us}, {10_us, 20_us});
  for (Nanos k = 0; k < 4; ++k) {
    const Nanos at = 100_us + k * 200_us;
    s.operators.push_back({kBackwardNode, {at, at + 195_us}});
    s.story.Launch("gradient", {at + 10_us, at + 15_us}, {at + 20_us, at + 40_us});
    AddCheck(&s, at + 50_us, "aten::_is_any_true");
  }
  s.story.Launch("update", {900_us, 905_us}, {910_us, 920_us});
  const ValueChecks& checks = s.Analyze().value_checks;
  CHECK(checks.anomaly_mode);
  CHECK(checks.loss.count == 4);
  CHECK(checks.reads == checks.loss.per_step);
  CHECK(checks.loss.remedy->scaled_ops.size() == 4 * 3);
  CHECK(checks.loss.lost->Total() == 4 * 90_us);
}

TEST_CASE("two answers read one behind the other are two checks") {
  OperatorStory s;
  s.story.Launch("forward", {0_us, 5_us}, {10_us, 20_us});
  AddCheck(&s, 100_us, "aten::any");
  AddCheck(&s, 195_us, "aten::all");
  s.story.Launch("update", {400_us, 405_us}, {410_us, 420_us});
  const ValueChecks& checks = s.Analyze().value_checks;
  CHECK(checks.loss.count == 2);
  CHECK_FALSE(checks.anomaly_mode);
}

TEST_CASE("a mask of what is not a number is no check") {
  OperatorStory s;
  s.story.Launch("forward", {0_us, 5_us}, {10_us, 20_us});
  s.operators.push_back({"aten::isnan", {100_us, 120_us}});
  s.story.Launch("elementwise", {105_us, 110_us}, {115_us, 125_us});
  s.operators.push_back({"aten::where", {125_us, 150_us}});
  s.story.Launch("where", {130_us, 135_us}, {140_us, 150_us});
  const ValueChecks& checks = s.Analyze().value_checks;
  CHECK(checks.loss.count == 0);
  CHECK(checks.loss.lost->Total() == 0);
}

TEST_CASE("a test inside an operator is none of what comes behind that operator") {
  OperatorStory s;
  s.story.Launch("forward", {0_us, 5_us}, {10_us, 20_us});
  s.operators.push_back({"aten::nanmean", {100_us, 140_us}});
  s.operators.push_back({"aten::isnan", {110_us, 138_us}});
  s.story.Launch("elementwise", {115_us, 120_us}, {125_us, 135_us});
  s.operators.push_back({"aten::any", {141_us, 160_us}});
  s.story.Launch("reduce", {145_us, 150_us}, {155_us, 165_us});
  s.story.Launch("update", {400_us, 405_us}, {410_us, 420_us});
  CHECK(s.Analyze().value_checks.loss.count == 0);
}

// In anomaly mode an operator begins with a stack trace; otherwise it may be anything.
TEST_CASE("stack traces belong to the checks of anomaly mode alone") {
  for (const char* reduction : {"aten::_is_any_true", "aten::any"}) {
    OperatorStory s;
    s.story.Launch("before", {0_us, 5_us}, {10_us, 20_us});
    s.operators.push_back({"aten::relu", {100_us, 350_us}, 7});
    s.operators.push_back({"aten::clamp_min", {300_us, 340_us}});
    s.story.Launch("clamp", {310_us, 315_us}, {320_us, 330_us});
    s.operators.push_back({"aten::mul", {360_us, 400_us}, 8});  // quick
    s.story.Launch("mul", {370_us, 375_us}, {380_us, 390_us});
    AddCheck(&s, 500_us, reduction);
    s.story.Launch("update", {700_us, 705_us}, {710_us, 720_us});
    const ValueChecks& checks = s.Analyze().value_checks;
    CHECK(checks.stack_traces_ns == (checks.anomaly_mode ? 200e3 : 0));
    CHECK(checks.loss.lost->Total() == (checks.anomaly_mode ? 290_us : 90_us));
  }
}

}  // namespace
}  // namespace advise
