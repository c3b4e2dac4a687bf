// Texts in a few bytes, and back.
#include "engine/store/compress.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace advise {
namespace {

std::string Back(const std::string& packed) {
  std::string plain;
  REQUIRE(Uncompress(packed, &plain));
  return plain;
}

TEST_CASE("any bytes come back") {
  CHECK(Back(Compress("")).empty());
  std::string all;
  for (std::int64_t i = 0; i < 100'000; ++i) all += static_cast<char>(i * i % 251);
  all += std::string("\0\xff", 2);
  CHECK(Back(Compress(all)) == all);
}

TEST_CASE("damaged bytes give nothing or something else, never a crash") {
  const std::string packed = Compress(
      "names of facts, names of rules, their words and units, their words again, and more");
  std::string plain;
  for (std::size_t length = 0; length < packed.size(); ++length) {
    CHECK_FALSE(Uncompress(packed.substr(0, length), &plain));
  }
  for (std::size_t at = 0; at < packed.size(); ++at) {
    std::string flipped = packed;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x15);
    Uncompress(flipped, &plain);
  }
  CHECK_FALSE(Uncompress(packed + "x", &plain));
  CHECK_FALSE(Uncompress("no such thing at all", &plain));
}

}  // namespace
}  // namespace advise
