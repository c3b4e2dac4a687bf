// Clocks of several reports, brought together on the ends of collectives.
#include "engine/cluster/clocks.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

// Steps of different length, so that the true shift is the only one that fits.
JobStory Uneven() {
  JobStory story;
  story.ranks = 3;
  story.steps = 12;
  story.extra_compute.assign(3, std::vector<Nanos>(12, 0));
  for (std::size_t s = 0; s < 12; ++s) {
    story.extra_compute[0][s] = static_cast<Nanos>((s * s * 7919) % 900) * 1000;
  }
  return story;
}

TEST_CASE("the offset between two clocks is found to the nanosecond") {
  JobStory story = Uneven();
  story.clock_offset = {0, 5'000'000'000, -123'456'789};
  const Clocks clocks = AlignClocks(story.Tell(), ShippedKnowledge());
  CHECK(clocks.offset == std::vector<Nanos>{0, 5'000'000'000, -123'456'789});
  CHECK(clocks.source[1] == ClockSource::kCollectives);
  CHECK(clocks.residual == 0);
}

TEST_CASE("a capture that began three steps later is found by its shift") {
  JobStory story = Uneven();
  story.clock_offset = {0, 777'000, 0};
  std::vector<RankSummary> ranks = story.Tell();
  RankCollectives& list = ranks[1].collectives;
  for (auto* column : {&list.start, &list.end, &list.exposed, &list.bytes}) {
    column->erase(column->begin(), column->begin() + 3);
  }
  list.kind.resize(9);
  list.phase.resize(9);
  list.lane.resize(9);
  list.group.resize(9);
  list.peer.resize(9);
  CHECK(AlignClocks(ranks, ShippedKnowledge()).offset[1] == 777'000);
}

TEST_CASE("clocks that are hours apart are aligned all the same, and the difference is told") {
  JobStory story = Uneven();
  story.clock_offset = {0, 1'000'000, 2'000'000};
  std::vector<RankSummary> ranks = story.Tell();
  ranks[0].utc_origin_ns = 1'700'000'000'000'000'000;
  ranks[1].utc_origin_ns = ranks[0].utc_origin_ns + 1'000'000;                      // right
  ranks[2].utc_origin_ns = ranks[0].utc_origin_ns + 2'000'000 + 7'200'000'000'000;  // two hours off
  const Clocks clocks = AlignClocks(ranks, ShippedKnowledge());
  CHECK(clocks.offset[2] == 2'000'000);
  CHECK(clocks.utc_error[1] == 0);
  CHECK(clocks.skew == 7'200'000'000'000);
}

TEST_CASE("another program's collectives match nothing, and its clock stays apart") {
  std::vector<RankSummary> ranks = Uneven().Tell();
  RankCollectives& list = ranks[2].collectives;
  for (std::size_t i = 0; i < list.size(); ++i) {
    list.end[i] += static_cast<Nanos>((i * i * 104'729) % 11) * 3'000'000;
  }
  const Clocks clocks = AlignClocks(ranks, ShippedKnowledge());
  CHECK(clocks.Known(1));
  CHECK_FALSE(clocks.Known(2));
}

}  // namespace
}  // namespace advise
