// Gradients that are sent in every backward pass of a step, though the last would do.
#include "engine/metrics/losses/ranks/accumulation.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

constexpr const char* kLoss =
    "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float>()";
constexpr const char* kUpdate =
    "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float>()";
constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclWorkElem)";

enum class Sends { kEach, kLast };

// Steps of three passes: 1 ms forward, the loss, 2 ms backward, and behind each pass its gradients,
// which take 3.5 ms beside the next pass; then the update, which waits for all of them.
TraceBuilder Micro(Sends sends) {
  TraceBuilder story;
  Repeat(10, 16_ms, [&](int, Nanos at) {
    Nanos host = at;
    const auto launch = [&](const char* kernel, Nanos start, Nanos end, std::uint32_t stream) {
      story.OnStream(stream).Launch(kernel, {host, host + 5_us}, {start, end});
      host += 10_us;
    };
    Nanos gpu = at + 20_us;
    Nanos link = 0;
    for (int pass = 0; pass < 3; ++pass) {
      host = gpu - 20_us;
      launch(kMatrixBf16, gpu, gpu + 1_ms, 7);
      launch(kLoss, gpu + 1_ms, gpu + 1_ms + 10_us, 7);
      launch(kMatrixBf16, gpu + 1_ms + 10_us, gpu + 3_ms, 7);
      gpu += 3_ms;
      if (sends == Sends::kLast && pass < 2) continue;
      host = gpu - 20_us;
      link = std::max(link, gpu) + 3500_us;
      launch(kReduce, link - 3500_us, link, 20);
    }
    host = link - 20_us;
    launch(kUpdate, link, link + 100_us, 7);
  });
  return story;
}

TEST_CASE("passes are told by their losses where no range names them") {
  const Analyzed run(Micro(Sends::kEach), kAuto);
  CHECK(run->accumulation.backwards == 3);
  CHECK(run->accumulation.synced == 3);
  CHECK(run->accumulation.optimizers == 1);
  // Two times 3.5 ms from the end of the first pass on, and the third pass ends 6 ms after that:
  // its gradients stand 1 ms behind the early ones.
  const double per_step = static_cast<double>(run->accumulation.early.lost->Total()) /
                          static_cast<double>(run->run.steps.steady_count());
  CHECK(per_step >= 1_ms * 0.9);
  CHECK(per_step <= 1_ms * 1.1);
}

// The host has gone through all steps when the GPU is in its third one.
TEST_CASE("passes are of the step that their work begins in, however far the host is ahead") {
  TraceBuilder story;
  Nanos gpu = 50_us;
  for (int step = 0; step < 7; ++step) {
    const Nanos at = step * 3_ms;
    story.Range("step " + std::to_string(step), {at, at + 2900_us});
    for (int pass = 0; pass < 2; ++pass) {
      const Nanos host = at + pass * 1_ms;
      story.OnStream(7).Launch(kMatrixBf16, {host + 10_us, host + 15_us}, {gpu, gpu + 2_ms});
      story.Range("backward", {host + 300_us, host + 900_us});
      story.Launch(kMatrixBf16, {host + 310_us, host + 315_us}, {gpu + 2_ms, gpu + 5_ms});
      story.OnStream(20).Launch(kReduce, {host + 320_us, host + 325_us}, {gpu + 5_ms, gpu + 6_ms});
      gpu += 6_ms;
    }
    story.OnStream(7).Launch(kUpdate, {at + 2500_us, at + 2505_us}, {gpu, gpu + 100_us});
    gpu += 100_us;
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.of_device);
  CHECK(run->accumulation.backwards == 2);
  CHECK(run->accumulation.synced == 2);
  CHECK(run->accumulation.early.count == static_cast<std::int64_t>(run->run.steps.steady_count()));
}

TEST_CASE("near miss: gradients are sent in the last pass only") {
  const Analyzed run(Micro(Sends::kLast), kAuto);
  CHECK(run->accumulation.synced <= 1);
  CHECK(run->accumulation.early.lost->Total() == 0);
}

}  // namespace
}  // namespace advise
