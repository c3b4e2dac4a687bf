// The same kernel that takes different times.
#include "tests/support/analysed.h"
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
  const Analysed run(KernelSteps(20, [](int i) { return i == 12 ? 300_us : 100_us; }));
  CHECK(run->kernel_variation.varying.count == 1);
  CHECK(run->kernel_variation.varying.lost->Total() == 200_us);
}

TEST_CASE("two products with one grid and different depths do not vary") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("gemm", {at, at + 5_us}, {at + 10_us, at + 60_us});
    story.Launch("gemm", {at + 5_us, at + 9_us}, {at + 60_us, at + 400_us});
  });
  CHECK(Analysed(story)->kernel_variation.varying.count == 0);
}

TEST_CASE("kernels that get slower in the second half are seen, with what that costs") {
  const Analysed run(KernelSteps(20, [](int i) { return i < 10 ? 100_us : 150_us; }));
  CHECK(run->kernel_variation.slowing_ratio == Approx(1.5));
  CHECK(run->kernel_variation.slowing_share == Approx(1.0).epsilon(0.3));
  CHECK(run->kernel_variation.slowing.lost->Total() == 10 * 50_us);
  CHECK(Analysed(KernelSteps(20, [](int) { return 100_us; }))->kernel_variation.slowing_ratio ==
        Approx(1.0));
}

}  // namespace
}  // namespace advise
