// Ranks that wait for each other where no collective shows it.
#include <catch2/catch.hpp>

#include "engine/cluster/cluster.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

constexpr Nanos kMs = 1'000'000;
using Times = std::vector<std::vector<Nanos>>;  // [rank][step]

// Ranks of one clock: what each computes in its steps, and how long it idles after that.
std::vector<RankSummary> Tell(const Times& compute, const Times& idle) {
  std::vector<RankSummary> ranks(compute.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    RankSummary& rank = ranks[r];
    rank.rank = static_cast<int>(r);
    rank.path = "all.sqlite";
    rank.world_size = static_cast<int>(ranks.size());
    rank.kernels = {{"stencil", 10, 100 * kMs, 10 * kMs}};
    Nanos now = 0;
    for (std::size_t s = 0; s < compute[r].size(); ++s) {
      RankStep step{now, now + compute[r][s] + idle[r][s], {}};
      step.time.compute = compute[r][s];
      step.time.idle = idle[r][s];
      step.time.causes[static_cast<std::size_t>(IdleCause::kHostCompute)] = idle[r][s];
      rank.steps.push_back(step);
      now = step.end;
    }
    rank.window_end = now;
  }
  return ranks;
}

Times Each(std::size_t ranks, std::size_t steps, Nanos value) {
  return Times(ranks, std::vector<Nanos>(steps, value));
}

TEST_CASE("a rank that falls behind the others is late by what it takes longer") {
  Times compute = Each(4, 20, 100 * kMs);
  compute[3].assign(20, 110 * kMs);  // two steps behind at the end
  const Cluster cluster(Tell(compute, Each(4, 20, 0)), ShippedKnowledge());
  const LateRank& late = cluster.lateness.straggler;
  CHECK(cluster.job.steps == 20);
  REQUIRE(late.rank == 3);
  CHECK(late.share == Approx(1));
  // Its surplus of 10 ms is given to all four.
  CHECK(late.loss.gain == 20 * 75 * kMs / 10);
  CHECK(late.loss.lost.by_device[0].Total() == 20 * 75 * kMs / 10);
  CHECK(late.cause.words != "the captures do not show why");
}

TEST_CASE("ranks that wait out each other's long steps lose them to imbalance") {
  Times compute = Each(3, 12, 100 * kMs);
  Times idle = Each(3, 12, 0);
  for (std::size_t s = 0; s < 12; ++s) {
    for (std::size_t r = 0; r < 3; ++r) (s % 3 == r ? compute[r][s] : idle[r][s]) += 30 * kMs;
    compute[s % 3][s] = 130 * kMs;
  }
  const Cluster cluster(Tell(compute, idle), ShippedKnowledge());
  CHECK(cluster.job.Own(0, 1) == 100 * kMs);
  CHECK(cluster.lateness.compute.loss.gain == 12 * 20 * kMs);  // the 30 are shared by three
  CHECK(cluster.lateness.compute.top_rank == Approx(1.0 / 3));
  CHECK(cluster.lateness.straggler.share < 0.5);
}

TEST_CASE("ranks that are ahead of each other, with the same work in all, win nothing by balance") {
  // Each has long steps, in another order; nobody waits, all take as long.
  Times compute = Each(2, 10, 100 * kMs);
  for (std::size_t s = 0; s < 10; ++s) compute[s % 2][s] = 140 * kMs;
  const Cluster cluster(Tell(compute, Each(2, 10, 0)), ShippedKnowledge());
  CHECK(cluster.job.Window() == 1200 * kMs);
  CHECK(cluster.lateness.compute.loss.gain == 0);
}

TEST_CASE("what a rank idles for reasons of its own is no waiting") {
  Times idle = Each(4, 10, 0);
  idle[2][5] = 300 * kMs;  // its host, while the others run on
  const Cluster cluster(Tell(Each(4, 10, 100 * kMs), idle), ShippedKnowledge());
  CHECK(cluster.job.Own(2, 5) == 400 * kMs);
  CHECK(cluster.lateness.compute.loss.gain == 0);
}

// The outer ranks of a row have one neighbor, and half as much to do for the exchange of edges:
// they wait in MPI for the inner ones.
TEST_CASE("a rank that computes as long as the others waits for as long as it is longer in MPI") {
  std::vector<RankSummary> ranks = Tell(Each(4, 10, 100 * kMs), Each(4, 10, 40 * kMs));
  for (const std::size_t outer : {0, 3}) {
    for (RankStep& step : ranks[outer].steps) {
      step.time.causes[static_cast<std::size_t>(IdleCause::kHostCompute)] = 15 * kMs;
      step.time.causes[static_cast<std::size_t>(IdleCause::kPeerWait)] = 25 * kMs;
    }
  }
  for (const std::size_t inner : {1, 2}) {
    for (RankStep& step : ranks[inner].steps) {
      step.time.causes[static_cast<std::size_t>(IdleCause::kHostCompute)] = 35 * kMs;
      step.time.causes[static_cast<std::size_t>(IdleCause::kPeerWait)] = 5 * kMs;
    }
  }
  const Cluster cluster(std::move(ranks), ShippedKnowledge());
  CHECK(cluster.job.Own(0, 5) == 120 * kMs);
  CHECK(cluster.job.Own(1, 5) == 140 * kMs);
  // Without the exchange all ranks win what the inner ones take for it.
  RankCuts cuts(4);
  for (std::size_t r = 0; r < 4; ++r) cuts[r].assign(10, (r % 3 == 0 ? 15 : 35) * kMs);
  CHECK(cluster.job.Gain(cuts) == 10 * 35 * kMs);
}

}  // namespace
}  // namespace advise
