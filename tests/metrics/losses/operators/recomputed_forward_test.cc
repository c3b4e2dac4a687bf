// Activation checkpointing, on stories whose numbers add up by hand.
#include "engine/metrics/losses/operators/recomputed_forward.h"

#include "tests/support/operator_story.h"

namespace advise {
namespace {

// Operators of 50 us, each with a kernel of 100 us; those of the forward pass have numbers.
class Checkpointed {
 public:
  Checkpointed() { story.with_inputs = true; }

  void Operator(const std::string& name, std::int64_t sequence, const std::string& kernel) {
    OperatorTensor given;
    given.sizes = {1024, 256};
    given.type = ElementType::kFloat32;
    story.operators.push_back({name, {at_, at_ + 50_us}, sequence, 0, {{given}, {}}});
    story.story.Launch(kernel, {at_ + 10_us, at_ + 20_us}, {at_ + 20_us, at_ + 120_us});
    at_ += 120_us;
  }
  // An operator of the backward pass, around what follows for so long.
  void Around(const std::string& name, Nanos length) {
    story.operators.push_back({name, {at_, at_ + length}, -1, 0, {}});
    at_ += 5_us;
  }
  void Forward(const std::string& kernel) {
    Operator("aten::linear", 1, kernel);
    Operator("aten::gelu", 2, kernel);
  }

  const RecomputedForward& Find() { return story.Analyze().recomputed_forward; }
  bool IsGone(const RecomputedForward& found, const std::string& kernel) const {
    const Trace& trace = story.trace();
    for (const auto& [op, left] : found.loss.remedy->scaled_ops) {
      if (trace.strings[trace.shapes[trace.ops.detail[op]].name] == kernel) return left == 0;
    }
    return false;
  }

  OperatorStory story;

 private:
  Nanos at_ = 0;
};

constexpr const char* kNode = "autograd::engine::evaluate_function: AddmmBackward0";

TEST_CASE("operators of the forward pass run again inside the backward pass") {
  Checkpointed c;
  c.Forward("forward");
  c.Around(kNode, 500_us);
  c.Forward("again");
  c.Operator("aten::mm", -1, "gradient");
  const RecomputedForward& found = c.Find();
  CHECK(found.loss.count == 1);
  CHECK(found.loss.lost->Total() >= 200_us);
  CHECK(c.IsGone(found, "again"));
  CHECK_FALSE(c.IsGone(found, "forward"));
  CHECK_FALSE(c.IsGone(found, "gradient"));
  CHECK(found.bytes == 2 * 1024 * 256 * 4);  // of two operators
}

TEST_CASE("operators that follow each other at once are all computed again") {
  Checkpointed c;
  c.story.operators = {{kNode, {0, 500_us}, -1, 0, {}},
                       {"aten::linear", {10_us, 60_us}, 1, 0, {}},
                       {"aten::gelu", {60_us, 110_us}, 2, 0, {}}};
  c.story.story.Launch("one", {20_us, 30_us}, {40_us, 140_us});
  c.story.story.Launch("two", {70_us, 80_us}, {140_us, 240_us});
  const RecomputedForward& found = c.Find();
  CHECK(found.loss.count == 1);
  CHECK(c.IsGone(found, "one"));
  CHECK(found.loss.remedy->scaled_ops.size() == 2);
}

TEST_CASE("gradients of gradients have numbers, too, but nothing that programs call") {
  Checkpointed c;
  c.Forward("forward");
  c.Around(kNode, 500_us);
  c.Operator("aten::mm", 3, "again");
  c.Operator("aten::mul", 4, "again");
  const RecomputedForward& found = c.Find();
  CHECK(found.loss.count == 0);
}

TEST_CASE("a backward pass without numbers computes nothing again") {
  Checkpointed c;
  c.Forward("forward");
  c.Around(kNode, 500_us);
  c.Operator("aten::linear", -1, "gradient");
  CHECK(c.Find().loss.count == 0);
}

TEST_CASE("inference computes nothing again") {
  Checkpointed c;
  c.Forward("forward");
  c.Forward("forward");
  const RecomputedForward& found = c.Find();
  CHECK(found.loss.count == 0);
}

}  // namespace
}  // namespace advise
