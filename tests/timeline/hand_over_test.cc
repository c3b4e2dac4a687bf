// Waits between threads that nobody recorded, inferred from what repeats.
#include "engine/timeline/hand_over.h"

#include <algorithm>
#include <map>

#include "engine/replay/replay.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

enum class Waits { kRecorded, kSilent };
enum class Marks { kSteps, kBackward };

// A training loop whose backward pass another thread launches. In each step of 10 ms the main
// thread launches the forward pass, which ends with a synchronization of 2 ms that nothing needs;
// the backward thread goes on when the main thread has, and the main thread's update when it has.
TraceBuilder TwoThreads(Waits waits, Marks marks = Marks::kSteps) {
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
    // As programs mark it: the range ends when the other thread is done.
    if (marks == Marks::kBackward) story.Range("backward", {back + 6_us, update - 5_us});
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
Nanos GainOfMain(const Analyzed& run) {
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
Nanos GainOfBackward(const Analyzed& run) {
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
  const Analyzed recorded(TwoThreads(Waits::kRecorded), kAuto);
  const Analyzed silent(TwoThreads(Waits::kSilent), kAuto);
  CHECK(silent->replay().BaselineNs() == silent.Window());
  const Nanos gain = GainOfMain(recorded);
  CHECK(gain > recorded.Window() / 10);
  CHECK(std::abs(GainOfMain(silent) - gain) < recorded.Window() * 3 / 100);
  const Nanos backward = GainOfBackward(recorded);
  CHECK(backward > recorded.Window() / 10);
  CHECK(std::abs(GainOfBackward(silent) - backward) < recorded.Window() * 3 / 100);
  // A range around the backward pass lies over the wait for it, and is no work.
  const Analyzed marked(TwoThreads(Waits::kSilent, Marks::kBackward), kAuto);
  CHECK(std::abs(GainOfBackward(marked) - backward) < marked.Window() * 3 / 100);
}

// The first kernel of the backward pass comes again in each of its layers, launched right behind
// the one before it.
// The main thread computes the loss itself, launches nothing more, and waits for the backward pass.
TEST_CASE("who begins to wait just when another thread goes on has let that one go") {
  TraceBuilder story;
  Repeat(12, 10_ms, [&](int n, Nanos at) {
    const Nanos back = at + 6_ms + (n * n * 37 % 11) * 10_us;
    story.Thread("main").Launch("forward", {at, at + 5_us}, {at + 10_us, at + 2_ms});
    story.Sync({at + 10_us, at + 2_ms + 5_us});
    story.OsCall("pthread_cond_wait", {back - 15_us, at + 9900_us});
    story.Thread("backward").OsCall("pthread_cond_wait", {back - 7_ms, back - 2_us});
    story.Launch("dgrad", {back, back + 5_us}, {back + 10_us, back + 2_ms});
  });
  const Analyzed run(story, kAuto);
  CHECK(HandOvers(run->run).AwaitedAt(1, 24_ms) == 0);
  CHECK(run.Idle(IdleCause::kHostCompute) > run.Window() / 3);
}

TEST_CASE("layers that launch the same kernel again do not hide the wait before the first") {
  TraceBuilder story = TwoThreads(Waits::kSilent);
  Repeat(12, 10_ms, [&](int n, Nanos at) {
    const Nanos first = at + 4_ms + (n * 37 % 11) * 10_us + 25_us;
    story.Thread("backward");
    for (int layer = 1; layer < 6; ++layer) {
      const Nanos call = first + layer * 15_us;
      const Nanos runs = first + layer * 100_us + 400_us;
      story.Launch("dgrad", {call, call + 5_us}, {runs + 10_us, runs + 100_us});
    }
  });
  const Analyzed run(story, kAuto);
  CHECK(GainOfMain(run) > run.Window() / 10);
}

// Steps of 3 ms: the main thread launches 60 layers of one kernel, closely one after the other, the
// backward thread as many behind the last of them, and the main thread an update of 100 tensors.
TEST_CASE("launches that follow each other closely do not hide what the last of them lets go") {
  TraceBuilder story;
  constexpr int kSteps = 12;
  std::vector<Interval> update;
  Repeat(kSteps, 3_ms, [&](int n, Nanos at) {
    const Nanos uneven = (n * 37 % 11) * 1_us;
    const auto launch = [&](const char* kernel, Nanos call) {
      story.Launch(kernel, {call, call + 5_us}, {call + 7_us, call + 9_us});
    };
    story.Thread("main");
    for (int i = 0; i < 60; ++i) launch("layer", at + uneven + i * 12_us);
    const Nanos backward = at + uneven + 59 * 12_us + 140_us;
    story.Thread("backward");
    for (int i = 0; i < 60; ++i) launch("dgrad", backward + i * 12_us);
    const Nanos behind = backward + 60 * 12_us + 10_us;
    story.Thread("main").OsCall("pthread_cond_wait", {backward - 100_us, behind - 5_us});
    for (int i = 0; i < 100; ++i) launch("update", behind + i * 12_us);
    update.push_back({behind + 5_us, behind + 99 * 12_us});
  });
  const Analyzed run(story, kAuto);
  Remedy remedy;
  remedy.host_cuts.push_back({0, IntervalSet::Of(std::move(update))});
  CHECK(run->replay().Gain(remedy) > kSteps * 900_us);
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
  const Analyzed run(story);
  CHECK(HandOvers(run->run).empty());
}

// A host that runs ahead: a full queue holds each launch of a thread for its step of 10 ms. In two
// steps the thread that uploads computes for 40 ms first, and the launching thread has no work.
TEST_CASE("two pauses that end at once behind another thread's call are waits for it") {
  const auto waits = [](Nanos behind) {
    TraceBuilder story;
    Nanos at = 0;
    for (int n = 0; n < 14; ++n) {
      if (n == 5 || n == 10) at += 40_ms;
      story.Thread("main").OnStream(9).CopyToGpu(1_MiB, MemoryKind::kPinned, {at, at + 5_us},
                                                 {at + 10_us, at + 50_us});
      const Nanos launch = at + 5_us + behind;
      story.Thread("launcher")
          .OnStream(7)
          .Launch("work", {launch, at + 9980_us}, {launch + 10_us, at + 9990_us});
      at += 10_ms;
    }
    const Analyzed run(story);
    const HandOvers hand_overs(run->run);
    return hand_overs.Of(run.trace().calls.thread[run.Calls("cudaLaunchKernel").front()]).size();
  };
  CHECK(waits(20_us) == 2);
  CHECK(waits(2_ms) == 0);  // as close as to anything else
}

// A thread that reads for 2 ms per step and hands the step over. The launching thread takes 1 ms
// for the first seven steps, in which nobody waits, then 10 ms, and takes the next step at its end.
TEST_CASE("a thread that waits in most of its paused time waits, though often it need not") {
  TraceBuilder story;
  Nanos at = 0;
  Nanos launcher = 0;
  for (int n = 0; n < 13; ++n) {
    story.Thread("reader").OnStream(9).CopyToGpu(1_MiB, MemoryKind::kPinned, {at, at + 5_us},
                                                 {at + 10_us, at + 50_us});
    launcher = std::max(launcher, at + 10_us);
    const Nanos length = n < 7 ? 1_ms : 10_ms;
    story.Thread("launcher").OnStream(7);
    story.Launch("work", {launcher, launcher + 5_us}, {launcher + 9_us, launcher + length - 9_us});
    story.Launch("last", {launcher + length - 20_us, launcher + length - 10_us},
                 {launcher + length - 5_us, launcher + length});
    launcher += length;
    at = std::max(at + 2_ms, launcher + 5_us);
  }
  const Analyzed run(story);
  const HandOvers hand_overs(run->run);
  const std::vector<std::uint32_t> copies = run.Calls("cudaMemcpyAsync");
  const std::uint32_t reader = run.trace().calls.thread[copies[0]];
  const std::vector<HandOver>& found = hand_overs.Of(reader);
  CHECK(found.size() == 5);  // the five pauses behind long steps
  for (const HandOver& hand_over : found) CHECK(hand_over.end - hand_over.start > 9_ms);
}

// Two GPUs of one process, a pair of threads for each, step at the same pace. The other pair's
// backward thread is done a little later, which is closer to where the main thread goes on.
TEST_CASE(
    "a thread waits for the one that works for its GPU, not for one that keeps the same pace") {
  TraceBuilder story;
  Repeat(12, 10_ms, [&](int n, Nanos at) {
    for (const std::uint32_t gpu : {0U, 1U}) {
      const std::string of = std::to_string(gpu);
      const Nanos begin = at + (n * 37 % 11) * 10_us;
      const Nanos done = begin + 4_ms + gpu * 15_us;
      story.OnDevice(gpu).OnStream(7 + gpu);
      story.Thread("backward " + of)
          .Launch("wgrad", {done, done + 5_us}, {done + 10_us, done + 1_ms});
      story.Thread("main " + of)
          .Launch("forward", {begin, begin + 5_us}, {begin + 10_us, begin + 2_ms})
          .Launch("update", {done + 25_us, done + 30_us}, {done + 1_ms, done + 2_ms});
    }
  });
  const Analyzed run(story);
  std::map<std::string, std::uint32_t> named;
  for (std::uint32_t t = 0; t < run.trace().threads.size(); ++t)
    named[run.trace().strings[run.trace().threads[t].name]] = t;
  for (const std::string of : {"0", "1"}) {
    const std::vector<HandOver>& waits = run->hand_overs.Of(named["main " + of]);
    REQUIRE(waits.size() >= 12);
    for (const HandOver& wait : waits) CHECK(wait.from == named["backward " + of]);
  }
}

TEST_CASE("a thread that loads files in its pause does not wait for another") {
  TraceBuilder story = TwoThreads(Waits::kSilent);
  Repeat(12, 10_ms, [&](int n, Nanos at) {
    const Nanos back = at + 4_ms + (n * 37 % 11) * 10_us;
    story.Thread("main").OsCall("read", {back + 10_us, back + 2_ms});
  });
  CHECK(GainOfBackward(Analyzed(story, kAuto)) < 1_ms);
}

// Steps of four micro-steps: before three of them the main thread waits for the backward pass of
// the one before, and before the first it sleeps for 10 ms. The same kernel begins each of them.
TEST_CASE("a thread that sleeps does not wait for another, though at other times it does there") {
  TraceBuilder story;
  constexpr int kSteps = 12;
  Repeat(kSteps, 20_ms, [&](int n, Nanos at) {
    for (int micro = 0; micro < 4; ++micro) {
      const Nanos forward = at + micro * 2_ms + (n * 37 % 11) * 10_us;
      story.Thread("main");
      story.Launch("forward", {forward, forward + 5_us}, {forward + 10_us, forward + 1_ms});
      const Nanos back = forward + 1_ms;
      const Nanos last = forward + 2_ms - 30_us;
      story.Thread("backward");
      story.Launch("dgrad", {back, back + 5_us}, {back + 10_us, back + 500_us});
      story.Launch("wgrad", {last, last + 5_us}, {last + 10_us, last + 25_us});
    }
    const Nanos update = at + 8_ms + (n * 37 % 11) * 10_us;
    story.Thread("main").Launch("update", {update, update + 5_us}, {update + 10_us, update + 1_ms});
    story.OsCall("clock_nanosleep", {update + 10_us, update + 11_ms});
  });
  const Analyzed run(story, kAuto);
  const HandOvers hand_overs(run->run);
  CHECK(hand_overs.AwaitedAt(0, 23_ms + 500_us) != kNone);
  CHECK(hand_overs.AwaitedAt(0, 35_ms) == kNone);
  CHECK(run->stalls.sleep.lost->Total() > (kSteps - 3) * 9_ms);
}

// Three threads drive a GPU each and meet at a barrier. The one in the middle has twice as much to
// copy, so that the others wait for it, and come back from their waits at nearly the same time.
TEST_CASE("threads that wait at a barrier wait for the last one, not for each other") {
  TraceBuilder story;
  Repeat(12, 2340_us, [&](int n, Nanos at) {
    const Nanos met = at + 2310_us;
    for (std::uint32_t i = 0; i < 3; ++i) {
      const Nanos copied = at + (i == 1 ? 2300_us : 1900_us) + (n * 37 % 11) * 100;
      story.Thread(i == 0 ? "main" : "omp " + std::to_string(i)).OnDevice(i).OnStream(7 + i);
      story.Launch("stencil", {at, at + 5_us}, {at + 10_us, at + 1500_us});
      story.CopyOnGpu(8 << 20, {at + 6_us, at + 10_us}, {at + 1500_us, copied});
      story.Sync({at + 11_us, copied + 3_us});
      if (i != 1) story.OsCall("pthread_cond_wait", {copied + 5_us, met + (i + n % 2) * 1_us});
    }
  });
  const HandOvers hand_overs(Analyzed(story)->run);
  CHECK(hand_overs.AwaitedAt(0, 2_ms) != 2);
  CHECK(hand_overs.AwaitedAt(2, 2_ms) != 0);
}

TEST_CASE("a GPU whose thread meets a later one waits for a peer, and no wait for it is needless") {
  const Analyzed run(ThreadsAtBarrier(), kAuto);
  const auto idle = [&](std::uint32_t device, IdleCause cause) {
    return run->idle.by_device[device][static_cast<std::size_t>(cause)];
  };
  CHECK(idle(0, IdleCause::kPeerWait) == Approx(20 * 1e6).epsilon(0.1));
  CHECK(idle(0, IdleCause::kHostSync) < 20 * 10_us);  // the call ends a little after its kernel
  CHECK(idle(1, IdleCause::kHostCompute) == Approx(20 * 1e6).epsilon(0.1));
  CHECK(run->syncs.loop.lost->Total() == 0);
}

// A program whose own thread copies each batch, does something for `busy` of 20 ms, and then asks
// another thread to launch the step, whose GPU work takes 8 ms. The thread that launches waits for
// it, recorded or not.
TraceBuilder Launcher(Waits waits, const char* os_call) {
  TraceBuilder story;
  Repeat(12, 20_ms, [&](int n, Nanos at) {
    const Nanos asked = at + 15_ms + (n * n * 37 % 11) * 10_us;
    story.Thread("main").OnStream(13).CopyToGpu(1 << 20, MemoryKind::kPinned, {at, at + 5_us},
                                                {at + 10_us, at + 100_us});
    story.OsCall(os_call, {at + 20_us, asked - 20_us});
    story.Thread("execute").OnStream(7);
    if (waits == Waits::kRecorded) story.OsCall("futex", {asked - 20_ms + 100_us, asked - 2_us});
    story.Launch("one", {asked, asked + 5_us}, {asked + 10_us, asked + 4_ms});
    story.Launch("two", {asked + 10_us, asked + 15_us}, {asked + 4_ms, asked + 8_ms});
  });
  return story;
}

TEST_CASE("what the awaited thread does is the cause, not the wait of the thread that launches") {
  for (const Waits waits : {Waits::kRecorded, Waits::kSilent}) {
    const Analyzed sleeps(Launcher(waits, "clock_nanosleep"), kAuto);
    const Nanos idle = sleeps.Window() * 11 / 20;  // of 20 ms the GPU works 8 and copies some
    CHECK(std::abs(static_cast<Nanos>(sleeps->stalls.sleep.lost->Total()) - idle) <
          sleeps.Window() / 10);
    const Nanos gain = sleeps->replay().Gain(*sleeps->stalls.sleep.remedy);
    CHECK(std::abs(gain - idle) < sleeps.Window() / 10);
    const Analyzed writes(Launcher(waits, "write"), kAuto);
    CHECK(std::abs(static_cast<Nanos>(writes->stalls.file_write.lost->Total()) - idle) <
          writes.Window() / 10);
  }
}

// The program's thread reads a number back and waits for it before it asks for the next step.
TEST_CASE("a thread that waited for another one is blocked as that one was") {
  TraceBuilder story;
  Repeat(12, 10_ms, [&](int n, Nanos at) {
    const Nanos asked = at + 1_ms + (n * 37 % 11) * 10_us;
    story.Thread("execute").Launch("step", {asked, asked + 5_us}, {asked + 10_us, asked + 6_ms});
    story.Thread("main").CopyFromGpu(4, MemoryKind::kPageable,
                                     {asked + 20_us, asked + 6_ms + 20_us},
                                     {asked + 6_ms + 5_us, asked + 6_ms + 10_us});
    story.OsCall("read", {at + 10_ms + 980_us + ((n + 1) * 37 % 11) * 10_us - 20_us,
                          at + 10_ms + 980_us + ((n + 1) * 37 % 11) * 10_us});
  });
  const Analyzed run(story, kAuto);
  CHECK(run->syncs.item.lost->Total() > run.Window() / 4);
}

// The main thread launches a step of 8 ms, waits for it, and computes 1 ms more before it takes the
// next batch. A decoder uploads batches ahead and waits for room until the main thread takes one.
TEST_CASE("a thread that was blocked until just then was let go, and not waited for") {
  for (const bool wakes : {true, false}) {
    TraceBuilder story;
    Repeat(12, 10_ms, [&](int n, Nanos at) {
      const Nanos done = at + 8_ms + (n * 37 % 11) * 10_us;
      story.Thread("main").OnStream(7);
      story.Launch("step", {at, at + 5_us}, {at + 10_us, done - 5_us});
      story.Sync({at + 10_us, done});
      const Nanos takes = at + 10_ms - 12_us;
      story.Thread("decoder").OnStream(9);
      if (wakes) story.OsCall("sem_wait", {at + 400_us, takes});
      story.OsCall("read", {takes + 1_us, takes + 100_us});
      story.CopyToGpu(1_MiB, MemoryKind::kPinned, {at + 300_us, at + 305_us},
                      {at + 310_us, at + 380_us});
      story.Sync({at + 306_us, at + 382_us});
    });
    const Analyzed run(story, kAuto);
    const std::uint32_t main = run.trace().calls.thread[run.Calls("cudaLaunchKernel")[0]];
    CHECK(HandOvers(run->run).Of(main).empty());
    CHECK(run->stalls.os_wait.lost->Total() < run.Window() / 100);
  }
}

// The reader waits for a batch, uploads it, and hands it over: then the thread that launches was
// waiting for it, though nothing recorded its wait.
TEST_CASE("a thread that waited, and then did something, is waited for") {
  TraceBuilder story;
  Repeat(12, 10_ms, [&](int n, Nanos at) {
    const Nanos batch = at + 6_ms + (n * 37 % 11) * 10_us;
    story.Thread("reader").OnStream(9).OsCall("pthread_cond_wait", {at + 100_us, batch});
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {batch + 20_us, batch + 25_us},
                    {batch + 30_us, batch + 90_us});
    const Nanos goes = batch + 120_us;
    story.Thread("launcher").OnStream(7);
    story.Launch("one", {goes, goes + 5_us}, {goes + 10_us, goes + 1_ms});
    story.Launch("two", {goes + 10_us, goes + 15_us}, {goes + 1_ms, goes + 3_ms});
  });
  const Analyzed run(story, kAuto);
  const std::uint32_t launcher = run.trace().calls.thread[run.Calls("cudaLaunchKernel")[0]];
  CHECK(HandOvers(run->run).Of(launcher).size() >= 10);
}

// The main thread uploads for 5 ms, and asks another for the step. That one waits twice within it
// for a thread that copies, and makes the same call behind each of its waits.
TEST_CASE("waits before the same call are for whom each of them ends behind") {
  TraceBuilder story;
  constexpr int kSteps = 12;
  Repeat(kSteps, 10_ms, [&](int n, Nanos at) {
    const Nanos asked = at + 5_ms + (n * 37 % 11) * 10_us;
    story.Thread("main").OnStream(13);
    for (Nanos copy = at; copy < asked; copy += 20_us)
      story.CopyToGpu(64, MemoryKind::kPinned, {copy, copy + 7_us}, {copy + 8_us, copy + 9_us});
    Nanos call = asked + 90_us;
    for (int part = 0; part < 3; ++part) {
      story.Thread("execute").OnStream(7);
      story.Launch("layer", {call, call + 5_us}, {call + 10_us, call + 300_us});
      const Nanos copied = call + 200_us;
      story.Thread("copier").OnStream(9).CopyToGpu(
          1_MiB, MemoryKind::kPinned, {copied, copied + 7_us}, {copied + 8_us, copied + 90_us});
      call = copied + 17_us;
    }
  });
  const Analyzed run(story, kAuto);
  const std::vector<std::uint32_t> launches = run.Calls("cudaLaunchKernel");
  const std::vector<std::uint32_t> copies = run.Calls("cudaMemcpyAsync");
  const HandOvers hand_overs(run->run);
  const std::vector<HandOver>& found = hand_overs.Of(run.trace().calls.thread[launches.front()]);
  const std::uint32_t main = run.trace().calls.thread[copies.front()];
  const auto for_main = std::count_if(found.begin(), found.end(), [&](const HandOver& hand_over) {
    return hand_over.from == main && hand_over.end - hand_over.start > 4_ms;
  });
  CHECK(for_main == kSteps - 1);  // the first step has nothing in front of it
  CHECK(found.size() == static_cast<std::size_t>(3 * kSteps - 1));
}

// The executing thread launches a step for 8 ms. Behind it the main thread waits 500 us for a
// batch, uploads it, and hands it over; a helper, whose waits nobody recorded, copies a number as
// soon as the main thread is let go.
TEST_CASE("who wakes up with a thread that was let go waits for who worked before") {
  TraceBuilder story;
  constexpr int kSteps = 12;
  Repeat(kSteps, 10_ms, [&](int n, Nanos at) {
    const Nanos done = at + 8_ms + (n * 37 % 11) * 10_us;
    story.Thread("execute").OnStream(7);
    for (Nanos call = at; call + 10_us < done; call += 400_us)
      story.Launch("layer", {call, call + 5_us}, {call + 10_us, call + 390_us});
    story.Launch("last", {done - 5_us, done}, {done + 2_us, done + 100_us});
    const Nanos batch = done + 500_us;
    story.Thread("main").OnStream(13).OsCall("pthread_cond_wait", {at + 10_us, done + 1_us});
    story.OsCall("pthread_cond_wait", {done + 5_us, batch});
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {batch + 300_us, batch + 305_us},
                    {batch + 310_us, batch + 390_us});
    story.Thread("helper").OnStream(15).CopyToGpu(
        4, MemoryKind::kPinned, {batch + 13_us, batch + 18_us}, {batch + 20_us, batch + 21_us});
  });
  const Analyzed run(story, kAuto);
  const std::vector<std::uint32_t>& thread = run.trace().calls.thread;
  const std::uint32_t execute = thread[run.Calls("cudaLaunchKernel").front()];
  const std::uint32_t main = thread[run.Calls("cudaMemcpyAsync").front()];
  const std::uint32_t helper = thread[run.Calls("cudaMemcpyAsync").back()];
  REQUIRE(helper != main);
  const HandOvers hand_overs(run->run);
  const std::vector<HandOver>& found = hand_overs.Of(helper);
  CHECK(found.size() == kSteps - 1);
  for (const HandOver& hand_over : found) CHECK(hand_over.from == execute);
}

}  // namespace
}  // namespace advise
