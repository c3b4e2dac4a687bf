// What processes that share a GPU take from each other.
#include "engine/metrics/losses/host/shared_gpus.h"

#include "tests/metrics/losses/loss_words.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Two processes launch ahead. The GPU runs kernels of `us` in turns of `turn` kernels; the switch
// between two turns takes 50 us.
TraceBuilder Turns(int rounds, int turn, Nanos us, std::uint32_t blocks) {
  TraceBuilder story;
  Nanos now = 20_us;
  for (int round = 0; round < rounds; ++round) {
    for (const char* process : {"a", "b"}) {
      story.Process(process).Thread("main");
      for (int i = 0; i < turn; ++i) {
        const Nanos call = 5_us * (round * turn + i);
        story.Launch("step", {call, call + 4_us}, {now, now + us}, {.blocks = blocks});
        now += us + 1_us;
      }
      now += 50_us;
    }
  }
  return story;
}

// By what the window gets shorter with MPS, as a share.
double Gain(const Analyzed& run) {
  return static_cast<double>(run->replay().Gain(*run->host.gpu_switch.remedy)) /
         static_cast<double>(run.Window());
}

TEST_CASE("kernels that were launched wait for the turn of their process") {
  TraceBuilder story;
  story.Process("a").Thread("main").Launch("one", {0, 5_us}, {10_us, 100_us});
  story.Process("b").Thread("main").Launch("two", {20_us, 25_us}, {130_us, 200_us});
  story.Process("a").Thread("main").Launch("three", {240_us, 245_us}, {250_us, 300_us});
  story.Launch("four", {246_us, 248_us}, {320_us, 400_us});
  const Analyzed run(story);
  CHECK(run->host.gpu_processes == 2);
  // The kernels are wide, so the second one could not run beside the first: it waits 30 us longer.
  // The third starts as soon as it is launched, the last one waits for its own process.
  CHECK(Told(run->host.gpu_switch) == "1 times, 0 bytes, 30000 ns in all, 30000 ns lost");
  TraceBuilder one;
  one.Launch("one", {0, 5_us}, {10_us, 100_us}).Launch("two", {20_us, 25_us}, {130_us, 200_us});
  CHECK(Analyzed(one)->host.gpu_processes == 1);
  CHECK(Analyzed(one)->host.gpu_switch.count == 0);
}

TEST_CASE("narrow kernels of two processes could run side by side, wide ones could not") {
  CHECK(Gain(Analyzed(Turns(10, 20, 100_us, 40))) == Approx(0.51).epsilon(0.02));
  CHECK(Gain(Analyzed(Turns(10, 20, 100_us, 1000))) == Approx(0.022).epsilon(0.3));
}

TEST_CASE("processes that all use the first GPU, beside others without work") {
  // Two processes fill the GPU in turns: with a GPU each, half of the time is enough.
  TraceBuilder story = Turns(10, 20, 100_us, 1000);
  CHECK(Analyzed(story)->host.one_gpu.front().empty());  // there is no other GPU
  story.OnDevice(3);
  const Analyzed run(story);
  REQUIRE(run->run.trace.devices.size() == 4);
  CHECK(static_cast<double>(run->host.one_gpu.front().Total()) ==
        Approx(0.5 * static_cast<double>(run.Window())).epsilon(0.05));
}

TEST_CASE("kernels that fill less than the GPU leave each other only the rest of it") {
  // Three processes with 40 of 100 SMs each want 1.2 times the GPU.
  TraceBuilder story = Turns(10, 20, 100_us, 40);
  story.Process("c").Thread("main");
  Nanos now = 20_us + 10 * 2 * (20 * 101_us + 50_us);
  for (int i = 0; i < 200; ++i, now += 101_us)
    story.Launch("step", {5_us * i, 5_us * i + 4_us}, {now, now + 100_us}, {.blocks = 40});
  CHECK(Gain(Analyzed(story)) == Approx(0.6).epsilon(0.03));
}

TEST_CASE("kernels that stand still in the middle while another process has its turn") {
  // Each kernel takes 1 ms alone; beside the other process it takes 2 ms.
  TraceBuilder story;
  for (const char* process : {"a", "b"}) {
    story.Process(process).Thread("main");
    const bool first = process[0] == 'a';
    for (int i = 0; i < 40; ++i) {
      const Nanos call = 5_us * i + 1_us * (first ? 0 : 1);
      const Nanos start = 30_us + 2_ms * i + (first ? 0 : 500_us);
      story.Launch("step", {call, call + 4_us}, {start, start + 2_ms}, {.blocks = 40});
    }
  }
  // Nothing shows that they take turns: with MPS it would look the same. Only the first kernel of
  // the second process waits.
  CHECK(Analyzed(story)->host.gpu_switch.count == 1);
}

// Two processes with kernels of 100 us: in each turn of 2 ms, the last one does not get done.
TEST_CASE("short kernels that take as long as a turn stand still in the middle") {
  TraceBuilder story;
  for (int turn = 0; turn < 10; ++turn) {
    for (int process = 0; process < 2; ++process) {
      story.Process(process == 0 ? "a" : "b").Thread("main");
      const Nanos begin = 20_us + (2 * turn + process) * 2_ms;
      for (int i = 0; i < 20; ++i) {
        const Nanos call = 5_us * (turn * 20 + i) + process * 1_us;
        const Nanos start = begin + i * 100_us;
        const Nanos length = i < 19 || turn == 9 ? 99_us : 2_ms + 99_us;
        story.Launch("step", {call, call + 4_us}, {start, start + length}, {.blocks = 40});
      }
    }
  }
  CHECK(Gain(Analyzed(story)) == Approx(0.45).epsilon(0.1));
}

}  // namespace
}  // namespace advise
