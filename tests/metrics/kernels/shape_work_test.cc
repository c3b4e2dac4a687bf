// Operations and bytes of single calls, worked out by hand.
#include "engine/metrics/kernels/shape_work.h"

#include <catch2/catch.hpp>

#include "tests/metrics/kernels/given.h"

namespace advise {
namespace {

TEST_CASE("a product multiplies and adds once for each pair, and touches each matrix once") {
  const auto work = WorkOf("aten::mm", Given({{4096, 4096}, {4096, 4096}}, kBf16));
  REQUIRE(work);
  CHECK(work->flops == 2.0 * 4096 * 4096 * 4096);
  CHECK(work->bytes == 3.0 * 4096 * 4096 * 2);
  CHECK(work->flops / work->bytes == Approx(1365.33).epsilon(1e-4));
  CHECK(work->shape == "[4096, 4096] x [4096, 4096]");
  CHECK(work->uses == 4096);
  CHECK(work->odd == 0);
}

TEST_CASE("a bias, a batch and a vector count") {
  const auto biased = WorkOf("aten::addmm", Given({{128}, {64, 32}, {32, 128}, {}, {}}, kFp32));
  REQUIRE(biased);
  CHECK(biased->flops == 2.0 * 64 * 32 * 128);
  CHECK(biased->bytes == 4.0 * (128 + 64 * 32 + 32 * 128 + 64 * 128));
  const auto batch = WorkOf("aten::bmm", Given({{10, 64, 32}, {10, 32, 16}}, kFp32));
  REQUIRE(batch);
  CHECK(batch->flops == 2.0 * 10 * 64 * 32 * 16);
  CHECK(batch->bytes == 4.0 * 10 * (64 * 32 + 32 * 16 + 64 * 16));
  CHECK(batch->uses == 0);  // each matrix of the batch is another
  const auto vector = WorkOf("aten::mv", Given({{1000, 500}, {500}}, kBf16));
  REQUIRE(vector);
  CHECK(vector->flops == 1e6);
  CHECK(vector->bytes == 2.0 * (500000 + 500 + 1000));
  CHECK(vector->uses == 1);
}

TEST_CASE("8-bit products have wider results") {
  std::vector<std::string> values(8);
  values[6] = "15";
  const auto half =
      WorkOf("aten::_scaled_mm", Given({{64, 32}, {32, 16}, {}, {}}, ElementType::kFloat8, values));
  REQUIRE(half);
  CHECK(half->bytes == 64.0 * 32 + 32 * 16 + 2 * 64 * 16);
  values[6] = "6";
  CHECK(
      WorkOf("aten::_scaled_mm", Given({{64, 32}, {32, 16}, {}, {}}, ElementType::kFloat8, values))
          ->bytes == 64.0 * 32 + 32 * 16 + 4 * 64 * 16);
}

TEST_CASE("what is repeated by a stride of nothing lies in memory once") {
  OperatorInputs inputs = Given({{100, 64, 32}, {100, 32, 16}}, kFp32);
  inputs.tensors[1].strides = {0, 16, 1};
  const auto work = WorkOf("aten::bmm", inputs);
  REQUIRE(work);
  CHECK(work->bytes == 4.0 * (100 * 64 * 32 + 32 * 16 + 100 * 64 * 16));
}

TEST_CASE("a distance between rows is odd when it is no multiple of 16 bytes") {
  const auto odd = [](const Sizes& a, const Sizes& a_strides, const Sizes& b,
                      const Sizes& b_strides, ElementType type = kBf16) {
    OperatorInputs inputs = Given({a, b}, type);
    inputs.tensors[0].strides = a_strides;
    inputs.tensors[1].strides = b_strides;
    return WorkOf("aten::mm", inputs)->odd;
  };
  // The result of an output layer over a vocabulary of 50257.
  CHECK(odd({512, 1024}, {1024, 1}, {1024, 50257}, {1, 1024}) == 50257);
  // Tokens may be any number, also where they are summed over: they are no distance.
  CHECK(odd({511, 1024}, {1024, 1}, {1024, 4096}, {1, 1024}) == 0);
  CHECK(odd({4096, 511}, {1, 4096}, {511, 1024}, {1024, 1}) == 0);
  // Features of 17, row by row.
  CHECK(odd({512, 17}, {17, 1}, {17, 128}, {128, 1}) == 17);
  CHECK(odd({512, 17}, {24, 1}, {17, 128}, {128, 1}) == 0);         // padded rows
  CHECK(odd({512, 20}, {20, 1}, {20, 128}, {128, 1}, kFp32) == 0);  // 4 elements are 16 bytes
  CHECK(odd({512, 18}, {18, 1}, {18, 128}, {128, 1}, kFp32) == 18);
  // A single row is no matrix product.
  CHECK(odd({1, 1024}, {1024, 1}, {1024, 50257}, {1, 1024}) == 0);
  // Without strides: only what no layout could help.
  CHECK(odd({512, 17}, {}, {17, 128}, {}) == 0);
  CHECK(odd({511, 17}, {}, {17, 128}, {}) == 17);
  CHECK(odd({512, 64}, {}, {64, 1001}, {}) == 1001);
}

TEST_CASE("a convolution's work needs its strides") {
  // 224 + 2*3 - 7 = 223; 223 / 2 + 1 = 112 each way.
  const std::vector<Sizes> sizes = {{8, 3, 224, 224}, {64, 3, 7, 7}, {}, {}, {}, {}, {}, {}, {}};
  const auto work =
      WorkOf("aten::cudnn_convolution",
             Given(sizes, kBf16, {"", "", "[3, 3]", "[2, 2]", "[1, 1]", "1", "False", "False"}));
  REQUIRE(work);
  CHECK(work->flops == 2.0 * 8 * 64 * 112 * 112 * 3 * 49);
  CHECK(work->bytes == 2.0 * (8 * 3 * 224 * 224 + 64 * 3 * 49 + 8 * 64 * 112 * 112));
  CHECK(work->shape == "[8, 3, 224, 224] * [64, 3, 7, 7] to [112, 112]");
  CHECK_FALSE(WorkOf("aten::cudnn_convolution", Given(sizes, kBf16)));
  // Every second pixel is never looked at: a quarter of the input is read.
  const auto pointwise = WorkOf(
      "aten::cudnn_convolution",
      Given({{8, 64, 56, 56}, {128, 64, 1, 1}}, kBf16, {"", "", "[0, 0]", "[2, 2]", "[1, 1]"}));
  REQUIRE(pointwise);
  CHECK(pointwise->bytes == 2.0 * (8 * 64 * 28 * 28 + 128 * 64 + 8 * 128 * 28 * 28));
  // Depthwise: each result looks at one channel.
  const auto depthwise = WorkOf("aten::_conv_depthwise2d",
                                Given({{8, 32, 10, 10}, {32, 1, 3, 3}}, kFp32,
                                      {"", "", "[3, 3]", "", "[1, 1]", "[1, 1]", "[1, 1]"}));
  REQUIRE(depthwise);
  CHECK(depthwise->flops == 2.0 * 8 * 32 * 100 * 9);
}

TEST_CASE("backward computes the gradients that were asked for") {
  const std::vector<Sizes> sizes = {{8, 64, 28, 28}, {8, 32, 28, 28}, {64, 32, 3, 3}};
  const auto work = [&](const std::string& mask, const std::string& transposed = "False") {
    return WorkOf("aten::convolution_backward", Given(sizes, kFp32,
                                                      {"", "", "", "[0]", "[1, 1]", "[1, 1]",
                                                       "[1, 1]", transposed, "[0, 0]", "1", mask}));
  };
  const double once = 2.0 * 8 * 64 * 28 * 28 * 32 * 9;
  REQUIRE(work("[True, True, False]"));
  CHECK(work("[True, True, False]")->flops == 2 * once);
  CHECK(work("[False, True, False]")->flops == once);
  CHECK(work("[True, False, True]")->flops == once);
  CHECK_FALSE(work("[False, False, True]"));
  CHECK_FALSE(work("[True, True, False]", "True"));
}

TEST_CASE("attention looks at half of the pairs under a causal mask") {
  std::vector<std::string> values(15);
  values[8] = "False";
  const std::vector<Sizes> sizes = {{2, 1024, 16, 64}, {2, 1024, 16, 64}, {2, 1024, 16, 64}};
  const auto full = WorkOf("aten::_flash_attention_forward", Given(sizes, kBf16, values));
  REQUIRE(full);
  CHECK(full->flops == 4.0 * 2 * 16 * 1024 * 1024 * 64);
  CHECK(full->bytes == 2.0 * 4 * 2 * 1024 * 16 * 64);
  values[8] = "True";
  const auto causal = WorkOf("aten::_flash_attention_forward", Given(sizes, kBf16, values));
  REQUIRE(causal);
  CHECK(causal->flops == 4.0 * 2 * 16 * 64 * (1024.0 * 1025 / 2));
  CHECK(causal->shape == "[2, 1024, 16, 64] by [2, 1024, 16, 64] causal");
  // One query behind 1024 keys sees all of them, two see 1024 + 1023.
  const auto decode =
      WorkOf("aten::_flash_attention_forward",
             Given({{2, 2, 16, 64}, {2, 1024, 4, 64}, {2, 1024, 4, 64}}, kBf16, values));
  REQUIRE(decode);
  CHECK(decode->flops == 4.0 * 2 * 16 * 64 * (1024 + 1023));
  CHECK(decode->bytes == 2.0 * 2 * 64 * (2 * 2 * 16 + 2 * 1024 * 4));
  values[11] = "256";  // a window: the work is not known
  CHECK_FALSE(WorkOf("aten::_flash_attention_forward", Given(sizes, kBf16, values)));
  CHECK_FALSE(WorkOf("aten::_flash_attention_forward", Given(sizes, kBf16)));  // mask not recorded
  std::vector<std::string> backward(16);
  backward[11] = "False";
  const auto gradient =
      WorkOf("aten::_flash_attention_backward",
             Given({sizes[0], sizes[0], sizes[0], sizes[0], sizes[0]}, kBf16, backward));
  REQUIRE(gradient);
  CHECK(gradient->flops == 10.0 * 2 * 16 * 1024 * 1024 * 64);
}

TEST_CASE("nothing is said where sizes do not fit, or the type or the operator is not known") {
  CHECK_FALSE(WorkOf("aten::mm", Given({{4, 8}, {9, 2}}, kFp32)));
  CHECK_FALSE(WorkOf("aten::mm", Given({{4, 8}}, kFp32)));
  CHECK_FALSE(WorkOf("aten::mm", Given({{4, 0}, {0, 2}}, kFp32)));
  CHECK_FALSE(WorkOf("aten::mm", Given({{4, 8}, {8, 2}}, ElementType::kUnknown)));
  CHECK(WorkOf("aten::mm", Given({{4, 8}, {8, 2}}, ElementType::kUnknown), {.type = kBf16})->type ==
        kBf16);
  CHECK_FALSE(WorkOf("aten::linear", Given({{4, 8}, {8, 2}}, kFp32)));  // weights are [out, in]
  CHECK(TypeNamed("tf32") == kFp32);
  CHECK(std::string(TypeName(TypeNamed("bf16"))) == "bf16");
}

}  // namespace
}  // namespace advise
