#include "engine/import/kineto/kineto_keys.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/import/kineto_text.h"

namespace advise::kineto {
namespace {

// The key as it stands in a file: behind the first quote, with enough to read behind it.
std::string InFile(const std::string& key) {
  return key + "\":" + std::string(Keys::kLongest, ' ');
}

TEST_CASE("keys are known in any order, and those that begin alike are told apart") {
  const std::vector<std::string> texts = {"ts",
                                          "dur",
                                          "duration",
                                          "name",
                                          "nam",
                                          "",
                                          "device",
                                          "Device",
                                          "device id",
                                          "registers per thread",
                                          "registers per threads",
                                          "registers per block"};
  Keys keys;
  std::mt19937 random(3);
  for (int round = 0; round < 5000; ++round) {
    const std::string& text = texts[random() % texts.size()];
    const auto category = static_cast<Category>(random() % 3);
    const Key& key = keys.Read(InFile(text).c_str(), category);
    REQUIRE(key.text == text + '"');
    REQUIRE(key.arg == ArgOf(text));
    REQUIRE((key.field == Field::kStart) == (text == "ts"));
    REQUIRE((key.field == Field::kName) == (text == "name"));
  }
}

TEST_CASE("keys that are too long, or too many, say nothing and hide no other") {
  Keys keys;
  const std::string endless(200, 'x');
  CHECK(keys.Read(InFile("ph").c_str(), Category::kCall).field == Field::kPhase);
  CHECK(keys.Read(endless.c_str(), Category::kCall).text.empty());
  CHECK(keys.Read(InFile("cat").c_str(), Category::kCall).field == Field::kCategory);
  for (int i = 0; i < 10'000; ++i) {
    keys.Read(InFile("made up " + std::to_string(i)).c_str(), Category::kCall);
  }
  const Key& unknown = keys.Read(InFile("one more").c_str(), Category::kCall);
  CHECK(unknown.text.empty());
  CHECK(unknown.field == Field::kOther);
  CHECK_FALSE(unknown.arg);
  CHECK(keys.Read(InFile("cat").c_str(), Category::kCall).field == Field::kCategory);
  CHECK(keys.Read(InFile("two more").c_str(), Category::kCall).text.empty());
  CHECK(keys.Read(InFile("ph").c_str(), Category::kCall).field == Field::kPhase);
}

TEST_CASE("sizes of a launch are read however they are written") {
  for (const std::string sizes :
       {"[4,3,2]", "[ 4, 3, 2 ]", "[4, 3,2]", "[\"4\",3,2]", "[4.0,3,2]", "[4,3,2,9]"}) {
    const Trace trace = Imported(
        R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":7,"grid":)" +
        sizes + R"(,"block":[128,1,1]}}]})");
    INFO(sizes);
    REQUIRE(trace.shapes.size() == 1);
    CHECK(trace.shapes[0].grid == std::array<std::uint32_t, 3>{4, 3, 2});
    CHECK(trace.shapes[0].block == std::array<std::uint32_t, 3>{128, 1, 1});
  }
}

TEST_CASE("numbers of every length are read as their digits say") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20'000; ++round) {
    const auto value = static_cast<std::int64_t>(random() >> (1 + random() % 62));
    REQUIRE(ParseInt(std::to_string(value)) == value);
    const std::int64_t ns = value / 1000;
    std::string rest = std::to_string(ns % 1000);
    rest.insert(0, 3 - rest.size(), '0');
    REQUIRE(ParseMicroseconds(std::to_string(ns / 1000) + "." + rest) == ns);
  }
  CHECK(ParseMicroseconds("-1.500") == -1500);
  CHECK(ParseMicroseconds("1.50") == 1500);
  CHECK(ParseMicroseconds("1.5005") == 1501);
  CHECK(ParseMicroseconds(".500") == std::nullopt);
  CHECK(ParseMicroseconds("1.5 0") == std::nullopt);
  CHECK(ParseInt("-7") == -7);
}

}  // namespace
}  // namespace advise::kineto
