// Forward passes of training without a backward pass, on stories whose numbers add up by hand.
#include "engine/metrics/losses/operators/forward_only.h"

#include "tests/support/operator_story.h"

namespace advise {
namespace {

OperatorTensor MatrixOf(std::vector<std::int64_t> sizes) {
  OperatorTensor tensor;
  tensor.sizes = std::move(sizes);
  return tensor;
}

// Kernels of 100 us, one after the other, each launched by an operator.
class Training {
 public:
  Training() { story.with_inputs = true; }

  void Operator(const std::string& name, const std::string& kernel, std::int64_t sequence,
                std::vector<OperatorTensor> tensors = {}) {
    story.operators.push_back({name, {at_, at_ + 50_us}, sequence, 0, {std::move(tensors), {}}});
    story.story.Launch(kernel, {at_ + 10_us, at_ + 20_us}, {at_ + 20_us, at_ + 120_us});
    at_ += 120_us;
  }
  void Product(std::int64_t sequence, std::int64_t width) {
    Operator("aten::mm", kMatrixBf16, sequence, {MatrixOf({64, width}), MatrixOf({width, 32})});
  }
  void Backward() { Operator("autograd::engine::evaluate_function: MmBackward0", kMatrixBf16, 7); }
  // Two layers forward, and back.
  void Trained() {
    Product(7, 128);
    Product(8, 128);
    Backward();
    Backward();
  }
  const ForwardOnly& Find() { return story.Analyze().forward_only; }

  OperatorStory story;

 private:
  Nanos at_ = 0;
};

TEST_CASE("without sequence numbers, nothing tells where a backward pass ends") {
  Training t;
  for (int step = 0; step < 3; ++step) {
    t.Operator("aten::mm", kMatrixBf16, -1);
    t.Operator("autograd::engine::evaluate_function: MmBackward0", kMatrixBf16, -1);
    t.Operator("autograd::engine::evaluate_function: MmBackward0", kMatrixBf16, -1);
  }
  CHECK(t.story.Analyze().phases.Of(0, Phase::kBackward).Total() == 6 * 50_us);
}

TEST_CASE("a pass that autograd does not record has no backward pass") {
  Training t;
  for (int step = 0; step < 3; ++step) {
    t.Trained();
    t.Product(-1, 128);
    t.Operator("aten::relu", kElementwise, -1);
    t.Product(-1, 128);
    t.Operator("aten::sum", kElementwise, -1);  // behind the last product
  }
  const ForwardOnly& found = t.Find();
  CHECK(found.recorded);
  CHECK(found.loss.count == 3);
  CHECK(found.loss.lost->Total() == 3 * 340_us);  // with the pauses in between
  CHECK(found.same_layers == 1);
}

TEST_CASE("casts that autocast has recorded are part of the pass around them") {
  Training t;
  t.Trained();
  t.Product(-1, 128);
  t.Operator("aten::_to_copy", kElementwise, 9);
  t.Product(-1, 128);
  const ForwardOnly& found = t.Find();
  CHECK(found.loss.count == 1);
  CHECK(found.loss.lost->Total() == 340_us);
}

TEST_CASE("another model has weights of other sizes") {
  Training t;
  t.Product(-1, 4096);
  t.Product(-1, 128);
  t.Trained();
  CHECK(t.Find().same_layers == Approx(0.5));
}

TEST_CASE("what an optimizer multiplies is no forward pass") {
  Training t;
  t.Trained();
  t.story.story.Range("Optimizer.step#Muon.step", {480_us, 730_us});
  t.Product(-1, 128);
  t.Product(-1, 128);
  const ForwardOnly& found = t.Find();
  CHECK(found.recorded);
  CHECK(found.loss.count == 0);
}

TEST_CASE("updates without products are no forward pass") {
  Training t;
  t.Trained();
  t.Operator("aten::lerp_", kElementwise, -1);
  CHECK(t.Find().loss.count == 0);
}

TEST_CASE("inside an operator that autograd records, nothing is without a backward pass") {
  Training t;
  t.Trained();
  t.story.operators.push_back({"CheckpointFunction", {480_us, 800_us}, 9, 0, {}});
  t.Product(-1, 128);
  t.Product(-1, 128);
  t.Backward();
  CHECK(t.Find().loss.count == 0);
}

TEST_CASE("the first operator that autograd records has the number zero") {
  Training t;
  t.Product(0, 128);
  t.Product(1, 128);
  t.Backward();
  t.Backward();
  CHECK(t.Find().loss.count == 0);
}

TEST_CASE("inference has no backward passes to miss") {
  Training t;
  for (int i = 0; i < 8; ++i) t.Product(-1, 128);
  const ForwardOnly& found = t.Find();
  CHECK_FALSE(found.recorded);
  CHECK(found.loss.count == 0);
}

}  // namespace
}  // namespace advise
