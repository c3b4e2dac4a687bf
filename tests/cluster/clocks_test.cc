// Clocks of several reports, brought together on the ends of collectives.
#include "engine/cluster/clocks.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

// One of this kind, on a stream for each kind, with nothing known of its size and group.
void AddCollective(Interval when, std::uint8_t kind, RankCollectives* list) {
  list->start.push_back(when.start);
  list->end.push_back(when.end);
  list->exposed.push_back(0);
  list->kind.push_back(kind);
  list->phase.push_back(0);
  list->lane.push_back(kind);
  list->group.push_back(-1);
  list->bytes.push_back(-1);
  list->peer.push_back(-1);
}

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

// Copies of shards: the ranks gather among others, each its own, and sum gradients with each other.
TEST_CASE("only some collectives are shared: the clock is that of the kind that fits") {
  std::vector<RankSummary> ranks(2);
  constexpr Nanos kOffset = 9'000'000'000;  // of rank 1's clock
  for (std::uint32_t r = 0; r < 2; ++r) {
    ranks[r].rank = static_cast<int>(r);
    ranks[r].clock = r;
    ranks[r].kinds = {"allgather", "allreduce"};
    RankCollectives& list = ranks[r].collectives;
    Nanos now = 1'000'000'000;
    for (Nanos s = 0; s < 24; ++s) {
      now += 20'000'000 + (s * s * 7919) % 900'000;
      // Rank 1's gathers end 100 us later than rank 0's, more or less.
      const Nanos apart = r == 0 ? 0 : 100'000 + (s * 5'801) % 40'000;
      for (const std::uint8_t kind : {std::uint8_t{0}, std::uint8_t{1}}) {
        const Nanos end = now + (kind == 0 ? apart : 6'000'000) - (r == 0 ? 0 : kOffset);
        AddCollective({end - 300'000, end}, kind, &list);
      }
    }
  }
  const Clocks clocks = AlignClocks(ranks, ShippedKnowledge());
  CHECK(clocks.offset[1] == kOffset);
  CHECK(clocks.residual == 0);
}

// Sharded training gathers weights while it scatters gradients, on two streams. Both end at once,
// on each rank in another order.
TEST_CASE("collectives of two streams that end together have no order") {
  std::vector<RankSummary> ranks(2);
  constexpr Nanos kOffset = 7'000'000'000;  // of rank 1's clock, whose capture begins a step later
  for (std::uint32_t r = 0; r < 2; ++r) {
    ranks[r].rank = static_cast<int>(r);
    ranks[r].clock = r;
    ranks[r].utc_origin_ns = 1'700'000'000'000'000'000 + (r == 0 ? 0 : kOffset + 100'000);
    ranks[r].kinds = {"allgather", "reducescatter"};
    RankCollectives& list = ranks[r].collectives;
    Nanos now = 1'000'000'000;
    for (Nanos s = 0; s < 6; ++s) {
      for (Nanos layer = 0; layer < 12; ++layer) {
        now += 1'200'000;
        const bool gathers_first = (layer + s) % 2 == static_cast<Nanos>(r);
        for (const std::uint8_t kind : {std::uint8_t{0}, std::uint8_t{1}}) {
          const Nanos end = now - (r == 0 ? 0 : kOffset) + ((kind == 0) == gathers_first ? 0 : 900);
          if (r == 0 || s > 0) AddCollective({end - 600'000, end}, kind, &list);
        }
      }
      now += s % 2 == 0 ? 4'000'000 : 12'500'000;
    }
  }
  const Clocks clocks = AlignClocks(ranks, ShippedKnowledge());
  CHECK(std::abs(clocks.offset[1] - kOffset) < 2'000);
}

// A program whose steps are all alike, told by two ranks of which one ends its collectives a little
// apart: by the collectives alone, a shift by a step fits better than the true one.
std::vector<RankSummary> Regular(Nanos step) {
  std::vector<RankSummary> ranks(2);
  const auto noise = [](Nanos s) { return (s * s * 7919) % 25'000; };
  for (std::uint32_t r = 0; r < 2; ++r) {
    ranks[r].rank = static_cast<int>(r);
    ranks[r].clock = r;
    ranks[r].host = "node" + std::to_string(r);
    ranks[r].utc_origin_ns = 1'700'000'000'000'000'000;
    ranks[r].kinds = {"allreduce"};
    RankCollectives& list = ranks[r].collectives;
    for (Nanos s = 0; s < 40; ++s) {
      const Nanos end = 1'000'000'000 + s * step + noise(r == 0 ? s : s + 1);
      AddCollective({end - 300'000, end}, 0, &list);
    }
  }
  return ranks;
}

TEST_CASE("steps that are all alike: the hosts' UTC tells which one is which") {
  for (const Nanos step : {2'000'000, 20'000'000, 110'000'000}) {
    const Clocks clocks = AlignClocks(Regular(step), ShippedKnowledge());
    CHECK(clocks.source[1] == ClockSource::kCollectives);
    CHECK(std::abs(clocks.offset[1]) < 25'000);
  }
}

TEST_CASE("UTC that is wrong by 0.3 s does not outweigh collectives that fit one shift only") {
  JobStory story = Uneven();
  story.clock_offset = {0, 1'000'000, 2'000'000};
  std::vector<RankSummary> ranks = story.Tell();
  for (const RankSummary& rank : ranks) CHECK(rank.collectives.size() == 12);
  for (RankSummary& rank : ranks) rank.utc_origin_ns = 1'700'000'000'000'000'000;
  ranks[2].utc_origin_ns += 300'000'000;
  const Clocks clocks = AlignClocks(ranks, ShippedKnowledge());
  CHECK(clocks.offset == std::vector<Nanos>{0, 1'000'000, 2'000'000});
}

// Each step sums its gradients in buckets at nearly even distances, and steps are nearly alike: a
// shift by a bucket or by a step fits most pairs nearly as well as none. The clock of the other
// host is off by about as much.
TEST_CASE("clocks off by the distance of two collectives are told by those that fit best") {
  constexpr Nanos kStep = 60'000'000, kBucket = 5'250'000;
  for (const int buckets : {4, 10}) {
    for (const Nanos wrong : {kBucket - 1'200'000, -kBucket, kStep, 10'000'000L}) {
      INFO(buckets << " buckets, UTC wrong by " << wrong);
      std::vector<RankSummary> ranks(2);
      for (std::uint32_t r = 0; r < 2; ++r) {
        ranks[r].rank = static_cast<int>(r);
        ranks[r].clock = r;
        ranks[r].utc_origin_ns = 1'700'000'000'000'000'000 + (r == 1 ? wrong : 0);
        ranks[r].kinds = {"allreduce"};
        RankCollectives& list = ranks[r].collectives;
        for (Nanos s = 0; s < 18; ++s) {
          const Nanos step = s * kStep + (s * s * 7919) % 97 * 1'000;  // up to 0.1 ms more
          for (Nanos b = 0; b < buckets; ++b) {
            const Nanos noise = (s * 31 + b * 17 + r * 11) % 8 * 1'000;
            const Nanos end = step + b * kBucket + (s * b * 13) % 23 * 1'000 + noise;
            AddCollective({end - 1'500'000, end}, 0, &list);
          }
        }
        ranks[r].window_start = 0;
        ranks[r].window_end = 18 * kStep;
      }
      CHECK(std::abs(AlignClocks(ranks, ShippedKnowledge()).offset[1]) < 10'000);
    }
  }
}

// Two pipelines of two stages each, ranks 0 and 1, and 2 and 3. Stages send to each other eight
// times per step, and each sums up with its copy in the other pipeline: the last stage is done
// first.
std::vector<RankSummary> TwoPipelines(bool stages_sum_together) {
  std::vector<RankSummary> ranks(4);
  for (std::size_t r = 0; r < 4; ++r) {
    ranks[r].rank = static_cast<int>(r);
    ranks[r].clock = static_cast<std::uint32_t>(r);
    ranks[r].utc_origin_ns = 1'700'000'000'000'000'000 + static_cast<Nanos>(r) * 40'000;
    ranks[r].kinds = {"allreduce", "sendrecv"};
    const Nanos clock = stages_sum_together ? static_cast<Nanos>(r % 2) * 7'000'000 : 0;
    for (Nanos s = 0; s < 8; ++s) {
      const Nanos step = 1'000'000'000 + s * 140'000'000 - clock;
      for (Nanos k = 0; k < 8; ++k) {
        const Nanos met = step + 10'000'000 + k * 12'000'000 + ((s * 8 + k) * 7'919 % 900) * 1'000;
        AddCollective({met - 60'000, met + static_cast<Nanos>(r) * 1'000}, 1,
                      &ranks[r].collectives);
      }
      const bool last = r % 2 == 1 && !stages_sum_together;
      const Nanos sum = step + (last ? 128'000'000 : 135'000'000);
      AddCollective({sum - 900'000, sum + static_cast<Nanos>(r) * 1'000}, 0, &ranks[r].collectives);
    }
  }
  return ranks;
}

TEST_CASE("sums that stages of a pipeline have with their copies alone do not move their clocks") {
  const Clocks clocks = AlignClocks(TwoPipelines(false), ShippedKnowledge());
  for (std::size_t r = 1; r < 4; ++r) {
    CHECK(clocks.source[r] == ClockSource::kCollectives);
    CHECK(std::abs(clocks.offset[r]) <= 10'000);
  }
  // Sums of all ranks do, whatever UTC says: sends end together then, too.
  const Clocks moved = AlignClocks(TwoPipelines(true), ShippedKnowledge());
  CHECK(moved.offset[1] == Approx(7e6).margin(10e3));
  CHECK(moved.offset[2] == Approx(0).margin(10e3));
  CHECK(moved.offset[3] == Approx(7e6).margin(10e3));
}

}  // namespace
}  // namespace advise
