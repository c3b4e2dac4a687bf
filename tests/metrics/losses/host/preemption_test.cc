// Threads that lose their CPU while the GPU waits for them.
#include "engine/metrics/losses/host/preemption.h"

#include "tests/support/loops.h"

namespace advise {
namespace {

// Steps of 1 ms: a kernel of 100 us, and then 800 us until the next launch, of which the thread has
// no CPU for so long.
Analysis StepsWithoutCpu(Nanos away) {
  TraceBuilder story;
  story.OsCall("read", {1_us, 2_us});
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 999_us});
    story.Launch("one", {at + 10_us, at + 15_us}, {at + 20_us, at + 120_us});
  });
  Trace trace = story.Build();
  const auto add = [&](Nanos time, bool on) {
    trace.sched.time.push_back(time);
    trace.sched.thread.push_back(0);
    trace.sched.cpu.push_back(1);
    trace.sched.on.push_back(on ? 1 : 0);
  };
  for (Nanos at = 0; at < 20_ms; at += 1_ms) {
    add(at + 200_us, false);
    add(at + 200_us + away, true);
  }
  return AnalyzeAll(trace);
}

TEST_CASE("a thread without a CPU runs no code") {
  const Analysis run = StepsWithoutCpu(700_us);
  CHECK(run.host.preempted.lost->Total() >= 19 * 700_us);  // and of the last step, what is seen
  CHECK(run.host.preempted.lost->Total() < 20 * 700_us);
  CHECK(run.host_code->time.lost->Total() == 0);
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(run.host.preempted.remedy->host_cuts))
    cut += when.Total();
  CHECK(cut >= 19 * 700_us);
}

TEST_CASE("near miss: code that is interrupted for a moment is code") {
  const Analysis run = StepsWithoutCpu(100_us);
  CHECK(run.host.preempted.lost->Total() >= 19 * 100_us);
  CHECK(run.host_code->time.lost->Total() > 18 * 800_us);
}

}  // namespace
}  // namespace advise
