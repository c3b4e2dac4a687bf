// How long the hosts of ranks work, and do not wait.
#include "engine/cluster/summarize.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("a host that waits for the GPU to give memory back does not work meanwhile") {
  TraceBuilder story;
  Repeat(12, 10_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 9990_us});
    story.Launch("work", {at + 100_us, at + 105_us}, {at + 110_us, at + 6_ms});
    story.Launch(kAllReduce, {at + 106_us, at + 110_us}, {at + 6_ms, at + 8_ms});
    story.Call("cudaFree", {at + 200_us, at + 9_ms});
  });
  const Analyzed run(story, kAuto);
  const std::vector<RankSummary> ranks = SummarizeRanks(*run);
  REQUIRE(ranks.size() == 1);
  REQUIRE_FALSE(ranks[0].host_works.empty());
  for (const Nanos works : ranks[0].host_works) CHECK(works < 3_ms);
}

}  // namespace
}  // namespace advise
