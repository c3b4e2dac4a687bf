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

// Frames that are drawn as often as a timer ticks: the thread sleeps for what its work, which
// varies by `varies`, leaves of `period`, and wakes up to 50 us late. Of no timer: it sleeps for
// `pause` each time. `sleeps`: so many for one pause.
struct Drawn {
  Nanos period = 0;
  Nanos work = 6_ms;
  Nanos varies = 0;
  Nanos pause = 0;
  Nanos pause_varies = 0;
  int sleeps = 1;
};

TraceBuilder Draw(const Drawn& how) {
  TraceBuilder story;
  Dice dice(11);
  Nanos at = 0;
  for (int n = 0; n < 80; ++n) {
    const Nanos done = at + how.work + dice.Roll(how.varies + 1);
    story.Launch("draw", {at, at + 5_us}, {at + 10_us, done});
    story.Sync({at + 6_us, done + 10_us});
    const Nanos pause = how.pause + dice.Roll(how.pause_varies + 1);
    const Nanos until =
        (how.period > 0 ? (n + 1) * how.period : done + 20_us + pause) + dice.Roll(50_us);
    const Nanos each = (until - done - 20_us) / how.sleeps;
    for (int s = 0; s < how.sleeps; ++s)
      story.OsCall("clock_nanosleep", {done + 20_us + s * each, done + 15_us + (s + 1) * each});
    at = until + 5_us;
  }
  return story;
}

double RateOf(const Drawn& how) { return Analyzed(Draw(how))->stalls.source_rate; }

TEST_CASE("a loop whose sleeps fill up the period of a timer keeps pace with it") {
  const Analyzed run(Draw({.period = 16_ms + 950_us, .varies = 1_ms}));
  CHECK(run->stalls.source_rate == Approx(59).epsilon(0.001));
  CHECK(run->stalls.source.lost->Total() > run.Window() / 2);
  CHECK(run->stalls.sleep.lost->Total() == 0);
  CHECK(run->replay().IsPaced());
}

TEST_CASE("sleeps that hardly vary are a timer's only at a rate that people set") {
  CHECK(RateOf({.period = 16'667_us, .varies = 100_us}) == Approx(60).epsilon(0.001));
  CHECK(RateOf({.period = 16'950_us, .varies = 100_us}) == 0);
  // And only where the thread sleeps for a clear part of the period.
  CHECK(RateOf({.period = 16'667_us, .work = 14_ms, .varies = 100_us}) == 0);
}

TEST_CASE("pauses of fixed length keep no pace, and neither does who polls") {
  CHECK(RateOf({.varies = 1_ms, .pause = 10_ms}) == 0);
  CHECK(RateOf({.varies = 100_us, .pause = 10_ms, .pause_varies = 100_us}) == 0);
  CHECK(RateOf({.period = 16'950_us, .varies = 1_ms, .sleeps = 2}) == 0);
  const Analyzed fixed(Draw({.varies = 1_ms, .pause = 10_ms}));
  CHECK(fixed->stalls.sleep.lost->Total() > fixed.Window() / 2);
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
