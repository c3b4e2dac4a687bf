// Clocks of ranks that share only some of their sends.
#include "engine/cluster/coincide.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/analyzed.h"

namespace advise {
namespace {

// Sends to two sides, with steps of uneven length; `shared` of them are those of the other rank.
struct Sends {
  std::vector<Nanos> first;
  std::vector<Nanos> second;
};
Sends Pipeline(Nanos offset) {
  Sends sends;
  Nanos now = 0;
  for (Nanos i = 0; i < 120; ++i) {
    now += 4'000'000 + (i * i * 7919) % 400'000;
    sends.first.push_back(now);
    sends.second.push_back(now - offset + (i % 3) * 1'000);  // ends differ by a microsecond or two
    sends.first.push_back(now + 900'000 + (i * 104'729) % 700'000);  // to the stage before
    sends.second.push_back(now - offset + 1'700'000 + (i * 15'485) % 600'000);  // and behind
  }
  std::sort(sends.first.begin(), sends.first.end());
  std::sort(sends.second.begin(), sends.second.end());
  return sends;
}

CoincideRules RulesOf(std::optional<Nanos> guess) {
  CoincideRules rules(ShippedKnowledge());
  rules.guess = guess;
  return rules;
}

TEST_CASE("half of the sends are shared: the offset is where they end together") {
  const Sends sends = Pipeline(7'200'000'000'000);
  const auto found = Coincide(sends.first, sends.second, RulesOf(std::nullopt));
  REQUIRE(found);
  CHECK(std::abs(found->offset - 7'200'000'000'000) <= 2'000);
  CHECK(found->deviation <= 2'000);
}

TEST_CASE("sends of another run never coincide") {
  const Sends sends = Pipeline(0);
  std::vector<Nanos> other;
  Nanos now = 0;
  for (Nanos i = 0; i < 240; ++i) other.push_back(now += 2'100'000 + (i * i * 6101) % 900'000);
  CHECK_FALSE(Coincide(sends.first, other, RulesOf(std::nullopt)));
}

TEST_CASE("a clockwork of equal micro-batches: only the hosts' clocks tell which is which") {
  std::vector<Nanos> first;
  for (Nanos i = 0; i < 100; ++i) first.push_back(i * 5'000'000);
  std::vector<Nanos> second = first;
  for (Nanos& end : second) end -= 1'000'000'000;
  CHECK_FALSE(Coincide(first, second, RulesOf(std::nullopt)));
  const auto found = Coincide(first, second, RulesOf(Nanos{1'000'400'000}));
  REQUIRE(found);
  CHECK(found->offset == 1'000'000'000);
}

}  // namespace
}  // namespace advise
