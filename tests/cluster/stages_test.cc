// The order of pipeline stages, from how often ranks send to each other.
#include "engine/cluster/stages.h"

#include <catch2/catch.hpp>

namespace advise {
namespace {

using Ranks = std::vector<std::uint32_t>;

// `count` sends between two ranks.
struct Talk {
  std::uint32_t a, b;
  int count;
};

Joint Of(const std::vector<Talk>& talks) {
  Joint joint;
  joint.kinds = {"sendrecv"};
  for (const Talk& talk : talks) {
    for (int i = 0; i < talk.count; ++i) {
      JointCollective one;
      one.members = {{talk.a, 0}, {talk.b, 0}};
      joint.all.push_back(one);
    }
  }
  return joint;
}

std::optional<StageOrder> Order(const std::vector<Talk>& talks) {
  return OrderStages(Of(talks), 0.2, 0.95);
}

TEST_CASE("stages of a chain, and of several beside each other") {
  const auto one = Order({{0, 2, 16}, {2, 3, 16}, {1, 3, 16}});
  REQUIRE(one);
  CHECK(one->chains == std::vector<Ranks>{{0, 2, 3, 1}});
  CHECK(one->around == 0);
  const auto two = Order({{0, 2, 16}, {1, 3, 16}});
  REQUIRE(two);
  CHECK(two->chains == std::vector<Ranks>{{0, 2}, {1, 3}});
  CHECK_FALSE(Order({{0, 1, 16}, {1, 2, 16}, {3, 4, 16}}));  // of different lengths
  CHECK_FALSE(Order({}));
}

TEST_CASE("chunks of layers: a circle that is weaker between the last and the first rank") {
  // Two chunks, eight micro-batches: 2 v m between neighbours, 2 (v-1) m back to the first.
  const auto two = Order({{0, 1, 32}, {1, 2, 32}, {2, 3, 32}, {0, 3, 16}});
  REQUIRE(two);
  CHECK(two->chains == std::vector<Ranks>{{0, 1, 2, 3}});
  CHECK(two->around == Approx(0.5));
  // The ranks' numbers do not follow the stages.
  const auto mixed = Order({{1, 3, 48}, {0, 3, 48}, {0, 2, 48}, {1, 2, 32}});
  REQUIRE(mixed);
  CHECK(mixed->chains == std::vector<Ranks>{{1, 3, 0, 2}});
  CHECK(mixed->around == Approx(2.0 / 3));
}

TEST_CASE("parts of a sequence that go round are sent alike by all: no stages") {
  CHECK_FALSE(Order({{0, 1, 32}, {1, 2, 32}, {2, 3, 32}, {0, 3, 32}}));
  CHECK_FALSE(Order({{0, 1, 32}, {1, 2, 31}, {2, 3, 32}, {0, 3, 32}}));
  // Everybody talks to everybody.
  CHECK_FALSE(Order({{0, 1, 9}, {0, 2, 9}, {0, 3, 9}, {1, 2, 9}, {1, 3, 9}, {2, 3, 9}}));
}

}  // namespace
}  // namespace advise
