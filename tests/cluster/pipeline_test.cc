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

// Two pipelines of two stages, ranks 0 and 1, and 2 and 3; what `extra` says each computes more.
Cluster TwoPipelines(std::vector<std::vector<Nanos>> extra) {
  JobStory story;
  story.extra_compute = std::move(extra);
  std::vector<RankSummary> ranks = story.Tell();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    CommGroup group;
    group.name = r < 2 ? "first" : "second";
    ranks[r].kinds = {"sendrecv"};
    ranks[r].groups = {group};
    for (auto& one : ranks[r].collectives.group) one = 0;
  }
  return Cluster(std::move(ranks), ShippedKnowledge());
}

TEST_CASE("copies of a slow stage that are slowest in turn are no uneven batches") {
  std::vector<Nanos> even(10), odd(10);
  for (std::size_t s = 0; s < 10; ++s) {
    even[s] = s % 2 == 0 ? 6'000'000 : 5'000'000;
    odd[s] = s % 2 == 1 ? 6'000'000 : 5'000'000;
  }
  const Cluster stage = TwoPipelines({{}, even, {}, odd});
  REQUIRE(stage.pipeline.stages == 2);
  CHECK(stage.pipeline.slowest_ranks == std::vector<std::uint32_t>{1, 3});
  CHECK(stage.lateness.compute.loss.gain == 0);
  // Near miss: now one stage, now the other one.
  for (Nanos& one : even) one = one == 6'000'000 ? one : 0;
  for (Nanos& one : odd) one = one == 6'000'000 ? one : 0;
  const Cluster batches = TwoPipelines({even, odd, odd, even});
  REQUIRE(batches.pipeline.stages == 2);
  CHECK(batches.lateness.compute.loss.gain > 0);
}

// Rank 0 computes for 10 ms and for 6 ms in each step of 24 ms, and waits for two messages that it
// has asked for early: 4 ms before and 4 ms after the second stretch of compute.
TEST_CASE("a rank with two pending receives waits no longer than it computes nothing") {
  std::vector<RankSummary> ranks(2);
  for (std::uint32_t r = 0; r < 2; ++r) {
    RankSummary& rank = ranks[r];
    rank.rank = static_cast<int>(r);
    rank.clock = r;
    rank.kinds = {"sendrecv"};
    const auto add = [&](Nanos start, Nanos end, Nanos exposed) {
      RankCollectives& list = rank.collectives;
      list.start.push_back(start);
      list.end.push_back(end);
      list.exposed.push_back(exposed);
      list.kind.push_back(0);
      list.phase.push_back(0);
      list.lane.push_back(static_cast<std::uint16_t>(list.lane.size() % 2));
      list.group.push_back(-1);
      list.bytes.push_back(-1);
      list.peer.push_back(-1);
    };
    for (Nanos s = 0; s < 10; ++s) {
      const Nanos at = 1'000'000'000 + s * 24'000'000 + s * s * 7'000;
      RankStep step;
      step.start = at;
      step.end = at + 24'000'000;
      step.time.comm_exposed = r == 0 ? 8'000'000 : 0;
      step.time.compute = 24'000'000 - step.time.comm_exposed;
      rank.steps.push_back(step);
      rank.time.compute += step.time.compute;
      rank.time.comm_exposed += step.time.comm_exposed;
      add(r == 0 ? at + 2'000'000 : at + 13'900'000, at + 14'000'000, r == 0 ? 4'000'000 : 0);
      add(r == 0 ? at + 3'000'000 : at + 23'900'000, at + 24'000'000, r == 0 ? 8'000'000 : 0);
    }
    rank.window_start = rank.steps.front().start;
    rank.window_end = rank.steps.back().end;
  }
  const Cluster cluster(std::move(ranks), ShippedKnowledge());
  CHECK(cluster.joint.matched == 40);
  CHECK(cluster.waited_ns * 2 <= 10 * 8e6);
  CHECK(cluster.waited_ns * 2 > 10 * 7e6);
}

}  // namespace
}  // namespace advise
