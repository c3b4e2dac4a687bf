// Updates of weights on the host.
#include "engine/metrics/losses/copies/optimizer_offload.h"

#include "tests/support/analyzed.h"

namespace advise {
namespace {

constexpr std::int64_t kGradient = 100'000'000;

struct OffloadedRun {
  const char* sender = "pt_autograd_0";  // of gradients
  std::int64_t weight = kGradient;       // bytes that come back for each gradient
  const char* update = nullptr;          // kernel that updates weights
  bool named = false;                    // a range says that it is the update
  std::int64_t batch = kGradient / 2;    // bytes that go up behind a named update
  int steps = 6;

  // Each step of 100 ms: 10 ms forward, 20 ms backward with two gradients that go down from 20 to
  // 40 ms, 30 ms of code on the host, and two weights that come back from 70 to 90 ms.
  TraceBuilder Story() const {
    TraceBuilder story;
    for (int i = 0; i < steps; ++i) {
      const Nanos at = i * 100_ms;
      story.Thread("main").Launch("forward", {at, at + 5_us}, {at + 10_us, at + 10_ms});
      story.Thread("pt_autograd_0")
          .Launch("backward", {at + 10_us, at + 15_us}, {at + 10_ms, at + 30_ms});
      for (int k = 0; k < 2; ++k)
        story.Thread(sender).CopyFromGpu(kGradient, MemoryKind::kPinned,
                                         {at + 20_us + k * 10_us, at + 25_us + k * 10_us},
                                         {at + 20_ms + k * 10_ms, at + 30_ms + k * 10_ms});
      story.Thread("main");
      if (named) {  // and the next batch comes behind it
        story.Range("optimizer", {at + 18_us, at + 94_ms});
        story.CopyToGpu(batch, MemoryKind::kPinned, {at + 95_ms, at + 95_ms + 5_us},
                        {at + 95_ms + 6_us, at + 99_ms});
      }
      if (update != nullptr)
        story.Launch(update, {at + 50_us, at + 55_us}, {at + 40_ms, at + 41_ms});
      story.Sync({at + 60_us, at + 41_ms});
      for (int k = 0; k < 2; ++k)
        story.CopyToGpu(weight, MemoryKind::kPinned,
                        {at + 70_ms + k * 10_us, at + 70_ms + k * 10_us + 5_us},
                        {at + 70_ms + 20_us + k * 10_ms, at + 80_ms + k * 10_ms});
    }
    return story;
  }
};

TEST_CASE("gradients go down in the backward pass, and weights come back after code on the host") {
  const Analyzed run(OffloadedRun().Story());
  const OptimizerOffload& offload = run->copies.offload;
  CHECK(offload.loss.count == 6);
  CHECK(offload.loss.bytes == 6 * 2 * kGradient);
  CHECK(offload.up_bytes == 6 * 2 * kGradient);
  CHECK(offload.host_time == 6 * (30_ms + 20_us));
  // From the end of the backward pass to the last weight: gradients for 10 ms, and 50 ms.
  CHECK(offload.loss.lost->Total() / 10_ms == 6 * 60 / 10 - 1);  // 10 us of each launch less
}

TEST_CASE("weights may have half or twice the bytes of gradients, and no more") {
  for (const std::int64_t weight : {kGradient / 2, 2 * kGradient})
    CHECK(Analyzed(OffloadedRun{.weight = weight}.Story())->copies.offload.loss.count == 6);
  for (const std::int64_t weight : {kGradient / 4, 4 * kGradient})
    CHECK(Analyzed(OffloadedRun{.weight = weight}.Story())->copies.offload.loss.count == 0);
}

TEST_CASE("unnamed copies beside kernels that update weights, or of others, are no update") {
  const char* adam = "void multi_tensor_apply_kernel<FusedAdamMathFunctor>(int)";
  CHECK(Analyzed(OffloadedRun{.update = adam}.Story())->copies.offload.loss.count == 0);
  CHECK(Analyzed(OffloadedRun{.sender = "main"}.Story())->copies.offload.loss.count == 0);
}

TEST_CASE("gradients may go down where the update of the weights begins") {
  const OptimizerOffload& offload =
      Analyzed(OffloadedRun{.sender = "main", .named = true}.Story())->copies.offload;
  CHECK(offload.loss.count == 6);
  CHECK(offload.loss.bytes == 6 * 2 * kGradient);
  CHECK(offload.up_bytes == 6 * 2 * kGradient);
}

TEST_CASE("what comes up behind a named update is no part of it, however much it is") {
  const OptimizerOffload& offload =
      Analyzed(OffloadedRun{.named = true, .batch = 10 * kGradient}.Story())->copies.offload;
  CHECK(offload.loss.count == 6);
  CHECK(offload.up_bytes == 6 * 2 * kGradient);
}

TEST_CASE("the GPU may update a part of the weights, and the host the rest") {
  const char* adam = "void multi_tensor_apply_kernel<FusedAdamMathFunctor>(int)";
  const OptimizerOffload& offload =
      Analyzed(OffloadedRun{.update = adam, .named = true}.Story())->copies.offload;
  CHECK(offload.loss.count == 6);
  CHECK(offload.loss.bytes == 6 * 2 * kGradient);
}

}  // namespace
}  // namespace advise
