// Is the host fast enough at launching, and if not, why?
#include "engine/metrics/losses/launches/launch.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("a queue that is empty at each launch is seen as empty") {
  TraceBuilder story;
  AddEmptyQueue(&story, "tiny", 0, 100, 5_us, 25_us);
  const Analyzed run(story);
  CHECK(run->launches.count == 100);
  CHECK(run->launches.queue_empty == 1.0);
  CHECK(run->launches.kernel_median_ns == 5_us);
  CHECK(run->launches.call_median_ns == 5_us);
  CHECK(run->launches.gap_median_ns == 20_us);
}

TEST_CASE("short gaps that launching makes are lost to launching") {
  TraceBuilder story;
  AddEmptyQueue(&story, "tiny", 0, 100, 5_us, 25_us);
  const Analyzed run(story);
  CHECK(run->launches.bound.lost->Total() == 99 * 20_us);
  CHECK(run->launches.framework.lost->Total() == 0);
}

// The wait goes on for 10 us after the kernel has ended, and the launch comes 20 us later.
TEST_CASE("a gap that ends with an upload is not lost to launching kernels") {
  TraceBuilder story;
  Repeat(10, 500_us, [&](int, Nanos at) {
    story.Launch("work", {at, at + 5_us}, {at + 8_us, at + 30_us});
    for (Nanos call = at + 50_us; call < at + 450_us; call += 20_us)
      story.CopyToGpu(4096, MemoryKind::kPinned, {call, call + 5_us}, {call + 6_us, call + 8_us});
  });
  const Analyzed run(story);
  CHECK(run->launches.bound.lost->Total() <= 10 * 80_us);
  CHECK(run->launches.graph.lost->Total() <= 10 * 80_us);
}

TEST_CASE("a gap that begins with the end of a wait is one gap") {
  TraceBuilder story;
  for (int i = 0; i < 100; ++i) {
    const Nanos call = i * 80_us;
    story.Launch("work", {call, call + 5_us}, {call + 10_us, call + 50_us});
    story.Call("cudaStreamSynchronize", {call + 5_us, call + 60_us});
  }
  const Analyzed run(story);
  CHECK(run->launches.bound.count == 99);
  CHECK(run->launches.gap_median_ns == 40_us);
}

// As PyTorch does before a kernel: three questions to the driver right before the launch, behind
// the code of the operator. A convolution's backward operator takes many times as long as a ReLU's.
TEST_CASE("the code of slow operators is launching, however short the calls beside the launch") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 200; ++i) {
    const Nanos code = i % 4 == 0 ? 150_us : 25_us;
    for (int k = 0; k < 3; ++k)
      story.Call("cudaGetDevice", {at + code + k * 2_us, at + code + k * 2_us + 1_us});
    const Nanos call = at + code + 6_us;
    story.Launch("tiny", {call, call + 4_us}, {call + 6_us, call + 9_us});
    at = call + 5_us;
  }
  const Analyzed run(story);
  CHECK(10 * run->launches.bound.lost->Total() > 9 * run.Window());
  CHECK(run->host_code->time.lost->Total() == 0);
}

TEST_CASE("a full queue of tiny kernels is not launch-bound") {
  TraceBuilder story;
  Nanos start = 2_ms;
  for (int i = 0; i < 200; ++i, start += 6_us) {
    story.Launch("tiny", {1_us + i * 5_us, 5_us + i * 5_us}, {start, start + 6_us});
  }
  const Analyzed run(story);
  CHECK(run->launches.tiny_share == 1.0);
  CHECK(run->launches.queue_empty <= 0.01);  // only the very first found nothing to do
  CHECK(run->launches.bound.lost->Total() == 0);
}

TEST_CASE("gaps behind launches that came in time are not lost to launching") {
  // An epoch of each step in which the host is late, then one in which it is far ahead and the
  // device needs three microseconds from kernel to kernel.
  TraceBuilder story;
  constexpr int kLate = 40;
  constexpr int kInTime = 400;
  AddEmptyQueue(&story, "late", 0, kLate, 5_us, 25_us);
  const Nanos calls = kLate * 25_us;
  story.Launch("long", {calls, calls + 5_us}, {calls + 8_us, calls + 4_ms});
  for (int i = 0; i < kInTime; ++i) {
    const Nanos call = calls + 10_us + i * 6_us;
    const Nanos at = calls + 4_ms + 3_us + i * 11_us;
    story.Launch("tiny", {call, call + 5_us}, {at, at + 8_us});
  }
  const Analyzed run(story);
  CHECK(run->launches.bound.lost->Total() == kLate * 20_us);
}

TEST_CASE("work that ends while the next launch is on its way is no queue") {
  // A launch takes 8 us to reach the device, as 30 launches to an idle device show; then launches
  // are made 5 us before the device runs dry.
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 30; ++i, at += 50_us)
    story.Launch("first", {at, at + 5_us}, {at + 13_us, at + 18_us});
  for (int i = 0; i < 300; ++i, at += 50_us)
    story.Launch("tiny", {at - 13_us, at - 8_us}, {at, at + 47_us});
  const Analyzed run(story);
  CHECK(run->launches.queue_empty >= 0.9);
}

TEST_CASE("tiny kernels inside a graph are no launches and not tiny") {
  TraceBuilder story;
  for (int g = 0; g < 10; ++g) {
    const Nanos at = g * 200_us;
    std::vector<Interval> nodes;
    for (int k = 0; k < 20; ++k) nodes.push_back({at + 20_us + k * 4_us, at + 23_us + k * 4_us});
    story.GraphNodes("tiny", {at, at + 8_us}, nodes);
  }
  const Analyzed run(story);
  CHECK(run->launches.count == 10);
  CHECK(run->launches.tiny_share == 0);
}

TEST_CASE("a device that waits for its one long step is not launch-bound") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 10; ++i, at += 10_ms) {
    story.Launch("long", {at, at + 5_us}, {at + 10_us, at + 8_ms});  // then 2 ms of host code
  }
  const Analyzed run(story);
  CHECK(run->launches.bound.lost->Total() == 0);
  CHECK(run->launches.framework.lost->Total() > 15_ms);
}

TEST_CASE("launching calls that take long while the queue is empty are slow calls") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 50; ++i, at += 60_us)
    story.Launch("work", {at, at + 40_us}, {at + 42_us, at + 55_us});
  const Analyzed run(story);
  CHECK(run->launches.slow_median_ns == 40_us);
  CHECK(run->launches.slow.count >= 49);
  CHECK(run->launches.slow.lost->Total() > 0);
  CHECK(run->launches.slow_contended == 0);
}

// The GPU always has 5 ms of work, and its queue has room for far more than that.
TEST_CASE("launching calls that take long are slow calls also where the host is far ahead") {
  TraceBuilder story;
  Repeat(50, 60_us, [&](int, Nanos at) {
    story.Launch("work", {at, at + 40_us}, {at + 5_ms, at + 5_ms + 60_us});
  });
  CHECK(Analyzed(story)->launches.slow_median_ns == 40_us);
}

// In each step of 3 ms, the thread launches for 2.6 ms beside kernels, and only then uploads the
// next batch, for which the GPU computes nothing for 0.38 ms.
TEST_CASE("slow calls cost also what the thread comes late to behind them") {
  const auto lost = [](Nanos call) {
    TraceBuilder story;
    Repeat(20, 3_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 2999_us});
      story.OnStream(7).Launch("long", {at, at + call}, {at + 110_us, at + 2400_us});
      for (int k = 1; k < 26; ++k) {
        const Nanos begin = at + k * 100_us;
        const Nanos start = at + 2400_us + k * 8_us;
        story.Launch("short", {begin, begin + call}, {start, start + 8_us});
      }
      story.OnStream(9).CopyToGpu(8_MiB, MemoryKind::kPinned, {at + 2605_us, at + 2609_us},
                                  {at + 2612_us, at + 2990_us});
    });
    return Analyzed(story)->launches.slow.lost->Total();
  };
  CHECK(lost(95_us) >= 18 * 378_us);
  CHECK(lost(5_us) == 0);
}

TEST_CASE("slow calls beside calls of another thread of the process are contended") {
  TraceBuilder story;
  for (int i = 0; i < 50; ++i) {
    const Nanos at = i * 60_us;
    story.Thread("main").Launch("work", {at, at + 40_us}, {at + 42_us, at + 55_us});
    story.Thread("other").OnStream(8).Launch("work", {at + 5_us, at + 45_us},
                                             {at + 47_us, at + 58_us});
    story.OnStream(7);
  }
  const Analyzed run(story);
  CHECK(run->launches.threads == 2);
  CHECK(run->launches.slow_contended > 0.9);
}

TEST_CASE("steps with the same kernels in the same order have one sequence") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int, Nanos at) { AddLayeredStep(&story, at, 50_us); });
  const Analyzed run(story, WindowRequest::Mode::kAuto);
  CHECK(run->launches.sequence_length == 14);
  CHECK(run->launches.sequence_same >= 0.9);
  CHECK(run->launches.sequence_breaks == 0);
  CHECK(run->launches.kernels_per_step == 14);
}

TEST_CASE("a sequence begins anew where each step synchronizes; other such places break it") {
  for (const int places : {1, 3}) {
    TraceBuilder story;
    Repeat(10, 1_ms, [&](int, Nanos at) {
      AddLayeredStep(&story, at, 50_us);
      for (int i = 0; i < places; ++i) {
        const Nanos then = at + 780_us + i * 50_us;
        story.Sync({then, then + 25_us}).Sync({then + 26_us, then + 27_us});  // one place
        story.Launch("sample", {then + 30_us, then + 35_us}, {then + 36_us, then + 40_us});
      }
    });
    const Analyzed run(story, WindowRequest::Mode::kAuto);
    CHECK(run->launches.sequence_breaks == places - 1);
  }
}

TEST_CASE("tiny device copies back to back are a train") {
  TraceBuilder story;
  story.Launch("work", {0_us, 5_us}, {10_us, 100_us});
  Nanos at = 100_us;
  for (int i = 0; i < 20; ++i, at += 10_us)
    story.CopyOnGpu(1_KiB, {6_us + i * 4_us, 9_us + i * 4_us}, {at, at + 3_us});
  story.Launch("work", {88_us, 92_us}, {at, at + 100_us});
  const Analyzed run(story);
  CHECK(run->launches.trains.count == 1);
  CHECK(run->launches.trains.lost->Total() == 193_us);
}

}  // namespace
}  // namespace advise
