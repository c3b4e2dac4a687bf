// A pipeline as its sends and receives show it.
#include "engine/cluster/pipeline.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

// Two stages that wait for each other in turn, and compute alike in all.
std::vector<RankSummary> TwoStages() {
  JobStory story;
  story.ranks = 2;
  story.extra_compute.assign(2, std::vector<Nanos>(static_cast<std::size_t>(story.steps), 0));
  for (int s = 0; s < story.steps; ++s)
    story.extra_compute[static_cast<std::size_t>(s % 2)][static_cast<std::size_t>(s)] = 4'000'000;
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) rank.kinds = {"sendrecv"};
  return ranks;
}

TEST_CASE("stages that compute alike are balanced, also where steps were found on one of them") {
  for (const bool on_both : {true, false}) {
    std::vector<RankSummary> ranks = TwoStages();
    if (!on_both) ranks[1].steps.clear();
    const Cluster cluster(std::move(ranks), ShippedKnowledge());
    REQUIRE(cluster.pipeline.stages == 2);
    CHECK(cluster.pipeline.imbalance == Approx(0).margin(0.02));
  }
}

TEST_CASE("sends that nothing hides are told apart from the waiting for late stages") {
  const Cluster cluster(TwoStages(), ShippedKnowledge());
  REQUIRE(cluster.pipeline.stages == 2);
  CHECK(cluster.pipeline.sends_loss.gain == 10 * 1'000'000);  // the transfer of each step
}

}  // namespace
}  // namespace advise
