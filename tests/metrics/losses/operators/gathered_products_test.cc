// Matrices that are copied for each row, on stories whose numbers add up by hand.
#include "engine/metrics/losses/operators/gathered_products.h"

#include "tests/support/operator_story.h"

namespace advise {
namespace {

OperatorTensor InBf16(std::vector<std::int64_t> sizes) {
  OperatorTensor tensor;
  tensor.sizes = std::move(sizes);
  tensor.type = ElementType::kBFloat16;
  return tensor;
}

// A gather of `copies` matrices of 64 x 128 among `matrices`, and a product of `rows` rows by each;
// both take 1 ms.
struct TokensByExpert {
  std::int64_t copies = 64;
  std::int64_t matrices = 4;
  std::int64_t rows = 1;

  double LostMs() const {
    OperatorStory story;
    story.with_inputs = true;
    story.story.Device("NVIDIA H100 80GB HBM3", 132);
    Nanos at = 0;
    const auto run = [&](const char* name, std::vector<OperatorTensor> tensors) {
      story.operators.push_back({name, {at, at + 10_us}, -1, 0, {std::move(tensors), {}}});
      story.story.Launch(name, {at + 1_us, at + 5_us}, {at + 1_ms, at + 2_ms});
      at += 1_ms;
    };
    run("aten::index", {InBf16({matrices, 64, 128}), InBf16({copies})});
    run("aten::bmm", {InBf16({copies, rows, 64}), InBf16({copies, 64, 128})});
    return static_cast<double>(story.Analyze().gathered.loss.lost->Total()) / 1e6;
  }
};

TEST_CASE("copies of matrices are gone, and the products behind them read each matrix once") {
  // Of 64 x (64 x 128 + 64) elements, 4 matrices and the rows are left.
  const double left = (4.0 * 64 * 128 + 64.0 * 64) / (64.0 * (64 * 128 + 64));
  CHECK(TokensByExpert().LostMs() == Approx(1 + 1 - left).epsilon(0.001));
}

TEST_CASE(
    "products of several rows, and gathers of each matrix once at most, copy nothing needless") {
  CHECK(TokensByExpert{.rows = 2}.LostMs() == 0);
  CHECK(TokensByExpert{.copies = 64, .matrices = 64}.LostMs() == 0);
  CHECK(TokensByExpert{.copies = 65, .matrices = 64}.LostMs() > 1);
}

TEST_CASE("a product of tables that no gather copied is as it should be") {
  OperatorStory story;
  story.with_inputs = true;
  story.story.Device("NVIDIA H100 80GB HBM3", 132);
  story.operators.push_back(
      {"aten::bmm", {0, 10_us}, -1, 0, {{InBf16({64, 1, 64}), InBf16({64, 64, 128})}, {}}});
  story.story.Launch("bmm", {1_us, 5_us}, {1_ms, 2_ms});
  const GatheredProducts& found = story.Analyze().gathered;
  CHECK(found.recorded);
  CHECK(found.loss.count == 0);
}

}  // namespace
}  // namespace advise
