// The picture of ranks, against jobs told by hand.
#include "engine/advice/rank_timeline.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/cluster/ranks.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

// Four ranks of 8 ms compute and 1 ms transfer; in step 5 rank 2 computes 6 ms longer.
JobStory OneLongStep() {
  JobStory story;
  story.extra_compute.assign(4, {});
  story.extra_compute[2].assign(10, 0);
  story.extra_compute[2][5] = 6_ms;
  return story;
}

std::vector<ExcerptEvent> At(const ExcerptRow& row, int depth) {
  std::vector<ExcerptEvent> events;
  for (const ExcerptEvent& event : row.events) {
    if (event.depth == depth) events.push_back(event);
  }
  return events;
}

TEST_CASE("the step in which ranks wait most: sums above, collectives with their waiting below") {
  const Cluster cluster(OneLongStep().Tell(), ShippedKnowledge());
  Finding finding;
  finding.rank = 3;
  const auto timeline = RankTimeline(cluster, finding);
  REQUIRE(timeline);
  CHECK(timeline->finding == 3);
  CHECK_THAT(timeline->note, Contains("Step 5 of 10") && !Contains("are shown"));
  const Excerpt& excerpt = timeline->excerpt;
  REQUIRE(excerpt.rows.size() == 4);
  const Nanos start = cluster.ranks[0].steps[5].start;
  CHECK(excerpt.start == start);
  CHECK(excerpt.end == start + 15_ms);
  CHECK_THAT(excerpt.rows[0].name, Contains("rank 0: compute 8.00 ms, waiting 6.00 ms"));
  CHECK_THAT(excerpt.rows[2].name, Contains("compute 14.0 ms") && !Contains("waiting"));
  const auto sums = At(excerpt.rows[0], 0);
  REQUIRE(sums.size() == 3);
  CHECK(sums[0].kind == ExcerptKind::kKernel);
  CHECK(sums[0].end - sums[0].start == 8_ms);
  CHECK(sums[1].kind == ExcerptKind::kWait);
  CHECK(sums[1].end - sums[1].start == 6_ms);
  CHECK(sums[2].end - sums[2].start == 1_ms);
  const auto collectives = At(excerpt.rows[0], 1);
  REQUIRE(collectives.size() == 2);
  CHECK(collectives[0].kind == ExcerptKind::kWait);
  CHECK(collectives[0].start == start + 8_ms);
  CHECK(collectives[0].end == start + 14_ms);
  CHECK(collectives[1].name == "allreduce");
  CHECK(collectives[1].end == start + 15_ms);
  CHECK(At(excerpt.rows[2], 1).size() == 1);  // the last to come waits for nobody
}

TEST_CASE("collectives that run at the same time lie in rows of their own") {
  std::vector<RankSummary> ranks = OneLongStep().Tell();
  // Beside each all-reduce another one on a second stream, half a millisecond later.
  for (RankSummary& rank : ranks) {
    RankCollectives& list = rank.collectives;
    const std::size_t steps = list.start.size();
    RankCollectives both;
    for (std::size_t i = 0; i < steps; ++i) {
      for (const std::uint16_t lane : {std::uint16_t{0}, std::uint16_t{1}}) {
        both.start.push_back(list.start[i] + lane * 500'000);
        both.end.push_back(list.end[i]);
        both.exposed.push_back(lane == 0 ? list.exposed[i] : 0);
        both.kind.push_back(0);
        both.phase.push_back(list.phase[i]);
        both.lane.push_back(lane);
        both.group.push_back(-1);
        both.bytes.push_back(-1);
        both.peer.push_back(-1);
      }
    }
    list = both;
  }
  const auto timeline = RankTimeline(Cluster(ranks, ShippedKnowledge()), Finding());
  REQUIRE(timeline);
  const ExcerptRow& row = timeline->excerpt.rows[2];
  CHECK(row.depth == 3);
  const auto first = At(row, 1);
  const auto second = At(row, 2);
  REQUIRE(first.size() >= 1);
  REQUIRE(second.size() >= 1);
  CHECK(second.front().start == first.front().start + 500_us);
}

TEST_CASE("sums of a step are named from the longest on") {
  JobStory story = OneLongStep();
  story.extra_loading.assign(4, {});
  story.extra_loading[1].assign(10, 0);
  story.extra_loading[1][5] = 2_ms;
  const auto timeline = RankTimeline(Cluster(story.Tell(), ShippedKnowledge()), Finding());
  REQUIRE(timeline);
  CHECK_THAT(timeline->excerpt.rows[1].name,
             Contains("rank 1: compute 8.00 ms, waiting 4.00 ms, loading 2.00 ms, "
                      "communication 1.00 ms"));
}

TEST_CASE(
    "without a finding's example the step in which the ranks wait most is shown, with names") {
  JobStory story = OneLongStep();
  story.extra_compute[1].assign(10, 0);
  story.extra_compute[1][7] = 6_ms;  // as long as in step 5: the first of them
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  const auto timeline = RankTimeline(cluster, Finding());
  REQUIRE(timeline);
  CHECK_THAT(timeline->note, Contains("Step 5 of 10"));
  CHECK(timeline->what == "the step in which the ranks wait most");
  CHECK(timeline->start_ns == timeline->excerpt.start);
  CHECK(timeline->end_ns == timeline->excerpt.end);
  const auto sums = At(timeline->excerpt.rows[0], 0);
  REQUIRE(sums.size() == 3);
  CHECK(sums[0].name == "compute");
  CHECK(sums[1].name == "waiting");
  CHECK(sums[2].name == "communication");
  CHECK(sums[0].detail == "in sum over the step");
  CHECK(sums[1].start == sums[0].end);
  CHECK(sums[2].start == sums[1].end);
  CHECK(timeline->excerpt.rows[0].kind == ExcerptRow::Kind::kRank);
  CHECK(timeline->excerpt.rows[0].depth == 2);
  // Collectives of the steps before and behind are no part of it.
  for (const ExcerptRow& row : timeline->excerpt.rows) {
    for (const ExcerptEvent& event : row.events) {
      CHECK(event.start >= timeline->excerpt.start);
      CHECK(event.end <= timeline->excerpt.end);
    }
  }
}

TEST_CASE("the first step is shown where the ranks wait most in it") {
  JobStory story;
  story.extra_compute.assign(4, {});
  story.extra_compute[2].assign(10, 0);
  story.extra_compute[2][0] = 6_ms;
  const auto timeline = RankTimeline(Cluster(story.Tell(), ShippedKnowledge()), Finding());
  REQUIRE(timeline);
  CHECK_THAT(timeline->note, Contains("Step 0 of 10"));
}

TEST_CASE("of very many collectives in a step the longest are shown, in order of time") {
  std::vector<RankSummary> ranks = OneLongStep().Tell();
  for (RankSummary& rank : ranks) {
    const Nanos start = rank.steps[5].start;
    RankCollectives& list = rank.collectives;
    RankCollectives many;
    const auto add = [&](Nanos from, Nanos to) {
      many.start.push_back(from);
      many.end.push_back(to);
      many.exposed.push_back(0);
      many.kind.push_back(0);
      many.phase.push_back(0);
      many.lane.push_back(0);
      many.group.push_back(-1);
      many.bytes.push_back(64);
      many.peer.push_back(-1);
    };
    for (std::size_t i = 0; i < list.start.size(); ++i) {
      for (Nanos k = 0; i == 5 && k < 100; ++k) {
        add(start + k * 20_us, start + k * 20_us + (k < 90 ? 10_us : 5_us));
      }
      add(list.start[i], list.end[i]);
    }
    list = many;
  }
  const auto timeline = RankTimeline(Cluster(ranks, ShippedKnowledge()), Finding());
  REQUIRE(timeline);
  CHECK(timeline->excerpt.left_out == 4 * 21);  // 101 of each rank, 80 are shown
  const ExcerptRow& row = timeline->excerpt.rows[0];
  for (std::size_t i = 1; i < row.events.size(); ++i) {
    CHECK(row.events[i - 1].start <= row.events[i].start);
  }
}

TEST_CASE("clocks that differ draw the same picture") {
  JobStory story = OneLongStep();
  const Cluster same(story.Tell(), ShippedKnowledge());
  story.clock_offset = {0, 3_ms, 40_ms, -7_ms};
  const Cluster apart(story.Tell(), ShippedKnowledge());
  const auto one = RankTimeline(same, Finding());
  const auto other = RankTimeline(apart, Finding());
  REQUIRE(one);
  REQUIRE(other);
  for (std::size_t r = 0; r < 4; ++r) {
    const auto& a = one->excerpt.rows[r].events;
    const auto& b = other->excerpt.rows[r].events;
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(a[i].start == b[i].start);
      CHECK(a[i].end == b[i].end);
    }
  }
}

TEST_CASE("evidence chooses the step, and is marked on the common clock") {
  JobStory story = OneLongStep();
  story.clock_offset = {0, 5_ms, 0, 0};
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  Finding finding;
  Evidence wait;
  wait.what = "the longest such time on rank 1";
  wait.source = "rank_1.sqlite";
  wait.start_ns = cluster.ranks[1].steps[2].start + 1_ms;
  wait.end_ns = wait.start_ns + 2_ms;
  finding.evidence = {wait};
  const auto timeline = RankTimeline(cluster, finding);
  REQUIRE(timeline);
  CHECK_THAT(timeline->note, Contains("Step 2 of 10"));
  CHECK_THAT(timeline->what, Contains("rank 1"));
  CHECK(timeline->start_ns == cluster.ranks[0].steps[2].start + 1_ms);
  CHECK(timeline->end_ns - timeline->start_ns == 2_ms);
}

TEST_CASE("of many ranks eight are shown, with those that the finding names") {
  JobStory story;
  story.ranks = 40;
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  Finding finding;
  finding.where.ranks = {13, 31};
  const auto timeline = RankTimeline(cluster, finding);
  REQUIRE(timeline);
  REQUIRE(timeline->excerpt.rows.size() == 8);
  CHECK_THAT(timeline->note, Contains("8 of 40 ranks are shown"));
  // Who waits most is rank 0 here; the other five lie evenly.
  CHECK(timeline->excerpt.rows.front().number == 0);
  CHECK(timeline->excerpt.rows.back().number >= 31);
  for (const std::int64_t named : {13, 31}) {
    CHECK(std::any_of(timeline->excerpt.rows.begin(), timeline->excerpt.rows.end(),
                      [&](const ExcerptRow& row) { return row.number == named; }));
  }
}

TEST_CASE("one rank, and ranks without steps and evidence, give no picture") {
  JobStory story;
  story.ranks = 1;
  CHECK_FALSE(RankTimeline(Cluster(story.Tell(), ShippedKnowledge()), Finding()));
  std::vector<RankSummary> ranks = OneLongStep().Tell();
  for (RankSummary& rank : ranks) rank.steps.clear();
  CHECK_FALSE(RankTimeline(Cluster(ranks, ShippedKnowledge()), Finding()));
  // With evidence its surroundings are drawn, collectives only.
  Finding finding;
  Evidence wait;
  wait.source = "rank_0.sqlite";
  wait.what = "the longest such time on rank 0";
  wait.start_ns = ranks[0].collectives.start[5];
  wait.end_ns = ranks[0].collectives.end[5];
  finding.evidence = {wait};
  const auto timeline = RankTimeline(Cluster(ranks, ShippedKnowledge()), finding);
  REQUIRE(timeline);
  CHECK_THAT(timeline->note, Contains("No steps were found"));
  CHECK_FALSE(timeline->excerpt.rows[0].events.empty());
  CHECK(timeline->excerpt.rows[0].name == "rank 0");
}

}  // namespace
}  // namespace advise
