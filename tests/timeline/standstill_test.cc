// Programs that were stopped for a while.
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Steps of 10 ms, `before` and `behind` a pause of `pause`.
TraceBuilder Stopped(int before, int behind, Nanos pause) {
  TraceBuilder story;
  Repeat(before + behind, 10_ms, [&](int n, Nanos from) {
    const Nanos at = n < before ? from : from + pause;
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {at, at + 5_us}, {at + 10_us, at + 90_us});
    story.Launch("one", {at + 10_us, at + 15_us}, {at + 100_us, at + 4_ms});
    story.Launch("two", {at + 20_us, at + 25_us}, {at + 4_ms, at + 7_ms});
    story.Sync({at + 30_us, at + 7_ms});
  });
  return story;
}

TEST_CASE("steps beside a long standstill are judged without it") {
  const Analyzed behind(Stopped(10, 30, 60'000_ms), kAuto);
  CHECK(behind->run.steps.standstill.Length() > 60'000_ms);
  CHECK(behind->run.window.start >= 60'000_ms);
  CHECK(behind->run.window.Length() < 310_ms);
  CHECK(behind->run.steps.outliers.empty());
  CHECK(behind->other_work.share == 0);
  const Analyzed before(Stopped(30, 10, 60'000_ms), kAuto);
  CHECK(before->run.window.start < 20_ms);
  CHECK(before->run.window.Length() < 310_ms);
}

TEST_CASE("a pause that is not much longer than the steps, or in which something happens, stays") {
  const auto stays = [](const TraceBuilder& story) {
    const Analyzed run(story, kAuto);
    return run->run.steps.standstill.Length() == 0 && run->run.steps.outliers.size() == 1;
  };
  CHECK(stays(Stopped(10, 30, 2'000_ms)));
  TraceBuilder calls = Stopped(10, 30, 60'000_ms);
  calls.Call("cudaMalloc", {30'000_ms, 30'000_ms + 5_us});
  CHECK(stays(calls));
  TraceBuilder named = Stopped(10, 30, 60'000_ms);
  named.Range("compile", {100_ms, 60'000_ms});
  CHECK(stays(named));
  TraceBuilder waits = Stopped(10, 30, 60'000_ms);
  waits.OsCall("poll", {100_ms, 60'000_ms});
  CHECK(Analyzed(waits, kAuto)->run.steps.standstill.Length() == 0);
}

}  // namespace
}  // namespace advise
