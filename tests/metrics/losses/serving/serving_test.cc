// Idle time of a model server, told apart by what the launching thread was doing.
#include "engine/metrics/losses/serving/serving.h"

#include <memory>

#include "tests/support/analyzed.h"
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
  const Analyzed run(Server(true));
  REQUIRE(run->kind.serves);
  REQUIRE(run->serving.known);
  CHECK(run->serving.sampling.lost->Total() == 20 * 300_us);
  CHECK(run->serving.tokenizer.lost->Total() == 0);
}

// Each step of 2 ms: 400 us of work, host code in the engine until 900 us, text of tokens from 950
// to 1150 us, a wait for requests from 1200 to 1800 us.
TEST_CASE("the time of a server is divided: requests, scheduler, tokens to text, launches") {
  TraceBuilder story;
  Repeat(20, 2_ms, [&](int i, Nanos at) {
    story.Range("execute_model", {at, at + 900_us});
    story.Launch("void vllm::reshape_and_cache_kernel<float>(int)", {at, at + 5_us},
                 {at + 10_us, at + 110_us});
    story.Launch(kMatrixBf16, {at + 5_us, at + 9_us}, {at + 110_us, at + 400_us});
    story.Range("detokenize", {at + 950_us, at + 1150_us});
    story.OsCall("poll", {at + 1200_us, at + 1800_us});
    if (i == 19) story.Launch("end", {at + 1990_us, at + 1992_us}, {at + 1995_us, at + 1999_us});
  });
  const Analyzed run(story);
  REQUIRE(run->serving.known);
  CHECK(run->serving.steps_named);
  CHECK(run->serving.tokenizer_named);
  CHECK_FALSE(run->serving.sampling_named);
  CHECK(run->serving.tokenizer.lost->Total() == 20 * 200_us);
  CHECK(run->serving.no_request.lost->Total() == 20 * 600_us);
  // 500 us behind the work, and 10 us before that of all steps but the first.
  CHECK(run->serving.launch.lost->Total() == 20 * 500_us + 19 * 10_us);
  // 50 us on both sides of the text, 200 us behind the wait, the last time until the last launch.
  CHECK(run->serving.scheduler.lost->Total() == 20 * 300_us - 10_us);
  CHECK(run->serving.load == Approx(1 - 20 * 600e3 / static_cast<double>(run.Window())));
}

TEST_CASE("code behind a copy of logits samples tokens, also where no range says so") {
  // `saves`: the host gets as many bytes behind two tokens only, in many pieces.
  const auto generator = [](std::int64_t bytes, bool saves = false) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 30; ++i) {
      story.Launch("void vllm::reshape_and_cache_kernel<float>(int)", {at, at + 5_us},
                   {at + 10_us, at + 110_us});
      story.Launch("flash_fwd_splitkv_kernel", {at + 5_us, at + 9_us}, {at + 110_us, at + 450_us},
                   {.blocks = 1});
      const int pieces = !saves ? 1 : i == 5 || i == 16 ? 12 : 0;
      for (int piece = 0; piece < pieces; ++piece) {
        const Nanos from = at + 20_us * piece;
        story.CopyFromGpu(bytes, MemoryKind::kPageable, {from + 10_us, from + 470_us},
                          {from + 451_us, from + 469_us});
      }
      at += 800_us;  // 330 us of code
    }
    return story;
  };
  const Analyzed logits(generator(4 * 32'000 * 2), kAuto);
  CHECK(logits->serving.sampling_named);
  // The code, and the copies: where the GPU picks the token, its ID alone goes to the host.
  CHECK(logits->serving.sampling.lost->Total() > 28 * (330_us + 18_us));
  CHECK(logits->serving.sampling.remedy->scaled_ops.size() >= 28);
  CHECK_FALSE(Analyzed(generator(4 * 8), kAuto)->serving.sampling_named);
  // What is saved now and then comes in pieces as large.
  CHECK_FALSE(Analyzed(generator(4 * 32'000 * 2, true), kAuto)->serving.sampling_named);
}

TEST_CASE("what is downloaded while the next kernels are in the queue are no logits") {
  // Each step copies a block of the cache to pinned memory, 100 us; the next step is queued 150 us
  // before its end, or 350 us after it.
  const auto named = [](Nanos ahead) {
    TraceBuilder story;
    Nanos at = 1_ms;
    for (int i = 0; i < 30; ++i, at += 900_us) {
      const Nanos call = at - ahead;
      story.Launch("void vllm::reshape_and_cache_kernel<float>(int)", {call, call + 5_us},
                   {at + 10_us, at + 110_us});
      story.Launch("flash_fwd_splitkv_kernel", {call + 5_us, call + 9_us},
                   {at + 110_us, at + 450_us}, {.blocks = 1});
      story.CopyFromGpu(2'000'000, MemoryKind::kPinned, {call + 10_us, call + 14_us},
                        {at + 451_us, at + 551_us});
    }
    return Analyzed(story, kAuto)->serving.sampling_named;
  };
  CHECK_FALSE(named(500_us));
  CHECK(named(0_us));
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
  const Analyzed run(story, kAuto);
  REQUIRE(run->serving.known);
  REQUIRE(run->run.steps.outliers.size() == 1);
  CHECK(run->serving.scheduler.lost->Total() > 0);
  CHECK(run->serving.scheduler.lost->Total() < 30 * 60_us);
}

TEST_CASE("without OS calls, what is idle inside a step of the engine waits for no request") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int, Nanos at) {  // 200 us inside the step, 290 us outside
    story.Range("step[DECODE bs=16]", {at, at + 700_us});
    story.Launch("void vllm::reshape_and_cache_kernel<float>(int)", {at, at + 5_us},
                 {at + 10_us, at + 110_us});
    story.Launch(kMatrixBf16, {at + 300_us, at + 305_us}, {at + 310_us, at + 700_us});
  });
  const Analyzed run(story);
  CHECK_FALSE(run->serving.known);
  REQUIRE(run->serving.steps_named);
  // And 10 us before the first kernel of each step but the first.
  CHECK(run->serving.launch.lost->Total() == 20 * 200_us + 19 * 10_us);
  CHECK(run->serving.scheduler.lost->Total() == 19 * 300_us);
  CHECK(run->serving.no_request.lost->Total() == 0);
}

TEST_CASE("ranges that sample tokens say so without OS calls, unlike a wait for requests") {
  const Analyzed run(Server(false));
  CHECK_FALSE(run->serving.known);
  CHECK(run->serving.sampling_named);
  CHECK(run->serving.sampling.lost->Total() == 20 * 300_us);
  CHECK(run->serving.no_request.lost->Total() == 0);
}

}  // namespace
}  // namespace advise
