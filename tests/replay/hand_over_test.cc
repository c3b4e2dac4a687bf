// Waits between threads that nobody recorded, inferred from what repeats.
#include "engine/replay/hand_over.h"

#include "engine/replay/replay.h"
#include "tests/support/analysed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

enum class Waits { kRecorded, kSilent };

// A training loop whose backward pass another thread launches. In each step of 10 ms the main
// thread launches the forward pass, which ends with a synchronization of 2 ms that nothing needs;
// the backward thread goes on when the main thread has, and the main thread's update when it has.
TraceBuilder TwoThreads(Waits waits) {
  TraceBuilder story;
  Repeat(12, 10_ms, [&](int n, Nanos at) {
    const Nanos uneven = (n * 37 % 11) * 10_us;
    story.Thread("main").Range("step", {at, at + 10_ms});
    story.Launch("forward", {at, at + 5_us}, {at + 10_us, at + 2_ms + uneven});
    story.Sync({at + 10_us, at + 2_ms + uneven + 5_us});
    const Nanos back = at + 4_ms + uneven;  // 2 ms of the host's own after the synchronization
    story.Launch("loss", {back, back + 5_us}, {back + 10_us, back + 100_us});
    story.Thread("backward");
    const Nanos first = back + 25_us;
    story.Launch("dgrad", {first, first + 5_us}, {first + 10_us, first + 500_us});
    const Nanos last = first + 2_ms;
    story.Launch("wgrad", {last, last + 5_us}, {last + 10_us, last + 1_ms});
    story.Thread("main");
    const Nanos update = last + 30_us;
    story.Launch("update", {update, update + 5_us}, {last + 1_ms + 10_us, last + 2_ms});
    story.OsCall("pthread_mutex_lock", {at + 1_us, at + 2_us});  // calls of the OS were captured
    if (waits == Waits::kRecorded) {
      story.OsCall("pthread_cond_wait", {back + 6_us, update - 2_us});
      story.Thread("backward")
          .OsCall("pthread_cond_wait", {last + 6_us, at + 10_ms + 4_ms + 20_us});
    }
  });
  return story;
}

// Without the main thread's code after the synchronization, 2 ms in each step.
Nanos GainOfMain(const Analysed& run) {
  Remedy remedy;
  std::vector<Interval> code;
  for (int n = 0; n < 12; ++n) {
    const Nanos uneven = (n * 37 % 11) * 10_us;
    code.push_back({n * 10_ms + 2_ms + uneven + 5_us, n * 10_ms + 4_ms + uneven});
  }
  remedy.host_cuts.push_back({0, IntervalSet::Of(std::move(code))});
  return run->replay().Gain(remedy);
}

// Without the backward thread's code between its two launches, 2 ms in each step.
Nanos GainOfBackward(const Analysed& run) {
  Remedy remedy;
  std::vector<Interval> code;
  for (int n = 0; n < 12; ++n) {
    const Nanos first = n * 10_ms + 4_ms + (n * 37 % 11) * 10_us + 25_us;
    code.push_back({first + 5_us, first + 2_ms});
  }
  remedy.host_cuts.push_back({1, IntervalSet::Of(std::move(code))});
  return run->replay().Gain(remedy);
}

TEST_CASE("waits of threads that nobody recorded count like recorded ones") {
  const Analysed recorded(TwoThreads(Waits::kRecorded), kAuto);
  const Analysed silent(TwoThreads(Waits::kSilent), kAuto);
  CHECK(silent->replay().BaselineNs() == silent.Window());
  const Nanos gain = GainOfMain(recorded);
  CHECK(gain > recorded.Window() / 10);
  CHECK(std::abs(GainOfMain(silent) - gain) < recorded.Window() * 3 / 100);
  const Nanos backward = GainOfBackward(recorded);
  CHECK(backward > recorded.Window() / 10);
  CHECK(std::abs(GainOfBackward(silent) - backward) < recorded.Window() * 3 / 100);
}

// Two threads that launch on their own, every 10 and every 7 ms.
TEST_CASE("threads that do not wait for each other are not tied together") {
  TraceBuilder story;
  Repeat(20, 7_ms, [&](int, Nanos at) {
    story.Thread("main").Launch("one", {at, at + 5_us}, {at + 10_us, at + 1_ms});
  });
  Repeat(14, 10_ms, [&](int, Nanos at) {
    story.Thread("other").OnStream(9).Launch("two", {at + 3_us, at + 8_us},
                                             {at + 12_us, at + 1_ms});
  });
  story.Thread("main").OsCall("read", {1_us, 2_us});
  const Analysed run(story);
  std::vector<Pause> pauses;
  const CallTable& calls = run.trace().calls;
  for (std::uint32_t c = 1; c < calls.size(); ++c) {
    if (calls.thread[c] != calls.thread[c - 1]) continue;
    Pause pause{calls.end[c - 1], calls.start[c], c, kNone};
    for (std::uint32_t p = 0; p < calls.size(); ++p) {
      if (calls.thread[p] == calls.thread[c] || calls.end[p] <= pause.start) continue;
      if (calls.end[p] > pause.end) continue;
      if (pause.peer == kNone || calls.end[p] > calls.end[pause.peer]) pause.peer = p;
    }
    pauses.push_back(pause);
  }
  for (const std::uint8_t inferred : InferHandOvers(run->run, pauses)) CHECK(inferred == 0);
}

TEST_CASE("a thread that loads files in its pause does not wait for another") {
  TraceBuilder story = TwoThreads(Waits::kSilent);
  Repeat(12, 10_ms, [&](int n, Nanos at) {
    const Nanos back = at + 4_ms + (n * 37 % 11) * 10_us;
    story.Thread("main").OsCall("read", {back + 10_us, back + 2_ms});
  });
  CHECK(GainOfBackward(Analysed(story, kAuto)) < 1_ms);
}

}  // namespace
}  // namespace advise
