// Idle time in which a GPU probably worked on what the capture does not show.
#include "engine/metrics/losses/unseen_work.h"

#include "tests/support/analysed.h"

namespace advise {
namespace {

UnseenWork Unseen(const TraceBuilder& story) { return Analysed(story)->unseen; }

TEST_CASE("work that was launched early on a new stream waits for what began before the capture") {
  TraceBuilder story;
  story.OnStream(1).Launch("first", {0_us, 5_us}, {10_us, 20_us});
  story.OnStream(2).Launch("decode", {100_us, 105_us}, {400_ms, 410_ms});
  const UnseenWork unseen = Unseen(story);
  CHECK(unseen.before_capture > 399_ms);
  CHECK(unseen.before_capture <= 400_ms);
  CHECK(unseen.in_graphs == 0);
}

TEST_CASE("work that follows other work of its stream, or its launch, waits for nothing earlier") {
  TraceBuilder follows;
  follows.Launch("first", {0_us, 5_us}, {10_us, 20_us})
      .Launch("second", {100_us, 105_us}, {400_ms, 410_ms});
  CHECK(Unseen(follows).before_capture == 0);
  TraceBuilder launched_late;
  launched_late.OnStream(1).Launch("first", {0_us, 5_us}, {10_us, 20_us});
  launched_late.OnStream(2).Launch("late", {400_ms, 400_ms + 5_us}, {400_ms + 9_us, 410_ms});
  CHECK(Unseen(launched_late).before_capture == 0);
}

TEST_CASE("nodes of a graph that start late were preceded by nodes that the profiler lost") {
  TraceBuilder story;
  story.Launch("first", {0_us, 5_us}, {10_us, 20_us})
      .GraphNodes("node", {30_us, 40_us}, {{50_ms, 51_ms}, {61_ms, 62_ms}});
  const UnseenWork unseen = Unseen(story);
  CHECK(unseen.in_graphs > 59_ms);  // before its first recorded node, and between the two
  CHECK(unseen.in_graphs < 60_ms);
  CHECK(unseen.before_capture == 0);
}

}  // namespace
}  // namespace advise
