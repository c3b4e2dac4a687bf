// The work of calls whose arguments are laid out as PyTorch's schemas say. The schemas stand here
// as PyTorch prints them (arguments only), so that a test does not repeat the positions of the
// program.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "tests/metrics/given.h"

namespace advise {
namespace {

struct Argument {
  Sizes sizes = {};        // of a tensor
  std::string value = "";  // of anything else
};

// A call with these arguments, by name; "" and no sizes for all others.
OperatorInputs CallOf(const std::string& schema, const std::map<std::string, Argument>& arguments) {
  OperatorInputs inputs;
  std::istringstream names(schema);
  std::size_t used = 0;
  for (std::string name; names >> name;) {
    const auto found = arguments.find(name);
    inputs.tensors.emplace_back();
    inputs.values.emplace_back();
    if (found == arguments.end()) continue;
    ++used;
    inputs.tensors.back().sizes = found->second.sizes;
    if (!found->second.sizes.empty()) inputs.tensors.back().type = kBf16;
    inputs.values.back() = found->second.value;
  }
  REQUIRE(used > 0);
  return inputs;
}

// Strides, padding and dilation that differ from each other and between dimensions: any of them in
// another's place gives another image.
//   (28 + 2 * 1 - 1 * 2 - 1) / 2 + 1 = 14 rows, (40 + 2 * 3 - 2 * 2 - 1) / 3 + 1 = 14 columns
const Sizes kImage = {8, 32, 28, 40};
const Sizes kWeight = {64, 32, 3, 3};
const Sizes kSmall = {8, 64, 14, 14};
constexpr double kFlops = 2.0 * 8 * 64 * 14 * 14 * 32 * 9;
constexpr double kImageBytes = 2.0 * 8 * 32 * 28 * 40;
constexpr double kWeightBytes = 2.0 * 64 * 32 * 9;
constexpr double kSmallBytes = 2.0 * 8 * 64 * 14 * 14;

std::map<std::string, Argument> Options() {
  return {{"stride", {{}, "[2, 3]"}},     {"padding", {{}, "[1, 3]"}},
          {"dilation", {{}, "[1, 2]"}},   {"output_padding", {{}, "[0, 1]"}},
          {"transposed", {{}, "False"}},  {"groups", {{}, "1"}},
          {"kernel_size", {{}, "[3, 3]"}}};
}

TEST_CASE("convolutions take their options from where the schema has them") {
  const auto [name, schema] = GENERATE(table<const char*, const char*>({
      {"convolution", "input weight bias stride padding dilation transposed output_padding groups"},
      {"_convolution",
       "input weight bias stride padding dilation transposed output_padding groups benchmark "
       "deterministic cudnn_enabled allow_tf32"},
      {"convolution_overrideable",
       "input weight bias stride padding dilation transposed output_padding groups"},
      {"cudnn_convolution",
       "input weight padding stride dilation groups benchmark deterministic allow_tf32"},
      {"cudnn_convolution_relu", "input weight bias stride padding dilation groups"},
      {"cudnn_convolution_add_relu", "input weight z alpha bias stride padding dilation groups"},
      {"miopen_convolution",
       "input weight bias padding stride dilation groups benchmark deterministic"},
      {"miopen_convolution_relu", "input weight bias stride padding dilation groups"},
      {"miopen_depthwise_convolution",
       "input weight bias padding stride dilation groups benchmark deterministic"},
      {"_conv_depthwise2d", "input weight kernel_size bias stride padding dilation"},
      {"thnn_conv_depthwise2d_forward", "input weight kernel_size bias stride padding dilation"},
      {"slow_conv_dilated2d", "input weight kernel_size bias stride padding dilation"},
  }));
  INFO(name);
  std::map<std::string, Argument> arguments = Options();
  arguments["input"].sizes = kImage;
  arguments["weight"].sizes = kWeight;
  const auto work = WorkOf(std::string("aten::") + name, CallOf(schema, arguments));
  REQUIRE(work);
  CHECK(work->kind == WorkKind::kConvolution);
  CHECK(work->flops == kFlops);
  CHECK(work->bytes == kImageBytes + kWeightBytes + kSmallBytes);
  CHECK(work->depth == 32 * 9);
  CHECK(work->shape == "[8, 32, 28, 40] * [64, 32, 3, 3] to [14, 14]");
}

TEST_CASE("convolutions without a dilation, and of three dimensions") {
  std::map<std::string, Argument> arguments = Options();
  arguments["input"].sizes = kImage;
  arguments["weight"].sizes = kWeight;
  // (40 + 6 - 3) / 3 + 1 = 15 columns.
  const auto flat = WorkOf("aten::_slow_conv2d_forward",
                           CallOf("input weight kernel_size bias stride padding", arguments));
  REQUIRE(flat);
  CHECK(flat->flops == 2.0 * 8 * 64 * 14 * 15 * 32 * 9);
  arguments["input"].sizes = {2, 4, 10, 12, 14};
  arguments["weight"].sizes = {8, 4, 3, 3, 3};
  arguments["stride"].value = "[1, 2, 3]";
  arguments["padding"].value = "[0, 1, 2]";
  arguments["dilation"].value = "[2, 1, 1]";
  // (10 - 4 - 1) / 1 + 1 = 6, (12 + 2 - 3) / 2 + 1 = 6, (14 + 4 - 3) / 3 + 1 = 6.
  for (const char* name : {"aten::conv_depthwise3d", "aten::slow_conv_dilated3d"}) {
    const auto work =
        WorkOf(name, CallOf("input weight kernel_size bias stride padding dilation", arguments));
    REQUIRE(work);
    CHECK(work->flops == 2.0 * 2 * 8 * 6 * 6 * 6 * 4 * 27);
  }
  // Without the dilation 8 x 6 x 6.
  const auto slow = WorkOf("aten::slow_conv3d_forward",
                           CallOf("input weight kernel_size bias stride padding", arguments));
  REQUIRE(slow);
  CHECK(slow->flops == 2.0 * 2 * 8 * 8 * 6 * 6 * 4 * 27);
}

TEST_CASE("the gradients of a convolution are those that the mask at its place asks for") {
  const auto [name, schema] = GENERATE(table<const char*, const char*>({
      {"convolution_backward",
       "grad_output input weight bias_sizes stride padding dilation transposed output_padding "
       "groups output_mask"},
      {"convolution_backward_overrideable",
       "grad_output input weight stride padding dilation transposed output_padding groups "
       "output_mask"},
      {"cudnn_convolution_backward",
       "input grad_output weight padding stride dilation groups benchmark deterministic "
       "allow_tf32 output_mask"},
      {"miopen_convolution_backward",
       "input grad_output weight padding stride dilation groups benchmark deterministic "
       "output_mask"},
  }));
  INFO(name);
  const std::string schema_text = schema;
  const bool old = schema_text.starts_with("input");
  const auto work = [&](bool of_input, bool of_weight, bool of_bias) {
    std::map<std::string, Argument> arguments = Options();
    arguments["input"].sizes = kImage;
    arguments["weight"].sizes = kWeight;
    arguments["grad_output"].sizes = kSmall;
    const auto text = [](bool flag) { return flag ? "True" : "False"; };
    arguments["output_mask"].value = std::string("[") + text(of_input) + ", " + text(of_weight) +
                                     (old ? "]" : std::string(", ") + text(of_bias) + "]");
    return WorkOf(std::string("aten::") + name, CallOf(schema_text, arguments));
  };
  const auto both = work(true, true, true);
  REQUIRE(both);
  CHECK(both->flops == 2 * kFlops);
  // The gradient of the result, weight and input in; both gradients out.
  CHECK(both->bytes == kSmallBytes + 2 * kImageBytes + 2 * kWeightBytes);
  const auto input = work(true, false, false);
  REQUIRE(input);
  CHECK(input->flops == kFlops);
  CHECK(input->bytes == kSmallBytes + kWeightBytes + kImageBytes);
  const auto weight = work(false, true, false);
  REQUIRE(weight);
  CHECK(weight->flops == kFlops);
  CHECK_FALSE(work(false, false, true));
}

TEST_CASE("gradients whose sizes fit no convolution with these options are not told") {
  std::map<std::string, Argument> arguments = Options();
  arguments["input"].sizes = kImage;
  arguments["weight"].sizes = kWeight;
  arguments["output_mask"].value = "[True, True, False]";
  const std::string schema =
      "grad_output input weight bias_sizes stride padding dilation transposed output_padding "
      "groups output_mask";
  for (const Sizes& wrong :
       {Sizes{8, 64, 14, 15}, Sizes{8, 63, 14, 14}, Sizes{7, 64, 14, 14}, Sizes{8, 64, 14}}) {
    arguments["grad_output"].sizes = wrong;
    CHECK_FALSE(WorkOf("aten::convolution_backward", CallOf(schema, arguments)));
  }
}

TEST_CASE("transposed convolutions make the larger image") {
  // (14 - 1) * 2 - 2 * 1 + 1 * 2 + 1 = 27 rows, (14 - 1) * 3 - 2 * 3 + 2 * 2 + 1 = 38 columns:
  // what the output padding adds is left out.
  const auto [name, schema] = GENERATE(table<const char*, const char*>({
      {"convolution", "input weight bias stride padding dilation transposed output_padding groups"},
      {"cudnn_convolution_transpose",
       "input weight padding output_padding stride dilation groups benchmark deterministic "
       "allow_tf32"},
      {"miopen_convolution_transpose",
       "input weight bias padding output_padding stride dilation groups benchmark deterministic"},
  }));
  INFO(name);
  std::map<std::string, Argument> arguments = Options();
  arguments["input"].sizes = {8, 64, 14, 14};
  arguments["weight"].sizes = {64, 16, 3, 3};
  arguments["transposed"].value = "True";
  arguments["groups"].value = "2";
  const auto work = WorkOf(std::string("aten::") + name, CallOf(schema, arguments));
  REQUIRE(work);
  // Each of the 64 channels of a pixel goes to the 16 channels of its group, 9 times.
  CHECK(work->flops == 2.0 * 8 * 64 * 14 * 14 * 16 * 9);
  CHECK(work->bytes == 2.0 * (8 * 64 * 14 * 14 + 64 * 16 * 9 + 8 * 32 * 27 * 38));
  // Where the size of the result was recorded, it counts with its output padding.
  const Sizes result = {8, 32, 28, 39};
  CallHints hints;
  hints.output = &result;
  const auto known = WorkOf(std::string("aten::") + name, CallOf(schema, arguments), hints);
  REQUIRE(known);
  CHECK(known->bytes == 2.0 * (8 * 64 * 14 * 14 + 64 * 16 * 9 + 8 * 32 * 28 * 39));
  arguments["weight"].sizes = {63, 16, 3, 3};  // of another image
  CHECK_FALSE(WorkOf(std::string("aten::") + name, CallOf(schema, arguments)));
}

TEST_CASE("attention finds its mask where the schema has it") {
  struct Form {
    const char* name;
    const char* schema;
    bool heads_first;
  };
  const auto form = GENERATE(values<Form>({
      {"aten::_flash_attention_forward",
       "query key value cum_seq_q cum_seq_k max_q max_k dropout_p is_causal return_debug_mask "
       "scale window_size_left window_size_right seqused_k alibi_slopes",
       false},
      {"aten::_flash_attention_backward",
       "grad_out query key value out logsumexp cum_seq_q cum_seq_k max_q max_k dropout_p is_causal "
       "rng_state unused scale window_size_left window_size_right",
       false},
      {"aten::_efficient_attention_forward",
       "query key value bias cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k dropout_p "
       "custom_mask_type compute_log_sumexp scale seqlen_k window_size",
       false},
      {"aten::_efficient_attention_forward",  // PyTorch before 2.2
       "query key value bias cu_seqlens_q cu_seqlens_k max_seqlen_q dropout_p custom_mask_type "
       "compute_log_sumexp scale causal_diagonal seqlen_k",
       false},
      {"aten::_efficient_attention_backward",
       "grad_out query key value bias out cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k "
       "logsumexp dropout_p philox_seed philox_offset custom_mask_type bias_requires_grad scale "
       "num_splits_key window_size shared_storage_dqdkdv",
       false},
      {"aten::_cudnn_attention_forward",
       "query key value attn_bias cum_seq_q cum_seq_k max_q max_k compute_log_sumexp dropout_p "
       "is_causal return_debug_mask scale",
       true},
      {"aten::_cudnn_attention_backward",
       "grad_out query key value out logsumexp philox_seed philox_offset attn_bias cum_seq_q "
       "cum_seq_k max_q max_k dropout_p is_causal scale",
       true},
      {"aten::_scaled_dot_product_flash_attention",
       "query key value dropout_p is_causal return_debug_mask scale", true},
      {"aten::_scaled_dot_product_flash_attention_backward",
       "grad_out query key value out logsumexp cum_seq_q cum_seq_k max_q max_k dropout_p is_causal "
       "philox_seed philox_offset scale",
       true},
      {"aten::_scaled_dot_product_efficient_attention",
       "query key value attn_bias compute_log_sumexp dropout_p is_causal scale", true},
      {"aten::_scaled_dot_product_efficient_attention_backward",
       "grad_out query key value attn_bias out logsumexp philox_seed philox_offset dropout_p "
       "grad_input_mask is_causal scale",
       true},
      {"aten::_scaled_dot_product_cudnn_attention",
       "query key value attn_bias compute_log_sumexp dropout_p is_causal return_debug_mask scale",
       true},
      {"aten::_scaled_dot_product_cudnn_attention_backward",
       "grad_out query key value out logsumexp philox_seed philox_offset attn_bias cum_seq_q "
       "cum_seq_k max_q max_k dropout_p is_causal scale",
       true},
      {"aten::_scaled_dot_product_fused_attention_overrideable",
       "query key value attn_bias dropout_p is_causal return_debug_mask scale", true},
      {"aten::scaled_dot_product_attention",
       "query key value attn_mask dropout_p is_causal scale enable_gqa", true},
      {"flash_attn::_flash_attn_forward",
       "query key value dropout_p softmax_scale is_causal window_size_left", false},
      {"flash_attn::_flash_attn_backward",
       "grad_out query key value out softmax_lse dq dk dv dropout_p softmax_scale is_causal",
       false},
      {"aiter::mha_fwd", "query key value dropout_p softmax_scale is_causal window_size_left",
       false},
      {"aiter::fmha_v3_fwd", "query key value dropout_p softmax_scale is_causal window_size_left",
       false},
      {"aiter::mha_bwd",
       "grad_out query key value out softmax_lse dropout_p softmax_scale is_causal", false},
      {"aiter::fmha_v3_bwd",
       "grad_out query key value out softmax_lse dropout_p softmax_scale is_causal", false},
  }));
  INFO(form.name);
  const std::string schema = form.schema;
  const bool backward = schema.starts_with("grad_out");
  const auto work = [&](bool causal) {
    // 2 sequences, 8 heads with 4 for keys and values; 100 queries on 300 keys.
    const auto laid = [&](std::int64_t heads, std::int64_t length, std::int64_t width) {
      return form.heads_first ? Sizes{2, heads, length, width} : Sizes{2, length, heads, width};
    };
    return WorkOf(form.name, CallOf(schema, {{"query", {laid(8, 100, 64)}},
                                             {"key", {laid(4, 300, 64)}},
                                             {"value", {laid(4, 300, 32)}},
                                             {"grad_out", {laid(8, 100, 32)}},
                                             {"out", {laid(8, 100, 32)}},
                                             {"is_causal", {{}, causal ? "True" : "False"}},
                                             {"custom_mask_type", {{}, causal ? "1" : "0"}}}));
  };
  // A product of query and key (64 wide) and one with the values (32 wide) for each pair; backward
  // has two and a half times as many.
  const double each = 2.0 * 2 * 8 * (64 + 32) * (backward ? 2.5 : 1);
  const auto full = work(false);
  REQUIRE(full);
  CHECK(full->kind == WorkKind::kAttention);
  CHECK(full->flops == each * 100 * 300);
  const double inputs = 2.0 * (8 * 100 * 64 + 4 * 300 * 64 + 4 * 300 * 32);
  const double result = 2.0 * 8 * 100 * 32;
  CHECK(full->bytes == 2 * (backward ? 2 : 1) * (inputs + result));
  CHECK(full->depth == 300);
  const auto masked = work(true);
  REQUIRE(masked);
  // The last query sees 300 keys, the first 201.
  CHECK(masked->flops == each * 100 * (201 + 300) / 2);
  CHECK(masked->shape == full->shape + " causal");
}

TEST_CASE("attention of packed sequences finds where they begin") {
  const std::string forward =
      "query key value cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k dropout_p softmax_scale "
      "is_causal";
  const std::string backward =
      "dout query key value out softmax_lse dq dk dv cu_seqlens_q cu_seqlens_k max_seqlen_q "
      "max_seqlen_k dropout_p softmax_scale is_causal";
  const auto work = [](const char* name, const std::string& schema, const Sizes& begins,
                       bool causal) {
    return WorkOf(name, CallOf(schema, {{"query", {{400, 8, 64}}},
                                        {"key", {{1200, 2, 64}}},
                                        {"value", {{1200, 2, 32}}},
                                        {"cu_seqlens_q", {begins}},
                                        {"is_causal", {{}, causal ? "True" : "False"}}}));
  };
  // 4 sequences of 100 queries and 300 keys.
  const double pair = 2.0 * 8 * (64 + 32);
  const char* const name = "flash_attn::_flash_attn_varlen_forward";
  REQUIRE(work(name, forward, {5}, false));
  CHECK(work(name, forward, {5}, false)->flops == pair * 4 * 100 * 300);
  CHECK(work(name, forward, {5}, true)->flops == pair * 4 * 100 * (201 + 300) / 2);
  CHECK_FALSE(work(name, forward, {1}, false));
  CHECK_FALSE(work(name, forward, {}, false));
  const auto gradient = work("flash_attn::_flash_attn_varlen_backward", backward, {5}, true);
  REQUIRE(gradient);
  CHECK(gradient->flops == 2.5 * pair * 4 * 100 * (201 + 300) / 2);
}

TEST_CASE("products find their matrices where the schema has them") {
  struct Form {
    const char* name;
    const char* schema;
    bool batch;
    double added;  // elements of the matrix that is added
  };
  const auto form = GENERATE(values<Form>({
      {"mm", "a b", false, 0},
      {"addmm", "self a b beta alpha", false, 128},
      {"addmm_", "self a b beta alpha", false, 128},
      {"_addmm_activation", "self a b beta alpha use_gelu", false, 128},
      {"bmm", "a b", true, 0},
      {"baddbmm", "self a b beta alpha", true, 128},
      {"baddbmm_", "self a b beta alpha", true, 128},
  }));
  INFO(form.name);
  const Sizes a = form.batch ? Sizes{10, 64, 32} : Sizes{64, 32};
  const Sizes b = form.batch ? Sizes{10, 32, 128} : Sizes{32, 128};
  const double batch = form.batch ? 10 : 1;
  const auto work = WorkOf(std::string("aten::") + form.name,
                           CallOf(form.schema, {{"self", {{128}}}, {"a", {a}}, {"b", {b}}}));
  REQUIRE(work);
  CHECK(work->flops == 2.0 * batch * 64 * 32 * 128);
  CHECK(work->bytes == 2.0 * (batch * (64 * 32 + 32 * 128 + 64 * 128) + form.added));
  CHECK(work->narrow == 64);
  CHECK(work->uses == (form.batch ? 0 : 64));
  CHECK(work->depth == 32);
  CHECK(work->tiles == batch);  // 64 x 128 is one tile of 128 x 128
}

TEST_CASE("a sum of products writes one result") {
  const auto work =
      WorkOf("aten::addbmm",
             CallOf("self a b beta alpha",
                    {{"self", {{64, 128}}}, {"a", {{10, 64, 32}}}, {"b", {{10, 32, 128}}}}));
  REQUIRE(work);
  CHECK(work->flops == 2.0 * 10 * 64 * 32 * 128);
  CHECK(work->bytes == 2.0 * (10 * (64 * 32 + 32 * 128) + 2 * 64 * 128));
}

TEST_CASE("a matrix times a vector reads the matrix once") {
  const auto [name, schema] = GENERATE(table<const char*, const char*>({
      {"aten::mv", "a b"},
      {"aten::addmv", "self a b beta alpha"},
      {"aten::addmv_", "self a b beta alpha"},
      {"aten::matmul", "a b"},
  }));
  INFO(name);
  const auto work =
      WorkOf(name, CallOf(schema, {{"self", {{1000}}}, {"a", {{1000, 500}}}, {"b", {{500}}}}));
  REQUIRE(work);
  CHECK(work->flops == 1e6);
  CHECK(work->bytes == 2.0 * (500000 + 500 + 1000));
  CHECK(work->uses == 1);
  CHECK(work->depth == 500);
  CHECK(work->shape == "[1000, 500] x [500]");
}

}  // namespace
}  // namespace advise
