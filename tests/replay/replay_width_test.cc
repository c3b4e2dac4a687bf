// Replay: what the order allows, the width of the device may not.
#include "tests/support/analyzed.h"
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
  const Analyzed run(story);
  Remedy remedy;
  remedy.unblocked_calls = run.Calls("cudaStreamSynchronize");
  CHECK(run->replay().With(remedy).length_ns >= run->times[0].ComputeNs());
}

TEST_CASE("small kernels freed from each other still follow the kernel that fills the GPU") {
  // A kernel of 1000 blocks, then four small ones that take turns on two other streams: the first
  // of both streams follow the large kernel, which the chain between them hides.
  TraceBuilder story;
  Nanos called = 0;
  Nanos start = 30_us;
  const auto launch = [&](std::int64_t stream, std::uint32_t blocks, Nanos length) {
    story.OnStream(stream).Launch("kernel", {called, called + 4_us}, {start, start + length},
                                  {.blocks = blocks});
    called += 5_us;
    start += length;
  };
  for (int i = 0; i < 10; ++i) {
    launch(7, 1000, 200_us);
    for (int k = 0; k < 4; ++k) launch(8 + k % 2, 10, 50_us);
  }
  const Analyzed run(story);
  Remedy remedy;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op) {
    if (op % 5 >= 2) remedy.freed_ops.push_back(op);
  }
  // Of each 400 us, 200 remain for the large kernel and 100 for two pairs of small ones.
  const Nanos length = run->replay().With(remedy).length_ns;
  CHECK(length >= 10 * 300_us);
  CHECK(length <= 10 * 300_us + 100_us);
}
}  // namespace
}  // namespace advise
