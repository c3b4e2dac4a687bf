// Operations and bytes of single calls of the kinds beside plain products, worked out by hand.
#include <catch2/catch.hpp>

#include "engine/metrics/kernels/kernel_table.h"
#include "engine/metrics/kernels/shape_work.h"
#include "tests/metrics/kernels/given.h"

namespace advise {
namespace {

CallHints Class(std::string_view kernel_class) {
  CallHints hints;
  hints.kernel_class = kernel_class;
  return hints;
}

TEST_CASE("element-wise operators read each operand and write one result") {
  const Sizes big = {1024, 1024};
  const auto add = WorkOf("aten::add", Given({big, big, {}}, kFp32), Class("elementwise"));
  REQUIRE(add);
  CHECK(add->kind == WorkKind::kElementwise);
  CHECK(add->bytes == 3.0 * 4 * 1024 * 1024);
  const auto in_place = WorkOf("aten::add_", Given({big, big, {}}, kFp32), Class("elementwise"));
  REQUIRE(in_place);
  CHECK(in_place->bytes == 3.0 * 4 * 1024 * 1024);
  const auto biased = WorkOf("aten::add", Given({big, {1024}}, kFp32), Class("elementwise"));
  REQUIRE(biased);
  CHECK(biased->bytes == 4.0 * (2 * 1024 * 1024 + 1024));
  // Compiled kernels are given what they write.
  const auto fused =
      WorkOf("triton_poi_fused_add_0", Given({big, big, big, {}}, kBf16), Class("elementwise"));
  REQUIRE(fused);
  CHECK(fused->bytes == 3.0 * 2 * 1024 * 1024);
  const auto gated =
      WorkOf("triton_poi_fused_mul_silu_0", Given({big, big, {}}, kBf16), Class("elementwise"));
  REQUIRE(gated);
  CHECK(gated->bytes == 3.0 * 2 * 1024 * 1024);  // its result is one of the operands
  const auto alone =
      WorkOf("triton_poi_fused_silu_0", Given({big, big, {}}, kBf16), Class("elementwise"));
  REQUIRE(alone);
  CHECK(alone->bytes == 2.0 * 2 * 1024 * 1024);
  // A library's operator that is given its input and small tables beside it makes its result.
  const auto moved = WorkOf("fbgemm::recat_embedding_grad_output_mixed_D_batch",
                            Given({big, {27}, {28}}, kFp32), Class("copy"));
  REQUIRE(moved);
  CHECK(moved->bytes == 4.0 * (2 * 1024 * 1024 + 27 + 28));
  CHECK_FALSE(WorkOf("aten::nonsense", Given({big}, kFp32), Class("other")));
  const auto copy = WorkOf("aten::copy_", Given({big, big}, kBf16));
  REQUIRE(copy);
  CHECK(copy->bytes == 2.0 * 2 * 1024 * 1024);
}

TEST_CASE("an operand in another order is walked in strides") {
  OperatorInputs inputs = Given({{512, 256}, {512, 256}}, kFp32);
  inputs.tensors[0].strides = {256, 1};
  inputs.tensors[1].strides = {1, 512};
  const auto work = WorkOf("aten::copy_", inputs);
  REQUIRE(work);
  CHECK(work->trait == "strided");
  inputs.tensors[1].strides = {256, 1};
  CHECK(WorkOf("aten::copy_", inputs)->trait.empty());
}

TEST_CASE("rows that stay on the SM are read once, long ones twice") {
  const auto layer =
      WorkOf("aten::native_layer_norm", Given({{64, 128, 1024}, {}, {1024}, {1024}}, kBf16));
  REQUIRE(layer);
  CHECK(layer->kind == WorkKind::kNormalization);
  CHECK(layer->bytes == 2.0 * 2 * 64 * 128 * 1024);
  // Training statistics of a channel need all of it before the first result.
  const std::vector<Sizes> image = {{64, 32, 56, 56}, {32}, {32}, {32}, {32}, {}};
  const auto batch =
      WorkOf("aten::native_batch_norm", Given(image, kFp32, {"", "", "", "", "", "True"}));
  REQUIRE(batch);
  CHECK(batch->bytes == 3.0 * 4 * 64 * 32 * 56 * 56);
  const auto inference =
      WorkOf("aten::native_batch_norm", Given(image, kFp32, {"", "", "", "", "", "False"}));
  REQUIRE(inference);
  CHECK(inference->bytes == 2.0 * 4 * 64 * 32 * 56 * 56);
  const auto softmax = WorkOf("aten::_softmax", Given({{8, 16, 128}}, kFp32, {"", "-1", "False"}));
  REQUIRE(softmax);
  CHECK(softmax->bytes == 2.0 * 4 * 8 * 16 * 128);
  CHECK(softmax->trait.empty());
  CHECK(WorkOf("aten::_softmax", Given({{256, 2}}, kFp32, {"", "-1", "False"}))->trait ==
        "short-rows");
}

TEST_CASE("look-ups move the rows that are asked for, not the table") {
  OperatorInputs inputs = Given({{50000, 1024}, {8, 512}}, kBf16);
  inputs.tensors[1].type = ElementType::kInt64;
  const auto work = WorkOf("aten::embedding", inputs);
  REQUIRE(work);
  CHECK(work->kind == WorkKind::kIndex);
  CHECK(work->bytes == 8.0 * 512 * (2 * 2 * 1024 + 8));
}

TEST_CASE("lists of tensors are counted by their elements") {
  OperatorInputs inputs;
  for (int i = 0; i < 5; ++i) {
    inputs.tensors.emplace_back();
    inputs.tensors.back().list_elements = i == 4 ? 3 : 1000000;  // the last are steps
    inputs.tensors.back().list_count = 3;
  }
  const auto adam = WorkOf("aten::_fused_adam_", inputs);
  REQUIRE(adam);
  CHECK(adam->kind == WorkKind::kOptimizer);
  CHECK(adam->bytes == 4.0 * 1e6 * (4 + 3));  // reads p, g, m, v and writes p, m, v
}

TEST_CASE("experts read the weights that their tokens choose") {
  // 4096 tokens to 2 of 8 experts: all experts are reached.
  const auto work =
      WorkOf("vllm::rocm_aiter_fused_moe",
             Given({{4096, 8192}, {8, 44032, 8192}, {8, 8192, 22016}, {4096, 2}}, kBf16));
  REQUIRE(work);
  CHECK(work->kind == WorkKind::kExperts);
  CHECK(work->flops == 2.0 * 4096 * 2 * (44032 + 22016) * 8192);
  CHECK(work->bytes == Approx(2.0 * (8.0 * (44032 + 22016) * 8192 + 2.0 * 4096 * 8192)));
  CHECK(work->least_bytes == Approx(2.0 * (2.0 * (44032 + 22016) * 8192 + 2.0 * 4096 * 8192)));
  CHECK_FALSE(WorkOf("triton::fused_moe_kernel", Given({{4096, 8192}, {8, 8192, 22016}}, kBf16)));
}

TEST_CASE("grouped products and products of libraries are told by sizes that fit") {
  const auto grouped =
      WorkOf("aten::_grouped_mm", Given({{4096, 1024}, {16, 1024, 512}, {16}}, kBf16));
  REQUIRE(grouped);
  CHECK(grouped->flops == 2.0 * 4096 * 1024 * 512);
  CHECK(grouped->bytes == 2.0 * (4096.0 * 1024 + 16 * 1024 * 512 + 4096 * 512));
  // The result comes first, the weights lie as rows of results.
  const auto scaled =
      WorkOf("_C::cutlass_scaled_mm",
             Given({{64, 512}, {64, 1024}, {512, 1024}}, ElementType::kFloat8), Class("matrix"));
  REQUIRE(scaled);
  CHECK(scaled->flops == 2.0 * 64 * 512 * 1024);
  const auto linear = WorkOf("aten::linear", Given({{8, 128, 64}, {256, 64}}, kBf16));
  REQUIRE(linear);
  CHECK(linear->flops == 2.0 * 8 * 128 * 64 * 256);
}

TEST_CASE("a transposed convolution does the work of the one that it turns around") {
  // 16 x 16 to 32 x 32: (16 - 1) * 2 - 2 * 1 + 3 + 1 = 32 with a kernel of 4.
  const auto work =
      WorkOf("aten::convolution",
             Given({{8, 64, 16, 16}, {64, 32, 4, 4}, {}, {}, {}, {}, {}, {}, {}}, kBf16,
                   {"", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"}));
  REQUIRE(work);
  CHECK(work->flops == 2.0 * 8 * 64 * 16 * 16 * 32 * 16);
  CHECK(work->bytes == 2.0 * (8 * 64 * 16 * 16 + 64 * 32 * 16 + 8 * 32 * 32 * 32));
}

TEST_CASE("without options, the sizes of gradient and result tell a convolution's work") {
  const std::vector<Sizes> sizes = {{32, 64, 56, 56}, {128, 64, 3, 3}};
  const Sizes out = {32, 128, 28, 28};
  CallHints hints;
  hints.output = &out;
  const auto forward = WorkOf("aten::cudnn_convolution", Given(sizes, kFp32), hints);
  REQUIRE(forward);
  CHECK(forward->flops == 2.0 * 32 * 128 * 28 * 28 * 64 * 9);
  const auto backward =
      WorkOf("aten::cudnn_convolution_backward", Given({sizes[0], out, sizes[1]}, kFp32));
  REQUIRE(backward);
  CHECK(backward->flops == 2 * forward->flops);
  CHECK(NamedWork("aten::cudnn_convolution_backward_weight") == OperatorWork::kPartOfCaller);
}

TEST_CASE("a depthwise convolution is known as one") {
  const auto work = WorkOf("aten::_conv_depthwise2d",
                           Given({{8, 32, 10, 10}, {32, 1, 3, 3}}, kFp32,
                                 {"", "", "[3, 3]", "", "[1, 1]", "[1, 1]", "[1, 1]"}));
  REQUIRE(work);
  CHECK(work->trait == "depthwise");
}

TEST_CASE("packed sequences are taken to be equally long") {
  std::vector<std::string> values(12);
  values[9] = "False";
  const auto work =
      WorkOf("flash_attn::_flash_attn_varlen_forward",
             Given({{4096, 16, 64}, {4096, 16, 64}, {4096, 16, 64}, {9}, {9}}, kBf16, values));
  REQUIRE(work);
  CHECK(work->flops == 4.0 * 8 * 16 * 512 * 512 * 64);
}

TEST_CASE("short names of kernels say what generic ones are instances of") {
  const auto shortened = [](const std::string& name) {
    return ShortKernelName(name, ShippedKnowledge());
  };
  CHECK(shortened("void at::native::vectorized_elementwise_kernel<4, "
                  "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
                  "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>) [clone .kd]") ==
        "vectorized_elementwise_kernel<CUDAFunctor_add>");
  CHECK(shortened("void at::native::(anonymous namespace)::softmax_warp_forward<float, float, "
                  "float, 10>(float*, float const*)") == "softmax_warp_forward");
  CHECK(shortened("attn_fwd.kd") == "attn_fwd");
  CHECK(shortened("ampere_sgemm_128x64_tn") == "ampere_sgemm_128x64_tn");
  CHECK(shortened(std::string(100, 'x')).size() == 60);
  CHECK(shortened("").empty());
  CHECK(shortened("frames::blur[abi:v1,cw51cXTLSUwv1sDU](Array<float, 2, C>)") == "blur");
}

}  // namespace
}  // namespace advise
