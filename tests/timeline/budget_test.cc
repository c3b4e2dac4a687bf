// What each GPU was doing at every nanosecond.
#include "engine/timeline/budget.h"

#include <array>

#include "tests/support/analyzed.h"
#include "tests/support/dice.h"

namespace advise {
namespace {

Nanos Sum(const DeviceTime& time) {
  return time.ComputeNs() + time.comm_exposed.Total() + time.copy_exposed.Total() +
         time.memset_exposed.Total() + time.idle.Total();
}

TEST_CASE("the window of all work spans the ops of all devices") {
  const Analyzed run(TraceBuilder()
                         .Kernel("gemm", {10_us, 20_us})
                         .OnDevice(1)
                         .Kernel("gemm", {5_us, 7_us})
                         .Kernel("gemm", {50_us, 90_us}));
  CHECK(run->run.window.mode == "all");
  CHECK(run->run.window.start == 5_us);
  CHECK(run->run.window.end == 90_us);
}

TEST_CASE("a kernel beats communication, communication a copy, a copy a memset") {
  const Analyzed run(TraceBuilder()
                         .Memset(64, {0, 1}, {0_us, 100_us})
                         .OnStream(8)
                         .CopyToGpu(1_MiB, MemoryKind::kPinned, {0, 1}, {10_us, 90_us})
                         .OnStream(9)
                         .Kernel(kAllReduce, {20_us, 80_us})
                         .OnStream(10)
                         .Kernel("gemm", {30_us, 70_us}));
  const DeviceTime& time = run->times[0];
  CHECK(time.ComputeNs() == 40_us);
  CHECK(time.comm_exposed.Total() == 20_us);
  CHECK(time.copy_exposed.Total() == 20_us);
  CHECK(time.memset_exposed.Total() == 20_us);
  CHECK(time.idle.Total() == 0);
  CHECK(Sum(time) == run.Window());
}

TEST_CASE("hidden copies are not exposed") {
  const Analyzed run(TraceBuilder()
                         .Kernel("gemm", {0_us, 100_us})
                         .OnStream(8)
                         .CopyToGpu(1_MiB, MemoryKind::kPinned, {0, 1}, {20_us, 60_us}));
  CHECK(run->times[0].copy_exposed.empty());
  CHECK(run->times[0].copy.Total() == 40_us);
}

TEST_CASE("a copy is exposed where no kernel covers it, and only there") {
  const Analyzed run(TraceBuilder()
                         .Kernel("gemm", {0_us, 30_us})
                         .Kernel("gemm", {50_us, 100_us})
                         .OnStream(8)
                         .CopyToGpu(1_MiB, MemoryKind::kPinned, {0, 1}, {20_us, 60_us}));
  CHECK(run->times[0].copy_exposed == IntervalSet::Of({{30_us, 50_us}}));
}

TEST_CASE("a graph that was traced as a whole counts as compute while it runs") {
  const Analyzed run(TraceBuilder()
                         .Graph(1, {0_us, 5_us}, {10_us, 60_us})
                         .Graph(1, {6_us, 8_us}, {60_us, 110_us}));
  CHECK(run->times[0].ComputeNs() == 100_us);
  CHECK(run->times[0].idle.empty());
}

TEST_CASE("kernels side by side count once") {
  const Analyzed run(
      TraceBuilder().Kernel("gemm", {0_us, 60_us}).OnStream(8).Kernel("gemm", {40_us, 100_us}));
  CHECK(run->times[0].ComputeNs() == 100_us);
}

TEST_CASE("each device has a budget of its own, and one without work is idle throughout") {
  const Analyzed run(TraceBuilder()
                         .OnDevice(2)
                         .Kernel("gemm", {0_us, 100_us})
                         .OnDevice(0)
                         .Kernel("gemm", {20_us, 30_us}));
  CHECK(run->times[0].ComputeNs() == 10_us);
  CHECK(run->times[1].idle.Total() == 100_us);
  CHECK(run->times[2].idle.Total() == 0);
  CHECK(run->run.active_devices == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("names of communication kernels of any library are communication") {
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclKernel_AllGather_RING_LL",
        "void cross_device_reduce_1stage<half, 8>(RankData*)"}) {
    const Analyzed run(TraceBuilder().Kernel(name, {0_us, 10_us}));
    INFO(name);
    CHECK(run->times[0].comm_exposed.Total() == 10_us);
  }
}

TEST_CASE("a trace without GPU work has an empty window and no budget to share") {
  const Analyzed run(TraceBuilder().Sync({0_us, 10_us}));
  CHECK(run.Window() == 0);
  CHECK(Sum(run->times[0]) == 0);
  CHECK_FALSE(run->support.verdict);
}

TEST_CASE("a window that was given begins where it was asked to, and ends with the work there") {
  const Trace trace =
      TraceBuilder().Kernel("gemm", {100_us, 200_us}).Kernel("gemm", {300_us, 400_us}).Build();
  AnalysisOptions options;
  options.window = {WindowRequest::Mode::kGiven, 150e-6, 350e-6};  // on the clock of the trace
  const Analysis analysis(trace, ShippedKnowledge(), options);
  CHECK(analysis.run.window.mode == "given");
  CHECK(analysis.run.window.Length() == 250_us);
  CHECK(analysis.times[0].ComputeNs() == 150_us);
  CHECK(analysis.times[0].idle == IntervalSet::Of({{200_us, 300_us}}));
}

TEST_CASE("on a clock that counts from 1970, a window counts from the first event of the trace") {
  constexpr Nanos kToday = 1'700'000'000'000'000'000;
  TraceBuilder story;
  story.Range("load", {kToday, kToday + 50_us});
  story.Kernel("gemm", {kToday + 100_us, kToday + 200_us});
  story.Kernel("gemm", {kToday + 300_us, kToday + 400_us});
  const Trace trace = story.Build();
  AnalysisOptions options;
  options.window = {WindowRequest::Mode::kGiven, 150e-6, 350e-6};
  const Analysis analysis(trace, ShippedKnowledge(), options);
  CHECK(analysis.run.window.start == kToday + 150_us);
  CHECK(analysis.times[0].ComputeNs() == 150_us);
}

TEST_CASE("a window that was given is narrowed to the whole steps in it") {
  TraceBuilder story;
  for (Nanos i = 0; i < 10; ++i) {
    const Nanos at = i * 1_ms;
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("gemm", {at, at + 5_us}, {at + 10_us, at + 900_us});
  }
  const Trace trace = story.Build();
  const auto analyzed = [&](double from_s, double to_s) {
    AnalysisOptions options;
    options.window = {WindowRequest::Mode::kGiven, from_s, to_s};
    return std::make_unique<Analysis>(trace, ShippedKnowledge(), options);
  };
  const auto four = analyzed(2.5e-3, 7.5e-3);
  CHECK(four->run.steps.steady_count() == 4);
  CHECK(four->run.window.start == four->run.steps.all.front().start);
  CHECK(four->run.window.end == four->run.steps.all.back().end);
  CHECK_FALSE(analyzed(2.5e-3, 4.2e-3)->run.steps.known());  // one, and pieces of others
  // The warm-up, where it was asked for.
  const auto begin = analyzed(0, 5.5e-3);
  CHECK(begin->run.steps.first_steady == 0);
  CHECK(begin->run.window.start == 0);
}

// Random ops against a model that asks for each nanosecond which ops run.
TEST_CASE("the budget of random ops agrees with the model of single nanoseconds") {
  Dice dice(5);
  for (int round = 0; round < Rounds(60); ++round) {
    constexpr Nanos kSpan = 300;
    TraceBuilder story;
    std::array<std::array<std::array<bool, 4>, kSpan>, 2> runs{};  // device, time, kind of op
    for (std::int64_t n = dice.Between(1, 25); n > 0; --n) {
      const auto device = static_cast<std::uint32_t>(dice.Roll(2));
      const auto kind = static_cast<std::size_t>(dice.Roll(4));
      const Nanos start = dice.Roll(kSpan - 40);
      const Interval when{start, start + dice.Between(1, 40)};
      story.OnDevice(device).OnStream(dice.Between(7, 9));
      if (kind == 0) story.Kernel("gemm", when);
      if (kind == 1) story.Kernel(kAllReduce, when);
      if (kind == 2) story.CopyToGpu(1_KiB, MemoryKind::kPinned, {0, 1}, when);
      if (kind == 3) story.Memset(64, {0, 1}, when);
      for (Nanos t = when.start; t < when.end; ++t)
        runs[device][static_cast<std::size_t>(t)][kind] = true;
    }
    const Analyzed run(story);
    for (std::uint32_t d = 0; d < run->times.size(); ++d) {
      std::array<Nanos, 5> expected{};
      for (Nanos t = run->run.window.start; t < run->run.window.end; ++t) {
        std::size_t state = 0;
        while (state < 4 && !runs[d][static_cast<std::size_t>(t)][state]) ++state;
        ++expected[state];
      }
      const DeviceTime& time = run->times[d];
      CHECK(time.ComputeNs() == expected[0]);
      CHECK(time.comm_exposed.Total() == expected[1]);
      CHECK(time.copy_exposed.Total() == expected[2]);
      CHECK(time.memset_exposed.Total() == expected[3]);
      CHECK(time.idle.Total() == expected[4]);
      REQUIRE(Sum(time) == run.Window());
      // The states are disjoint, not only of the right size.
      REQUIRE(time.compute.Union(time.comm_exposed)
                  .Union(time.copy_exposed)
                  .Union(time.memset_exposed)
                  .Union(time.idle)
                  .Total() == run.Window());
    }
  }
}

}  // namespace
}  // namespace advise
