// The direction of casts, by what operators were given.
#include "engine/metrics/kernels/casts.h"

#include "tests/support/operator_story.h"

namespace advise {
namespace {

OperatorTensor TensorOfType(ElementType type) {
  OperatorTensor tensor;
  tensor.type = type;
  tensor.sizes = {16, 559, 1024};
  return tensor;
}

TEST_CASE("casts from 16 bits widen; masks and indices count for nothing") {
  OperatorStory s;
  s.with_inputs = true;
  Nanos at = 100_us;
  s.story.Launch("begin", {0_us, 5_us}, {10_us, 20_us});  // the window begins with it
  const auto cast = [&](ElementType from) {
    s.operators.push_back({"aten::_to_copy", {at, at + 50_us}, -1, 0, {{TensorOfType(from)}, {}}});
    s.story.Launch("cast", {at + 5_us, at + 10_us}, {at + 15_us, at + 25_us});
    at += 100_us;
  };
  for (int i = 0; i < 3; ++i) cast(ElementType::kBFloat16);
  cast(ElementType::kFloat32);
  cast(ElementType::kInt64);
  s.story.Launch("end", {at + 5_us, at + 10_us}, {at + 15_us, at + 25_us});
  CHECK(s.Analyze().casts.Get().widening == Approx(0.75));
}

TEST_CASE("without types, the direction is unknown") {
  OperatorStory s;
  s.operators.push_back({"aten::_to_copy", {0_us, 50_us}});
  s.story.Launch("cast", {5_us, 10_us}, {15_us, 25_us});
  CHECK(s.Analyze().casts.Get().widening == -1);
}

}  // namespace
}  // namespace advise
