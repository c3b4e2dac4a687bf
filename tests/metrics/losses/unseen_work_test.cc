// Idle time in which a GPU probably worked on what the capture does not show.
#include "engine/metrics/losses/unseen_work.h"

#include "tests/support/analyzed.h"

namespace advise {
namespace {

// Of the first GPU.
UnseenTime Unseen(const TraceBuilder& story) { return Analyzed(story)->unseen.by_device.front(); }

TEST_CASE("work that was launched early on a new stream waits for what began before the capture") {
  TraceBuilder story;
  story.OnStream(1).Launch("first", {0_us, 5_us}, {10_us, 20_us});
  story.OnStream(2).Launch("decode", {100_us, 105_us}, {400_ms, 410_ms});
  const UnseenTime unseen = Unseen(story);
  CHECK(unseen.before_capture > 399_ms);
  CHECK(unseen.before_capture <= 400_ms);
  CHECK(unseen.in_graphs == 0);
}

TEST_CASE("queued work that starts late waits for what is not in the capture") {
  TraceBuilder story;
  story.Launch("first", {0_us, 5_us}, {10_us, 20_us})
      .Launch("second", {100_us, 105_us}, {400_ms, 410_ms});
  CHECK(Unseen(story).queued > 399_ms);
  CHECK(Unseen(story).queued <= 400_ms);
  CHECK(Unseen(story).before_capture == 0);
}

TEST_CASE("work that starts with its launch waits for nothing") {
  TraceBuilder launched_late;
  launched_late.OnStream(1).Launch("first", {0_us, 5_us}, {10_us, 20_us});
  launched_late.OnStream(2).Launch("late", {400_ms, 400_ms + 5_us}, {400_ms + 9_us, 410_ms});
  CHECK(Unseen(launched_late).before_capture == 0);
  CHECK(Unseen(launched_late).queued == 0);
}

TEST_CASE("nodes of a graph that start late were preceded by nodes that the profiler lost") {
  TraceBuilder story;
  story.Launch("first", {0_us, 5_us}, {10_us, 20_us})
      .GraphNodes("node", {30_us, 40_us}, {{50_ms, 51_ms}, {61_ms, 62_ms}});
  const UnseenTime unseen = Unseen(story);
  CHECK(unseen.in_graphs > 59_ms);  // before its first recorded node, and between the two
  CHECK(unseen.in_graphs < 60_ms);
  CHECK(unseen.before_capture == 0);
}

TEST_CASE("what is unseen counts in the window alone") {
  // Ten steps behind work that waits for what began before the capture.
  TraceBuilder story;
  story.OnStream(2).Launch("first", {0_us, 5_us}, {10_us, 20_us});
  story.OnStream(1).Launch("begun before", {100_us, 105_us}, {400_ms, 401_ms});
  for (int i = 0; i < 10; ++i) {
    const Nanos at = 402_ms + i * 1_ms;
    story.Range("step " + std::to_string(i), {at, at + 950_us})
        .Launch("kernel", {at + 1_us, at + 5_us}, {at + 10_us, at + 900_us});
  }
  const Analyzed run(story, WindowRequest::Mode::kAuto);
  REQUIRE(run->run.window.mode == "steady");
  CHECK(run->unseen.by_device.front().before_capture == 0);
}

}  // namespace
}  // namespace advise
