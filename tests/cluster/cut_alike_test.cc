// Ranks whose steps were cut at different lengths.
#include "engine/cluster/cut_alike.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

constexpr Nanos kMilli = 1'000'000;

// Ranks that meet in MPI calls in each iteration of 1 ms, 50 times. `in_step`: of each rank, how
// many iterations one of its steps holds. The first rank runs code of its host in place of waits.
std::vector<RankSummary> Meeting(const std::vector<int>& in_step, Nanos begins_later = 0) {
  std::vector<RankSummary> ranks(in_step.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    RankSummary& rank = ranks[r];
    rank.rank = static_cast<int>(r);
    rank.path = "rank " + std::to_string(r);
    rank.clock = static_cast<std::uint32_t>(r);
    rank.utc_origin_ns = 1'700'000'000'000'000'000;
    const Nanos length = in_step[r] * kMilli;
    for (Nanos at = r == 0 ? 0 : begins_later; at + length <= 50 * kMilli; at += length) {
      RankStep step{at, at + length, {}};
      step.time.compute = 7 * length / 10;
      step.time.idle = length - step.time.compute;
      const IdleCause cause = r == 0 ? IdleCause::kHostCompute : IdleCause::kPeerWait;
      step.time.causes[static_cast<std::size_t>(cause)] = step.time.idle;
      rank.steps.push_back(step);
    }
    rank.window_start = rank.steps.front().start;
    rank.window_end = rank.steps.back().end;
    rank.kernels_count = 50;
    rank.kernels = {{"jacobi", 50, 35 * kMilli, 7 * kMilli / 10}};
    for (const RankStep& step : rank.steps) {
      rank.time.compute += step.time.compute;
      rank.time.idle += step.time.idle;
    }
  }
  return ranks;
}

TEST_CASE("iterations of one rank are put together where those of others hold several") {
  const Cluster cluster(Meeting({1, 5, 5}), ShippedKnowledge());
  CHECK(cluster.job.steps == 10);
  CHECK(cluster.efficiency.load_balance > 0.99);
  CHECK(cluster.lateness.straggler.rank == 0);
  CHECK(cluster.lateness.straggler.loss.gain == 15 * kMilli);
  CHECK(cluster.lateness.straggler.cause.kind == LateCause::Kind::kHostCode);
  CHECK(
      std::find(cluster.notes.begin(), cluster.notes.end(),
                "rank 0 counts shorter steps than other ranks: 5 of them are compared with one") !=
      cluster.notes.end());
  // The other way round: it is not the rank with the longer steps that is late.
  const Cluster other(Meeting({5, 1}), ShippedKnowledge());
  CHECK(other.job.steps == 10);
  CHECK(other.lateness.straggler.rank == 0);
}

TEST_CASE("groups begin where the longer steps of the other rank begin") {
  std::vector<RankSummary> ranks = Meeting({1, 5}, 3 * kMilli);
  const Cluster cluster(ranks, ShippedKnowledge());
  REQUIRE(cluster.job.steps == 9);
  CHECK(cluster.ranks[0].steps.front().start == 3 * kMilli);
  CHECK(cluster.ranks[0].steps.front().Length() == 5 * kMilli);
  CHECK(cluster.ranks[0].StepsInWindow() == 10);
}

TEST_CASE("steps that do not fit together stay as they are") {
  // Two and a half to one.
  CHECK(Cluster(Meeting({2, 5}), ShippedKnowledge()).ranks[0].steps.size() == 25);
  // Clocks that nothing brings together.
  std::vector<RankSummary> ranks = Meeting({1, 5});
  ranks[1].utc_origin_ns = 0;
  CHECK(Cluster(ranks, ShippedKnowledge()).ranks[0].steps.size() == 50);
  // As long as each other.
  CHECK(Cluster(Meeting({1, 1}), ShippedKnowledge()).ranks[0].steps.size() == 50);
}

}  // namespace
}  // namespace advise
