// Idle time of a model server, told apart by what the launching thread was doing.
#include "engine/metrics/losses/serving.h"

#include <memory>

#include "tests/support/analysed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Each step computes for 400 us and then samples for 300 us.
TraceBuilder Server(bool os_calls) {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("execute_model", {at, at + 900_us});
    story.Range("sample", {at + 500_us, at + 800_us});
    story.Launch("void vllm::reshape_and_cache_kernel<float>(int)", {at, at + 5_us},
                 {at + 10_us, at + 110_us});
    story.Launch(kMatrixBf16, {at + 5_us, at + 9_us}, {at + 110_us, at + 400_us});
    if (os_calls) story.OsCall("poll", {at + 910_us, at + 990_us});
    if (i == 19) story.Launch("end", {at + 990_us, at + 992_us}, {at + 995_us, at + 999_us});
  });
  return story;
}

TEST_CASE("the GPU of a server waits while the host samples tokens") {
  const Analysed run(Server(true));
  REQUIRE(run->kind.serves);
  REQUIRE(run->serving.known);
  CHECK(run->serving.sampling.lost->Total() == 20 * 300_us);
  CHECK(run->serving.tokenizer.lost->Total() == 0);
}

TEST_CASE("code behind a copy of logits samples tokens, also where no range says so") {
  const auto generator = [](std::int64_t bytes) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 30; ++i) {
      story.Launch("void vllm::reshape_and_cache_kernel<float>(int)", {at, at + 5_us},
                   {at + 10_us, at + 110_us});
      story.Launch("flash_fwd_splitkv_kernel", {at + 5_us, at + 9_us}, {at + 110_us, at + 450_us});
      story.CopyFromGpu(bytes, MemoryKind::kPageable, {at + 10_us, at + 470_us},
                        {at + 451_us, at + 469_us});
      at += 800_us;  // 330 us of code
    }
    return story;
  };
  const Analysed logits(generator(4 * 32'000 * 2), kAuto);
  CHECK(logits->serving.sampling_named);
  CHECK(logits->serving.sampling.lost->Total() > 20 * 300_us);
  CHECK_FALSE(Analysed(generator(4 * 8), kAuto)->serving.sampling_named);
}

TEST_CASE("a pause of a single step is not the scheduler's") {
  // 50 us of code between the engine's steps, and once 5 ms.
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 30; ++i) {
    story.Range("execute_model", {at, at + 450_us});
    story.Launch("void vllm::reshape_and_cache_kernel<float>(int)", {at, at + 5_us},
                 {at + 10_us, at + 110_us});
    story.Launch(kMatrixBf16, {at + 5_us, at + 9_us}, {at + 110_us, at + 450_us});
    story.OsCall("write", {at + 451_us, at + 455_us});
    at += i == 20 ? 5_ms : 500_us;
  }
  const Analysed run(story, kAuto);
  REQUIRE(run->serving.known);
  REQUIRE(run->run.steps.outliers.size() == 1);
  CHECK(run->serving.scheduler.lost->Total() > 0);
  CHECK(run->serving.scheduler.lost->Total() < 30 * 60_us);
}

TEST_CASE("ranges that sample tokens say so without OS calls, unlike a wait for requests") {
  const Analysed run(Server(false));
  CHECK_FALSE(run->serving.known);
  CHECK(run->serving.sampling_named);
  CHECK(run->serving.sampling.lost->Total() == 20 * 300_us);
  CHECK(run->serving.scheduler.lost->Total() == 0);
}

}  // namespace
}  // namespace advise
