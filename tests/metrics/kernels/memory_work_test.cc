// Bytes of calls that move data, worked out by hand from the sizes. Where a number of the knowledge
// base decides, the sizes lie on both of its sides.
#include <catch2/catch.hpp>

#include "tests/metrics/kernels/given.h"

namespace advise {
namespace {

double Limit(const char* name) { return ShippedKnowledge().Number(name); }

OperatorTensor ListOf(std::int64_t count, std::int64_t elements,
                      ElementType type = ElementType::kUnknown) {
  OperatorTensor list;
  list.list_count = count;
  list.list_elements = elements;
  list.type = type;
  return list;
}

TEST_CASE("random numbers and constants are written, and not read") {
  for (const char* name : {"aten::fill_", "aten::zero_", "aten::normal_", "aten::uniform_",
                           "aten::bernoulli_", "aten::random_", "aten::exponential_"}) {
    INFO(name);
    const auto work = WorkOf(name, Given({{100, 30}}, kFp32));
    REQUIRE(work);
    CHECK(work->bytes == 4.0 * 3000);
    CHECK(work->flops == 3000);
    CHECK(work->shape == "[100, 30]");
  }
  CHECK_FALSE(WorkOf("aten::fill_", Given({{}}, kFp32)));
  CHECK_FALSE(WorkOf("aten::fill_", Given({{0, 5}}, kFp32)));
}

TEST_CASE("what is repeated along a dimension is read once and written often") {
  CallHints elementwise;
  elementwise.kernel_class = "elementwise";
  const auto work = WorkOf("aten::sub", Given({{100, 1, 30}, {1, 7, 30}, {}}, kFp32), elementwise);
  REQUIRE(work);
  CHECK(work->bytes == 4.0 * (3000 + 7 * 30 + 100 * 7 * 30));
  CHECK(work->flops == 100 * 7 * 30);
  CHECK(work->shape == "[100, 7, 30]");
  const auto column = WorkOf("aten::add", Given({{100, 1}, {30}}, kFp32), elementwise);
  REQUIRE(column);
  CHECK(column->bytes == 4.0 * (100 + 30 + 3000));
  // Sizes that do not fit: it is told by its largest tensor.
  const auto odd = WorkOf("aten::add", Given({{100, 3}, {30, 2}}, kFp32), elementwise);
  REQUIRE(odd);
  CHECK(odd->flops == 300);
}

TEST_CASE("dropout writes its result and a mask of bytes") {
  CallHints random;
  random.kernel_class = "random";
  const auto work = WorkOf("aten::native_dropout", Given({{100, 30}, {}}, kBf16), random);
  REQUIRE(work);
  CHECK(work->bytes == 3000.0 * (2 + 2 + 1));
}

TEST_CASE("a copy reads one type and writes another") {
  const auto work =
      WorkOf("aten::copy_", Typed({{{100, 30}, kBf16}, {{100, 30}, kFp32}, {{}, {}}}));
  REQUIRE(work);
  CHECK(work->bytes == 3000.0 * (2 + 4));
  // What is repeated along a dimension lies in memory once.
  OperatorInputs repeated = Typed({{{100, 30}, kFp32}, {{100, 30}, kFp32}});
  repeated.tensors[1].strides = {0, 1};
  CHECK(WorkOf("aten::copy_", repeated)->bytes == 4.0 * (3000 + 30));
}

TEST_CASE("only neighbors that are none in the other tensor are strides") {
  const auto trait = [](const Sizes& sizes, const Sizes& a, const Sizes& b) {
    OperatorInputs inputs = Given({sizes, sizes}, kFp32);
    inputs.tensors[0].strides = a;
    inputs.tensors[1].strides = b;
    return WorkOf("aten::copy_", inputs)->trait;
  };
  CHECK(trait({64, 32}, {32, 1}, {1, 64}) == "strided");
  CHECK(trait({64, 32}, {1, 64}, {32, 1}) == "strided");
  CHECK(trait({64, 32}, {1, 64}, {1, 64}).empty());  // alike
  CHECK(trait({64, 32}, {32, 1}, {0, 1}).empty());
  CHECK(trait({64, 32}, {32, 1}, {1, 0}).empty());  // one value a row
  CHECK(trait({64, 1}, {1, 7}, {1, 1}).empty());    // size 1 has any stride
  CHECK(trait({64, 1}, {2, 7}, {1, 1}) == "strided");
  CHECK(trait({1, 1}, {9, 7}, {1, 1}).empty());
  CHECK(trait({64, 32}, {}, {1, 64}).empty());  // not recorded
  CHECK(trait({64, 32}, {1, 64}, {}).empty());
  CHECK(trait({64}, {2}, {1}).empty());  // a vector has no rows
}

TEST_CASE("a normalization reads long rows twice") {
  const auto row_bytes = static_cast<std::int64_t>(Limit("work.row_bytes"));
  const std::int64_t fits = row_bytes / 4;
  const auto bytes = [](std::int64_t row) {
    return WorkOf("aten::native_layer_norm", Given({{10, row}, {}, {row}, {row}}, kFp32))->bytes /
           (4.0 * 10 * static_cast<double>(row));
  };
  CHECK(bytes(fits) == 2);
  CHECK(bytes(fits + 1) == 3);
  const auto gradient = [](std::int64_t row) {
    return WorkOf("aten::native_layer_norm_backward",
                  Given({{10, row}, {10, row}, {}, {10}, {10}, {row}, {row}}, kFp32))
               ->bytes /
           (4.0 * 10 * static_cast<double>(row));
  };
  CHECK(gradient(fits) == 3);  // gradient and input in, gradient out
  CHECK(gradient(fits + 1) == 5);
  const auto work = WorkOf("aten::native_layer_norm", Given({{10, 512}, {}, {512}}, kFp32));
  CHECK(work->flops == 4.0 * 10 * 512);
  // The row is what the weight has: two dimensions of it here.
  const auto planes = [&](std::int64_t side) {
    return WorkOf("aten::native_layer_norm", Given({{10, side, side}, {}, {side, side}}, kFp32))
               ->bytes /
           (4.0 * 10 * static_cast<double>(side * side));
  };
  CHECK(planes(181) == 2);  // 181 * 181 * 4 = 131,044 bytes
  CHECK(planes(182) == 3);
  CHECK(WorkOf("aten::_fused_rms_norm", Given({{10, 512}, {}, {512}}, kBf16))->bytes ==
        2.0 * 2 * 5120);
  CHECK(WorkOf("aten::_fused_rms_norm_backward",
               Given({{10, 512}, {10, 512}, {}, {10}, {512}}, kBf16))
            ->bytes == 3.0 * 2 * 5120);
}

TEST_CASE("rows of a normalization may be short, or too long for the few there are") {
  const auto shorter = static_cast<std::int64_t>(Limit("work.short_row"));
  const auto longer = static_cast<std::int64_t>(Limit("work.long_row"));
  const auto few = static_cast<std::int64_t>(Limit("work.few_rows"));
  const auto trait = [](std::int64_t rows, std::int64_t length) {
    return WorkOf("aten::native_layer_norm", Given({{rows, length}, {}, {length}}, kFp32))->trait;
  };
  CHECK(trait(1000, shorter) == "short-rows");
  CHECK(trait(1000, shorter + 1).empty());
  CHECK(trait(few, longer) == "long-rows");
  CHECK(trait(few + 1, longer).empty());
  CHECK(trait(few, longer - 1).empty());
  // Without a weight the last dimension is the row.
  CHECK(WorkOf("aten::native_layer_norm", Given({{1000, shorter}}, kFp32))->trait == "short-rows");
  // Of a sum along rows, too.
  CHECK(WorkOf("aten::sum", Given({{1000, shorter}}, kFp32))->trait == "short-rows");
  CHECK(WorkOf("aten::sum", Given({{1000, shorter + 1}}, kFp32))->trait.empty());
  CHECK(WorkOf("aten::sum", Given({{few, longer}}, kFp32))->trait == "long-rows");
  CHECK(WorkOf("aten::sum", Given({{few + 1, longer}}, kFp32))->trait.empty());
  const auto softmax = [](const Sizes& sizes, const std::string& dimension) {
    return WorkOf("aten::_softmax", Given({sizes}, kFp32, {"", dimension, "False"}))->trait;
  };
  CHECK(softmax({few, longer}, "1") == "long-rows");
  CHECK(softmax({few, longer}, "-1") == "long-rows");
  CHECK(softmax({longer, few}, "0") == "long-rows");
  CHECK(softmax({longer, few}, "-2") == "long-rows");
  CHECK(softmax({few + 1, longer}, "1").empty());
  CHECK(softmax({1000, shorter}, "1") == "short-rows");
}

TEST_CASE("of channels the rows are all of their pixels, of groups the usual 32") {
  // 131,072 bytes are 32,768 elements of FP32.
  const auto batch = [](std::int64_t images, const char* training) {
    return WorkOf("aten::native_batch_norm", Given({{images, 4, 64, 64}, {4}, {4}, {4}, {4}, {}},
                                                   kFp32, {"", "", "", "", "", training}))
               ->bytes /
           (4.0 * 4 * 4096 * static_cast<double>(images));
  };
  CHECK(batch(8, "True") == 2);
  CHECK(batch(9, "True") == 3);
  CHECK(batch(9, "False") == 2);
  CHECK(batch(9, "") == 3);
  for (const char* name : {"aten::native_batch_norm_backward", "aten::cudnn_batch_norm_backward",
                           "aten::miopen_batch_norm_backward"}) {
    CHECK(WorkOf(name, Given({{8, 4, 64, 64}, {8, 4, 64, 64}}, kFp32))->bytes ==
          3.0 * 4 * 8 * 4 * 4096);
    CHECK(WorkOf(name, Given({{9, 4, 64, 64}, {9, 4, 64, 64}}, kFp32))->bytes ==
          5.0 * 4 * 9 * 4 * 4096);
  }
  const auto group = [](std::int64_t side) {
    return WorkOf("aten::native_group_norm", Given({{2, 64, side, side}}, kFp32))->bytes /
           (4.0 * 2 * 64 * static_cast<double>(side * side));
  };
  CHECK(group(128) == 2);  // 2 channels of 16,384
  CHECK(group(129) == 3);
  CHECK_FALSE(WorkOf("aten::native_batch_norm", Given({{8}}, kFp32)));
  CHECK_FALSE(WorkOf("aten::native_group_norm", Given({{8, 32}}, kFp32)));
  CHECK_FALSE(WorkOf("aten::native_layer_norm", Given({{}}, kFp32)));
}

TEST_CASE("a softmax goes along the dimension that its argument says") {
  const auto row = static_cast<std::int64_t>(Limit("work.row_bytes")) / 4;
  for (const char* name : {"aten::_softmax", "aten::softmax", "aten::_log_softmax",
                           "aten::log_softmax", "aten::_safe_softmax"}) {
    INFO(name);
    const auto bytes = [&](const Sizes& sizes, const std::string& dimension) {
      return WorkOf(name, Given({sizes}, kFp32, {"", dimension, "False"}))->bytes;
    };
    CHECK(bytes({3, row + 1}, "1") == 4.0 * 3 * 3 * static_cast<double>(row + 1));
    CHECK(bytes({3, row}, "1") == 4.0 * 2 * 3 * static_cast<double>(row));
    CHECK(bytes({3, row + 1}, "0") == 4.0 * 2 * 3 * static_cast<double>(row + 1));
    CHECK(bytes({row + 1, 3}, "0") == 4.0 * 3 * 3 * static_cast<double>(row + 1));
    CHECK(bytes({row + 1, 3}, "-2") == 4.0 * 3 * 3 * static_cast<double>(row + 1));
    CHECK(bytes({3, row + 1}, "") == 4.0 * 3 * 3 * static_cast<double>(row + 1));  // the last one
    CHECK_FALSE(WorkOf(name, Given({{3, 5}}, kFp32, {"", "2", "False"})));
    CHECK_FALSE(WorkOf(name, Given({{3, 5}}, kFp32, {"", "-3", "False"})));
  }
  CHECK(WorkOf("aten::_softmax", Given({{3, 500}}, kFp32))->flops == 5.0 * 1500);
  CHECK_FALSE(WorkOf("aten::_softmax", Given({{}}, kFp32)));
  const auto gradient = [&](const Sizes& sizes, const std::string& dimension) {
    return WorkOf("aten::_softmax_backward_data",
                  Given({sizes, sizes}, kFp32, {"", "", dimension, "6"}))
        ->bytes;
  };
  CHECK(gradient({3, row}, "1") == 4.0 * 3 * 3 * static_cast<double>(row));
  CHECK(gradient({3, row + 1}, "1") == 4.0 * 5 * 3 * static_cast<double>(row + 1));
  CHECK(gradient({3, row + 1}, "0") == 4.0 * 3 * 3 * static_cast<double>(row + 1));
}

TEST_CASE("sums read, scans and sorts read and write, lists are joined") {
  CHECK(WorkOf("aten::sum", Given({{100, 100}}, kBf16))->bytes == 2e4);
  // A sum over one dimension leaves a tensor.
  const auto sum = [](const std::string& over) {
    return WorkOf("aten::sum", Given({{2, 100, 50}, {}, {}, {}}, kBf16, {"", over, "False", ""}))
        ->bytes;
  };
  CHECK(sum("[0]") == 2e4 + 1e4);
  CHECK(sum("[-1, 1]") == 2e4 + 2 * 2);
  CHECK(sum("[3]") == 2e4);
  CHECK(sum("") == 2e4);
  CHECK(WorkOf("aten::mse_loss", Given({{100, 100}, {100, 100}}, kBf16))->bytes == 4e4);
  CHECK(WorkOf("aten::cumsum", Given({{100, 100}}, kBf16))->bytes == 4e4);
  // Statistics of the batch norm that spans ranks, in both directions.
  CHECK(WorkOf("aten::batch_norm_stats", Given({{10, 100, 10}, {}}, kBf16))->bytes == 2e4);
  CHECK(WorkOf("aten::batch_norm_backward_reduce",
               Given({{10, 100, 10}, {10, 100, 10}, {100}}, kBf16))
            ->bytes == 4e4);
  // Integers and masks are summed up in 64 bits.
  CHECK(WorkOf("aten::cumsum", Given({{100, 100}}, ElementType::kBool))->bytes == 9e4);
  CHECK(WorkOf("aten::cumsum", Given({{100, 100}}, ElementType::kInt32))->bytes == 12e4);
  CHECK(WorkOf("aten::sort", Given({{100, 100}}, kBf16))->bytes == 4e4 + 8e4);  // and positions
  OperatorInputs joined;
  joined.tensors = {ListOf(3, 5000, kBf16), {}};
  const auto work = WorkOf("aten::cat", joined);
  REQUIRE(work);
  CHECK(work->bytes == 2.0 * 2 * 5000);
  CHECK(work->flops == 5000);
  CHECK(work->shape == "3 tensors, 5000 elements");
}

TEST_CASE("rows that are looked up are read and written, with their positions") {
  const auto ints = ElementType::kInt64;
  // 7 rows along the first dimension, or along the second.
  const auto select = [&](const std::string& dimension) {
    return WorkOf("aten::index_select",
                  Typed({{{50, 20, 6}, kFp32}, {{}, {}}, {{7}, ints}}, {"", dimension, ""}));
  };
  CHECK(select("0")->bytes == 7.0 * (20 * 6 * 2 * 4 + 8));
  CHECK(select("1")->bytes == 7.0 * (50 * 6 * 2 * 4 + 8));
  CHECK(select("-1")->bytes == 7.0 * (50 * 20 * 2 * 4 + 8));
  CHECK(select("")->bytes == 7.0 * (20 * 6 * 2 * 4 + 8));
  CHECK_FALSE(select("3"));
  CHECK_FALSE(select("-4"));
  CHECK(select("0")->shape == "7 rows of [50, 20, 6]");
  CHECK(select("0")->kind == WorkKind::kIndex);
  // A list of positions a dimension: two lists of 9 look up 9 vectors of 6.
  OperatorInputs index = Typed({{{50, 20, 6}, kFp32}});
  index.tensors.push_back(ListOf(2, 18, ints));
  REQUIRE(WorkOf("aten::index", index));
  CHECK(WorkOf("aten::index", index)->bytes == 9.0 * (6 * 2 * 4 + 8));
  index.tensors[1] = ListOf(1, 18, ints);
  CHECK(WorkOf("aten::index", index)->bytes == 18.0 * (20 * 6 * 2 * 4 + 8));
  index.tensors[1] = ListOf(3, 18, ints);
  CHECK(WorkOf("aten::index", index)->bytes == 6.0 * (2 * 4 + 8));
  index.tensors[1] = ListOf(1, 6000, ElementType::kBool);  // a mask of all elements
  CHECK_FALSE(WorkOf("aten::index", index));
  index.tensors[1] = ListOf(1, 5999, ints);
  CHECK(WorkOf("aten::index", index));
  CHECK_FALSE(WorkOf("aten::embedding", Given({{}, {5}}, kFp32)));
  CHECK_FALSE(WorkOf("aten::embedding", Given({{10, 4}, {}}, kFp32)));
  // As many values as positions.
  CHECK(WorkOf("aten::gather", Typed({{{50, 20}, kFp32}, {{}, {}}, {{50, 3}, ints}}))->bytes ==
        150.0 * (4 + 4 + 8));
  CHECK(WorkOf("aten::take_along_dim", Typed({{{50, 20}, kFp32}, {{50, 3}, ints}}))->bytes ==
        150.0 * (4 + 4 + 8));
  CHECK_FALSE(WorkOf("aten::gather", Typed({{{50, 20}, kFp32}, {{}, {}}})));
}

TEST_CASE("rows that are added to a table: read, and read and written there") {
  for (const char* name :
       {"aten::index_add_", "aten::index_add", "aten::scatter_add_", "aten::scatter_"}) {
    const auto work = WorkOf(
        name, Typed({{{500, 20}, kFp32}, {{}, {}}, {{7}, ElementType::kInt64}, {{7, 20}, kFp32}}));
    REQUIRE(work);
    CHECK(work->bytes == 3.0 * 4 * 7 * 20 + 8 * 7);
    // A position for each element.
    CHECK(
        WorkOf(
            name,
            Typed({{{500, 20}, kFp32}, {{}, {}}, {{7, 20}, ElementType::kInt64}, {{7, 20}, kFp32}}))
            ->bytes == (3.0 * 4 + 8) * 7 * 20);
    CHECK_FALSE(WorkOf(name, Typed({{{500, 20}, kFp32}, {{}, {}}, {{7}, ElementType::kInt64}})));
  }
  // The gradient of a table of 1000 rows is written whole.
  const auto table =
      WorkOf("aten::embedding_dense_backward",
             Typed({{{8, 5, 20}, kFp32}, {{8, 5}, ElementType::kInt64}}, {"", "", "1000", "-1"}));
  REQUIRE(table);
  CHECK(table->bytes == 4.0 * 8 * 5 * 20 + 8.0 * 8 * 5 + 4.0 * 1000 * 20);
  CHECK_FALSE(WorkOf("aten::embedding_dense_backward",
                     Typed({{{8, 5, 20}, kFp32}, {{8, 5}, ElementType::kInt64}})));
}

TEST_CASE("pooling writes an image that its window and strides leave") {
  const auto pool = [](const char* name, const Sizes& in, std::vector<std::string> options) {
    std::vector<std::string> values = {""};
    values.insert(values.end(), options.begin(), options.end());
    return WorkOf(name, Given({in}, kBf16, values));
  };
  // (56 + 2 - 3) / 2 + 1 = 28 rows, (40 + 0 - 2) / 1 + 1 = 39 columns.
  const auto average =
      pool("aten::avg_pool2d", {4, 8, 56, 40}, {"[3, 2]", "[2, 1]", "[1, 0]", "False"});
  REQUIRE(average);
  CHECK(average->bytes == Approx(2.0 * 4 * 8 * (56 * 40 + 28 * 39)));
  CHECK(average->flops == 4.0 * 8 * 56 * 40);
  const auto largest =
      pool("aten::max_pool2d_with_indices", {4, 8, 56, 40}, {"[3, 2]", "[2, 1]", "[1, 0]", "1"});
  REQUIRE(largest);  // with the positions
  CHECK(largest->bytes == Approx(4.0 * 8 * (2 * 56 * 40 + (2 + 8) * 28 * 39)));
  // Strides are the window's where none are given: 20 and 10.
  CHECK(pool("aten::avg_pool2d", {4, 8, 40, 20}, {"[2, 2]", "[]", "[0, 0]"})->bytes ==
        Approx(2.0 * 4 * 8 * (40 * 20 + 20 * 10)));
  // An image that has no batch.
  CHECK(pool("aten::avg_pool2d", {8, 40, 20}, {"[2, 2]", "[2, 2]", "[0, 0]"})->bytes ==
        Approx(2.0 * 8 * (40 * 20 + 20 * 10)));
  CHECK(pool("aten::avg_pool3d", {4, 8, 10, 12, 14}, {"[2, 2, 2]", "[1, 2, 3]", "[0]"})->bytes ==
        Approx(2.0 * 4 * 8 * (10 * 12 * 14 + 9 * 6 * 5)));
  CHECK(pool("aten::avg_pool2d", {8, 3, 3}, {"[3, 3]", "[2, 2]", "[0, 0]"}));
  CHECK_FALSE(pool("aten::avg_pool2d", {8, 2, 3}, {"[3, 3]", "[2, 2]", "[0, 0]"}));
  CHECK_FALSE(pool("aten::avg_pool2d", {8, 9, 9}, {"[3, 3]", "[0, 0]", "[0, 0]"}));
  CHECK_FALSE(pool("aten::avg_pool2d", {9, 9}, {"[3, 3]", "[2, 2]", "[0, 0]"}));
  CHECK_FALSE(pool("aten::avg_pool3d", {8, 9, 9}, {"[3, 3, 3]", "[2, 2, 2]", "[0, 0, 0]"}));
  CHECK_FALSE(pool("aten::avg_pool2d", {8, 9, 9}, {"[3, 3]", "[2, 2]", "[0, 0, 0]"}));
  CHECK_FALSE(pool("aten::avg_pool2d", {8, 9, 9}, {}));
  const Sizes out = {8, 3, 3};
  CallHints hints;
  hints.output = &out;
  CHECK(WorkOf("aten::avg_pool2d", Given({{8, 9, 9}}, kBf16), hints)->bytes == 2.0 * 8 * (81 + 9));
}

TEST_CASE("gradients of pooling write as much as its input has") {
  const std::vector<Sizes> sizes = {{4, 8, 28, 20}, {4, 8, 56, 40}};
  CHECK(WorkOf("aten::avg_pool2d_backward", Given(sizes, kBf16))->bytes ==
        2.0 * 4 * 8 * (28 * 20 + 56 * 40));
  CHECK(WorkOf("aten::max_pool2d_with_indices_backward", Given(sizes, kBf16))->bytes ==
        4.0 * 8 * ((2 + 8) * 28 * 20 + 2 * 56 * 40));
  CHECK_FALSE(WorkOf("aten::avg_pool2d_backward", Given({sizes[0]}, kBf16)));
  CHECK_FALSE(WorkOf("aten::avg_pool2d_backward", Given({{}, sizes[1]}, kBf16)));
}

TEST_CASE("an image is resized to the size that is given") {
  const auto resized = [](const char* name, const Sizes& in, const std::string& to) {
    return WorkOf(name, Given({in}, kBf16, {"", to, "False"}));
  };
  CHECK(resized("aten::upsample_nearest2d", {4, 8, 10, 20}, "[20, 30]")->bytes ==
        2.0 * 4 * 8 * (10 * 20 + 20 * 30));
  CHECK(resized("aten::upsample_nearest2d", {4, 8, 10, 20}, "[20, 30]")->flops ==
        4.0 * 8 * 20 * 30);
  CHECK(resized("aten::upsample_trilinear3d", {4, 8, 10, 20, 3}, "[20, 30, 5]")->bytes ==
        2.0 * 4 * 8 * (10 * 20 * 3 + 20 * 30 * 5));
  CHECK(resized("aten::upsample_linear1d", {4, 8, 10}, "[20]")->bytes == 2.0 * 4 * 8 * (10 + 20));
  // The gradient becomes an image of the size that the input had.
  const auto gradient = [](const Sizes& in, const std::string& to) {
    return WorkOf("aten::upsample_bilinear2d_backward",
                  Given({in}, kBf16, {"", "[20, 30]", to, "False"}));
  };
  CHECK(gradient({4, 8, 20, 30}, "[4, 8, 10, 20]")->bytes == 2.0 * 4 * 8 * (20 * 30 + 10 * 20));
  CHECK_FALSE(gradient({4, 8, 20, 30}, ""));
  CHECK_FALSE(resized("aten::upsample_nearest2d", {4, 8, 10, 20}, "[20]"));
  CHECK_FALSE(resized("aten::upsample_nearest2d", {4, 8}, ""));
}

TEST_CASE("an optimizer reads all lists and writes all but the gradients") {
  OperatorInputs inputs;
  inputs.tensors = {ListOf(3, 1000), ListOf(3, 1000), ListOf(3, 1000), ListOf(3, 3)};
  const auto adam = WorkOf("aten::_fused_adam_", inputs);
  REQUIRE(adam);
  CHECK(adam->bytes == 4.0 * 1000 * (3 + 2));
  CHECK(adam->flops == 3000);
  CHECK(adam->type == kFp32);
  CHECK(adam->shape == "3 tensors, 1000 elements");
  const auto norm = WorkOf("aten::_foreach_norm", inputs);
  CHECK(norm->bytes == 4.0 * 3000);
  CHECK(WorkOf("aten::_foreach_zero_", inputs)->bytes == 4.0 * 3000);
  const auto add = WorkOf("aten::_foreach_add_", inputs);
  CHECK(add->bytes == 4.0 * (3000 + 1000));
  CHECK(WorkOf("aten::_amp_foreach_non_finite_check_and_unscale_", inputs)->bytes ==
        4.0 * (3000 + 1000));
  inputs.tensors.resize(1);
  inputs.tensors[0].type = kBf16;
  CHECK(WorkOf("aten::_fused_sgd_", inputs)->bytes == 2.0 * (1000 + 1000));
  inputs.tensors[0].list_elements = 0;
  CHECK_FALSE(WorkOf("aten::_fused_sgd_", inputs));
}

TEST_CASE("comparisons write a byte an element; in place writes the first operand again") {
  CallHints elementwise;
  elementwise.kernel_class = "elementwise";
  const auto bytes = [&](const char* name, const std::vector<Sizes>& sizes) {
    return WorkOf(name, Given(sizes, kFp32), elementwise)->bytes;
  };
  const std::vector<Sizes> two = {{100, 10}, {100, 10}};
  for (const char* name : {"aten::eq", "aten::ne", "aten::lt", "aten::le", "aten::gt", "aten::ge",
                           "aten::logical_and", "aten::logical_or"}) {
    CHECK(bytes(name, two) == 1000.0 * (4 + 4 + 1));
  }
  for (const char* name : {"aten::isnan", "aten::isinf", "aten::isfinite", "aten::logical_not"}) {
    CHECK(bytes(name, {{100, 10}}) == 1000.0 * (4 + 1));
  }
  CHECK(bytes("aten::mul", two) == 1000.0 * (4 + 4 + 4));
  // The result is as large as the operands together; in place it is the first.
  CHECK(bytes("aten::mul", {{10}, {100, 10}}) == 4.0 * (10 + 1000 + 1000));
  CHECK(bytes("aten::mul_", {{100, 10}, {10}}) == 4.0 * (1000 + 10 + 1000));
  // Operators of libraries are given their results.
  CHECK(bytes("lib::gated", {{100, 10}, {100, 10}, {100, 10}}) == 4.0 * 3000);
  CHECK(bytes("lib::gated", {{100, 10}}) == 4.0 * 2000);
  CHECK(bytes("lib::gated_", {{100, 10}}) == 4.0 * 2000);
  CHECK_FALSE(WorkOf("aten::mul", Given({{}}, kFp32), elementwise));
  CHECK_FALSE(WorkOf("aten::mul", Given({{5}}, ElementType::kUnknown), elementwise));
}

TEST_CASE("the result of two types has the wider one, and floats are wider than integers") {
  CallHints elementwise;
  elementwise.kernel_class = "elementwise";
  const auto written = [&](const char* name, ElementType left, ElementType right) {
    const auto work = WorkOf(name, Typed({{{100, 10}, left}, {{100, 10}, right}}), elementwise);
    return work->bytes / 1000 - ElementBytes(left) - ElementBytes(right);
  };
  CHECK(written("aten::add", kFp16, kFp32) == 4);
  CHECK(written("aten::add", kFp32, kFp16) == 4);
  CHECK(written("aten::add", kFp16, kBf16) == 4);  // neither holds the other
  CHECK(written("aten::mul", kBf16, ElementType::kInt64) == 2);
  CHECK(written("aten::mul", ElementType::kInt64, kBf16) == 2);
  CHECK(written("aten::mul", ElementType::kBool, ElementType::kInt32) == 4);
  CHECK(written("aten::mul", ElementType::kFloat64, kFp32) == 8);
  CHECK(written("aten::add_", kFp16, kFp32) == 2);  // in place it stays what it was
  CHECK(written("aten::lt", kFp16, kFp32) == 1);
  // A number, which has no sizes, leaves the type.
  CHECK(WorkOf("aten::add", Typed({{{100, 10}, kFp16}, {{}, kFp32}}), elementwise)->bytes ==
        1000.0 * (2 + 2));
}

TEST_CASE("what is not known by name is told by the class of its kernels") {
  const auto kind = [](const char* kernel_class, const char* name = "lib::op") {
    CallHints hints;
    hints.kernel_class = kernel_class;
    const auto work = WorkOf(name, Given({{64, 64}, {64, 64}}, kFp32), hints);
    return work ? std::string(WorkKindName(work->kind)) : "none";
  };
  CHECK(kind("elementwise") == "elementwise");
  CHECK(kind("cast") == "elementwise");
  CHECK(kind("copy") == "elementwise");
  CHECK(kind("transpose") == "elementwise");
  CHECK(kind("random") == "elementwise");
  CHECK(kind("normalization") == "normalization");
  CHECK(kind("softmax") == "softmax");
  CHECK(kind("matrix") == "product");
  CHECK(kind("reduction") == "none");
  CHECK(kind("reduction", "triton_red_fused_sum_0") == "reduction");
  CHECK(kind("other") == "none");
  CHECK(kind("") == "none");
}

TEST_CASE("what sizes do not tell is not counted") {
  CallHints copy;
  copy.kernel_class = "copy";
  CHECK_FALSE(WorkOf("aten::repeat_interleave", Given({{1000}}, ElementType::kInt64), copy));
  // The backward pass of a function that a program defines: what it saved is not recorded.
  CallHints norm;
  norm.kernel_class = "normalization";
  CHECK(WorkOf("FusedNorm", Given({{100, 64}}, kBf16), norm));
  CHECK_FALSE(WorkOf("FusedNormBackward", Given({{100, 64}}, kBf16), norm));
}

TEST_CASE("functions of autograd make their results, of the type of their largest tensor") {
  CallHints elementwise;
  elementwise.kernel_class = "elementwise";
  const Sizes all = {100, 64};
  CHECK(WorkOf("SiLUMulFunction", Given({all, all}, kBf16), elementwise)->bytes == 3.0 * 2 * 6400);
  CHECK(WorkOf("lib::rope", Typed({{all, kBf16}, {{64}, kFp32}}), elementwise)->bytes ==
        2.0 * 2 * 6400 + 4 * 64);
}

TEST_CASE("a sum that is written beside the normalized result counts") {
  CallHints norm;
  norm.kernel_class = "normalization";
  const Sizes all = {100, 64};
  const auto work = WorkOf("_C::fused_add_rms_norm_static_fp8_quant",
                           Typed({{all, ElementType::kFloat8}, {all, kBf16}, {all, kBf16}}), norm);
  REQUIRE(work);
  CHECK(work->bytes == 6400.0 * (1 + 2 + 2 + 2));
}

TEST_CASE("an update of one parameter moves what it is given") {
  CallHints optimizer;
  optimizer.kernel_class = "optimizer";
  const Sizes all = {100, 64};
  CHECK(WorkOf("aten::addcdiv_", Given({all, all, all, {}}, kFp32), optimizer)->bytes ==
        4.0 * 4 * 6400);
  CHECK_FALSE(WorkOf("bitsandbytes::optimizer_update", Given({all, all}, kFp32), optimizer));
}

TEST_CASE("a choice by a mask is of the type of what is chosen") {
  CallHints elementwise;
  elementwise.kernel_class = "elementwise";
  const Sizes all = {100, 64};
  const auto work = WorkOf(
      "aten::where", Typed({{all, ElementType::kBool}, {all, kBf16}, {all, kBf16}}), elementwise);
  REQUIRE(work);
  CHECK(work->type == kBf16);
  CHECK(work->bytes == 6400.0 * (1 + 2 + 2 + 2));
}

TEST_CASE("complex numbers are two values") {
  CallHints elementwise;
  elementwise.kernel_class = "elementwise";
  const Sizes all = {100, 64};
  const auto complex = ElementType::kComplex64;
  CHECK(WorkOf("aten::mul", Given({all, all}, complex), elementwise)->bytes == 3.0 * 8 * 6400);
  CHECK(WorkOf("aten::mul", Typed({{all, complex}, {all, ElementType::kFloat64}}), elementwise)
            ->bytes == (8.0 + 8 + 8) * 6400);
}

TEST_CASE("compiled kernels that combine two tensors of the full size write one of them") {
  CallHints hints;
  hints.kernel_class = "elementwise";
  const auto tensors = [&](const char* name, const std::vector<Sizes>& sizes) {
    return WorkOf(name, Given(sizes, kFp32), hints)->bytes / 4000;
  };
  const Sizes full = {100, 10};
  for (const char* name : {"triton_poi_fused_mul_0", "triton_poi_fused_add_1",
                           "triton_poi_fused_sub_2", "triton_poi_fused_div_3"}) {
    CHECK(tensors(name, {full, full}) == 3);
    CHECK(tensors(name, {full, full, full}) == 3);
  }
  CHECK(tensors("triton_poi_fused_relu_0", {full, full}) == 2);
  CHECK(tensors("triton_red_fused_mul_0", {full, full}) == 2);
  CHECK(tensors("triton_poi_fused_mul_0", {full, {500}}) == 1 + 0.5 + 1);
}

TEST_CASE("operators of libraries: what is given is read, written, or both") {
  CallHints norm;
  norm.kernel_class = "normalization";
  const double rows = 2.0 * 100 * 64;
  const auto bytes = [&](const char* name, const std::vector<Sizes>& sizes) {
    const auto work = WorkOf(name, Given(sizes, kBf16), norm);
    return work ? work->bytes : -1;
  };
  CHECK(bytes("_C::rms_norm", {{100, 64}, {100, 64}, {64}}) == 2 * rows + 128);
  CHECK(bytes("_C::fused_add_rms_norm", {{100, 64}, {100, 64}, {64}}) == 2 * (2 * rows + 128));
  // Positions, queries, keys of fewer heads, a table.
  CHECK(bytes("_C::rotary_embedding", {{100}, {100, 64}, {100, 16}, {50, 8}}) ==
        2 * (200 + rows + rows / 4 + 800));
  // Not known by name: as much as that can be, and as little.
  const auto other = WorkOf("lib::rope", Given({{100, 64}, {100, 64}}, kBf16), norm);
  REQUIRE(other);
  CHECK(other->bytes == 4 * rows);
  CHECK(other->least_bytes == 2 * rows);
  // Of another type: made of the first.
  const auto cast =
      WorkOf("lib::quantize", Typed({{{100, 64}, ElementType::kFloat8}, {{100, 64}, kBf16}}), norm);
  REQUIRE(cast);
  CHECK(cast->bytes == 1.5 * rows);
  CHECK(cast->least_bytes == 0);
}

TEST_CASE("a smaller tensor of a library's operator may be its result") {
  CallHints hints;
  hints.kernel_class = "elementwise";
  const auto work = WorkOf("lib::moe_sum", Given({{100, 8, 64}, {100, 64}}, kBf16), hints);
  REQUIRE(work);
  const double result = 2.0 * 100 * 64;
  CHECK(work->bytes == (8 + 1 + 8) * result);  // where another one is made
  CHECK(work->least_bytes == (8 + 1) * result);
  CHECK(WorkOf("lib::scale", Given({{100, 64}, {64}}, kBf16), hints)->least_bytes == 0);
}

TEST_CASE("a gate makes half a row of each row") {
  CallHints gate;
  gate.kernel_class = "elementwise";
  const double rows = 2.0 * 100 * 64;
  const auto work = WorkOf("_C::silu_and_mul", Given({{100, 32}, {100, 64}}, kBf16), gate);
  REQUIRE(work);
  CHECK(work->bytes == 1.5 * rows);
  const auto odd = WorkOf("lib::scale", Given({{100, 63}, {63}}, kBf16), gate);
  REQUIRE(odd);
  CHECK(odd->bytes == 2.0 * (2 * 100 * 63 + 63));
}

}  // namespace
}  // namespace advise
