// Waits of a host that asks again and again whether the GPU is done.
#include "engine/replay/polls.h"

#include <algorithm>

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

constexpr int kFrames = 30;
constexpr Nanos kPause = 200_us;

// Each frame is one kernel of 3 ms, whose length varies. The host asks every 200 us whether it is
// done, asks for `events` that end with it, and launches the next one then.
TraceBuilder AskedFrames(int events) {
  TraceBuilder story;
  Nanos host = 0;
  for (int i = 0; i < kFrames; ++i) {
    const Nanos end = host + 10_us + 3_ms + (i % 5) * 90_us;
    story.Launch(kMatrixFp32, {host, host + 4_us}, {host + 10_us, end});
    host += 6_us;
    while (host < end) {
      story.Call("cudaEventQuery", {host, host + 1_us});
      host += kPause;
    }
    for (int e = 0; e < events; ++e, host += 2_us)
      story.Call("cudaEventQuery", {host, host + 1_us});
  }
  return story;
}

Remedy HalfTheWork(const Analyzed& run) {
  Remedy remedy;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    remedy.scaled_ops.emplace_back(op, 0.5F);
  return remedy;
}

int Waits(const Analyzed& run) {
  const Polls polls = FindPolls(run->run);
  return static_cast<int>(std::count_if(polls.awaited.begin(), polls.awaited.end(),
                                        [](auto op) { return op != kNone; }));
}

TEST_CASE("who asks until the GPU is done is done sooner when the GPU is") {
  const Analyzed run(AskedFrames(1));
  CHECK(Waits(run) == kFrames);
  CHECK(run->replay().BaselineNs() == run.Window());
  CHECK(run->replay().Gain(HalfTheWork(run)) > run.Window() * 45 / 100);
}

TEST_CASE("who asks for another event behind the one that was late has waited all the same") {
  const Analyzed run(AskedFrames(2));
  CHECK(Waits(run) == kFrames);
  CHECK(run->replay().Gain(HalfTheWork(run)) > run.Window() * 45 / 100);
}

TEST_CASE("an allocator that asks for many events at once waits for none") {
  TraceBuilder story;
  Nanos time = 0;
  for (int i = 0; i < kFrames; ++i, time += 1_ms) {
    story.Launch(kMatrixFp32, {time, time + 4_us}, {time + 10_us, time + 900_us});
    for (int k = 0; k < 8; ++k)
      story.Call("cudaEventQuery", {time + (6 + 2 * k) * 1_us, time + (7 + 2 * k) * 1_us});
  }
  CHECK(Waits(Analyzed(story)) == 0);
}

}  // namespace
}  // namespace advise
