// Texts in a few bytes, and back.
#include "engine/store/compress.h"

#include <zlib.h>

#include <catch2/catch.hpp>

#include "engine/store/dictionary.h"
#include "engine/store/encode.h"
#include "tests/store/format1.h"

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
  for (int i = 0; i < 100'000; ++i) all += static_cast<char>(i * i % 251);
  all += std::string("\0\xff", 2);
  CHECK(Back(Compress(all)) == all);
  CHECK(Back(Format1(all)) == all);
}

TEST_CASE("what the dictionary holds takes next to nothing") {
  const std::string dictionary(DictionaryFile("dictionary-1.json"));
  REQUIRE(dictionary.size() > 60'000);
  CHECK(Compress(dictionary).size() < 200);
  const std::string part = dictionary.substr(20'000, 10'000);
  CHECK(Compress(part).size() < 100);
  CHECK(Format1(part).size() > 1'000);
}

TEST_CASE("damaged bytes give nothing or something else, never a crash") {
  const std::string packed =
      Compress(std::string(DictionaryFile("dictionary-1.json").substr(0, 9'000)) + "and more");
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

// Facts files can only be read with the dictionary that they were written with.
TEST_CASE("the dictionary is what it was when files were first written with it") {
  CHECK(ChecksumOf(std::string(DictionaryFile("dictionary-1.json"))) == 2618642355U);
  CHECK(DictionaryFile("dictionary-0.json").empty());
}

}  // namespace
}  // namespace advise
