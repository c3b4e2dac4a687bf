#include "engine/base/packed.h"

#include <catch2/catch.hpp>

namespace advise {
namespace {

struct PackedThing {
  std::string name;
};

struct PackedOuter {
  enum class Kind : std::uint8_t { kA, kB } kind = Kind::kA;
  double number = 0;
  bool flag = false;
  std::vector<PackedThing> things;
  std::map<std::string, std::vector<int>, std::less<>> by_name;
  std::array<std::string, 2> pair;
  std::variant<double, std::string, PackedThing> one;
  const PackedThing* known = nullptr;
};

auto Fields(PackedThing& of) { return std::tie(of.name); }
auto Fields(PackedOuter& of) {
  return std::tie(of.kind, of.number, of.flag, of.things, of.by_name, of.pair, of.one, of.known);
}
static_assert(kNamesAllFields<PackedThing> && kNamesAllFields<PackedOuter>);

struct PackedPart {
  int named = 0;
  int forgotten = 0;
};
[[maybe_unused]] auto Fields(PackedPart& of) { return std::tie(of.named); }
static_assert(!kNamesAllFields<PackedPart>);

TEST_CASE("what is packed comes back as it was, and nothing else is read") {
  const PackedThing known = {"known"};
  const PackedOuter made = {PackedOuter::Kind::kB,
                            -0.1,
                            true,
                            {{"a"}, {""}, {std::string("\0\xff", 2)}},
                            {{"one", {1}}, {"none", {}}},
                            {"x", "y"},
                            PackedThing{"in it"},
                            &known};
  Packer packer;
  packer.Add(made);
  const std::string bytes = packer.Take() + "rest";

  PackedOuter read;
  read.things = {{"gone"}};
  Unpacker unpacker(std::string_view(bytes), [&](std::string_view name) {
    CHECK(name == "known");
    return &known;
  });
  unpacker.Get(read);
  CHECK(unpacker.rest() == "rest");
  CHECK(read.kind == made.kind);
  CHECK(read.number == made.number);
  CHECK(read.flag);
  REQUIRE(read.things.size() == 3);
  CHECK(read.things[0].name == "a");
  CHECK(read.things[2].name == made.things[2].name);
  CHECK(read.by_name == made.by_name);
  CHECK(read.pair == made.pair);
  CHECK(std::get<PackedThing>(read.one).name == "in it");
  CHECK(read.known == &known);
}

TEST_CASE("nothing is packed for a pointer that leads nowhere") {
  Packer packer;
  packer.Add(static_cast<const PackedThing*>(nullptr));
  const std::string bytes = packer.Take();
  const PackedThing known = {"known"};
  const PackedThing* read = &known;
  Unpacker(std::string_view(bytes), [&](std::string_view) { return &known; }).Get(read);
  CHECK(read == nullptr);
}

}  // namespace
}  // namespace advise
