// Parameter updates of many small kernels.
#include "engine/metrics/losses/kernels/kernel_updates.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Steps of eight products, each with `light` elementwise kernels behind it, and an update of `row`
// small elementwise kernels, launched slower than they run. Then, with an empty queue, launches
// that run as fast as they come.
TraceBuilder UpdatedRows(int row, int light) {
  TraceBuilder story;
  Nanos host = 0;
  Nanos gpu = 0;
  const auto launch = [&](const char* kernel, Nanos length) {
    gpu = std::max(gpu + 1_us, host + 8_us);
    story.Launch(kernel, {host, host + 4_us}, {gpu, gpu + length});
    gpu += length;
    host += 10_us;
  };
  for (int step = 0; step < 12; ++step) {
    for (int product = 0; product < 8; ++product) {
      launch(kMatrixBf16, 8_us);
      for (int i = 0; i < light; ++i) launch(kElementwise, 3_us);
    }
    for (int i = 0; i < row; ++i) launch(kElementwise, 2_us);
  }
  return story;
}

TEST_CASE("a long row of small elementwise kernels is an update, also where nothing names it") {
  const Analyzed run(UpdatedRows(200, 3));
  CHECK(run->kernels.optimizer.count == 12 * 203);
  CHECK(run->kernels.optimizer.lost->Total() >= 12 * 199 * 10_us);
}

TEST_CASE("kernels that were launched before the recording are of an earlier step") {
  TraceBuilder story;
  for (int i = 0; i < 200; ++i) story.Kernel(kElementwise, {i * 3_us, i * 3_us + 2_us});
  Nanos at = 1_ms;
  for (int i = 0; i < 200; ++i, at += 3_us)
    story.Launch(kElementwise, {at - 20_us, at - 18_us}, {at, at + 2_us});
  CHECK(Analyzed(story)->kernels.optimizer.count == 200);
}

TEST_CASE("kernels of an update have as many grids as the model has sizes") {
  const auto one_grid = [](int sizes) {
    TraceBuilder story;
    Repeat(12, 4_ms, [&](int, Nanos at) {
      story.Launch(kMatrixBf16, {at, at + 4_us}, {at + 10_us, at + 1010_us});
      for (int i = 0; i < 100; ++i) {
        const Nanos start = at + 1011_us + i * 6_us;
        story.Launch(kElementwise, {at + (i + 1) * 5_us, at + (i + 1) * 5_us + 4_us},
                     {start, start + 5_us}, {static_cast<std::uint32_t>(10 + i % sizes)});
      }
    });
    return Analyzed(story)->kernels.optimizer_one_grid;
  };
  CHECK(one_grid(1) == 1);
  CHECK(one_grid(4) == Approx(0.25));
}

TEST_CASE("elementwise kernels of layers are no update") {
  CHECK(Analyzed(UpdatedRows(40, 8))->kernels.optimizer.count == 0);
}

// Twelve steps of a product of 1 ms and a row of kernels of 5 us each.
TraceBuilder Rows(int row, const char* kernel) {
  TraceBuilder story;
  Repeat(12, 4_ms, [&](int, Nanos at) {
    story.Launch(kMatrixBf16, {at, at + 4_us}, {at + 10_us, at + 1010_us});
    for (int i = 0; i < row; ++i) {
      const Nanos call = at + (i + 1) * 5_us;
      const Nanos start = at + 1011_us + i * 6_us;
      story.Launch(kernel, {call, call + 4_us}, {start, start + 5_us});
    }
  });
  return story;
}

TEST_CASE("rows of kernels that fill one tensor each zero gradients, and are no update") {
  constexpr const char* kFill =
      "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
      "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)";
  const Analyzed run(Rows(150, kFill));
  CHECK(run->kernels.optimizer.count == 0);
  CHECK(run->kernels.zeroing.count == 12 * 150);
  // The row with the pauses in it, and what the GPU waits for the host behind it; nothing of the
  // row is left, and its launches are gone, too.
  CHECK(run->kernels.zeroing.lost->Total() >= 12 * (150 * 5_us + 149 * 1_us));
  CHECK(run->replay().Gain(*run->kernels.zeroing.remedy) >= 12 * 150 * 5_us);
  const auto row = static_cast<int>(ShippedKnowledge().CountOf("kernel.zeroing_row"));
  CHECK(Analyzed(Rows(row, kFill))->kernels.zeroing.count == 12 * row);
  CHECK(Analyzed(Rows(row - 1, kFill))->kernels.zeroing.count == 0);
}

// A row of 100 fills, and a backward pass that adds so many tensors of weights, and 4 activations.
Analyzed ZeroedAndAdded(int added) {
  constexpr const char* kFill =
      "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
      "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)";
  constexpr const char* kAdd =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
      "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";
  TraceBuilder story;
  Repeat(12, 4_ms, [&](int, Nanos at) {
    Nanos host = at;
    Nanos gpu = at + 10_us;
    const auto launch = [&](const char* kernel, Nanos length) {
      story.Launch(kernel, {host, host + 4_us}, {gpu, gpu + length});
      host += 5_us;
      gpu += length + 1_us;
    };
    for (int i = 0; i < 100; ++i) launch(kFill, 3_us);
    const Nanos backward = host;
    for (int i = 0; i < 4; ++i) {
      launch(kMatrixBf16, 200_us);
      launch(kAdd, 40_us);
    }
    for (int i = 0; i < added; ++i) {
      launch(kMatrixBf16, 5_us);
      launch(kAdd, 4_us);
    }
    story.Range("backward", {backward - 1_us, host});
  });
  return Analyzed(story);
}

TEST_CASE("what adds to zeroed gradients goes with the zeros, and joins of activations stay") {
  const Analyzed all = ZeroedAndAdded(100);
  CHECK(all->kernels.zeroing_added == Approx(12 * 100));
  CHECK(all->kernels.zeroing.count == 12 * 100);
  CHECK(all->kernels.zeroing.lost->Total() >= 12 * 100 * 7_us);
  CHECK(all->kernels.zeroing.lost->Total() < 12 * (100 * 7_us + 99 * 1_us + 40_us));
  const auto least = static_cast<int>(100 * ShippedKnowledge().Number("kernel.zeroing_added")) - 4;
  CHECK(ZeroedAndAdded(least)->kernels.zeroing_added == Approx(12 * (least + 4)));
  CHECK(ZeroedAndAdded(least - 1)->kernels.zeroing_added == 0);
  CHECK(ZeroedAndAdded(0)->kernels.zeroing_added == 0);
}

TEST_CASE("norms of single tensors are part of an update, other reductions are not") {
  const auto counted = [](const char* functor) {
    const std::string kernel =
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::" +
        std::string(functor) + "<float, float, float, float>, unsigned int, float, 4> >(x)";
    const Analyzed run(Rows(100, kernel.c_str()));
    CHECK(run->kernels.optimizer_norms == (run->kernels.optimizer.count > 0 ? 1 : 0));
    return run->kernels.optimizer.count;
  };
  CHECK(counted("NormTwoOps") == 12 * 100);
  CHECK(counted("MeanOps") == 0);
  const Analyzed others(Rows(100, kElementwise));
  CHECK(others->kernels.optimizer.count == 12 * 100);
  CHECK(others->kernels.optimizer_norms == 0);
}

// A row of kernels of 25 us each moves 8 MB a kernel on a T4, and 50 MB on an A100.
TEST_CASE("kernels of an update are small by the data that they move") {
  const auto counted = [](const std::string& device) {
    TraceBuilder story;
    story.Device(device, 40);
    Repeat(12, 10_ms, [&](int, Nanos at) {
      story.Launch(kMatrixBf16, {at, at + 4_us}, {at + 10_us, at + 4_ms});
      for (int i = 0; i < 200; ++i) {
        const Nanos call = at + (i + 1) * 5_us;
        const Nanos start = at + 4_ms + i * 26_us + 1_us;
        story.Launch(kElementwise, {call, call + 4_us}, {start, start + 25_us});
      }
    });
    return Analyzed(story)->kernels.optimizer.count;
  };
  CHECK(counted("Tesla T4") == 12 * 200);
  CHECK(counted("NVIDIA A100-SXM4-80GB") == 0);
}

// An update of 200 kernels takes the host 2 ms and the GPU a fifth of that; the layers behind it
// run faster than they are launched, so that the GPU waits for each.
TEST_CASE("what the GPU waits for launches after an update is counted until the host is ahead") {
  const Analyzed run(UpdatedRows(200, 3));
  const Loss& loss = run->kernels.optimizer;
  const Nanos in_layers = run->times[0].idle.Total() - 12 * 199 * 8_us;
  REQUIRE(in_layers > 0);
  // All gaps after the first update.
  CHECK(loss.lost->Total() >= 12 * 199 * 10_us + in_layers * 10 / 12);
  CHECK(run->replay().Gain(*loss.remedy) >= 12 * 190 * 10_us);
}

// An update of 40 tensors with eight kernels each. Before each of the first `pauses` tensors, the
// host has 300 us of code; the GPU has work all the time.
Nanos CodeCutFromUpdate(int pauses) {
  TraceBuilder story;
  Repeat(12, 40_ms, [&](int, Nanos at) {
    story.Launch(kMatrixBf16, {at, at + 4_us}, {at + 10_us, at + 30_ms});
    Nanos host = at + 5_us;
    for (int i = 0; i < 320; ++i) {
      if (i % 8 == 0 && i / 8 >= 1 && i / 8 <= pauses) host += 300_us;
      const Nanos start = at + 30_ms + i * 6_us + 1_us;
      story.Launch(kElementwise, {host, host + 4_us}, {start, start + 5_us});
      host += 5_us;
    }
  });
  const Analyzed run(story);
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(run->kernels.optimizer.remedy->host_cuts))
    cut += when.Total();
  return cut;
}

TEST_CASE(
    "the code between the tensors of an update goes with it, what comes now and then does not") {
  CHECK(CodeCutFromUpdate(30) >= 12 * 30 * 300_us);
  CHECK(CodeCutFromUpdate(8) >= 12 * 8 * 300_us);
  CHECK(CodeCutFromUpdate(7) == 0);
  CHECK(CodeCutFromUpdate(1) == 0);
}

// Steps of a product of 6 ms, behind which 1000 kernels of 2 us each wait, 1 us apart, launched
// early: the GPU is the limit, and one kernel in their place takes the 0.5 us that each is longer
// than one that does nothing.
TEST_CASE("the pauses between the kernels of an update go with the kernels") {
  TraceBuilder story;
  Repeat(12, 9_ms, [&](int, Nanos at) {
    story.Launch(kMatrixBf16, {at, at + 4_us}, {at + 10_us, at + 6_ms});
    for (int i = 0; i < 1000; ++i) {
      const Nanos call = at + (i + 1) * 5_us;
      const Nanos start = at + 6_ms + i * 3_us + 1_us;
      story.Launch(kElementwise, {call, call + 4_us}, {start, start + 2_us});
    }
  });
  const Analyzed run(story);
  const Nanos gain = run->replay().Gain(*run->kernels.optimizer.remedy);
  CHECK(gain > 12 * 2400_us);
  CHECK(gain < 12 * 2600_us);
}

}  // namespace
}  // namespace advise
