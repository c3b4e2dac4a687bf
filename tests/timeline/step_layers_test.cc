// Layers of a model are no steps.
#include "tests/support/analysed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("one pass through a model with many like layers supports no verdict") {
  TraceBuilder story;
  Nanos at = 100_us;
  const auto kernel = [&](const char* name) {
    story.Launch(name, {at - 60_us, at - 57_us}, {at, at + 50_us});
    at += 50_us;
  };
  kernel("embed");
  for (int layer = 0; layer < 32; ++layer) {
    for (const char* name : {"norm", "sgemm_qkv", "attn", "sgemm_up", "gelu", "sgemm_down"})
      kernel(name);
  }
  kernel("head");
  const Analysed run(story, WindowRequest::Mode::kAuto);
  CHECK_FALSE(run->run.steps.known());
  CHECK_FALSE(run->support.verdict);
}

TEST_CASE("ranges of layers are no steps, though they follow each other and count up") {
  TraceBuilder story;
  Repeat(12, 1_ms, [&](int i, Nanos at) {
    story.Range("layer " + std::to_string(i), {at, at + 999_us});
    story.Launch("sgemm", {at + 1_us, at + 4_us}, {at + 10_us, at + 1009_us});
  });
  CHECK_FALSE(Analysed(story, WindowRequest::Mode::kAuto)->run.steps.known());
}

TEST_CASE("the layers of two passes are no steps") {
  TraceBuilder story;
  Repeat(2, 1_ms, [&](int, Nanos start) { AddLayeredStep(&story, start, 50_us); });
  CHECK_FALSE(Analysed(story, WindowRequest::Mode::kAuto)->run.steps.known());
}

}  // namespace
}  // namespace advise
