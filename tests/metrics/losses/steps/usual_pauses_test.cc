// Pauses of the host that the steps of a loop usually have.
#include "engine/metrics/losses/steps/usual_pauses.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// In each step of 4 ms the host reads files for 1 ms before it uploads the batch, which the GPU
// does not notice, since the host is a step ahead. Every fifth step reads a number back: then it
// waits for the next batch.
TEST_CASE("what the host does in every step is no stall of the steps that wait for it") {
  for (const bool every_step : {true, false}) {
    TraceBuilder story;
    Nanos gpu = 0;
    Nanos host = 0;
    for (int n = 0; n < 40; ++n) {
      const bool reads = every_step || n % 5 == 0;
      const Nanos begin = host;
      if (reads) story.OsCall("read", {host + 10_us, host + 1010_us});
      host += reads ? 1020_us : 20_us;
      const Nanos start = std::max(gpu, host) + 10_us;
      story.CopyToGpu(1_MiB, MemoryKind::kPinned, {host, host + 5_us}, {start, start + 50_us});
      story.Launch("work", {host + 6_us, host + 11_us}, {start + 52_us, start + 3900_us});
      gpu = start + 3900_us;
      host += 50_us;
      if (n % 5 == 4) {
        story.CopyFromGpu(4, MemoryKind::kPageable, {host, gpu + 20_us}, {gpu + 5_us, gpu + 8_us});
        host = gpu + 20_us;
      }
      story.Range("step", {begin, host});
    }
    const Analyzed run(story, kAuto);
    const bool stalls = run->step_stats.stall.lost->Total() >= 5 * 900_us;
    CHECK(stalls == !every_step);
  }
}

// In each step of 4 ms the host waits for 3 ms before it uploads the batch, which the GPU does not
// notice. Every tenth step copies four results to the host, and writes each for 3 ms.
TEST_CASE("a pause before an upload in every step is none before the downloads of a few steps") {
  TraceBuilder story;
  Nanos gpu = 0;
  Nanos host = 0;
  for (int n = 0; n < 40; ++n) {
    const Nanos begin = host;
    host += 3_ms;
    const Nanos start = std::max(gpu, host) + 10_us;
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {host, host + 5_us}, {start, start + 50_us});
    story.Launch("work", {host + 6_us, host + 11_us}, {start + 52_us, start + 3900_us});
    gpu = start + 3900_us;
    host = std::max(host + 50_us, gpu - 4_ms);
    for (int i = 0; n % 10 == 9 && i < 4; ++i) {
      const Nanos from = std::max(gpu, host);
      story.CopyFromGpu(1_MiB, MemoryKind::kPageable, {host, from + 100_us}, {from, from + 90_us});
      story.OsCall("write", {from + 105_us, from + 3100_us});
      host = from + 3105_us;
    }
    story.Range("step", {begin, host});
  }
  const Analyzed run(story, kAuto);
  CHECK(run->step_stats.stall_every == 10);
  CHECK(run->step_stats.stall.lost->Total() > 3 * 4 * 2900_us);
}

// Every fourth of 24 steps copies eight results to the host, and writes each for 3 ms: as many such
// pauses as there are steps twice over.
TEST_CASE("many pauses in a few steps are no habit of the loop") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 24; ++n) {
    const Nanos begin = at;
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {at, at + 5_us}, {at + 8_us, at + 100_us});
    story.Launch("work", {at + 6_us, at + 11_us}, {at + 102_us, at + 20_ms});
    at += 20_ms;
    for (int i = 0; n % 4 == 3 && i < 8; ++i) {
      story.CopyFromGpu(1_MiB, MemoryKind::kPageable, {at, at + 100_us}, {at + 5_us, at + 90_us});
      story.OsCall("write", {at + 105_us, at + 3100_us});
      at += 3105_us;
    }
    story.Range("step", {begin, at});
  }
  const Analyzed run(story, kAuto);
  CHECK(run->step_stats.stall_every == 4);
  CHECK(run->step_stats.stall_what == "file calls");
  CHECK(run->step_stats.stall.lost->Total() > 5 * 8 * 2900_us);
}

// Steps of 10 ms. Before each upload the host computes for 4 ms. In even steps it uploads early,
// and `twice` once more at the end, for the step that follows.
bool EachStepHasThePause(bool twice) {
  TraceBuilder story;
  Nanos before = 0;
  for (int n = 0; n < 20; ++n) {
    const Nanos at = n * 10_ms;
    story.Range("step", {at, at + 10_ms});
    for (const Nanos upload : {at + 4_ms, at + 9_ms}) {
      if (n % 2 != 0 || (!twice && upload > at + 4_ms)) continue;
      story.Call("cudaEventRecord", {upload - 4_ms, upload - 4_ms + 2_us});
      story.CopyToGpu(1_MiB, MemoryKind::kPinned, {upload, upload + 5_us},
                      {upload + 8_us, upload + 60_us});
      before = upload;
    }
    story.Launch("work", {at + 9'100_us, at + 9'105_us}, {at + 9'110_us, at + 9'900_us});
  }
  const Analyzed run(story, kAuto);
  return UsualPauses(run->run).Holds(run.trace().calls.thread[0], before - 1_ms, 1_ms);
}

TEST_CASE("a host that is ahead pauses for a step before that step begins") {
  CHECK(EachStepHasThePause(true));
  CHECK_FALSE(EachStepHasThePause(false));
}

}  // namespace
}  // namespace advise
