// What steps of a model server work on, as the names of their ranges say.
#include "engine/metrics/losses/serving/engine_steps.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// One step: kernels for `length`, launched at once.
void AddStep(TraceBuilder* story, const std::string& name, Nanos at, Nanos length) {
  story->Range(name, {at, at + length - 20_us});
  story->Launch("void vllm::reshape_and_cache_kernel<float>(int)", {at, at + 5_us},
                {at + 10_us, at + 30_us});
  story->Launch(kMatrixBf16, {at + 5_us, at + 9_us}, {at + 30_us, at + length - 10_us});
}

TEST_CASE("a server of 24 sequences reads a prompt in every fifth step") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 50; ++i) {
    const bool reads = i % 5 == 4;
    AddStep(&story, reads ? "step[EXTEND bs=1 toks=2048]" : "step[DECODE bs=24]", at,
            reads ? 4_ms : 1_ms);
    at += reads ? 4_ms : 1_ms;
  }
  const Analyzed run(story);
  const EngineSteps& steps = run->engine_steps;
  CHECK(steps.count == 50);
  CHECK(steps.with_prompts == 10);
  CHECK(steps.sequences == 24);
  CHECK(steps.tokens == 2048);
  CHECK(steps.generating == 1_ms);
  CHECK(steps.reading == 4_ms);
  CHECK(steps.reading_share == Approx(10 * 4.0 / (10 * 4 + 39)));  // nothing is before the first
  CHECK(steps.waiting == 24);
}

TEST_CASE(
    "a server that launches ahead: the GPU reads the prompt while the next step's range waits") {
  TraceBuilder story;
  Nanos host = 0, gpu = 1_ms;
  for (int i = 0; i < 40; ++i) {
    const bool reads = i % 5 == 4;
    const Nanos length = reads ? 8_ms : 1_ms;
    // The range of a step waits for the step before.
    const Nanos next = std::max(host + 100_us, gpu);
    story.Range(reads ? "step[EXTEND bs=1 toks=2048]" : "step[DECODE bs=24]", {host, next - 10_us});
    story.Launch("void vllm::reshape_and_cache_kernel<float>(int)", {host, host + 5_us},
                 {gpu, gpu + length - 10_us});
    host = next;
    gpu += length;
  }
  const Analyzed run(story);
  CHECK(run->engine_steps.reading == 8_ms);
  CHECK(run->engine_steps.generating == 1_ms);
}

TEST_CASE("of ranges inside each other the outermost is the step") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int, Nanos at) {
    story.Range("execute_context_2(300)_generation_8(8)", {at, at + 900_us});
    AddStep(&story, "step[DECODE bs=7]", at + 10_us, 800_us);
  });
  const Analyzed run(story);
  CHECK(run->engine_steps.count == 20);
  CHECK(run->engine_steps.with_prompts == 20);
  CHECK(run->engine_steps.sequences == 8);
  CHECK(run->engine_steps.waiting == 8);
  CHECK(run->engine_steps.generating == 0);
}

TEST_CASE("prompts that are read before anything is generated delay nobody") {
  TraceBuilder story;
  Repeat(12, 1_ms, [&](int i, Nanos at) {
    AddStep(&story, i < 4 ? "step[EXTEND bs=1 toks=9]" : "step[DECODE bs=4]", at, 1_ms);
  });
  CHECK(Analyzed(story)->engine_steps.waiting == 0);
}

TEST_CASE("a run without such names says nothing") {
  TraceBuilder story;
  Repeat(20, 1_ms,
         [&](int i, Nanos at) { AddStep(&story, "step " + std::to_string(i), at, 1_ms); });
  CHECK(Analyzed(story)->engine_steps.count == 0);
}

}  // namespace
}  // namespace advise
