// A pipeline as its sends and receives show it.
#include "engine/cluster/pipeline.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

// Of the transfer of each step, what a fast link would win.
constexpr Nanos kTransfer = 1'000'000 - 20'000;

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

TEST_CASE("a stage whose window holds more than the steps of all does not compute less in them") {
  std::vector<RankSummary> ranks = TwoStages();
  ranks[1].window_end += ranks[1].Window() / 4;
  const Cluster cluster(std::move(ranks), ShippedKnowledge());
  REQUIRE(cluster.pipeline.stages == 2);
  CHECK(cluster.pipeline.imbalance == Approx(0).margin(0.02));
}

TEST_CASE("sends that nothing hides are told apart from the waiting for late stages") {
  const Cluster cluster(TwoStages(), ShippedKnowledge());
  REQUIRE(cluster.pipeline.stages == 2);
  CHECK(cluster.pipeline.sends_loss.gain == 10 * kTransfer);
}

// Four ranks exchange with all others in every step but the first, in which two of them alone were
// recorded.
TEST_CASE("what an exchange of all ranks leaves in pairs is no pipeline") {
  JobStory story;
  story.steps = 20;
  story.extra_compute = {{}, Each(20, 3'000'000)};
  std::vector<RankSummary> ranks = story.Tell();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    RankCollectives& list = ranks[r].collectives;
    ranks[r].kinds = {"sendrecv"};
    if (r < 2) continue;
    for (auto* column : {&list.start, &list.end, &list.exposed}) column->erase(column->begin());
    list.kind.pop_back();
    list.phase.pop_back();
    list.lane.pop_back();
    list.group.pop_back();
    list.bytes.pop_back();
    list.peer.pop_back();
  }
  const Cluster cluster(std::move(ranks), ShippedKnowledge());
  CHECK(cluster.pipeline.stages == 0);
}

// As TwoStages, but the stage that sends computes meanwhile, and the one that receives has asked so
// early that it computes beside the beginning of its kernel.
std::vector<RankSummary> SendsBesideCompute(bool compute_beside_the_end) {
  std::vector<RankSummary> ranks = TwoStages();
  for (std::size_t s = 0; s < ranks[0].steps.size(); ++s) {
    const std::size_t receiver = (s + 1) % 2;
    for (std::size_t r = 0; r < 2; ++r) {
      RankSummary& rank = ranks[r];
      RankCollectives& list = rank.collectives;
      const Nanos length = list.end[s] - list.start[s];
      list.bare_end.push_back(r == receiver && !compute_beside_the_end ? length : 0);
      if (r == receiver) {
        list.start[s] -= 2'000'000;
        continue;
      }
      list.exposed[s] = 0;
      rank.steps[s].time.comm_exposed -= length;
      rank.steps[s].time.compute += length;
      rank.time.comm_exposed -= length;
      rank.time.compute += length;
    }
  }
  return ranks;
}

TEST_CASE("a stage that has asked early needs the transfer, whatever its neighbor computes") {
  const auto transferred = [](bool compute_beside_the_end) {
    const Cluster cluster(SendsBesideCompute(compute_beside_the_end), ShippedKnowledge());
    REQUIRE(cluster.pipeline.stages == 2);
    return cluster.pipeline.sends_loss.lost.by_device[0].Total();
  };
  // It receives in each second step, from a stage that would have come sooner by the transfer of
  // the step before.
  CHECK(transferred(false) == 5 * 2 * kTransfer);
  // Near miss: it computes while the data comes, and has waited before.
  CHECK(transferred(true) == 0);
}

}  // namespace
}  // namespace advise
