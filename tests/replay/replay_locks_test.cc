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

TEST_CASE("a holder that was at work long before the steps is known as well") {
  TraceBuilder story = LockedSteps(1, 800_us, "write").Shift(400_ms);
  story.Thread("statistics");
  Repeat(200, kTurnOfLock, [&](int, Nanos at) {
    story.OsCall("write", {at + kTurnOfLock - 602_us, at + kTurnOfLock - 502_us});
  });
  CHECK(GainOfAllocations(story) < 50_us);
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

// Steps of 16 ms. The main thread allocates, asks another thread for two turns, and waits for the
// lock of each. Nothing of the other thread's rest was recorded; `others` are more calls of it.
Nanos GainBehindTurns(Nanos turn, const std::function<void(TraceBuilder*, int, Nanos)>& others) {
  TraceBuilder story;
  const Nanos step = 16_ms;
  Repeat(kLockedSteps, step, [&](int i, Nanos at) {
    const Nanos first = at + 15_ms - turn;
    const Nanos second = at + 15_ms;
    story.Thread("main").Range("step " + std::to_string(i), {at, at + step - 10_us});
    story.Call("cudaMalloc", {at + 10_us, first - turn});
    story.OsCall("pthread_mutex_lock", {first - turn + 100_us, first});
    story.OsCall("pthread_mutex_lock", {first + 200_us, second});
    story.Launch("kernel", {at + 15'010_us, at + 15'015_us}, {at + 15'020_us, at + 15'900_us});
    story.Thread("statistics");
    story.OsCall("write", {first - 100_us, first - 2_us});
    story.OsCall("write", {second - 100_us, second - 2_us});
    others(&story, i, at);
  });
  story.Thread("main");
  return GainOfAllocations(story);
}

TEST_CASE("a holder whose rests nobody recorded begins once a step, when it is asked to") {
  const auto none = [](TraceBuilder*, int, Nanos) {};
  CHECK(GainBehindTurns(1_ms, none) > 12_ms);
  // Its rests are 4.8 and 3.3 times as long as the pauses between its turns.
  CHECK(GainBehindTurns(2'823_us, none) > 8_ms);
  CHECK(GainBehindTurns(3'773_us, none) < 1_ms);  // the turns are no earlier
}

// Behind the last step it rests as well, until it is told to end.
TEST_CASE("a holder may rest once more, if that takes half as long as its other rests") {
  const auto gain = [](Nanos last) {
    return GainBehindTurns(1_ms, [last](TraceBuilder* story, int i, Nanos at) {
      const Nanos end = at + 14'998_us + last;
      if (i == kLockedSteps - 1) story->OsCall("write", {end, end + 100_us});
    });
  };
  CHECK(gain(8'600_us) > 12_ms);  // 0.58 of the others
  CHECK(gain(6'300_us) < 12_ms);  // 0.42
}

// As many rests as steps, two of them in every other step.
TEST_CASE("a holder that rests at a pace of its own gives the lock back by whole turns") {
  const Nanos gain = GainBehindTurns(1_ms, [](TraceBuilder* story, int i, Nanos at) {
    if (i % 2 == 0) {
      story->OsCall("write", {at + 6'900_us, at + 6'998_us});
      story->OsCall("write", {at + 15'900_us, at + 15'998_us});
    }
    for (int k = 1; i % 2 == 1 && k < 14; ++k)
      story->OsCall("write", {at + k * 1_ms - 100_us, at + k * 1_ms - 2_us});
  });
  CHECK(gain > 10_ms);  // 7 ms, were these its rests
}

// The thread waits 600 us for a lock beside a kernel, and then pins memory in four calls of 400 us.
// The kernel ends 100 us before the first of them does, which has been at work long before.
TEST_CASE("a call that pins memory does not wait for a kernel that ends while it works") {
  TraceBuilder story;
  Repeat(kLockedSteps, 2300_us, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 2290_us});
    story.Launch("kernel", {at + 5_us, at + 10_us}, {at + 15_us, at + 940_us});
    story.OsCall("pthread_mutex_lock", {at + 20_us, at + 620_us});
    for (int k = 0; k < 4; ++k)
      story.Call("cudaHostRegister", {at + 640_us + k * 400_us, at + 1040_us + k * 400_us});
  });
  const Analyzed run(story);
  const Nanos gain = run->replay().Gain(*run->host.lock.remedy) /
                     static_cast<Nanos>(run->run.steps.steady_count());
  CHECK(gain > 550_us);
  CHECK(gain < 620_us);
}

}  // namespace advise
