// Habits of kernels and of the host, on stories whose numbers add up by hand.
#include "engine/metrics/losses/host_habits.h"
#include "engine/metrics/losses/kernel_habits.h"
#include "tests/support/analysed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("the same small product again and again is a train") {
  TraceBuilder story;
  for (Nanos k = 0; k < 10; ++k) {
    story.Launch(kMatrixBf16, {k * 10_us, k * 10_us + 2_us}, {k * 10_us + 3_us, k * 10_us + 8_us});
  }
  const Analysed run(story);
  CHECK(run->kernel_habits.matrix_trains.count == 1);
  CHECK(run->kernel_habits.matrix_train_kernels == 10);
  CHECK(run->kernel_habits.matrix_trains.lost->Total() == 9 * 5_us);  // the gaps
  CHECK(run->kernel_habits.matrix_trains.remedy->vanished_calls.size() == 9);
}

TEST_CASE("layers of different products are no train, and seven are too few") {
  TraceBuilder layers;
  for (Nanos k = 0; k < 20; ++k) {
    Look look;
    look.blocks = k % 2 == 0 ? 100 : 400;
    layers.Launch(kMatrixBf16, {k * 10_us, k * 10_us + 2_us}, {k * 10_us + 3_us, k * 10_us + 8_us},
                  look);
  }
  CHECK(Analysed(layers)->kernel_habits.matrix_trains.count == 0);
  TraceBuilder few;
  for (Nanos k = 0; k < 7; ++k) {
    few.Launch(kMatrixBf16, {k * 10_us, k * 10_us + 2_us}, {k * 10_us + 3_us, k * 10_us + 8_us});
  }
  CHECK(Analysed(few)->kernel_habits.matrix_trains.count == 0);
}

TEST_CASE("long products are no train however many") {
  TraceBuilder story;
  for (Nanos k = 0; k < 10; ++k) {
    story.Launch(kMatrixBf16, {k * 50_us, k * 50_us + 2_us}, {k * 50_us + 3_us, k * 50_us + 48_us});
  }
  CHECK(Analysed(story)->kernel_habits.matrix_trains.count == 0);
}

TEST_CASE("one small kernel with one grid eight times in a row is a loop over pieces") {
  TraceBuilder story;
  for (Nanos k = 0; k < 8; ++k) {
    story.Launch(kElementwise, {k * 10_us, k * 10_us + 2_us}, {k * 10_us + 3_us, k * 10_us + 5_us});
  }
  story.Launch(kMatrixBf16, {80_us, 82_us}, {83_us, 200_us});
  const Analysed run(story);
  CHECK(run->kernel_habits.repeats.count == 1);
  CHECK(run->kernel_habits.repeat_kernels == 8);
  CHECK(run->kernel_habits.repeats.lost->Total() == 7 * 8_us);
}

TEST_CASE("blocks of 48 threads leave a quarter of their lanes empty") {
  Look look;
  look.threads = 48;
  const Analysed run(
      TraceBuilder().Kernel("stencil", {0_us, 100_us}, look).Kernel("gemm", {100_us, 200_us}));
  CHECK(run->kernel_habits.partial_warps.count == 1);
  CHECK(run->kernel_habits.partial_warps.lost->Total() == 100_us);
  CHECK(run->kernel_habits.partial_warp_waste_ns == Approx(25e3));
  Look few = look;
  few.blocks = 1;  // the grid is the cause then
  CHECK(Analysed(TraceBuilder().Kernel("serial", {0_us, 100_us}, few))
            ->kernel_habits.partial_warps.count == 0);
  REQUIRE(run->kernel_habits.partial_warp_rows.size() == 1);
  CHECK(run->kernel_habits.partial_warp_rows[0].name == "stencil");
}

// Twenty steps with one kernel each, which takes `length(i)`.
template <typename F>
TraceBuilder KernelSteps(int steps, F length) {
  TraceBuilder story;
  Repeat(steps, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 10_us + length(i)});
  });
  return story;
}

TEST_CASE("a launch that takes three times what its place in the step usually takes varies") {
  const Analysed run(KernelSteps(20, [](int i) { return i == 12 ? 300_us : 100_us; }));
  CHECK(run->kernel_habits.varying.count == 1);
  CHECK(run->kernel_habits.varying.lost->Total() == 200_us);
}

TEST_CASE("two products with one grid and different depths do not vary") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("gemm", {at, at + 5_us}, {at + 10_us, at + 60_us});
    story.Launch("gemm", {at + 5_us, at + 9_us}, {at + 60_us, at + 400_us});
  });
  CHECK(Analysed(story)->kernel_habits.varying.count == 0);
}

TEST_CASE("kernels that get slower in the second half are seen, with what that costs") {
  const Analysed run(KernelSteps(20, [](int i) { return i < 10 ? 100_us : 150_us; }));
  CHECK(run->kernel_habits.slowing_ratio == Approx(1.5));
  CHECK(run->kernel_habits.slowing_share == Approx(1.0).epsilon(0.3));
  CHECK(run->kernel_habits.slowing.lost->Total() == 10 * 50_us);
  CHECK(Analysed(KernelSteps(20, [](int) { return 100_us; }))->kernel_habits.slowing_ratio ==
        Approx(1.0));
}

TEST_CASE("launches that return after their kernel wait for it") {
  TraceBuilder waiting;
  TraceBuilder usual;
  Repeat(20, 200_us, [&](int, Nanos at) {
    waiting.Launch("kernel", {at, at + 120_us}, {at + 10_us, at + 110_us});
    usual.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
  });
  const Analysed run(waiting);
  CHECK(run->host_habits.launch_wait_share == 1);
  CHECK(run->host_habits.launch_waits.lost->Total() > 0);
  CHECK(Analysed(usual)->host_habits.launch_wait_share == 0);
}

TEST_CASE("a short kernel that ends before its call returns does not count as waiting") {
  TraceBuilder story;
  Repeat(20, 200_us, [&](int, Nanos at) {
    story.Launch("kernel", {at, at + 20_us}, {at + 5_us, at + 10_us});
  });
  CHECK(Analysed(story)->host_habits.launch_wait_share == 0);
}

TraceBuilder Frees(int how_many) {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
    for (int f = 0; f < how_many; ++f) {
      const Nanos from = at + 200_us + f * 20_us;
      story.Call("cudaFree", {from, from + 10_us});
    }
    story.Call("cudaMalloc", {at + 500_us, at + 510_us});
  });
  return story;
}

TEST_CASE("six frees in a row are a burst, five are not") {
  const Analysed run(Frees(6));
  CHECK(run->host_habits.free_bursts.per_step == 1);
  CHECK(run->host_habits.frees_per_burst == 6);
  CHECK(run->host_habits.free_bursts.lost->Total() > 0);
  CHECK(Analysed(Frees(5))->host_habits.free_bursts.count == 0);
}

TEST_CASE("sleeping in a gap costs the gap's time") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
    story.OsCall("nanosleep", {at + 300_us, at + 700_us});
  });
  const Analysed run(story);
  CHECK(run->host_habits.sleep.count == 9);  // nothing ends the gap after the last kernel
  CHECK(run->host_habits.sleep.lost->Total() == 9 * 400_us);
}

TEST_CASE("graphs: launches, their length, and the gaps before them") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.GraphNodes("node", {at, at + 8_us}, {{at + 10_us, at + 20_us}, {at + 20_us, at + 50_us}});
    story.GraphNodes("node", {at + 100_us, at + 108_us},
                     {{at + 110_us, at + 120_us}, {at + 120_us, at + 150_us}});
  });
  const Analysed run(story);
  const Graphs& graphs = run->host_habits.graphs;
  CHECK(graphs.launches == 20);
  CHECK(graphs.per_step == 2);
  CHECK(graphs.call_median_ns == 8'000);
  CHECK(graphs.gpu_median_ns == 40'000);
  CHECK(graphs.kernels_median == 2);
  CHECK(graphs.gaps.lost->Total() > 0);
  CHECK(graphs.miss_share == 0);
}

TEST_CASE("steps without the graph that the others use are misses") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    if (i % 5 == 4) {
      for (Nanos k = 0; k < 4; ++k) {
        const Nanos from = at + k * 200_us;
        story.Launch("node", {from, from + 5_us}, {from + 10_us, from + 60_us});
      }
    } else {
      story.GraphNodes("node", {at, at + 8_us},
                       {{at + 10_us, at + 410_us}, {at + 410_us, at + 810_us}});
    }
  });
  const Graphs graphs = Analysed(story)->host_habits.graphs;
  CHECK(graphs.miss_share == Approx(0.2).epsilon(0.3));
  CHECK(graphs.misses.lost->Total() > 0);
}

TEST_CASE("graphs that were traced as a whole hide their kernels") {
  TraceBuilder story;
  for (Nanos k = 0; k < 4; ++k)
    story.Graph(1, {k * 100_us, k * 100_us + 5_us}, {k * 100_us + 10_us, k * 100_us + 90_us});
  const Analysed run(story);
  CHECK(run->kernel_habits.whole_graph_ns == 4 * 80'000);
  CHECK(run->host_habits.graphs.kernels_median == 0);
}

TEST_CASE("uploads and downloads that take turns, and the shorter way of them") {
  TraceBuilder story;
  for (Nanos k = 0; k < 10; ++k) {
    const Nanos at = k * 1_ms;
    story.CopyToGpu(8_MiB, MemoryKind::kPinned, {at, at + 5_us}, {at + 10_us, at + 410_us});
    story.CopyFromGpu(4_MiB, MemoryKind::kPinned, {at + 5_us, at + 9_us},
                      {at + 410_us, at + 610_us});
  }
  const Analysed run(story);
  CHECK(run->host_habits.duplex_share == 0);
  CHECK(run->host_habits.one_way.lost->Total() == 10 * 200_us);
}

TEST_CASE("steps that get longer drift") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 45; ++i) {
    const Nanos length = i < 15 ? 1000_us : i < 30 ? 1100_us : 1200_us;
    story.Range("step " + std::to_string(i), {at, at + length - 10_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + length - 50_us});
    at += length;
  }
  const Analysed run(story);
  REQUIRE(run->run.steps.known());
  CHECK(run->host_habits.step_drift == Approx(0.2).epsilon(0.1));
}

}  // namespace
}  // namespace advise
