// The work of products: by PyTorch's schemas, and of libraries by sizes that fit each other.
#include "tests/metrics/kernels/schema_call.h"

namespace advise {
namespace {

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

TEST_CASE("packed weights are read at their bits, and multiplied in 16") {
  // 8 rows by weights of 4096 x 14336, with a scale for 128 of them.
  const ElementType i32 = ElementType::kInt32;
  const double flops = 2.0 * 8 * 4096 * 14336;
  const double inputs = 8.0 * 4096 * 2;
  const double result = 8.0 * 14336 * 2;
  const double four = 4096.0 * 14336 / 2;
  const double scales = 32.0 * 14336 * 2;
  // Marlin of older and newer versions: tiles of 16 rows, eight values to an integer.
  const std::pair<Sizes, ElementType> a = {{8, 4096}, kFp16};
  const std::pair<Sizes, ElementType> tiles = {{256, 28672}, i32};
  const std::pair<Sizes, ElementType> groups = {{32, 14336}, kFp16};
  const std::pair<Sizes, ElementType> none = {{}, ElementType::kUnknown};
  const auto old_one = WorkOf("_C::gptq_marlin_gemm", Typed({a, tiles, groups}));
  REQUIRE(old_one);
  CHECK(old_one->flops == flops);
  CHECK(old_one->bytes == inputs + four + scales + result);
  CHECK(old_one->type == kFp16);
  CHECK(old_one->narrow == 8);
  const auto new_one =
      WorkOf("_C::gptq_marlin_gemm",
             Typed({a, none, tiles, none, groups, none, none, none, none, {{16384}, i32}}));
  REQUIRE(new_one);
  CHECK(new_one->bytes == old_one->bytes);
  const auto awq =
      WorkOf("_C::awq_gemm", Typed({a, {{4096, 1792}, i32}, groups, {{32, 1792}, i32}}));
  REQUIRE(awq);
  CHECK(awq->bytes == old_one->bytes);
  // PyTorch's own: scales and zeros side by side; eight bits with a scale per row.
  const auto torch4 =
      WorkOf("aten::_weight_int4pack_mm",
             Typed({{{8, 4096}, kBf16}, {{1792, 32, 32, 4}, i32}, none, {{32, 14336, 2}, kBf16}}));
  REQUIRE(torch4);
  CHECK(torch4->flops == flops);
  CHECK(torch4->bytes == inputs + four + 2 * scales + result);
  const auto torch8 =
      WorkOf("aten::_weight_int8pack_mm",
             Typed({{{8, 4096}, kBf16}, {{14336, 4096}, ElementType::kInt8}, {{14336}, kBf16}}));
  REQUIRE(torch8);
  CHECK(torch8->bytes == inputs + 2 * four + 14336 * 2 + result);
  // No scale tells the results; the name tells the bits.
  const auto bits = WorkOf("bitsandbytes::gemv_4bit", Typed({{{1, 1, 4096}, kFp16},
                                                             {{29360128, 1}, ElementType::kInt8},
                                                             none,
                                                             {{917504}, kFp32},
                                                             {{16}, kFp32}}));
  REQUIRE(bits);
  CHECK(bits->flops == 2.0 * 4096 * 14336);
  // Sizes that do not fit each other are not guessed.
  CHECK_FALSE(WorkOf("_C::awq_gemm", Typed({a, {{4096, 1792}, i32}, {{32, 9000}, kFp16}})));
}

TEST_CASE("packed weights may have a single column of results, and no part of one") {
  const auto columns = [](std::int64_t integers) {
    return WorkOf(
        "_C::gptq_marlin_gemm",
        Typed({{{8, 4096}, kFp16}, {{1, integers}, ElementType::kInt32}, {{1, 1}, kFp16}}));
  };
  // 4096 values of four bits are 512 integers.
  REQUIRE(columns(512));
  CHECK(columns(512)->flops == 2.0 * 8 * 4096);
  CHECK_FALSE(columns(256));
  CHECK_FALSE(columns(768));
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

TEST_CASE("products that are known by their kernels: which tensor is which is told by sizes") {
  CallHints matrix;
  matrix.kernel_class = "matrix";
  const auto flops = [&](const std::vector<Sizes>& sizes) {
    const auto work = WorkOf("lib::gemm", Given(sizes, kBf16), matrix);
    return work ? work->flops : -1;
  };
  const double expected = 2.0 * 48 * 32 * 80;
  CHECK(flops({{48, 32}, {80, 32}}) == expected);            // weights as rows of results
  CHECK(flops({{48, 32}, {32, 80}}) == expected);            // by columns
  CHECK(flops({{48, 80}, {48, 32}, {80, 32}}) == expected);  // the result first
  CHECK(flops({{48, 80}, {48, 32}, {32, 80}}) == expected);
  CHECK(flops({{48, 32}, {80, 32}, {48, 80}}) == expected);  // the result last
  CHECK(flops({{6, 8, 32}, {80, 32}}) == expected);          // tokens in two dimensions
  CHECK(flops({{4, 12, 32}, {4, 32, 80}}) == expected);      // four products
  CHECK(flops({{7}, {48, 32}, {80, 32}}) == expected);       // a bias before them
  CHECK(flops({{48, 32}, {31, 80}}) == -1);
  CHECK(flops({{48, 32}}) == -1);
  CHECK(flops({{48, 32}, {80}}) == -1);
  // Weights of groups: [groups, results, terms], else [groups, terms, results].
  CHECK(flops({{48, 32}, {5, 80, 32}}) == expected);
  CHECK(flops({{48, 32}, {5, 32, 80}}) == expected);
  // What has no known type is no matrix: a table of places, though its sizes would fit.
  OperatorInputs table = Given({{7, 48}, {48, 32}, {80, 32}}, kBf16);
  table.tensors.front().type = ElementType::kUnknown;
  const auto work = WorkOf("lib::gemm", table, matrix);
  REQUIRE(work);
  CHECK(work->flops == expected);
}

TEST_CASE("scales of quantized operands are none of the two matrices") {
  constexpr ElementType kFp8 = ElementType::kFloat8;
  constexpr ElementType kInt32 = ElementType::kInt32;
  constexpr ElementType kInt8 = ElementType::kInt8;
  using Tensors = std::vector<std::pair<Sizes, ElementType>>;
  CallHints matrix;
  matrix.kernel_class = "matrix";
  const auto product = [&](const Tensors& tensors) {
    const auto work = WorkOf("lib::gemm", Typed(tensors), matrix);
    return work ? std::string(TypeName(work->type)) + " " + work->shape : "unknown";
  };
  // A block of 32 terms has one scale; [64, 64] by [64, 2] would fit as well.
  const Tensors blocks = {
      {{64, 64}, kFp8}, {{64, 2}, kFp32}, {{80, 64}, kFp8}, {{2, 2}, kFp32}, {{64, 80}, kBf16}};
  CHECK(product(blocks) == "fp8 [64, 64] x [80, 64]");
  CHECK(WorkOf("lib::gemm", Typed(blocks), matrix)->flops == 2.0 * 64 * 64 * 80);
  // The result first, then a scale for each row and each column.
  CHECK(product({{{48, 80}, kBf16},
                 {{48, 32}, kFp8},
                 {{80, 32}, kFp8},
                 {{48, 1}, kFp32},
                 {{1, 80}, kFp32}}) == "fp8 [48, 32] x [80, 32]");
  // With as many terms as columns, the first operand would fit the result, too.
  CHECK(product({{{96, 64}, kFp8}, {{64, 64}, kFp8}, {{96, 64}, kBf16}}) ==
        "fp8 [96, 64] x [64, 64]");
  // Weights of eight bits, a scale for each row.
  CHECK(product({{{48, 32}, kBf16}, {{80, 32}, kInt8}, {{80, 1}, kBf16}}) ==
        "bf16 [48, 32] x [80, 32]");
  // Weights of four bits, packed into integers: how many terms these hold is not known. The scales
  // would fit.
  CHECK(product({{{48, 64}, kBf16}, {{4, 128}, kInt32}, {{2, 64}, kBf16}}) == "unknown");
  CHECK(product({{{48, 64}, kBf16}, {{64, 8}, kInt32}, {{2, 64}, kBf16}}) == "unknown");
}

TEST_CASE("rows and two matrices of weights are no pair") {
  CallHints matrix;
  matrix.kernel_class = "matrix";
  CHECK_FALSE(WorkOf("lib::dual_gemm", Given({{48, 64}, {80, 64}, {}, {80, 64}}, kBf16), matrix));
  CHECK_FALSE(WorkOf("lib::dual_gemm", Given({{1, 64}, {80, 64}, {}, {80, 64}}, kBf16), matrix));
  // Scales of a large operand may be larger than one row.
  const auto row = WorkOf("lib::gemm",
                          Typed({{{1, 64}, ElementType::kFloat8},
                                 {{1, 2}, kFp32},
                                 {{4096, 64}, ElementType::kFloat8},
                                 {{32, 2}, kFp32}}),
                          matrix);
  REQUIRE(row);
  CHECK(row->flops == 2.0 * 64 * 4096);
}

TEST_CASE("operands of two types are multiplied in the one that the kernel names, else the wider") {
  CallHints matrix;
  matrix.kernel_class = "matrix";
  const auto inputs = Typed({{{48, 32}, kBf16}, {{80, 32}, ElementType::kFloat8}});
  const auto unknown = WorkOf("lib::gemm", inputs, matrix);
  REQUIRE(unknown);
  CHECK(unknown->type == kBf16);
  matrix.type = ElementType::kFloat8;
  const auto quantized = WorkOf("lib::gemm", inputs, matrix);
  REQUIRE(quantized);
  CHECK(quantized->type == ElementType::kFloat8);
  CHECK(quantized->bytes == 2.0 * 48 * 32 + 80 * 32 + 2.0 * 48 * 80);
  CHECK_FALSE(WorkOf("lib::moe", Typed({{{48, 32}, kBf16}, {{80, 32}, kFp32}}), matrix));
}

TEST_CASE("bytes are pairs of four-bit values where the kernel multiplies those") {
  constexpr ElementType kByte = ElementType::kInt8;
  CallHints matrix;
  matrix.kernel_class = "matrix";
  matrix.type = ElementType::kFloat4;
  const auto work = WorkOf("lib::fp4_gemm",
                           Typed({{{48, 32}, kByte},
                                  {{80, 32}, kByte},
                                  {{48, 4}, kByte},
                                  {{80, 4}, kByte},
                                  {{48, 80}, kBf16}}),
                           matrix);
  REQUIRE(work);
  CHECK(work->type == ElementType::kFloat4);
  CHECK(work->flops == 2.0 * 48 * 80 * 64);
  CHECK(work->bytes == 48.0 * 32 + 80 * 32 + 2.0 * 48 * 80);
}

TEST_CASE("an operator that multiplies several times is told by its name alone") {
  CallHints matrix;
  matrix.kernel_class = "matrix";
  matrix.products = 3;
  CHECK_FALSE(WorkOf("LinearLossFunction", Given({{48, 32}, {80, 32}}, kBf16), matrix));
  matrix.products = 1;
  CHECK(WorkOf("LinearLossFunction", Given({{48, 32}, {80, 32}}, kBf16), matrix));
}

TEST_CASE("a complex product is four real ones") {
  const auto work = WorkOf("aten::mm", Given({{48, 32}, {32, 80}}, ElementType::kComplex64));
  REQUIRE(work);
  CHECK(work->flops == 8.0 * 48 * 32 * 80);
  CHECK(work->bytes == 8.0 * (48 * 32 + 32 * 80 + 48 * 80));
}

TEST_CASE("a batch by one matrix is one product") {
  const auto work = WorkOf("aten::matmul", Given({{10, 64, 32}, {32, 128}}, kFp32));
  REQUIRE(work);
  CHECK(work->flops == 2.0 * 640 * 32 * 128);
  CHECK(work->bytes == 4.0 * (640 * 32 + 32 * 128 + 640 * 128));
  CHECK(work->uses == 128);  // of 640 rows and 128 columns
  CHECK(work->depth == 32);
  CHECK(work->tiles == 5);
  const auto batch = WorkOf("aten::matmul", Given({{10, 64, 32}, {10, 32, 128}}, kFp32));
  CHECK(batch->flops == 2.0 * 640 * 32 * 128);
  CHECK(batch->uses == 0);
  CHECK(batch->narrow == 64);
  CHECK(batch->bytes == 4.0 * 10 * (64 * 32 + 32 * 128 + 64 * 128));
  CHECK_FALSE(WorkOf("aten::matmul", Given({{10, 64, 32}, {31, 128}}, kFp32)));
  CHECK_FALSE(WorkOf("aten::matmul", Given({{}, {31, 128}}, kFp32)));
  CHECK_FALSE(WorkOf("aten::matmul", Given({{0, 32}, {32, 128}}, kFp32)));
}

TEST_CASE("four bits are two values an element, eight bits of integers add up to four bytes") {
  const auto packed = WorkOf("aten::_scaled_mm", Given({{64, 16}, {16, 48}}, ElementType::kFloat4));
  REQUIRE(packed);
  CHECK(packed->flops == 2.0 * 64 * 32 * 48);  // 16 elements hold 32 terms
  CHECK(packed->bytes == 64.0 * 16 + 16 * 48 + 2 * 64 * 48);
  const auto whole = WorkOf("aten::_int_mm", Given({{64, 32}, {32, 48}}, ElementType::kInt8));
  REQUIRE(whole);
  CHECK(whole->bytes == 64.0 * 32 + 32 * 48 + 4 * 64 * 48);
}

TEST_CASE("grouped products read the weights of as many groups as there can be tokens for") {
  const auto few = WorkOf("aten::_grouped_mm", Given({{4, 256}, {16, 256, 512}, {16}}, kBf16));
  REQUIRE(few);
  CHECK(few->bytes == 2.0 * (4 * 256 + 4 * 256 * 512 + 4 * 512));
  CHECK(few->uses == 1);
  CHECK(few->tiles == 4.0 * 4);
  CHECK(few->trait == "grouped");
  CHECK(few->depth == 256);
  const auto many = WorkOf("aten::_grouped_mm", Given({{4096, 256}, {16, 256, 512}, {16}}, kBf16));
  CHECK(many->uses == 256);
  CHECK(many->tiles == 16.0 * 2 * 4);
  CHECK(many->shape == "[4096, 256] x [16, 256, 512]");
  CHECK_FALSE(WorkOf("aten::_grouped_mm", Given({{4096, 255}, {16, 256, 512}}, kBf16)));
  CHECK_FALSE(WorkOf("aten::_grouped_mm", Given({{0, 256}, {16, 256, 512}}, kBf16)));
  // Gradients of weights: two matrices, and as many products as batches.
  CHECK(WorkOf("aten::_grouped_mm", Given({{256, 4096}, {4096, 512}}, kBf16))->flops ==
        2.0 * 256 * 4096 * 512);
  CHECK(WorkOf("aten::_grouped_mm", Given({{16, 256, 40}, {16, 40, 512}}, kBf16))->flops ==
        2.0 * 16 * 256 * 40 * 512);
}

TEST_CASE("experts: the weights that even routing reaches, and as few as can be") {
  // 3 tokens to 2 of 8 experts: each expert is missed by all with (6 / 8)^3.
  const auto work =
      WorkOf("vllm::fused_moe", Given({{3, 64}, {8, 96, 64}, {8, 64, 48}, {3, 2}}, kBf16));
  REQUIRE(work);
  const double reached = 8 * (1 - 0.75 * 0.75 * 0.75);
  const double weights = (96 + 48) * 64;
  CHECK(work->flops == 2.0 * 3 * 2 * weights);
  CHECK(work->bytes == Approx(2 * reached * weights + 2.0 * 2 * 3 * 64));
  CHECK(work->least_bytes == Approx(2.0 * 2 * weights + 2.0 * 2 * 3 * 64));
  CHECK(work->depth == 64);
  CHECK(work->tiles == Approx(reached));  // less than 128 by 128 each
  CHECK(work->shape == "[3, 64] to 2 of 8 experts of [96, 64]");
  const auto fits = [](const std::vector<Sizes>& sizes) {
    return WorkOf("vllm::fused_experts", Given(sizes, kBf16)).has_value();
  };
  CHECK(fits({{3, 64}, {8, 48, 64}, {8, 64, 48}, {3, 2}}));        // without a gate
  CHECK(fits({{3, 64}, {8, 96, 64}, {8, 64, 48}, {3, 8}}));        // to all of them
  CHECK_FALSE(fits({{3, 64}, {8, 96, 64}, {8, 64, 48}, {3, 9}}));  // to more than there are
  CHECK_FALSE(fits({{3, 64}, {8, 96, 64}, {7, 64, 48}, {3, 2}}));
  CHECK_FALSE(fits({{3, 64}, {8, 96, 65}, {8, 65, 48}, {3, 2}}));
  CHECK_FALSE(fits({{3, 64}, {8, 96, 64}, {8, 63, 48}, {3, 2}}));
  CHECK_FALSE(fits({{3, 64}, {8, 95, 64}, {8, 64, 48}, {3, 2}}));
  CHECK_FALSE(fits({{3, 64}, {8, 96, 64}, {8, 64, 48}, {4, 2}}));
  CHECK_FALSE(fits({{3, 64}, {8, 96, 64}, {8, 64, 48}, {3, 64}}));
  for (const char* name : {"lib::fused_moe", "lib::fused_experts", "lib::moe_fused", "lib::fmoe"}) {
    CHECK(NamedWork(name) == OperatorWork::kMultiplies);
  }
  for (const char* name : {"fused_moe", "lib::fused_moe_sorting", "lib::fused_moe_topk"}) {
    CHECK(NamedWork(name) == OperatorWork::kUnnamed);
  }
}

}  // namespace
}  // namespace advise
