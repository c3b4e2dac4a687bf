// One start of the steady steps for all ranks of a run.
#include "engine/cluster/same_start.h"

#include "tests/support/analyzed.h"

namespace advise {
namespace {

// Ten steps of 100 ms from `start` on; UTC of time 0 is `origin`.
RankSummary Rank(Nanos start, bool keeps_waits, Nanos origin = 1'000'000'000'000'000'000) {
  RankSummary rank;
  rank.utc_origin_ns = origin;
  rank.keeps_waits = keeps_waits;
  for (int i = 0; i < 10; ++i)
    rank.steps.push_back({start + i * 100_ms, start + (i + 1) * 100_ms, {}});
  return rank;
}

std::vector<std::optional<Nanos>> Since(std::vector<RankSummary> ranks, bool one_clock) {
  std::uint32_t clock = 0;
  for (RankSummary& rank : ranks) rank.clock = one_clock ? 0 : clock++;
  return SteadySince(ranks, ShippedKnowledge());
}

TEST_CASE("ranks that begin later than one that keeps its waits begin with it, on their clocks") {
  const Nanos later = 1'000'000'000'000'000'000 + 300_ms;
  const auto since = Since({Rank(500_ms, true), Rank(700_ms, false, later),
                            Rank(251_ms, false, later), Rank(249_ms, false, later)},
                           false);
  CHECK_FALSE(since[0]);
  CHECK(since[1] == 200_ms);
  CHECK(since[2] == 200_ms);  // by more than half a step
  CHECK_FALSE(since[3]);
}

TEST_CASE("the earliest of several that keep their waits counts, also for the others of them") {
  const auto since = Since({Rank(500_ms, true), Rank(200_ms, true)}, true);
  CHECK(since[0] == 200_ms);
  CHECK_FALSE(since[1]);
}

TEST_CASE("ranks begin as they are where none keeps its waits, or no clock joins them") {
  for (const auto& since : Since({Rank(500_ms, false), Rank(200_ms, false)}, true))
    CHECK_FALSE(since);
  const std::vector<RankSummary> no_utc = {Rank(500_ms, false, 0), Rank(200_ms, true, 0)};
  for (const auto& since : Since(no_utc, false)) CHECK_FALSE(since);
  CHECK(Since(no_utc, true)[0] == 200_ms);
  RankSummary without_steps = Rank(0, true);
  without_steps.steps.clear();
  CHECK_FALSE(Since({without_steps, Rank(500_ms, false)}, true)[1]);
}

}  // namespace
}  // namespace advise
