// Sends and receives that are one operation, told by who ends together with whom.
#include "engine/cluster/sends.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace advise {
namespace {

constexpr SendRules kRules = {30'000, 0.1, 0.2, 0.8};

void Sort(std::vector<SendKernel>* kernels) {
  std::sort(kernels->begin(), kernels->end(), [](const SendKernel& a, const SendKernel& b) {
    return a.end != b.end ? a.end < b.end : a.rank < b.rank;
  });
}

std::vector<std::vector<std::uint32_t>> RanksOf(const std::vector<SendKernel>& kernels,
                                                const std::vector<std::vector<std::size_t>>& of) {
  std::vector<std::vector<std::uint32_t>> ranks;
  for (const auto& members : of) {
    std::vector<std::uint32_t> one;
    for (const std::size_t i : members) one.push_back(kernels[i].rank);
    std::sort(one.begin(), one.end());
    ranks.push_back(one);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

TEST_CASE("all ranks end each of their sends together: an exchange") {
  std::vector<SendKernel> kernels;
  for (Nanos s = 0; s < 10; ++s) {
    for (std::uint32_t r = 0; r < 4; ++r) {
      // Each comes when it is ready, and all end within two microseconds of the last one's
      // transfer.
      const Nanos start =
          s * 10'000'000 + (r * 37 + static_cast<std::uint32_t>(s) * 11) % 97 * 1000;
      kernels.push_back({start, s * 10'000'000 + 600'000 + r * 500, r});
    }
  }
  Sort(&kernels);
  const SendMatches found = MatchSends(kernels, kRules);
  CHECK(found.pairs.empty());
  CHECK(RanksOf(kernels, found.exchanges) ==
        std::vector<std::vector<std::uint32_t>>(10, {0, 1, 2, 3}));
}

TEST_CASE("stages of a pipeline in step: pairs, although two pairs end together now and then") {
  std::vector<SendKernel> kernels;
  for (Nanos s = 0; s < 20; ++s) {
    const Nanos now = s * 10'000'000;
    // Stages 0 and 1, and 2 and 3, pass on at the same time; in every fourth round to the
    // nanosecond.
    const Nanos apart = s % 4 == 0 ? 0 : 60'000 + s * 3'000;
    for (const std::uint32_t r : {0U, 1U}) kernels.push_back({now, now + 500'000, r});
    for (const std::uint32_t r : {2U, 3U}) kernels.push_back({now, now + 500'000 + apart, r});
    for (const std::uint32_t r : {1U, 2U}) {
      kernels.push_back({now + 3'000'000 * r, now + 7'000'000, r});  // one of them waits long
    }
  }
  Sort(&kernels);
  const SendMatches found = MatchSends(kernels, kRules);
  CHECK(found.exchanges.empty());
  const auto pairs = RanksOf(kernels, found.pairs);
  CHECK(pairs.size() == 60);
  for (const auto& edge : std::vector<std::vector<std::uint32_t>>{{0, 1}, {1, 2}, {2, 3}}) {
    CHECK(std::count(pairs.begin(), pairs.end(), edge) == 20);
  }
}

TEST_CASE("a ring: neighbours end together, ranks across do not") {
  // Rank r ends when itself and both neighbours have come, 200 us later.
  std::vector<SendKernel> kernels;
  for (Nanos s = 0; s < 24; ++s) {
    Nanos start[6];
    for (Nanos r = 0; r < 6; ++r) start[r] = s * 10'000'000 + (r * 613 + s * 389) % 1000 * 2000;
    for (std::size_t r = 0; r < 6; ++r) {
      const Nanos last = std::max({start[(r + 5) % 6], start[r], start[(r + 1) % 6]});
      kernels.push_back({start[r], last + 200'000, static_cast<std::uint32_t>(r)});
    }
  }
  Sort(&kernels);
  const SendMatches found = MatchSends(kernels, kRules);
  CHECK(found.exchanges.empty());
  CHECK(found.pairs.size() > 24);
}

TEST_CASE("peers that the report names decide, whoever else ends at that time") {
  std::vector<SendKernel> kernels;
  for (Nanos s = 0; s < 5; ++s) {
    const Nanos now = s * 1'000'000;
    kernels.push_back({now, now + 100'000, 0, 2});
    kernels.push_back({now, now + 100'000, 1, 3});
    kernels.push_back({now, now + 101'000, 2, 0});
    kernels.push_back({now, now + 101'000, 3, 1});
  }
  // All four end together in each round: without peers this would be an exchange.
  for (SendKernel& kernel : kernels) kernel.group = kernel.rank % 2 + 1;
  Sort(&kernels);
  const auto pairs = RanksOf(kernels, MatchSends(kernels, kRules).pairs);
  REQUIRE(pairs.size() == 10);
  CHECK(pairs.front() == std::vector<std::uint32_t>{0, 2});
  CHECK(pairs.back() == std::vector<std::uint32_t>{1, 3});
}

TEST_CASE("two ranks: a pair, whether it is called a ring or an exchange") {
  std::vector<SendKernel> kernels;
  for (Nanos s = 0; s < 4; ++s) {
    for (const std::uint32_t r : {0U, 1U}) {
      kernels.push_back({s * 1'000'000, s * 1'000'000 + 50'000, r});
    }
  }
  const SendMatches found = MatchSends(kernels, kRules);
  CHECK(found.exchanges.empty());
  CHECK(found.pairs.size() == 4);
}

}  // namespace
}  // namespace advise
