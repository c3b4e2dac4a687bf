// Groups of ranks that end together by chance, and are told apart by habit.
#include "engine/cluster/split.h"

#include <catch2/catch.hpp>

namespace advise {
namespace {

using Members = std::vector<Participant>;
constexpr Nanos kApart = 5'000;

Members Of(std::initializer_list<std::pair<std::uint32_t, Nanos>> who, std::uint16_t lane = 0) {
  Members members;
  for (const auto& [rank, end] : who) members.push_back({rank, lane, end});
  return members;
}

// Two groups of two, alone in most collectives; now and then they ended within the tolerance.
std::vector<Members> TwoGroups() {
  std::vector<Members> all;
  for (Nanos s = 0; s < 10; ++s) {
    const Nanos now = s * 1'000'000;
    all.push_back(Of({{0, now}, {1, now + 1'000}}));
    all.push_back(Of({{2, now + 400'000}, {3, now + 401'000}}));
  }
  all.push_back(Of({{0, 20'000'000}, {1, 20'001'000}, {2, 20'020'000}, {3, 20'021'000}}));
  return all;
}

TEST_CASE("a chance meeting of two groups falls into the groups") {
  const auto parts = SplitMerged(TwoGroups(), 0.8, kApart);
  REQUIRE(parts.size() == 21);
  for (std::size_t i = 0; i < 20; ++i) CHECK(parts[i].size() == 1);
  REQUIRE(parts[20].size() == 2);
  CHECK(parts[20][0] == std::vector<std::size_t>{0, 1});
  CHECK(parts[20][1] == std::vector<std::size_t>{2, 3});
}

TEST_CASE("a collective of all ranks, which end together, stays whole") {
  std::vector<Members> all = TwoGroups();
  all.push_back(Of({{0, 30'000'000}, {1, 30'001'000}, {2, 30'000'500}, {3, 30'001'500}}));
  CHECK(SplitMerged(all, 0.8, kApart).back().size() == 1);
}

TEST_CASE("another stream is another group: copies of shards stay together") {
  std::vector<Members> all = TwoGroups();
  for (Nanos s = 0; s < 4; ++s) all.push_back(Of({{0, s}, {1, s}, {2, s + 9'000}, {3, s}}, 1));
  const auto parts = SplitMerged(all, 0.8, kApart);
  for (std::size_t i = 21; i < parts.size(); ++i) CHECK(parts[i].size() == 1);
}

TEST_CASE("groups that always end together cannot be told apart, and are left as one") {
  std::vector<Members> all;
  for (Nanos s = 0; s < 10; ++s) {
    all.push_back(Of({{0, s}, {1, s + 1'000}, {2, s + 2'000}, {3, s + 3'000}}));
  }
  for (const auto& parts : SplitMerged(all, 0.8, kApart)) CHECK(parts.size() == 1);
}

TEST_CASE("groups that are always near each other are told by the gap between their ends") {
  std::vector<Members> all;
  for (Nanos s = 0; s < 10; ++s) {
    all.push_back(Of({{0, s}, {2, s + 9'000}, {1, s + 1'000}, {3, s + 10'000}}));
  }
  for (const auto& parts : SplitMerged(all, 0.8, kApart)) {
    REQUIRE(parts.size() == 2);
    CHECK(parts[0] == std::vector<std::size_t>{0, 2});  // ranks 0 and 1
    CHECK(parts[1] == std::vector<std::size_t>{1, 3});
  }
}

}  // namespace
}  // namespace advise
