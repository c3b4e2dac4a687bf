// JSON in a few bytes, and back.
#include "engine/store/packed_json.h"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/store/encode.h"
#include "engine/store/words.h"

namespace advise {
namespace {

using Json = nlohmann::json;

Json Everything() {
  Json json = {{"null", nullptr}, {"yes", true}, {"no", false}, {"nothing", Json::array()}};
  json["whole"] = {0,
                   -1,
                   1,
                   127,
                   128,
                   -129,
                   std::numeric_limits<std::int64_t>::min(),
                   std::numeric_limits<std::int64_t>::max()};
  json["large"] = std::numeric_limits<std::uint64_t>::max();
  json["real"] = {0.0, -0.5, 1.0 / 3.0, 1e300, 5e-324, 12345678.9};
  json["text"] = {"", "window.time", "of this run only", "window.time", "of this run only"};
  json["odd"] = std::string("\xff\0\n", 3);
  // More shapes than a byte can count, each seen twice.
  for (int i = 0; i < 600; ++i) {
    const std::string field = "field" + std::to_string(i % 300);
    json["shapes"].push_back({{field, i}, {"name", "run.devices"}});
  }
  json["deep"] = Json::array({Json::array({Json::object({{"a", Json::object({{"b", 1}})}})})});
  return json;
}

TEST_CASE("whatever JSON holds comes back") {
  const Json before = Everything();
  const auto after = UnpackJson(PackJson(before));
  REQUIRE(after);
  CHECK(*after == before);
  CHECK((*after)["large"].get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
  CHECK(*UnpackJson(PackJson(Json(7))) == Json(7));
  CHECK(UnpackJson(PackJson(Json(std::numeric_limits<double>::quiet_NaN())))->is_null());
}

TEST_CASE("names of facts in their usual order take next to nothing") {
  Json facts = Json::array();
  Json others = Json::array();
  std::string_view rest = WordFile("words-1.txt");
  for (int i = 0; i < 1000; ++i) {
    const std::string name(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(name.size() + 1);
    facts.push_back({{"name", name}});
    others.push_back({{"name", name + "?"}});
  }
  CHECK(PackJson(facts).size() < 250);
  CHECK(PackJson(others).size() > 3000);
  CHECK(*UnpackJson(PackJson(others)) == others);
}

TEST_CASE("damaged bytes give nothing or something else, never a crash") {
  const std::string packed = PackJson(Everything());
  for (std::size_t length = 0; length < packed.size(); length += 7) {
    CHECK_FALSE(UnpackJson(packed.substr(0, length)));
  }
  std::size_t noticed = 0;
  for (std::size_t at = 0; at < packed.size(); ++at) {
    std::string flipped = packed;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x15);
    noticed += UnpackJson(flipped) ? 0 : 1;
  }
  CHECK(noticed > packed.size() * 9 / 10);  // zlib has a checksum of its own
  CHECK_FALSE(UnpackJson(packed + "x"));
}

// Facts files refer to its lines by number.
TEST_CASE("the list of words is what it was when files were first written with it") {
  CHECK(ChecksumOf(std::string(WordFile("words-1.txt"))) == 2062973587U);
  CHECK(WordFile("words-0.txt").empty());
}

}  // namespace
}  // namespace advise
