// The passes of training from the threads that launch them.
#include "engine/timeline/phase.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

constexpr const char* kUpdate = "void multi_tensor_apply_kernel<FusedAdamMathFunctor>(int)";

// Four steps of 1 ms: two kernels forward, two backward on a thread of that name, and `update`.
class Training {
 public:
  explicit Training(const char* backward = "pt_autograd_0", const char* update = kUpdate) {
    for (int i = 0; i < 4; ++i) {
      const Nanos at = i * 1_ms;
      Launch("main", "norm", at + 200_us);
      Launch("main", kMatrixFp32, at + 300_us);
      Launch(backward, "ampere_sgemm_128x64_nt", at + 400_us);
      Launch(backward, "ampere_sgemm_128x64_nn", at + 500_us);
      Launch("main", "clip", at + 600_us);
      Launch("main", update, at + 700_us);
    }
    story.Thread("main");
  }
  void Launch(const char* thread, const char* kernel, Nanos at) {
    story.Thread(thread).Launch(kernel, {at, at + 5_us}, {at + 10_us, at + 60_us});
  }
  Phase Of(const std::string& kernel) {
    const Analyzed run(story);
    const Trace& trace = run.trace();
    Phase phase = Phase::kUnnamed;
    for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
      if (trace.ops.kind[op] == OpKind::kKernel &&
          trace.strings[trace.shapes[trace.ops.detail[op]].name] == kernel)
        phase = run->phases.OfOp(run->run, op);
    }
    return phase;
  }

  TraceBuilder story;
};

TEST_CASE("what autograd's threads launch is the backward pass, and splits the rest") {
  Training t;
  CHECK(t.Of("ampere_sgemm_128x64_nt") == Phase::kBackward);
  CHECK(t.Of("ampere_sgemm_128x64_nn") == Phase::kBackward);
  CHECK(t.Of("norm") == Phase::kForward);
  CHECK(t.Of(kMatrixFp32) == Phase::kForward);
  CHECK(t.Of("clip") == Phase::kOptimizer);
  CHECK(t.Of(kUpdate) == Phase::kOptimizer);
}

TEST_CASE("without updates that are known by name, only the backward pass is known") {
  Training t("pt_autograd_0", "my_update");
  CHECK(t.Of("ampere_sgemm_128x64_nt") == Phase::kBackward);
  CHECK(t.Of("norm") == Phase::kUnnamed);
  CHECK(t.Of("my_update") == Phase::kUnnamed);
}

TEST_CASE("a second thread that is not autograd's tells no passes") {
  Training t("worker");
  CHECK(t.Of("ampere_sgemm_128x64_nt") == Phase::kUnnamed);
  CHECK(t.Of("norm") == Phase::kUnnamed);
}

TEST_CASE("where all threads are called after autograd, none tells a pass") {
  TraceBuilder story;
  for (int i = 0; i < 6; ++i)
    story.Thread("autograd_benchmark")
        .Launch("norm", {i * 1_ms, i * 1_ms + 5_us}, {i * 1_ms + 10_us, i * 1_ms + 60_us});
  CHECK_FALSE(Analyzed(story)->phases.known(Phase::kBackward));
}

TEST_CASE("ranges that name a pass come first") {
  Training t;
  t.story.Range("forward", {0, 450_us});
  CHECK(t.Of("ampere_sgemm_128x64_nn") == Phase::kUnnamed);
  CHECK(t.Of(kUpdate) == Phase::kUnnamed);
}

TEST_CASE("an evaluation before a step is no part of its forward pass") {
  Training t;
  for (int i = 0; i < 4; ++i)
    t.story.Thread("main").Range("step " + std::to_string(i),
                                 {i * 1_ms + 190_us, i * 1_ms + 900_us});
  t.Launch("main", "evaluation", 3_ms - 50_us);
  CHECK(t.Of("evaluation") != Phase::kForward);
  CHECK(t.Of("norm") == Phase::kForward);
}

TEST_CASE("what runs between the optimizer and the next batch is no part of the forward pass") {
  Training t;
  for (int i = 0; i < 4; ++i) {
    const Nanos at = i * 1_ms;
    t.story.Thread("main").CopyToGpu(1 << 20, MemoryKind::kPinned, {at + 150_us, at + 155_us},
                                     {at + 160_us, at + 180_us});
    t.Launch("main", "print", at + 850_us);
  }
  CHECK(t.Of("print") == Phase::kUnnamed);
  CHECK(t.Of("norm") == Phase::kForward);
}

TEST_CASE("a validation with batches of its own lies before the forward pass") {
  Training t;
  const auto upload = [&](Nanos at) {
    t.story.Thread("main").CopyToGpu(1 << 20, MemoryKind::kPinned, {at, at + 5_us},
                                     {at + 10_us, at + 20_us});
  };
  for (int i = 0; i < 4; ++i) upload(i * 1_ms + 150_us);
  upload(3_ms - 200_us);
  t.Launch("main", "validation", 3_ms - 150_us);
  CHECK(t.Of("validation") == Phase::kUnnamed);
  CHECK(t.Of("norm") == Phase::kForward);
}

TEST_CASE("an upload of other data within the forward pass does not begin it") {
  Training t;
  for (int i = 0; i < 4; ++i) {
    const Nanos at = i * 1_ms;
    for (const auto& [bytes, when] : {std::pair(1 << 20, 150_us), std::pair(1 << 22, 280_us)})
      t.story.Thread("main").CopyToGpu(bytes, MemoryKind::kPinned, {at + when, at + when + 5_us},
                                       {at + when + 10_us, at + when + 20_us});
  }
  CHECK(t.Of("norm") == Phase::kForward);
}

}  // namespace
}  // namespace advise
