// The work of attention whose arguments stand where the schemas of PyTorch and of the libraries
// have them.
#include "tests/metrics/kernels/schema_call.h"

namespace advise {
namespace {

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
      {"aiter::wrapper_fmha_v3_fwd",
       "query key value dropout_p softmax_scale is_causal window_size_left", false},
      {"flash_attn_3::fwd",
       "query key value k_new v_new q_v out cu_seqlens_q cu_seqlens_k cu_seqlens_k_new seqused_q "
       "seqused_k max_seqlen_q max_seqlen_k page_table kv_batch_idx leftpad_k rotary_cos "
       "rotary_sin seqlens_rotary q_descale k_descale v_descale softmax_scale is_causal "
       "window_size_left window_size_right",
       false},
      {"aiter::mha_bwd",
       "grad_out query key value out softmax_lse dropout_p softmax_scale is_causal", false},
      {"aiter::wrapper_fmha_v3_bwd",
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

TEST_CASE("attention of one query, and of few keys") {
  const auto few = static_cast<std::int64_t>(ShippedKnowledge().Number("work.short_sequence"));
  const auto attention = [](std::int64_t queries, std::int64_t keys) {
    return WorkOf(
        "aten::scaled_dot_product_attention",
        CallOf("query key value attn_mask dropout_p is_causal", {{"query", {{2, 8, queries, 64}}},
                                                                 {"key", {{2, 8, keys, 64}}},
                                                                 {"value", {{2, 8, keys, 64}}},
                                                                 {"is_causal", {{}, "False"}}}));
  };
  CHECK(attention(1, few)->trait == "one-query");
  CHECK(attention(2, few)->trait == "short-sequence");
  CHECK(attention(2, few + 1)->trait.empty());
  CHECK(attention(1000, few + 1)->tiles == 2 * 8 * 8);
  CHECK(attention(1000, few + 1)->shape ==
        "[2, 8, 1000, 64] by [2, 8, " + std::to_string(few + 1) + ", 64]");
  // Queries that see no key under a causal mask, and sizes that do not fit.
  const auto other = [](const Sizes& query, const Sizes& key, const Sizes& value,
                        const char* causal) {
    return WorkOf("aten::scaled_dot_product_attention",
                  CallOf("query key value attn_mask dropout_p is_causal",
                         {{"query", {query}},
                          {"key", {key}},
                          {"value", {value}},
                          {"is_causal", {{}, causal}}}))
        .has_value();
  };
  CHECK(other({2, 8, 9, 64}, {2, 8, 9, 64}, {2, 8, 9, 64}, "True"));
  CHECK_FALSE(other({2, 8, 10, 64}, {2, 8, 9, 64}, {2, 8, 9, 64}, "True"));
  CHECK(other({2, 8, 10, 64}, {2, 8, 9, 64}, {2, 8, 9, 64}, "False"));
  CHECK_FALSE(other({2, 8, 9, 64}, {2, 8, 9, 64}, {2, 8, 9, 64}, ""));
  CHECK_FALSE(other({3, 8, 9, 64}, {2, 8, 9, 64}, {2, 8, 9, 64}, "False"));
  CHECK_FALSE(other({2, 8, 9, 64}, {2, 8, 9, 63}, {2, 8, 9, 64}, "False"));
  CHECK_FALSE(other({2, 8, 9, 64}, {2, 8, 9, 64}, {2, 8, 8, 64}, "False"));
  CHECK_FALSE(other({2, 8, 9, 64}, {2, 8, 9, 64}, {2, 8, 9}, "False"));
}

TEST_CASE("a bias or a window hides more than attention's work can tell") {
  const std::string schema =
      "query key value bias cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k dropout_p "
      "custom_mask_type compute_log_sumexp scale seqlen_k window_size";
  const auto told = [&](const std::map<std::string, Argument>& more) {
    std::map<std::string, Argument> arguments = {{"query", {{2, 9, 8, 64}}},
                                                 {"key", {{2, 9, 8, 64}}},
                                                 {"value", {{2, 9, 8, 64}}},
                                                 {"custom_mask_type", {{}, "2"}}};
    for (const auto& [name, argument] : more) arguments[name] = argument;
    return WorkOf("aten::_efficient_attention_forward", CallOf(schema, arguments)).has_value();
  };
  CHECK(told({}));
  CHECK_FALSE(told({{"bias", {{2, 8, 9, 9}}}}));
  CHECK_FALSE(told({{"cu_seqlens_q", {{3}}}}));
  CHECK_FALSE(told({{"custom_mask_type", {{}, "12"}}}));
  CHECK_FALSE(told({{"custom_mask_type", {{}, ""}}}));
  const std::string flash =
      "query key value cum_seq_q cum_seq_k max_q max_k dropout_p is_causal return_debug_mask "
      "scale window_size_left window_size_right";
  const auto windowed = [&](const char* left, const char* right) {
    return !WorkOf("aten::_flash_attention_forward",
                   CallOf(flash, {{"query", {{2, 9, 8, 64}}},
                                  {"key", {{2, 9, 8, 64}}},
                                  {"value", {{2, 9, 8, 64}}},
                                  {"is_causal", {{}, "False"}},
                                  {"window_size_left", {{}, left}},
                                  {"window_size_right", {{}, right}}}));
  };
  CHECK_FALSE(windowed("", ""));
  CHECK_FALSE(windowed("-1", "-1"));
  CHECK(windowed("0", "-1"));
  CHECK(windowed("-1", "64"));
}

TEST_CASE("of a cache, nobody knows how many keys are in use") {
  const std::string schema =
      "query key value k_new v_new q_v out cu_seqlens_q cu_seqlens_k cu_seqlens_k_new seqused_q "
      "seqused_k max_seqlen_q max_seqlen_k page_table kv_batch_idx leftpad_k rotary_cos rotary_sin "
      "seqlens_rotary q_descale k_descale v_descale softmax_scale is_causal window_size_left "
      "window_size_right";
  const auto told = [&](const Sizes& query, const Sizes& used) {
    return WorkOf("sgl_kernel::fwd", CallOf(schema, {{"query", {query}},
                                                     {"key", {{2, 900, 8, 64}}},
                                                     {"value", {{2, 900, 8, 64}}},
                                                     {"seqused_k", {used}},
                                                     {"is_causal", {{}, "True"}}}))
        .has_value();
  };
  CHECK(told({2, 1, 8, 64}, {}));
  CHECK_FALSE(told({2, 1, 8, 64}, {2}));
  CHECK_FALSE(told({2, 8, 64}, {}));  // behind each other
}

}  // namespace
}  // namespace advise
