// Single collectives that take many times as long as their like.
#include "engine/cluster/stalled.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

// Ten steps, of which `slow` take 31 ms for their all-reduce of 1 ms, or `factor` ms.
Cluster Summed(std::vector<std::size_t> slow, std::int64_t bytes = -1, Nanos factor = 31) {
  JobStory story;
  story.extra_transfer = std::vector<Nanos>(10, 0);
  for (const std::size_t step : slow) story.extra_transfer[step] = (factor - 1) * 1'000'000;
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks)
    std::fill(rank.collectives.bytes.begin(), rank.collectives.bytes.end(), bytes);
  return {std::move(ranks), ShippedKnowledge()};
}

TEST_CASE("a collective that takes many times as long as its like has stalled") {
  for (const std::int64_t bytes : {std::int64_t{-1}, std::int64_t{100'000'000}}) {
    const StalledCollectives stalled = Summed({4, 9}, bytes).stalled;
    CHECK(stalled.count == 2);
    CHECK(stalled.all == 10);
    CHECK(stalled.longest_ns == 31e6);
    CHECK(stalled.usual_ns == 1e6);
    CHECK(stalled.loss.gain == 60'000'000);
    CHECK(stalled.loss.lost.by_device[0].Total() == 60'000'000);
  }
}

TEST_CASE("many slow ones, little slower ones and too few are no stall") {
  CHECK(Summed({2, 5, 8}).stalled.count == 0);
  CHECK(Summed({4, 9}, -1, 9).stalled.count == 0);
  CHECK(Summed({4, 9}, -1, 11).stalled.count == 2);
  CHECK(Summed({}).stalled.loss.gain == 0);
}

// Two steps compute longer.
TEST_CASE("where sizes are unknown, a step that computes longer may send more") {
  const auto stalled = [](Nanos more, std::int64_t bytes) {
    JobStory story;
    story.extra_transfer = std::vector<Nanos>(10, 0);
    story.extra_compute.assign(4, std::vector<Nanos>(10, 0));
    for (const std::size_t step : {4, 9}) {
      story.extra_transfer[step] = 30'000'000;
      for (auto& of_rank : story.extra_compute) of_rank[step] = more;
    }
    std::vector<RankSummary> ranks = story.Tell();
    for (RankSummary& rank : ranks)
      std::fill(rank.collectives.bytes.begin(), rank.collectives.bytes.end(), bytes);
    return Cluster(std::move(ranks), ShippedKnowledge()).stalled.count;
  };
  const auto compute = static_cast<double>(JobStory().Tell().front().steps.front().time.compute);
  CHECK(stalled(static_cast<Nanos>(0.2 * compute), -1) == 2);
  CHECK(stalled(static_cast<Nanos>(0.3 * compute), -1) == 0);
  CHECK(stalled(static_cast<Nanos>(0.3 * compute), 100'000'000) == 2);
}

TEST_CASE("waiting for a late rank is no stall") {
  JobStory story;
  story.extra_compute = {std::vector<Nanos>(10, 0)};
  story.extra_compute[0][4] = 30'000'000;
  CHECK(Cluster(story.Tell(), ShippedKnowledge()).stalled.count == 0);
}

}  // namespace
}  // namespace advise
