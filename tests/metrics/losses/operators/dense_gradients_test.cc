// Dense gradients of large tables, on stories whose numbers add up by hand.
#include "engine/metrics/losses/operators/dense_gradients.h"

#include "tests/support/operator_story.h"

namespace advise {
namespace {

OperatorTensor Sized(std::vector<std::int64_t> sizes) {
  OperatorTensor tensor;
  tensor.sizes = std::move(sizes);
  return tensor;
}

OperatorTensor ListOf(std::int64_t elements) {
  OperatorTensor tensor;
  tensor.list_elements = elements;
  tensor.list_count = 4;
  return tensor;
}

// A dense backward pass that sorts for 10 us and clears the gradient for 100 us, and an update of
// `elements` parameters for 200 us.
OperatorStory Step(std::int64_t rows, std::int64_t lookups, std::int64_t elements) {
  OperatorStory s;
  s.with_inputs = true;
  s.story.Launch("forward", {0_us, 5_us}, {10_us, 20_us});
  s.operators.push_back({"aten::embedding_dense_backward",
                         {100_us, 200_us},
                         -1,
                         0,
                         {{Sized({lookups, 64}), Sized({lookups}), {}, {}, {}},
                          {"", "", std::to_string(rows), "-1", "False"}}});
  s.story.Launch("sort", {105_us, 108_us}, {115_us, 125_us});
  s.operators.push_back(
      {"aten::fill_", {150_us, 170_us}, -1, 0, {{Sized({rows, 64}), {}}, {"", "0"}}});
  s.story.Launch("fill", {155_us, 160_us}, {165_us, 265_us});
  s.story.Launch("scatter", {180_us, 185_us}, {265_us, 275_us});
  s.operators.push_back(
      {"aten::_foreach_add_", {210_us, 250_us}, -1, 0, {{ListOf(elements), ListOf(elements)}, {}}});
  s.story.Launch("update", {220_us, 225_us}, {275_us, 475_us});
  return s;
}

float LeftOf(const OperatorStory& s, const DenseGradients& dense, const std::string& kernel) {
  const Trace& trace = s.trace();
  for (const auto& [op, left] : dense.loss.remedy->scaled_ops) {
    if (trace.strings[trace.shapes[trace.ops.detail[op]].name] == kernel) return left;
  }
  return 1;
}

TEST_CASE("a table of which few rows are looked up is cleared and updated as a whole") {
  OperatorStory s = Step(2'000'000, 8192, 2'000'000 * 64 * 4);
  const DenseGradients& dense = s.Analyze().dense_gradients;
  CHECK(dense.recorded);
  CHECK(dense.loss.count == 1);
  CHECK(dense.rows == 2e6);
  CHECK(dense.lookups == 8192);
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(dense.loss.remedy->host_cuts)) cut += when.Total();
  CHECK(cut > 50_us);  // of the 100 us in which the host launches the backward pass
  CHECK(cut < 100_us);
  CHECK(LeftOf(s, dense, "fill") == 0);
  CHECK(LeftOf(s, dense, "scatter") == 0);
  CHECK(LeftOf(s, dense, "sort") == 1);               // what a sparse gradient needs as well
  CHECK(LeftOf(s, dense, "update") == Approx(0.75));  // a quarter of the parameters
}

TEST_CASE("two passes of a step make two gradients of one table, which is updated once") {
  OperatorStory s = Step(2'000'000, 8192, 2'000'000 * 64);
  s.operators.push_back(s.operators.front());
  s.operators.back().when = {300_us, 400_us};
  const DenseGradients& dense = s.Analyze().dense_gradients;
  CHECK(dense.tables == 2);
  CHECK(LeftOf(s, dense, "update") == 0);
}

TEST_CASE("an optimizer of fewer parameters than the table has does not update it") {
  OperatorStory s = Step(2'000'000, 8192, 1'000'000);
  CHECK(LeftOf(s, s.Analyze().dense_gradients, "update") == 1);
}

TEST_CASE("one row in twenty is few") {
  OperatorStory s = Step(200'000, 8192, 200'000 * 64);
  CHECK(s.Analyze().dense_gradients.loss.count == 1);
}

TEST_CASE("a table of which many rows are looked up has a dense gradient for good reason") {
  OperatorStory s = Step(100'000, 8192, 100'000 * 64);
  CHECK(s.Analyze().dense_gradients.loss.count == 0);
}

TEST_CASE("the gradient of a table that a product uses as well is dense anyway") {
  OperatorStory s = Step(2'000'000, 8192, 2'000'000 * 64);
  s.operators.push_back(
      {"aten::mm", {300_us, 310_us}, -1, 0, {{Sized({16, 64}), Sized({64, 2'000'000})}, {}}});
  s.story.Launch("gemm", {302_us, 305_us}, {480_us, 490_us});
  CHECK(s.Analyze().dense_gradients.loss.count == 0);
}

TEST_CASE("without sizes nothing is known of tables") {
  OperatorStory s = Step(2'000'000, 8192, 2'000'000 * 64);
  s.with_inputs = false;
  const DenseGradients& dense = s.Analyze().dense_gradients;
  CHECK_FALSE(dense.recorded);
  CHECK(dense.loss.count == 0);
}

}  // namespace
}  // namespace advise
