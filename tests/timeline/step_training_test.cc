// Steps of training, which no range names, from what each of them does once.
#include "engine/timeline/step.h"
#include "tests/support/analyzed.h"
#include "tests/support/trace_builder.h"

namespace advise {
namespace {

constexpr const char* kAdam = "void multi_tensor_apply_kernel<FusedAdamMathFunctor>(int)";

// Training whose batches all look alike: each is uploaded, six layers compute, and six more on
// autograd's thread go back through them.
class Loop {
 public:
  void Launch(const char* thread, const char* kernel) {
    story.Thread(thread).Launch(kernel, {at, at + 5_us}, {at + 6_us, at + 100_us});
    at += 110_us;
  }
  void Layers(const char* thread, const char* kernel, const char* copies = nullptr) {
    for (int layer = 0; layer < 6; ++layer) {
      if (copies != nullptr) Upload(40 << 20);
      Launch(thread, kernel);
      Launch(thread, "norm");
    }
  }
  void Upload(std::int64_t bytes) {
    story.Thread("main").CopyToGpu(bytes, MemoryKind::kPinned, {at, at + 5_us},
                                   {at + 6_us, at + 20_us});
    at += 30_us;
  }
  void Batch(bool trains) {
    Upload(1 << 20);
    Layers("main", kMatrixFp32);
    if (trains) Layers("pt_autograd_0", kMatrixFp32);
  }
  void Update() {
    for (int i = 0; i < 3; ++i) Launch("main", kAdam);
  }

  TraceBuilder story;
  Nanos at = 1_ms;
};

TEST_CASE("batches of an evaluation are no steps of training") {
  Loop loop;
  for (int step = 0; step < 24; ++step) {
    loop.Batch(true);
    loop.Update();
    for (int i = 0; step % 6 == 5 && i < 10; ++i) loop.Batch(false);
  }
  const Analyzed run(loop.story, kAuto);
  CHECK(run->run.steps.all.size() == 23);
  CHECK(run->run.steps.outliers.size() == 3);
}

TEST_CASE("several batches for one update are one step") {
  Loop loop;
  for (int step = 0; step < 8; ++step) {
    for (int i = 0; i < 16; ++i) loop.Batch(true);
    loop.Update();
  }
  CHECK(Analyzed(loop.story, kAuto)->run.steps.all.size() == 7);
}

TEST_CASE("layers that each copy their weights are no steps where a backward pass holds several") {
  Loop loop;
  for (int step = 0; step < 9; ++step) {
    loop.Layers("main", kMatrixFp32, "weights");
    loop.Layers("pt_autograd_0", kMatrixFp32, "weights");
    loop.at += 10_ms;
  }
  CHECK(Analyzed(loop.story, kAuto)->run.steps.all.size() == 8);
}

TEST_CASE("two models that are updated in turn are one step") {
  Loop loop;
  for (int step = 0; step < 12; ++step) {
    loop.Batch(true);
    loop.Update();
    loop.Layers("main", "ampere_sgemm_64x64_nn");
    loop.Layers("pt_autograd_0", "ampere_sgemm_64x64_nt");
    loop.Launch("main", "penalty");
    loop.Update();
  }
  const std::size_t steps = Analyzed(loop.story, kAuto)->run.steps.all.size();
  CHECK((steps == 11 || steps == 12));
}

}  // namespace
}  // namespace advise
