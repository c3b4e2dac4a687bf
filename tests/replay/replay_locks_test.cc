// Waits for a lock that another thread takes and gives back at its own pace.
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

constexpr int kLockedSteps = 20;
constexpr Nanos kTurnOfLock = 2_ms;

// Steps of so many turns of another thread, which gives a lock back at the end of each turn. The
// main thread allocates for `allocating`, waits for the lock to the end of a turn, and launches.
TraceBuilder LockedSteps(int turns, Nanos allocating, const char* holder_call, bool rests = false) {
  TraceBuilder story;
  const Nanos step = turns * kTurnOfLock;
  Repeat(kLockedSteps, step, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + step - 10_us});
    story.Call("cudaMalloc", {at + 10_us, at + 10_us + allocating});
    story.OsCall("pthread_mutex_lock", {at + 30_us + allocating, at + step - 500_us});
    story.Launch("kernel", {at + step - 490_us, at + step - 485_us},
                 {at + step - 480_us, at + step - 80_us});
  });
  story.Thread("statistics");
  for (int turn = 0; turn < kLockedSteps * turns; ++turn) {
    const Nanos end = (turn + 1) * kTurnOfLock - 502_us;
    if (rests && turn % turns == 0) story.OsCall("pthread_cond_wait", {end - 1400_us, end - 1_ms});
    story.OsCall(holder_call, {end - 100_us, end});
  }
  return story.Thread("main");
}

Nanos GainOfAllocations(const TraceBuilder& story) {
  const Analyzed run(story);
  const Replay& replay = run->replay();
  return replay.Gain(*run->host.alloc.remedy) / static_cast<Nanos>(run->run.steps.steady_count());
}

}  // namespace

TEST_CASE("who asks earlier for a lock gets it earlier only by whole turns of its holder") {
  CHECK(GainOfAllocations(LockedSteps(1, 800_us, "write")) < 50_us);
  const Nanos one_turn = GainOfAllocations(LockedSteps(2, 2800_us, "write"));
  CHECK(one_turn > kTurnOfLock - 150_us);
  CHECK(one_turn < kTurnOfLock + 150_us);
}

TEST_CASE("without a sign of its holder, a wait for a lock takes as long as it did") {
  CHECK(GainOfAllocations(LockedSteps(1, 800_us, "pthread_cond_wait")) > 700_us);
}

TEST_CASE("a holder that rests first ends the turns that it was asked for before") {
  const Nanos gain = GainOfAllocations(LockedSteps(2, 2800_us, "write", true));
  // Its two turns take 3 ms of each step of 4 ms; without them, 2.8 ms would be won.
  CHECK(gain > 900_us);
  CHECK(gain < 1300_us);
}

// The main thread loads for 13 ms, asks another thread for two turns, and waits for the lock of
// each. Nothing of the other thread's rest was recorded.
TEST_CASE("a holder whose rests nobody recorded begins once a step, when it is asked to") {
  const auto gain = [](bool own_pace) {
    TraceBuilder story;
    const Nanos step = 16_ms;
    Repeat(kLockedSteps, step, [&](int i, Nanos at) {
      story.Thread("main").Range("step " + std::to_string(i), {at, at + step - 10_us});
      story.Call("cudaMalloc", {at + 10_us, at + 13_ms});
      story.OsCall("pthread_mutex_lock", {at + 13'100_us, at + 14_ms});
      story.OsCall("pthread_mutex_lock", {at + 14'200_us, at + 15_ms});
      story.Launch("kernel", {at + 15'010_us, at + 15'015_us}, {at + 15'020_us, at + 15'900_us});
      story.Thread("statistics");
      story.OsCall("write", {at + 13'900_us, at + 13'998_us});
      story.OsCall("write", {at + 14'900_us, at + 14'998_us});
      for (int k = 1; own_pace && k < 14; ++k)
        story.OsCall("write", {at + k * 1_ms - 100_us, at + k * 1_ms - 2_us});
    });
    story.Thread("main");
    return GainOfAllocations(story);
  };
  CHECK(gain(false) > 12_ms);
  CHECK(gain(true) > 11_ms);  // by whole turns
}

}  // namespace advise
