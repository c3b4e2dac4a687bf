// Results that the host could read one step later.
#include "engine/metrics/losses/waits/step_results.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Batches of 10 ms: an upload of 1 ms, a kernel of 5 ms, and a copy of so many bytes to the host,
// behind which the host computes for 3 ms.
TraceBuilder Batches(std::int64_t result_bytes, const char* copy = "cudaMemcpy") {
  TraceBuilder story;
  Repeat(20, 10_ms, [&](int, Nanos at) {
    story.CopyToGpu(8 << 20, MemoryKind::kPinned, {at, at + 5_us}, {at + 10_us, at + 1_ms});
    story.Launch("network", {at + 6_us, at + 11_us}, {at + 1_ms, at + 6_ms});
    const Nanos copied = at + 6_ms + 40_us;
    const bool blocks = std::string_view(copy) == "cudaMemcpy";
    story.CopyFromGpu(result_bytes, blocks ? MemoryKind::kPageable : MemoryKind::kPinned,
                      {at + 12_us, blocks ? copied + 5_us : at + 17_us}, {at + 6_ms, copied}, copy);
  });
  return story;
}

StepResults Found(const TraceBuilder& story, bool fed) {
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.known());
  return FindStepResults(run->basis(), run->copies, fed);
}

TEST_CASE("results that the host fetches before it sends new input keep the GPU idle") {
  const Analyzed run(Batches(64 << 10), kAuto);
  const StepResults found = FindStepResults(run->basis(), run->copies, true);
  CHECK(found.loss.per_step == 1);
  CHECK(found.loss.bytes == Approx(20 * (64 << 10)).epsilon(0.06));
  CHECK(found.loss.lost->Total() == Approx(19 * 4e6).epsilon(0.02));
  // The host then has the next batch queued when the GPU is done with this one.
  CHECK(run->replay().Gain(*found.loss.remedy) == Approx(19 * 4e6).epsilon(0.12));
}

TEST_CASE("results are needed where nobody else loads, or what is sent next may be an answer") {
  CHECK(Found(Batches(64 << 10), false).loss.count == 0);
  CHECK(Found(Batches(5 << 20), true).loss.count == 0);
  CHECK(Found(Batches(4 << 20), true).loss.count > 0);
}

TEST_CASE(
    "a copy for which nobody waits fetches nothing too early, and a number is told elsewhere") {
  CHECK(Found(Batches(64 << 10, "cudaMemcpyAsync"), true).loss.count == 0);
  CHECK(Found(Batches(8), true).loss.count == 0);
}

}  // namespace
}  // namespace advise
