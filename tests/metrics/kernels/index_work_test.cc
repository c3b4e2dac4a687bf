// Bytes of calls that write to places, or sum rows of a table.
#include <catch2/catch.hpp>

#include "tests/metrics/kernels/given.h"

namespace advise {
namespace {

TEST_CASE("values that are put to places are read and written once") {
  const auto put = [](const Sizes& values, const char* adds) {
    return WorkOf(
        "aten::_index_put_impl_",
        Typed({{{512, 8, 128}, kFp32}, {{}, {}}, {values, kFp32}}, {"", "", "", adds, "False"}));
  };
  REQUIRE(put({300, 128}, "False"));
  CHECK(put({300, 128}, "False")->bytes == 2.0 * 4 * 300 * 128);
  CHECK_FALSE(put({300, 128}, "True"));  // the places are sorted first
  CHECK_FALSE(put({300, 1}, "False"));   // each value goes to many places
  CHECK_FALSE(put({}, "False"));
}

TEST_CASE("a bag of embeddings reads its rows and writes their sum") {
  const auto bag = [](const Sizes& offsets) {
    return WorkOf(
        "aten::_embedding_bag",
        Typed({{{1000, 64}, kFp32}, {{512}, ElementType::kInt64}, {offsets, ElementType::kInt64}}));
  };
  REQUIRE(bag({32}));
  CHECK(bag({32})->bytes == 4.0 * 64 * (512 + 32) + 8.0 * (512 + 32));
  CHECK_FALSE(bag({}));
}

}  // namespace
}  // namespace advise
