// Replay: what the order allows, the width of the device may not.
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"
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

// A small kernel of a second stream, launched long before, finds room once the last blocks of a
// wide one are left: 20 us before its end. The host reads its result and launches the next pair.
TEST_CASE("a kernel that begins in the last blocks of one that fills the GPU had no room before") {
  constexpr int kRounds = 10;
  TraceBuilder story;
  Repeat(kRounds, 1200_us, [&](int, Nanos at) {
    story.OnStream(7).Launch("wide", {at, at + 4_us}, {at + 10_us, at + 1010_us}, {.blocks = 1000});
    story.OnStream(8).Launch("small", {at + 5_us, at + 9_us}, {at + 990_us, at + 1100_us},
                             {.blocks = 10});
    story.Sync({at + 10_us, at + 1110_us});
  });
  const Analyzed run(story);
  Remedy faster;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); op += 2)
    faster.scaled_ops.emplace_back(op, 0.5F);
  CHECK(run->replay().Gain(faster) >= (kRounds - 1) * 490_us);
}

// Communication is made to wait for the products, and a wide kernel is queued behind those: its
// first blocks are there before the event is, and leave room only 120 us later. The host waits.
TEST_CASE("a kernel that begins beside one that fills the GPU waited for what ended before that") {
  constexpr int kRounds = 10;
  TraceBuilder story;
  Repeat(kRounds, 2_ms, [&](int, Nanos at) {
    story.OnStream(7).Launch("product", {at, at + 4_us}, {at + 10_us, at + 1010_us},
                             {.blocks = 1000});
    story.OnStream(8).Launch("exchange", {at + 5_us, at + 9_us}, {at + 1132_us, at + 1500_us},
                             {.blocks = 10});
    story.OnStream(7).Launch("wide", {at + 10_us, at + 14_us}, {at + 1012_us, at + 1400_us},
                             {.blocks = 1000});
    story.Sync({at + 15_us, at + 1505_us});
  });
  const Analyzed run(story);
  Remedy faster;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); op += 3)
    faster.scaled_ops.emplace_back(op, 0.5F);
  CHECK(run->replay().Gain(faster) >= (kRounds - 1) * 490_us);
  CHECK(run->replay().With({}).length_ns >= run->run.window.Length() - 20_us);
}
}  // namespace
}  // namespace advise
