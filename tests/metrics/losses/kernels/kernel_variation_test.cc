// The same kernel that takes different times.
#include "tests/metrics/losses/loss_words.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

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
  const Analyzed run(KernelSteps(20, [](int i) { return i == 12 ? 300_us : 100_us; }));
  CHECK(run->kernel_variation->varying.count == 1);
  CHECK(run->kernel_variation->varying.lost->Total() == 200_us);
}

TEST_CASE("what varies comes to its usual length, what slows to that of before") {
  const Analyzed run(KernelSteps(20, [](int i) { return i == 12 ? 300_us : 100_us; }));
  CHECK(Told(run->kernel_variation->varying) ==
        "1 times, 0 bytes, 200000 ns in all, 200000 ns lost");
  CHECK(Changes(run->kernel_variation->varying) == "scales 12 to 0.333");
  const double factor = ShippedKnowledge().Number("kernel.slow_factor");
  const auto edge = static_cast<Nanos>(factor * 100e3);
  CHECK(Analyzed(KernelSteps(20, [&](int i) {
          return i == 12 ? edge : 100_us;
        }))->kernel_variation->varying.count == 0);
  CHECK(Analyzed(KernelSteps(20, [&](int i) {
          return i == 12 ? edge + 1_us : 100_us;
        }))->kernel_variation->varying.count == 1);
  const Analyzed slower(KernelSteps(20, [](int i) { return i < 10 ? 100_us : 125_us; }));
  CHECK(Told(slower->kernel_variation->slowing) ==
        "10 times, 0 bytes, 250000 ns in all, 250000 ns lost");
  CHECK(slower->kernel_variation->slowing.remedy->scaled_ops.size() == 10);
  CHECK(slower->kernel_variation->slowing.remedy->scaled_ops[0] == std::pair(10U, 0.8F));
  CHECK(slower->kernel_variation->slowing_share == 1);
}

// Thirty steps of six layers, each with two kernels whose work grows with the data, and one whose
// work grows with its square. In two steps the data is 2.3 times as long.
TEST_CASE("in a step with more data, kernels may take longer by more than the others do") {
  const auto varying = [](double longer, bool all_layers) {
    TraceBuilder story;
    Repeat(30, 5_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 4900_us});
      Nanos done = at + 40_us;
      const auto run = [&](const char* name, double microseconds) {
        const auto length = static_cast<Nanos>(microseconds * 1e3);
        story.Launch(name, {done - 30_us, done - 28_us}, {done, done + length});
        done += length + 1_us;
      };
      const double data = i == 9 || i == 20 ? longer : 1.0;
      for (int layer = 0; layer < 6; ++layer) {
        run("product", 50 * data);
        run("norm", 20 * data);
        run("attention", 60 * (all_layers || layer == 3 ? data * data : data));
      }
    });
    return Analyzed(story)->kernel_variation->varying.count;
  };
  CHECK(varying(2.3, true) == 0);
  CHECK(varying(2.3, false) == 2);  // one layer alone: not the data
}

TEST_CASE("three steps on each side show that kernels became slower for good") {
  const auto slowing = [](int steps, int from) {
    const Analyzed run(
        KernelSteps(steps, [&](int i) { return (i < from ? 100_us : 390_us) + i % 2 * 1_us; }));
    return std::pair(run->kernel_variation->slowing_ratio, run->kernel_variation->slowing_sigma);
  };
  const auto [ratio, sigma] = slowing(7, 4);
  CHECK(ratio == Approx(3.9).epsilon(0.02));
  CHECK(sigma > 4);
  CHECK(slowing(7, 5).first == 0);  // two steps are too few
}

TEST_CASE("kernels that are called seldom do not compare") {
  const auto enough = static_cast<int>(ShippedKnowledge().Number("kernel.like_calls"));
  const auto count = [](int steps) {
    return Analyzed(KernelSteps(steps, [&](int i) { return i == steps - 2 ? 300_us : 100_us; }))
        ->kernel_variation->varying.count;
  };
  CHECK(count(enough + 1) == 1);
  CHECK(count(enough - 1) == 0);
}

TEST_CASE("how sure the slowing is: the distance of the halves over what the steps vary") {
  // 100 and 104 us in turn, then 110 and 114: means 102 and 112, and each half of 10 steps varies
  // by 4 * 10 / 9 us^2, so that a mean errs by 4 / 9 of it: Student's t is 10.6. With 18 degrees of
  // freedom that is as improbable as 5.9 standard deviations (one side: 1.8e-9).
  const Analyzed run(
      KernelSteps(20, [](int i) { return (i < 10 ? 100_us : 110_us) + (i % 2 == 0 ? 0 : 4_us); }));
  CHECK(run->kernel_variation->slowing_sigma == Approx(5.9).epsilon(0.02));
  CHECK(run->kernel_variation->slowing_ratio == Approx(1.1).epsilon(0.02));
}

TEST_CASE("two products with one grid and different depths do not vary") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("gemm", {at, at + 5_us}, {at + 10_us, at + 60_us});
    story.Launch("gemm", {at + 5_us, at + 9_us}, {at + 60_us, at + 400_us});
  });
  CHECK(Analyzed(story)->kernel_variation->varying.count == 0);
}

TEST_CASE("kernels that get slower in the second half are seen, with what that costs") {
  const Analyzed run(KernelSteps(20, [](int i) { return i < 10 ? 100_us : 150_us; }));
  CHECK(run->kernel_variation->slowing_ratio == Approx(1.5));
  CHECK(run->kernel_variation->slowing_share == Approx(1.0).epsilon(0.3));
  CHECK(run->kernel_variation->slowing.lost->Total() == 10 * 50_us);
  // The halves are those of before and after, wherever the clocks fell.
  const Analyzed early(KernelSteps(20, [](int step) { return step < 6 ? 100_us : 150_us; }));
  CHECK(early->kernel_variation->slowing_ratio == Approx(1.5));
  CHECK(early->kernel_variation->slowing.lost->Total() == 14 * 50_us);
  CHECK(Analyzed(KernelSteps(20, [](int) { return 100_us; }))->kernel_variation->slowing_ratio ==
        Approx(1.0));
}

// Four kernels in an order without a pattern, so that no steps are found.
TEST_CASE("kernels that get slower are seen without steps, too") {
  const auto slowing = [](int turn, Nanos other) {
    TraceBuilder story;
    std::uint32_t draw = 1;
    Repeat(400, 250_us, [&](int i, Nanos at) {
      draw = draw * 1664525U + 1013904223U;
      const auto kind = static_cast<int>(draw >> 30U);
      const Nanos length = (i < turn ? 40_us : other) * (1 + kind);
      story.Launch("kernel_" + std::to_string(kind), {at, at + 4_us},
                   {at + 5_us, at + 5_us + length});
    });
    const Analyzed run(story);
    CHECK(!run->run.steps.known());
    CHECK(run->kernel_variation->varying.count == 0);
    return std::pair(run->kernel_variation->slowing_ratio, run->kernel_variation->slowing_sigma);
  };
  CHECK(slowing(220, 60_us).first == Approx(1.5).epsilon(0.02));
  CHECK(slowing(220, 60_us).second > 5);
  CHECK(slowing(400, 60_us).first == Approx(1.0));
}

TEST_CASE("a GPU that gets slower slows most kernels, data that grows one of them") {
  CHECK(Analyzed(KernelSteps(20, [](int i) {
          return i < 10 ? 100_us : 150_us;
        }))->kernel_variation->slowing_alike == 1);
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("product", {at, at + 5_us}, {at + 10_us, at + 610_us});
    const Nanos end = at + 610_us + 100_us + i * 10_us;
    story.Launch("attention", {at + 5_us, at + 9_us}, {at + 610_us, end});
  });
  const Analyzed run(story);
  CHECK(run->kernel_variation->slowing_ratio > 1.1);
  CHECK(run->kernel_variation->slowing_alike < 0.3);
}

TEST_CASE("grids and uploads that grow say that the data did") {
  const auto growth = [](auto blocks, auto bytes) {
    TraceBuilder story;
    Repeat(20, 1_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 950_us});
      story.CopyToGpu(bytes(i), MemoryKind::kPinned, {at, at + 2_us}, {at + 4_us, at + 6_us});
      story.Launch("gemm", {at + 2_us, at + 5_us}, {at + 10_us, at + 100_us + i * 10_us}, {100});
      story.Launch("add", {at + 5_us, at + 8_us}, {at + 400_us, at + 420_us}, {blocks(i)});
    });
    return Analyzed(story)->kernel_variation->data_growth;
  };
  const auto same = [](int) { return 500; };
  const auto grows = [](int i) { return i < 10 ? 1000U : 1500U; };
  CHECK(growth([](int) { return 900U; }, same) == 1);
  CHECK(growth(grows, same) == Approx(1.5).epsilon(0.05));
  CHECK(growth([](int) { return 900U; }, grows) == Approx(1.5).epsilon(0.05));
  // Sizes that vary without growing.
  CHECK(growth([](int i) { return i % 2 == 0 ? 1000U : 1500U; }, same) == Approx(1).epsilon(0.05));
}

TEST_CASE("kernels that take longer from step to step cost what they take beyond the first") {
  // 100, 110, 120 us …: beyond 100 us each, of 20 steps, 10 us * (0 + 1 + … + 19).
  const Analyzed run(KernelSteps(20, [](int i) { return 100_us + i * 10_us; }));
  CHECK(run->kernel_variation->slowing.lost->Total() == Approx(1900_us).epsilon(0.01));
  CHECK(run->kernel_variation->slowing.remedy->scaled_ops.back().second ==
        Approx(100.0 / 290).epsilon(0.01));
}

TEST_CASE("clocks that fall are seen where the host launches all steps ahead") {
  TraceBuilder story;
  Nanos free = 400_us;
  for (int i = 0; i < 20; ++i) {
    story.Range("step " + std::to_string(i), {i * 20_us, i * 20_us + 19_us});
    const Nanos length = i < 6 ? 100_us : 120_us;
    story.Launch("kernel", {i * 20_us + 5_us, i * 20_us + 9_us}, {free, free + length});
    free += length;
  }
  const Analyzed run(story);
  CHECK(run->kernel_variation->slowing_ratio == Approx(1.2));
  CHECK(run->kernel_variation->slowing.lost->Total() == 14 * 20_us);
  CHECK(run->kernel_variation->slowing_sigma > 10);
}

// Steps of eight kernels; all of a step take `factor(i)` of 20 us.
template <typename F>
TraceBuilder ScaledSteps(int steps, F factor) {
  TraceBuilder story;
  Repeat(steps, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    const auto length = static_cast<Nanos>(factor(i) * 20e3);
    for (Nanos k = 0; k < 8; ++k) {
      const Nanos from = at + 10_us + k * 100_us;
      story.Launch("kernel " + std::to_string(k), {from - 8_us, from - 4_us},
                   {from, from + length});
    }
  });
  return story;
}

TEST_CASE("steps with more work take longer in all their kernels: none of them varies") {
  const Analyzed run(ScaledSteps(20, [](int i) { return i % 7 == 3 ? 3.0 : 1.0; }));
  CHECK(run->kernel_variation->varying.count == 0);
}

TEST_CASE("where the ranges of a thread ahead shift against its launches, places do not compare") {
  TraceBuilder story;
  // Per step one long launch and five short ones; from step 14 on, a step's range begins earlier.
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    const Nanos ahead = i < 14 ? 0 : 350_us;
    story.Range("step " + std::to_string(i), {at - ahead, at + 950_us - (i < 13 ? 0 : 350_us)});
    for (Nanos k = 0; k < 6; ++k) {
      const Nanos from = at + 10_us + k * 150_us;
      story.Launch("gemm", {from - 8_us, from - 4_us}, {from, from + (k == 0 ? 120_us : 30_us)});
    }
  });
  CHECK(Analyzed(story)->kernel_variation->varying.count == 0);
}

TEST_CASE("halves that differ by chance are told from a GPU that gets slower") {
  // The same steps in another order: scattered, then sorted.
  const auto scattered = [](int i) { return 1 + 0.05 * ((i * 7) % 20); };
  const auto sorted = [](int i) { return 1 + 0.05 * i; };
  CHECK(std::abs(Analyzed(ScaledSteps(20, scattered))->kernel_variation->slowing_sigma) < 2);
  CHECK(Analyzed(ScaledSteps(20, sorted))->kernel_variation->slowing_sigma > 4.5);
  // Steps of data that varies, the shortest of which happen to come first, and to be alike.
  const std::vector<double> lengths = {1.02, 1.0, 1.03, 1.1, 1.4, 1.3,  1.1,  1.3,
                                       1.25, 1.3, 1.2,  1.0, 1.2, 1.45, 1.25, 1.3};
  const Analyzed lucky(
      ScaledSteps(16, [&](int i) { return lengths[static_cast<std::size_t>(i)]; }));
  CHECK(lucky->kernel_variation->slowing_sigma < 4);
  // Six steps and six that take an eighth longer: Student's t is 4.4, of so few steps no proof.
  const std::vector<double> few = {1.0,  1.05, 0.95, 1.02, 1.1, 0.97,
                                   1.16, 1.1,  1.22, 1.1,  1.2, 1.12};
  const Analyzed short_run(
      ScaledSteps(12, [&](int i) { return few[static_cast<std::size_t>(i)]; }));
  CHECK(short_run->kernel_variation->slowing_sigma < 4);
  CHECK(short_run->kernel_variation->slowing_sigma > 3);
  // Nothing varies but between the halves.
  const Analyzed run(KernelSteps(20, [](int i) { return i < 10 ? 100_us : 150_us; }));
  CHECK(run->kernel_variation->slowing_sigma > 10);
}

// Three kernels of 100 us in turn, but for those that take `longer(i)` more.
template <typename F>
TraceBuilder KernelsInTurn(int count, F longer) {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < count; ++i) {
    const Nanos length = 100_us + longer(i);
    story.Launch(std::string("kernel_") + static_cast<char>('a' + i % 3), {at, at + 5_us},
                 {at + 6_us, at + 6_us + length});
    at += length + 8_us;
  }
  return story;
}

TEST_CASE("kernels that the GPU puts aside for another process take milliseconds longer") {
  const auto slices = [](const TraceBuilder& story) {
    return Told(Analyzed(story)->kernel_variation->slices);
  };
  const auto turn = [](int i) { return i % 37 == 36 ? 3_ms : 0_us; };
  CHECK(slices(KernelsInTurn(740, turn)) ==
        "20 times, 0 bytes, 60000000 ns in all, 60000000 ns lost");
  // Near misses: one kernel whose data decides; each by a time of its own.
  const std::string none = "0 times, 0 bytes, 0 ns in all, 0 ns lost";
  CHECK(slices(KernelsInTurn(740, [](int i) { return i % 36 == 33 ? 3_ms : 0_us; })) == none);
  CHECK(slices(KernelsInTurn(740, [](int i) {
          return i % 37 == 36 ? (1 + i % 5) * (1 + i % 5) * 400_us : 0_us;
        })) == none);
}

TEST_CASE("where several processes were recorded, their turns are no secret") {
  TraceBuilder story = KernelsInTurn(740, [](int i) { return i % 37 == 36 ? 3_ms : 0_us; });
  story.Process("other", 7).Launch("kernel", {0_us, 5_us}, {100_ms, 101_ms});
  CHECK(Analyzed(story)->kernel_variation->slices.count == 0);
}

}  // namespace
}  // namespace advise
