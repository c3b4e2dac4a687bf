// Waits of all ranks that have a report for one that has none.
#include "engine/cluster/absent.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

// Ten steps of a job of five ranks, of which four have a report: 8 ms of computing, an all-reduce
// of 1 ms, and three more of 1 ms each right behind it. The fifth rank, which has no report, is 5
// ms late from step `from` on. `bytes`: of each of them. Of the wait, `hidden` is beside compute.
std::vector<RankSummary> FourOfFive(std::int64_t bytes, Nanos hidden, Nanos late = 5'000'000,
                                    std::size_t from = 2) {
  constexpr Nanos kMs = 1'000'000;
  JobStory story;
  story.ranks = 5;
  story.transfer = 4 * kMs;
  story.extra_compute = std::vector<std::vector<Nanos>>(5);
  story.extra_compute[4] = Each(10, late);
  std::fill_n(story.extra_compute[4].begin(), from, Nanos{0});
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) {
    RankCollectives all = rank.collectives;
    RankCollectives& list = rank.collectives;
    list = {};
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (Nanos place = 0; place < 4; ++place) {
        const Nanos start = place == 0 ? all.start[i] : all.end[i] - (4 - place) * kMs;
        const Nanos end = all.end[i] - (3 - place) * kMs;
        list.start.push_back(start);
        list.end.push_back(end);
        list.exposed.push_back(end - start - (place == 0 && i >= from ? hidden : 0));
        list.kind.push_back(0);
        list.phase.push_back(all.phase[i]);
        list.lane.push_back(0);
        list.group.push_back(-1);
        list.bytes.push_back(bytes);
        list.peer.push_back(-1);
      }
      if (i >= from) rank.steps[i].time.comm_exposed -= hidden;
    }
  }
  ranks.pop_back();
  ranks[0].world_size = 5;
  return ranks;
}

Cluster Judged(std::vector<RankSummary> ranks) { return {std::move(ranks), ShippedKnowledge()}; }

TEST_CASE("all ranks wait for one without a report: no transfer, and no slow path") {
  const Cluster cluster = Judged(FourOfFive(100'000'000, 0));
  REQUIRE(cluster.missing == std::vector<int>{4});
  CHECK(cluster.absent.count == 8);
  CHECK(cluster.absent.longest_ns == 5e6);
  CHECK(cluster.absent.by_places == 0);
  CHECK(cluster.absent.loss.gain == 8 * 5'000'000);
  CHECK(cluster.absent.loss.lost.by_device[0].Total() == 8 * 5'000'000);
  CHECK(cluster.waited_ns == Approx(40e6));
  CHECK(cluster.transfer_ns == Approx(40e6));
  CHECK(cluster.transferring_ns == Approx(40e6));
  // 100 MB in 1 ms, by the bus factor of four ranks.
  CHECK(cluster.inside.bus_bytes_per_s == Approx(150e9));
  CHECK(cluster.halved.gain == Approx(20e6));
}

TEST_CASE("collectives behind such a wait would run beside the compute that the wait runs beside") {
  // Of 5 ms of waiting 3 are hidden: 2 are lost, and what hides the first transfer hides two more.
  const Cluster cluster = Judged(FourOfFive(100'000'000, 3'000'000));
  CHECK(cluster.absent.loss.gain == Approx(8 * (3'000'000 + 2'000'000)));
}

TEST_CASE("where sizes are not known, one of the step that takes ten times as long as the others") {
  CHECK(Judged(FourOfFive(-1, 0, 5'000'000, 0)).absent.count == 0);
  const Cluster cluster = Judged(FourOfFive(-1, 0, 12'000'000, 0));
  CHECK(cluster.absent.count == 10);
  CHECK(cluster.absent.by_places == 10);
  CHECK(cluster.absent.loss.gain == 10 * 12'000'000);
}

TEST_CASE("where all ranks have a report, a long collective is a slow one") {
  std::vector<RankSummary> ranks = FourOfFive(100'000'000, 0);
  ranks[0].world_size = 4;
  const Cluster cluster = Judged(std::move(ranks));
  CHECK(cluster.absent.count == 0);
  CHECK(cluster.transferring_ns == Approx(80e6));
  // A communicator of the four: the fifth rank is not in it.
  ranks = FourOfFive(100'000'000, 0);
  for (RankSummary& rank : ranks) {
    rank.groups = {{"0", "", 4, {0, 1, 2, 3}}};
    std::fill(rank.collectives.group.begin(), rank.collectives.group.end(), std::int16_t{0});
  }
  CHECK(Judged(std::move(ranks)).absent.count == 0);
}

}  // namespace
}  // namespace advise
