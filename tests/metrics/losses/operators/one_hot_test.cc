// Products of one-hot matrices, on stories whose numbers add up by hand.
#include "engine/metrics/losses/operators/one_hot.h"

#include "tests/support/operator_story.h"

namespace advise {
namespace {

OperatorTensor TensorOf(ElementType type, std::vector<std::int64_t> sizes) {
  OperatorTensor tensor;
  tensor.sizes = std::move(sizes);
  tensor.type = type;
  return tensor;
}
constexpr auto kLong = ElementType::kInt64;
constexpr auto kFloat = ElementType::kFloat32;

// Operators one after the other; each kernel takes 1 ms.
class Program {
 public:
  Program() {
    story.with_inputs = true;
    story.story.Device("NVIDIA H100 80GB HBM3", 132);
  }
  void Operator(const std::string& name, std::vector<OperatorTensor> tensors,
                bool launches = true) {
    story.operators.push_back({name, {at_, at_ + 10_us}, -1, 0, {std::move(tensors), {}}});
    if (launches) {
      story.story.Launch(name, {at_ + 1_us, at_ + 5_us}, {gpu_, gpu_ + 1_ms});
      gpu_ += 1_ms;
    }
    at_ += 20_us;
  }
  // aten::one_hot of 64 x 128 ids, with what it calls.
  void OneHot(std::int64_t classes) {
    story.operators.push_back(
        {"aten::one_hot", {at_, at_ + 60_us}, -1, 0, {{TensorOf(kLong, {64, 128}), {}}, {}}});
    at_ += 5_us;
    Operator("aten::fill_", {TensorOf(kLong, {64, 128, classes}), {}});
    Operator("aten::scatter_",
             {TensorOf(kLong, {64, 128, classes}), {}, TensorOf(kLong, {64, 128, 1}), {}});
    at_ += 20_us;
  }
  void Cast(std::int64_t classes) {
    story.operators.push_back(
        {"aten::_to_copy", {at_, at_ + 20_us}, -1, 0, {{TensorOf(kLong, {64, 128, classes})}, {}}});
    at_ += 5_us;
    Operator("aten::copy_",
             {TensorOf(kFloat, {64, 128, classes}), TensorOf(kLong, {64, 128, classes})});
  }
  void Product(std::int64_t rows, std::int64_t classes) {
    Operator("aten::mm", {TensorOf(kFloat, {rows, classes}), TensorOf(kFloat, {classes, 256})});
  }

  const OneHotProducts& Find() { return story.Analyze().one_hot; }
  float LeftOf(const OneHotProducts& found, const std::string& kernel) const {
    const Trace& trace = story.trace();
    for (const auto& [op, left] : found.loss.remedy->scaled_ops) {
      if (trace.strings[trace.shapes[trace.ops.detail[op]].name] == kernel) return left;
    }
    return 1;
  }

  OperatorStory story;

 private:
  Nanos at_ = 0;
  Nanos gpu_ = 1_ms;
};

TEST_CASE("a one-hot matrix is cleared, filled, cast and multiplied to look rows up") {
  Program p;
  p.OneHot(4096);
  p.Cast(4096);
  p.Product(64 * 128, 4096);
  p.Operator("aten::relu", {TensorOf(kFloat, {64 * 128, 256})});
  const OneHotProducts& found = p.Find();
  CHECK(found.recorded);
  CHECK(found.loss.count == 1);
  CHECK(found.rows == 8192);
  CHECK(found.classes == 4096);
  for (const char* gone : {"aten::fill_", "aten::scatter_", "aten::copy_"}) {
    CHECK(p.LeftOf(found, gone) == 0);
  }
  // 8192 rows of 1 KiB are read and written at 85 % of 3.35 TB/s, and a kernel starts.
  CHECK(p.LeftOf(found, "aten::mm") == Approx(2.0 * 8192 * 1024 / (0.85 * 3.35e9) + 0.003));
  CHECK(p.LeftOf(found, "aten::relu") == 1);
}

TEST_CASE("a mark in each row of a cleared matrix is a one-hot matrix, too") {
  Program p;
  p.Operator("aten::fill_", {TensorOf(kFloat, {8192, 512}), {}});
  p.Operator("aten::scatter_", {TensorOf(kFloat, {8192, 512}), {}, TensorOf(kLong, {8192, 1}), {}});
  p.Product(8192, 512);
  const OneHotProducts& found = p.Find();
  CHECK(found.loss.count == 1);
  CHECK(p.LeftOf(found, "aten::fill_") == 0);
}

TEST_CASE("several marks in a row, or values that are written, are no one-hot matrix") {
  Program several;
  several.Operator("aten::scatter_",
                   {TensorOf(kFloat, {8192, 512}), {}, TensorOf(kLong, {8192, 2}), {}});
  several.Product(8192, 512);
  CHECK(several.Find().loss.count == 0);
  Program values;
  values.Operator(
      "aten::scatter_",
      {TensorOf(kFloat, {8192, 512}), {}, TensorOf(kLong, {8192, 1}), TensorOf(kFloat, {8192, 1})});
  values.Product(8192, 512);
  CHECK(values.Find().loss.count == 0);
}

TEST_CASE("labels as a one-hot matrix are multiplied by nothing in the forward pass") {
  Program p;
  p.OneHot(512);
  p.Cast(512);
  p.Operator("aten::mul", {TensorOf(kFloat, {64, 128, 512}), TensorOf(kFloat, {64, 128, 512})});
  // The gradient of the logits has the same sizes.
  p.Operator("autograd::engine::evaluate_function: AddmmBackward0", {}, false);
  p.Product(64 * 128, 512);
  CHECK(p.Find().loss.count == 0);
}

TEST_CASE("a product of another size does not use the matrix") {
  Program p;
  p.OneHot(4096);
  p.Cast(4096);
  p.Product(64 * 64, 4096);
  CHECK(p.Find().loss.count == 0);
}

TEST_CASE("integers are multiplied by nothing before they are cast") {
  Program p;
  p.OneHot(256);
  p.Product(64 * 128, 256);  // another tensor of these sizes
  CHECK(p.Find().loss.count == 0);
}

TEST_CASE("a product long after the matrix was made uses another tensor") {
  Program p;
  p.OneHot(256);
  p.Cast(256);
  for (int i = 0; i < 80; ++i) p.Operator("aten::relu", {TensorOf(kFloat, {16, 16})});
  p.Product(64 * 128, 256);
  CHECK(p.Find().loss.count == 0);
}

TEST_CASE("without sizes nothing is known of one-hot matrices") {
  Program p;
  p.OneHot(4096);
  p.Cast(4096);
  p.Product(64 * 128, 4096);
  p.story.with_inputs = false;
  CHECK_FALSE(p.Find().recorded);
}

}  // namespace
}  // namespace advise
