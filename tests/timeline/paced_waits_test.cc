// Sources that pace a loop: cameras, live streams.
#include "engine/timeline/paced_waits.h"

#include "tests/support/analyzed.h"
#include "tests/support/dice.h"
#include "tests/support/loops.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

// Frames of a loop that is blocked in `call` until the next one is there: 33 ms apart by a clock
// that is up to `jitter` late, or each 20 ms, give or take the same, behind the work of the one
// before. No call: the thread spins, or nothing records what it waits in.
TraceBuilder Frames(const std::string& call, bool clock, Nanos jitter, int frames = 80) {
  TraceBuilder story;
  Dice dice(7);
  Nanos at = 0;
  for (int n = 0; n < frames; ++n) {
    const Nanos late = jitter == 0 ? 0 : dice.Roll(jitter);
    const Nanos came = clock ? (n + 1) * 33'333_us + late : at + 21'833_us + late;
    if (!call.empty()) story.OsCall(call, {at, came});
    const Nanos work = 11_ms + dice.Roll(1_ms);
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {came + 10_us, came + 15_us},
                    {came + 20_us, came + 120_us});
    story.Launch("detect", {came + 20_us, came + 25_us}, {came + 120_us, came + work});
    story.CopyFromGpu(1_KiB, MemoryKind::kPinned, {came + 30_us, came + 35_us},
                      {came + work, came + work + 5_us});
    story.Sync({came + 40_us, came + work + 10_us});
    at = came + work + 20_us;
  }
  return story;
}

TEST_CASE("a loop that waits for a camera or a live stream keeps pace with it") {
  for (const char* call : {"ioctl", "read", "select", "recv", ""}) {
    for (const Nanos jitter : {0_us, 900_us}) {
      const Analyzed run(Frames(call, true, jitter), WindowRequest::Mode::kAuto);
      INFO(call << ", " << jitter);
      CHECK(run->stalls.source_rate == Approx(30).epsilon(0.001));
      CHECK(run->stalls.source.lost->Total() > run.Window() / 2);
      CHECK(run->stalls.os_wait.lost->Total() == 0);
      CHECK(run->input.loss.lost->Total() == 0);
      CHECK(run->stalls.input.lost->Total() == 0);
      // Whatever the program does sooner, the next frame comes when it comes.
      Remedy free;
      free.unblocked_calls = run.Calls("cudaStreamSynchronize");
      CHECK(run->replay().Gain(free) < run.Window() / 50);
    }
  }
}

TEST_CASE("who waits for work that takes equally long each time keeps no pace") {
  for (const char* call : {"ioctl", "read", "select", ""}) {
    const Analyzed run(Frames(call, false, 900_us), WindowRequest::Mode::kAuto);
    CHECK(run->stalls.source_rate == 0);
    CHECK(run->stalls.source.lost->Total() == 0);
  }
  // Too few to tell.
  CHECK(Analyzed(Frames("read", true, 0, 20))->stalls.source_rate == 0);
}

// Steps of 20 ms, as even as kernels are: the main thread sends a batch, for which it waits, and
// launches the forward pass; another one, which waits for that, launches the backward pass.
TEST_CASE("a thread that another launching thread lets go waits for that one, and no clock") {
  TraceBuilder story;
  Repeat(60, 20_ms, [&](int, Nanos from) {
    const Nanos sent = from + 20_ms;
    story.Thread("main").CopyToGpu(50_MiB, MemoryKind::kPageable, {sent - 19900_us, sent},
                                   {sent - 5_ms, sent}, "cudaMemcpy");
    story.Launch("forward", {sent + 1_us, sent + 6_us}, {sent + 10_us, sent + 1_ms});
    const Nanos handed = sent + 20_us;
    story.Thread("backward").OsCall("pthread_cond_wait", {handed - 19900_us, handed});
    story.Launch("dgrad", {handed + 5_us, handed + 10_us}, {sent + 1_ms, sent + 15_ms});
  });
  const Analyzed run(story, WindowRequest::Mode::kAuto);
  CHECK(run->stalls.source_rate == 0);
  CHECK(run->stalls.source.lost->Total() == 0);
  CHECK(run->replay().Gain(*run->copies.blocking.remedy) > run.Window() / 6);
}

TEST_CASE("a long call of a device's driver is a wait, a short one is code") {
  const Analyzed camera(Frames("ioctl", false, 900_us), WindowRequest::Mode::kAuto);
  CHECK(camera->stalls.os_wait.lost->Total() > camera.Window() / 2);
  CHECK(camera.Idle(IdleCause::kHostCompute) < camera.Window() / 50);
  TraceBuilder story = GapStory().OsCall("ioctl", {102_us, 195_us});
  CHECK(Analyzed(story).Idle(IdleCause::kHostWait) == 0);
}

}  // namespace
}  // namespace advise
