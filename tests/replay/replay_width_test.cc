// Replay: what the order allows, the width of the device may not.
#include "tests/support/analysed.h"
#include "tests/support/stories.h"
namespace advise {
namespace {
TEST_CASE("removing a wait does not let kernels that fill the GPU run side by side") {
  // Two streams; each kernel has 1000 blocks on 100 SMs. The host waits between the two.
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 10; ++i, at += 420_us) {
    story.OnStream(7).Launch("wide", {at, at + 5_us}, {at + 8_us, at + 208_us});
    story.Sync({at + 6_us, at + 210_us});
    story.OnStream(8).Launch("wide", {at + 211_us, at + 215_us}, {at + 218_us, at + 418_us});
    story.Sync({at + 216_us, at + 419_us});
  }
  const Analysed run(story);
  Remedy remedy;
  remedy.unblocked_calls = run.Calls("cudaStreamSynchronize");
  CHECK(run->replay().With(remedy).length_ns >= run->times[0].ComputeNs());
}
}  // namespace
}  // namespace advise
