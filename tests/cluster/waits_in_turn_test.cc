// Ranks that wait for each other in turn within a step, although all compute as long in sum.
#include "engine/cluster/waits_in_turn.h"

#include "engine/cluster/cluster.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

constexpr std::size_t kRanks = 4;
constexpr std::size_t kSteps = 10;
constexpr std::size_t kLayers = 4;

// Before each of four exchanges a step, one rank computes for `most`, the others for 1 ms: another
// one each time, or always rank 0. `idles`: the rest of it the rank is idle.
std::vector<RankSummary> Exchanging(Nanos most, bool in_turn, bool idles = false) {
  std::vector<RankSummary> all(kRanks);
  for (std::size_t r = 0; r < kRanks; ++r) {
    all[r].rank = static_cast<int>(r);
    all[r].kinds = {"alltoall"};
    all[r].kernels = {{"matmul", 40, 40'000'000, 1'000'000}};
    all[r].kernels_count = kSteps * kLayers;
  }
  Nanos now = 1'000'000'000;
  for (std::size_t s = 0; s < kSteps; ++s) {
    for (RankSummary& rank : all) rank.steps.push_back({now, now, {}});
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      const Nanos end = now + most + 200'000;
      for (std::size_t r = 0; r < kRanks; ++r) {
        const Nanos work = r == (in_turn ? layer : 0) ? most : 1'000'000;
        RankCollectives& list = all[r].collectives;
        list.start.push_back(now + work);
        list.end.push_back(end);
        list.exposed.push_back(end - now - work);
        list.kind.push_back(0);
        list.phase.push_back(0);
        list.lane.push_back(0);
        list.group.push_back(-1);
        list.bytes.push_back(-1);
        list.peer.push_back(-1);
        RankTime& time = all[r].steps.back().time;
        time.compute += idles ? 1'000'000 : work;
        time.idle += idles ? work - 1'000'000 : 0;
        time.comm_exposed += end - now - work;
      }
      now = end;
    }
    for (RankSummary& rank : all) rank.steps.back().end = now;
  }
  for (RankSummary& rank : all) {
    rank.window_start = rank.steps.front().start;
    rank.window_end = rank.steps.back().end;
  }
  return all;
}

TEST_CASE("another rank has most to do before each exchange: balance wins what all of them wait") {
  const Cluster cluster(Exchanging(3'000'000, true), ShippedKnowledge());
  const Imbalance& uneven = cluster.lateness.compute;
  CHECK(uneven.loss.gain == kSteps * 3 * 2'000'000);  // three of four times it waits for 2 ms
  CHECK(uneven.in_turn == 1);
  CHECK(uneven.steps == 1);
  CHECK(uneven.top_rank == 0.25);
}

TEST_CASE("the same rank has most to do each time: it is a straggler, and nobody waits in turn") {
  const Cluster cluster(Exchanging(3'000'000, false), ShippedKnowledge());
  CHECK(cluster.lateness.straggler.rank == 0);
  CHECK(cluster.lateness.compute.in_turn == 0);
}

TEST_CASE("ranks that differ by as much as like GPUs do, or idle in turn, are not uneven") {
  CHECK(Cluster(Exchanging(1'080'000, true), ShippedKnowledge()).lateness.compute.in_turn == 0);
  CHECK(Cluster(Exchanging(3'000'000, true, true), ShippedKnowledge()).lateness.compute.in_turn ==
        0);
}

}  // namespace
}  // namespace advise
