// What a window leaves out where no steps tell it.
#include "tests/support/analyzed.h"

namespace advise {
namespace {

constexpr auto kAuto = WindowRequest::Mode::kAuto;

// `before` kernels of 1 ms that were queued before the recording, then five launched in it; the
// first of them at the end of those before, or earlier.
TraceBuilder OnePass(int before, Nanos earlier = 0) {
  TraceBuilder story;
  for (int i = 0; i < before; ++i) story.Kernel("matmul", {i * 1_ms, (i + 1) * 1_ms});
  Nanos at = before * 1_ms;
  for (int i = 0; i < 5; ++i, at += (2 + i) * 1_ms) {
    const Nanos call = at + 100_us - (i == 0 ? earlier : 0);
    story.Launch("layer_" + std::to_string(i), {call, call + 10_us}, {at + 200_us, at + 1_ms});
  }
  return story;
}

TEST_CASE("work that was queued before the recording is of another pass, and is left out") {
  const Analyzed run(OnePass(4), kAuto);
  CHECK(run->run.window.mode == "steady");
  CHECK(run->run.window.start == 4_ms);
  CHECK(run->times[0].ComputeNs() == 5 * 800_us);
  CHECK(Analyzed(OnePass(0), kAuto)->run.window.mode == "all");
}

TEST_CASE("work that the host goes on with before the GPU is done is of the same pass") {
  CHECK(Analyzed(OnePass(4, 500_us), kAuto)->run.window.mode == "all");
}

TEST_CASE("a single marked step begins with its range, and not with the GPU's first work") {
  TraceBuilder story = OnePass(0);
  story.Range("step 7", {-20_ms, 30_ms});
  const Analyzed run(story, kAuto);
  CHECK(run->run.window.start == -20_ms);
  CHECK(run->times[0].idle.Total() > 20_ms);
}

TEST_CASE("two ranges called steps that launch the work are steps, whatever repeats in them") {
  const auto steps_of = [](const char* name, int in_range) {
    TraceBuilder story;
    Repeat(2, 500_ms, [&](int, Nanos at) {
      story.Range(name, {at, at + 490_ms});
      story.CopyToGpu(64_MiB, MemoryKind::kPinned, {at + 100_ms, at + 100_ms + 5_us},
                      {at + 101_ms, at + 105_ms});
      for (int n = 0; n < 40; ++n) {
        const Nanos call = (n < in_range ? at + 106_ms : at + 492_ms) + n * 10_us;
        story.Launch("solve", {call, call + 5_us},
                     {at + 107_ms + n * 9_ms, at + 115_ms + n * 9_ms});
        story.Sync({call + 6_us, call + 8_us});
      }
    });
    const Analyzed run(story, kAuto);
    return std::pair(run->run.steps.all.size(), run->run.window.start);
  };
  CHECK(steps_of("step", 40) == std::pair(std::size_t{0}, Nanos{0}));
  CHECK(steps_of("block", 40).first > 20);
  CHECK(steps_of("step", 18).first > 20);  // most is launched outside
}

TEST_CASE("a GPU that only starts up is none of those that the loop works on") {
  TraceBuilder story;
  story.OnDevice(1).Launch("set_up", {0_us, 5_us}, {10_us, 40_us}).OnDevice(0);
  Repeat(20, 1_ms, [&](int, Nanos at) {
    story.Range("step", {at + 1_ms, at + 1900_us});
    story.Launch("work", {at + 1_ms, at + 1_ms + 5_us}, {at + 1_ms + 10_us, at + 1900_us});
  });
  const Analyzed run(story, kAuto);
  CHECK(run->run.active_devices == std::vector<std::uint32_t>{0});
  CHECK(run->basis().Device() == run->run.window.Length());
}

TEST_CASE("a marked step begins while the GPU still runs the one before, unless it only waits") {
  TraceBuilder story = OnePass(4);
  story.Range("step 7", {1_ms, 40_ms});
  CHECK(Analyzed(story, kAuto)->run.window.start == 1_ms);
  story.Call("cudaDeviceSynchronize", {1_ms, 4_ms});
  CHECK(Analyzed(story, kAuto)->run.window.start == 4_ms);
}

TEST_CASE("where no call of a GPU was recorded, its work is not of another pass") {
  TraceBuilder story;
  for (int i = 0; i < 4; ++i)
    story.Kernel("layer_" + std::to_string(i), {i * 1_ms, (i + 1) * 1_ms});
  CHECK(Analyzed(story, kAuto)->run.window.mode == "all");
}

// Processes in a row, each of which starts for so long, and works through 20 steps of 1 ms.
std::string ModeOf(int processes, Nanos start_up) {
  TraceBuilder story;
  for (int p = 0; p < processes; ++p) {
    Nanos at = p * (start_up + 20_ms) + start_up;
    story.Process("solver " + std::to_string(p)).Thread("main");
    for (int step = 0; step < 20; ++step, at += 1_ms) {
      story.Range("step " + std::to_string(step), {at, at + 990_us});
      story.Launch("advance", {at + 1_us, at + 6_us}, {at + 10_us, at + 980_us});
    }
  }
  return Analyzed(story, kAuto)->run.window.mode;
}

TEST_CASE("the loop inside one of many processes of a program is no picture of the run") {
  CHECK(ModeOf(6, 20_ms) == "all");
  CHECK(ModeOf(5, 20_ms) == "steady");  // a few repeats of a benchmark
  CHECK(ModeOf(6, 1'300_us) == "all");
  CHECK(ModeOf(6, 900_us) == "steady");
}

}  // namespace
}  // namespace advise
