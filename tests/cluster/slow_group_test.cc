// Groups of ranks whose collectives take longer than the same ones of other groups.
#include "engine/cluster/slow_group.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

// Two pairs of ranks, each of which sums within itself for 1 ms, the second for `slow`, and waits
// for the other one in a sum of all at the end of each step.
std::vector<RankSummary> Pairs(Nanos slow, std::int64_t bytes = -1) {
  JobStory story;
  std::vector<RankSummary> ranks = story.Tell();
  for (std::uint32_t r = 0; r < 4; ++r) {
    RankSummary& rank = ranks[r];
    rank.collectives = {};
    rank.clock = 0;  // one report
    Nanos now = 1'000'000'000;
    for (std::size_t s = 0; s < rank.steps.size(); ++s) {
      const Nanos longest = std::max<Nanos>(1'000'000, slow);
      const Nanos own = r < 2 ? 1'000'000 : slow;
      const auto add = [&](std::uint16_t lane, Nanos start, Nanos end) {
        RankCollectives& list = rank.collectives;
        list.start.push_back(start);
        list.end.push_back(end);
        list.exposed.push_back(end - start);
        list.kind.push_back(0);
        list.phase.push_back(static_cast<std::uint8_t>(Phase::kForward));
        list.lane.push_back(lane);
        list.group.push_back(-1);
        list.bytes.push_back(bytes < 0 ? -1 : r < 2 ? 1'000'000 : bytes);
        list.peer.push_back(-1);
      };
      const Nanos opened = now + 4'000'000 + (r < 2 ? 0 : 50'000);
      add(0, opened, opened + own);
      add(1, opened + own, now + 5'000'000 + longest);
      RankStep& step = rank.steps[s];
      step.start = now;
      step.end = now + 5'000'000 + longest + static_cast<Nanos>(s % 3) * 10'000;
      step.time = {};
      step.time.comm_exposed = now + 5'000'000 + longest - opened;
      step.time.compute = step.Length() - step.time.comm_exposed;
      now = step.end;
    }
    rank.window_end = now;
  }
  return ranks;
}

TEST_CASE("ranks whose sums take three times as long as those of other ranks have a slow path") {
  const Cluster run(Pairs(3'000'000), ShippedKnowledge());
  CHECK(run.slow_groups.members == std::vector<std::uint32_t>{2, 3});
  CHECK(run.slow_groups.count == 10);
  CHECK(run.slow_groups.time_ns == 3e6);
  CHECK(run.slow_groups.usual_ns == 1e6);
  CHECK(run.slow_groups.loss.gain > 18'000'000);
  CHECK(run.slow_groups.loss.gain <= 20'000'000);
}

TEST_CASE("sums that take about as long, or send more, are no slow path") {
  CHECK(Cluster(Pairs(1'200'000), ShippedKnowledge()).slow_groups.members.empty());
  CHECK(Cluster(Pairs(3'000'000, 3'000'000), ShippedKnowledge()).slow_groups.members.empty());
  CHECK_FALSE(Cluster(Pairs(3'000'000, 1'000'000), ShippedKnowledge()).slow_groups.members.empty());
  CHECK(Cluster(JobStory().Tell(), ShippedKnowledge()).slow_groups.members.empty());
}

// Ranks 0 and 1 wait in a sum of all, on a second stream, while ranks 2 and 3 still sum their
// layers for 3 ms. Both end 31 us apart.
TEST_CASE("a sum on one stream is no part of one on another stream that ends a little earlier") {
  std::vector<RankSummary> ranks = Pairs(3'000'000);
  for (std::uint32_t r = 0; r < 4; ++r) {
    RankCollectives& list = ranks[r].collectives;
    for (std::size_t i = 1; i < list.size(); i += 2)
      list.end[i] = ranks[2].collectives.end[i - 1] + 31'000;
  }
  const Cluster run(std::move(ranks), ShippedKnowledge());
  std::size_t of_all = 0;
  for (const JointCollective& one : run.joint.all) of_all += one.members.size() == 4 ? 1 : 0;
  CHECK(of_all == 10);
  CHECK(run.joint.all.size() == 30);
}

// Two sums that end together may be one of all: which ranks belong together is a guess then.
TEST_CASE("sums that end together with those of other ranks say nothing of a path") {
  std::vector<RankSummary> ranks = Pairs(3'000'000);
  for (std::uint32_t r = 0; r < 2; ++r) {
    RankCollectives& list = ranks[r].collectives;
    for (std::size_t i = 0; i < list.size(); i += 2) list.end[i] += 2'050'000 - 4'000;
  }
  CHECK(Cluster(std::move(ranks), ShippedKnowledge()).slow_groups.members.empty());
}

}  // namespace
}  // namespace advise
