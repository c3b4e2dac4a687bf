// GPUs of one process that take turns.
#include "engine/metrics/losses/ranks/turns.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// 20 batches that go through two GPUs, 1 ms on each; the next one starts on the first GPU when the
// last has left it, or when it is done.
TraceBuilder Stages(bool in_flight) {
  TraceBuilder story;
  story.Device("Test GPU", 100);
  for (int i = 0; i < 20; ++i) {
    const Nanos at = i * (in_flight ? 1_ms : 2_ms);
    story.OnDevice(0).Launch("first", {at, at + 5_us}, {at + 10_us, at + 1_ms});
    story.OnDevice(1).Launch("second", {at + 6_us, at + 11_us}, {at + 1_ms, at + 1990_us});
  }
  return story;
}

TEST_CASE("two GPUs that wait for each other take turns, two with batches in flight do not") {
  const Analyzed turns(Stages(false));
  CHECK(turns->turns->devices == 2);
  CHECK(turns->turns->together == 0);
  CHECK(turns->turns->least > 0.45);
  CHECK(turns->turns->waiting.lost->Total() >= 36_ms);
  CHECK(turns->turns->share == Approx(0.5).margin(0.02));
  CHECK(turns->turns->shorter == Approx(0.5).margin(0.02));  // one GPU after the other: half of it
  CHECK(turns->turns->part == Approx(1).margin(0.05));
  const Analyzed stream(Stages(true));
  CHECK(stream->turns->together > 0.8);
  CHECK(stream->turns->waiting.lost->Total() <= 3_ms);
}

// Both begin at once, and the second one has a fifth of the work.
TEST_CASE("a GPU that is done sooner took no turn: beside the other one it cannot work any more") {
  TraceBuilder story;
  story.Device("Test GPU", 100);
  for (int i = 0; i < 20; ++i) {
    const Nanos at = i * 1_ms;
    story.OnDevice(0).Launch("first", {at, at + 5_us}, {at + 10_us, at + 1_ms});
    if (i < 4) story.OnDevice(1).Launch("first", {at + 6_us, at + 11_us}, {at + 20_us, at + 1_ms});
  }
  const Analyzed run(story);
  CHECK(run->turns->share > 0.3);
  CHECK(run->turns->together > 0.95);
  CHECK(run->turns->shorter < 0.01);
}

// Three GPUs with the same kernel; GPU 2 needs 1.8 ms for it.
TEST_CASE("the busiest GPU's kernels are compared with those of the others") {
  TraceBuilder story;
  story.Device("Test GPU", 100);
  for (int i = 0; i < 20; ++i) {
    const Nanos at = i * 2_ms;
    story.OnDevice(0).Launch("tile", {at, at + 5_us}, {at + 10_us, at + 810_us});
    story.OnDevice(1).Launch("tile", {at + 10_us, at + 15_us}, {at + 20_us, at + 820_us});
    story.OnDevice(2).Launch("tile", {at + 16_us, at + 21_us}, {at + 30_us, at + 1830_us});
  }
  const Analyzed run(story);
  CHECK(run->turns->busiest == 2);
  CHECK(run->turns->alike == 1);
  CHECK(run->turns->slower == Approx(1.8 / 0.8));
}

// Two GPUs with the same kernel, on GPU 1 in a grid of half as many blocks again.
TEST_CASE("kernels of other sizes are the same by name only") {
  TraceBuilder story;
  story.Device("Test GPU", 100);
  for (int i = 0; i < 20; ++i) {
    const Nanos at = i * 2_ms;
    story.OnDevice(0).Launch("tile", {at, at + 5_us}, {at + 10_us, at + 810_us}, {.blocks = 1000});
    story.OnDevice(1).Launch("tile", {at + 10_us, at + 15_us}, {at + 20_us, at + 1220_us},
                             {.blocks = 1500});
  }
  const Analyzed run(story);
  CHECK(run->turns->busiest == 1);
  CHECK(run->turns->named == 1);
  CHECK(run->turns->alike == 0);
}

}  // namespace
}  // namespace advise
