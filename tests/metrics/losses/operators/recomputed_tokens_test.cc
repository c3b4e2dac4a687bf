// Generations with and without a cache of keys and values, on stories whose numbers add up by hand.
#include "engine/metrics/losses/operators/recomputed_tokens.h"

#include "tests/support/operator_story.h"

namespace advise {
namespace {

OperatorTensor ShapedAs(std::vector<std::int64_t> sizes) {
  OperatorTensor tensor;
  tensor.sizes = std::move(sizes);
  return tensor;
}

// Passes of two layers over 8 sequences: attention, a product and an element-wise operator that
// take 1 ms each.
class Generation {
 public:
  Generation() {
    story.with_inputs = true;
    story.story.Device("NVIDIA H100 80GB HBM3", 132);
  }

  void Operator(const std::string& name, std::vector<OperatorTensor> tensors) {
    for (OperatorTensor& tensor : tensors) tensor.type = type;
    story.operators.push_back({name, {at_, at_ + 10_us}, -1, 0, {std::move(tensors), {}}});
    story.story.Launch("kernel of " + name, {at_ + 1_us, at_ + 5_us}, {gpu_, gpu_ + 1_ms});
    at_ += 20_us;
    gpu_ += 1_ms;
  }

  void Pass(std::int64_t queries, std::int64_t keys, int layers = 2) {
    for (int layer = 0; layer < layers; ++layer) {
      Operator("aten::mm", {ShapedAs({8 * queries, 1024}), ShapedAs({1024, 1024})});
      Operator("aten::_scaled_dot_product_cudnn_attention",
               {ShapedAs({8, 16, queries, 64}), ShapedAs({8, 16, keys, 64}),
                ShapedAs({8, 16, keys, 64})});
      Operator("aten::mul", {ShapedAs({8, queries, 1024}), ShapedAs({1024})});
    }
  }

  // Queries and keys by a product, as hand-written attention has them.
  void PassByHand(std::int64_t queries, std::int64_t keys, bool softmax = true) {
    for (int layer = 0; layer < 2; ++layer) {
      Operator("aten::bmm", {ShapedAs({128, queries, 64}), ShapedAs({128, 64, keys})});
      if (softmax) Operator("aten::_softmax", {ShapedAs({8, 16, queries, keys})});
      Operator("aten::bmm", {ShapedAs({128, queries, keys}), ShapedAs({128, keys, 64})});
    }
  }

  void Backward() {
    story.operators.push_back(
        {"autograd::engine::evaluate_function: MmBackward0", {at_, at_ + 10_us}, -1, 0, {}});
    at_ += 20_us;
  }

  const RecomputedTokens& Find() { return story.Analyze().recomputed; }
  // Which part of its time is left of the first such kernel that gets faster.
  float LeftOf(const RecomputedTokens& found, const std::string& name) const {
    const Trace& trace = story.trace();
    for (const auto& [op, left] : found.loss.remedy->scaled_ops) {
      if (trace.strings[trace.shapes[trace.ops.detail[op]].name] == "kernel of " + name)
        return left;
    }
    return 1;
  }

  OperatorStory story;
  ElementType type = ElementType::kBFloat16;

 private:
  Nanos at_ = 0;
  Nanos gpu_ = 1_ms;
};

TEST_CASE("sequences that grow by a token in each pass are computed again") {
  Generation g;
  for (std::int64_t tokens = 1000; tokens < 1006; ++tokens) g.Pass(tokens, tokens);
  const RecomputedTokens& found = g.Find();
  CHECK(found.recorded);
  CHECK(found.loss.count == 5);  // the first may be the prompt
  CHECK(found.tokens == 1005);
  CHECK(found.added == 1);
  // A thousandth of it, and 3 us for the start of a kernel.
  CHECK(g.LeftOf(found, "aten::mul") == Approx(1.0 / 1001 + 0.003).epsilon(1e-4));
  // The weights, 2 MiB, are read sooner than that.
  CHECK(g.LeftOf(found, "aten::mm") == Approx(1.0 / 1001 + 0.003).epsilon(1e-4));
  // Keys and values of 8 sequences, 16.4 MB each.
  CHECK(g.LeftOf(found, "aten::_scaled_dot_product_cudnn_attention") ==
        Approx(2.0 * 8 * 16 * 1001 * 64 * 2 / (0.85 * 3.35e12) * 1000 + 0.003).epsilon(1e-2));
  const auto lost = static_cast<double>(found.loss.lost->Total());
  CHECK(lost == Approx(30e6 * 0.993).epsilon(0.01));
}

TEST_CASE("with a cache, only keys grow") {
  Generation g;
  for (std::int64_t tokens = 1000; tokens < 1010; ++tokens) g.Pass(1, tokens);
  CHECK(g.Find().loss.count == 0);
}

TEST_CASE("attention by hand shows it by the product of queries and keys") {
  Generation g;
  for (std::int64_t tokens = 30; tokens < 37; ++tokens) g.PassByHand(tokens, tokens);
  const RecomputedTokens& found = g.Find();
  CHECK(found.loss.count == 6);
  CHECK(found.tokens == 36);
}

TEST_CASE("products that grow without a softmax are no attention") {
  Generation g;
  for (std::int64_t tokens = 30; tokens < 37; ++tokens) g.PassByHand(tokens, tokens, false);
  CHECK(g.Find().loss.count == 0);
}

TEST_CASE("by hand with a cache, only keys grow") {
  Generation g;
  for (std::int64_t tokens = 30; tokens < 37; ++tokens) g.PassByHand(1, tokens);
  CHECK(g.Find().loss.count == 0);
}

TEST_CASE("each generation begins with a prompt that is computed once") {
  Generation g;
  for (int generation = 0; generation < 2; ++generation) {
    for (std::int64_t tokens = 100; tokens < 106; ++tokens) g.Pass(tokens, tokens);
  }
  CHECK(g.Find().loss.count == 10);
}

TEST_CASE("a few sequences that happen to grow evenly are no generation") {
  Generation g;
  for (std::int64_t tokens = 100; tokens < 104; ++tokens) g.Pass(tokens, tokens);
  CHECK(g.Find().loss.count == 0);
}

TEST_CASE("sequences that grow by what padding rounds to are no generation") {
  Generation g;
  for (std::int64_t tokens = 64; tokens < 200; tokens += 8) g.Pass(tokens, tokens);
  CHECK(g.Find().loss.count == 0);
}

TEST_CASE("sequences of any length are no generation") {
  Generation g;
  for (const std::int64_t tokens : {100, 101, 103, 104, 106, 107, 109, 110}) g.Pass(tokens, tokens);
  CHECK(g.Find().loss.count == 0);
}

TEST_CASE("passes of different numbers of layers are different models") {
  Generation g;
  for (std::int64_t tokens = 100; tokens < 110; ++tokens) {
    g.Pass(tokens, tokens, tokens % 2 == 0 ? 2 : 3);
  }
  CHECK(g.Find().loss.count == 0);
}

TEST_CASE("training on ever longer sequences has a backward pass in between") {
  Generation g;
  for (std::int64_t tokens = 100; tokens < 110; ++tokens) {
    g.Pass(tokens, tokens);
    g.Backward();
  }
  CHECK(g.Find().loss.count == 0);
}

TEST_CASE("other work in a pass stays as it is") {
  Generation g;
  for (std::int64_t tokens = 1000; tokens < 1006; ++tokens) {
    g.Pass(tokens, tokens);
    g.Operator("aten::add", {ShapedAs({4096, 333})});
  }
  const RecomputedTokens& found = g.Find();
  CHECK(g.LeftOf(found, "aten::add") == 1);
}

TEST_CASE("where the bandwidth is not known, products are left as they are") {
  Generation g;
  g.story.story.Device("Test GPU", 100);
  for (std::int64_t tokens = 1000; tokens < 1006; ++tokens) g.Pass(tokens, tokens);
  const RecomputedTokens& found = g.Find();
  CHECK(g.LeftOf(found, "aten::mm") == 1);
  CHECK(g.LeftOf(found, "aten::mul") < 0.01);
}

TEST_CASE("where types are not known, products are left as they are") {
  Generation g;
  g.type = ElementType::kUnknown;
  for (std::int64_t tokens = 1000; tokens < 1006; ++tokens) g.Pass(tokens, tokens);
  const RecomputedTokens& found = g.Find();
  CHECK(found.loss.count == 5);
  CHECK(g.LeftOf(found, "aten::mm") == 1);
  CHECK(g.LeftOf(found, "aten::mul") < 0.01);
}

TEST_CASE("without sizes nothing is known of tokens") {
  Generation g;
  for (std::int64_t tokens = 1000; tokens < 1006; ++tokens) g.Pass(tokens, tokens);
  g.story.with_inputs = false;
  CHECK_FALSE(g.Find().recorded);
  CHECK(g.Find().loss.count == 0);
}

}  // namespace
}  // namespace advise
