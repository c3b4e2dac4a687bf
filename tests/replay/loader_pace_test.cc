// How fast loaders are that nothing waits for, and whether that is known.
#include "engine/replay/replay.h"
#include "tests/support/all_ops.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// The GPU works for all of each step of 2 ms, in a program that trains.
TraceBuilder BusySteps(int count) {
  TraceBuilder story;
  Repeat(count, 2_ms, [&](int, Nanos at) {
    story.Range("step", {at, at + 1990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1900_us});
    story.Launch("adamw_kernel", {at + 6_us, at + 9_us}, {at + 1900_us, at + 1950_us});
    story.Sync({at + 10_us, at + 1960_us}, "cudaDeviceSynchronize");
  });
  return story;
}

TEST_CASE("workers that were never seen to rest set no pace") {
  TraceBuilder story = BusySteps(20);
  story.Process("worker").Thread("pt_data_worker");
  Repeat(20, 2_ms, [&](int, Nanos at) { story.OsCall("read", {at, at + 1_ms}); });
  const Analyzed run(story, kAuto);
  CHECK(run->input.needs_ns == 0);
  CHECK(run->replay().Gain(AllOps(run, 0.1F)) > run.Window() / 2);
}

// A worker reads four pieces a step and decodes each;
// the last one takes it so much longer.
TraceBuilder LoadsWithoutWaits(Nanos pause) {
  TraceBuilder story = BusySteps(20);
  story.Process("worker").Thread("pt_data_worker");
  const Nanos decoding = (2_ms - pause) / 4;
  Repeat(20, 2_ms, [&](int, Nanos at) {
    for (int i = 0; i < 4; ++i) {
      story.OsCall("open64", {at + i * decoding, at + i * decoding + 5_us});
      story.OsCall("read", {at + i * decoding + 5_us, at + i * decoding + 50_us});
    }
  });
  return story;
}

TEST_CASE("a worker that decodes all the time sets the pace, although no wait of it is recorded") {
  const Analyzed run(LoadsWithoutWaits(0), kAuto);
  std::string bound;
  CHECK(run->input.needs_ns > run.Window() * 9 / 10);
  CHECK(run->replay().Gain(AllOps(run, 0.1F), &bound) < run.Window() / 10);
  CHECK(bound == "the data loader");
}

TEST_CASE("a longer pause behind each batch may be a rest") {
  const Analyzed run(LoadsWithoutWaits(1600_us), kAuto);
  CHECK(run->input.needs_ns == 0);
  // 825 us where the others are 325 us.
  CHECK(Analyzed(LoadsWithoutWaits(500_us), kAuto)->input.needs_ns == 0);
  CHECK(run->replay().Gain(AllOps(run, 0.1F)) > run.Window() / 2);
}

TEST_CASE("a worker that waited once would have shown its rests") {
  TraceBuilder story = LoadsWithoutWaits(1600_us);
  story.OsCall("sem_wait", {39500_us, 39900_us});
  CHECK(Analyzed(story, kAuto)->input.needs_ns > 30_ms);
}

// A feeder receives each batch in four pieces and decodes them. The host waits for the batch while
// the GPU works for 1 ms, and for 1 ms behind that.
TEST_CASE("a host that waits for batches does not wait for kernels that end as evenly") {
  TraceBuilder story;
  Repeat(30, 2_ms, [&](int, Nanos at) {
    story.Range("step", {at, at + 1990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1000_us});
    story.Launch("adamw_kernel", {at + 6_us, at + 9_us}, {at + 1000_us, at + 1010_us});
    story.OsCall("pthread_cond_timedwait", {at + 20_us, at + 1980_us});
  });
  story.Thread("feeder");
  Repeat(120, 500_us, [&](int, Nanos at) { story.OsCall("recv", {at, at + 470_us}); });
  const Analyzed run(story, kAuto);
  Remedy ready;
  ready.data_ready = true;
  CHECK(run->replay().Gain(ready) > run.Window() * 4 / 10);
}

// Twenty steps of 2 ms: the GPU works for 1 ms, then the host waits for 1 ms for the next batch.
// Two workers take turns. Each reads and decodes eight pieces, from `begins` on, and no wait is
// seen.
TraceBuilder LoadsOnDemand(const std::function<Nanos(int)>& begins) {
  TraceBuilder story;
  Repeat(20, 2_ms, [&](int, Nanos at) {
    story.Range("step", {at, at + 1990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1000_us});
    story.Launch("adamw_kernel", {at + 6_us, at + 9_us}, {at + 1000_us, at + 1010_us});
    story.Sync({at + 12_us, at + 1020_us}, "cudaDeviceSynchronize");
    story.OsCall("pthread_cond_wait", {at + 1030_us, at + 1980_us});
  });
  for (int worker = 0; worker < 2; ++worker) {
    story.Process("worker " + std::to_string(worker)).Thread("pt_data_worker");
    Repeat(10, 4_ms, [&](int turn, Nanos at) {
      const int step = 2 * turn + worker;
      for (int i = 0; i < 8; ++i) {
        const Nanos piece = at + worker * 2_ms + begins(step) + i * 110_us;
        story.OsCall("read", {piece, piece + 30_us});
      }
    });
  }
  return story;
}

TEST_CASE("workers whose waits are not recorded load on demand where they go on when asked") {
  const Analyzed run(LoadsOnDemand([](int) { return 1040_us; }), kAuto);
  // The batches come as much sooner as the GPU is done.
  const Nanos gain = run->replay().Gain(AllOps(run, 0.1F));
  CHECK(gain > run.Window() * 4 / 10);
  CHECK(gain < run.Window() / 2);
}

TEST_CASE("workers whose waits are not recorded, and that go on at other times, set the pace") {
  const Analyzed run(LoadsOnDemand([](int) { return 700_us; }), kAuto);
  CHECK(run->replay().Gain(AllOps(run, 0.1F)) < run.Window() / 10);
}

TEST_CASE("workers load on demand where most of their pauses end when they are asked") {
  const auto gain = [](int asked_of_ten) {
    const Analyzed run(
        LoadsOnDemand([&](int step) { return step * 3 % 10 < asked_of_ten ? 1040_us : 700_us; }),
        kAuto);
    return run->replay().Gain(AllOps(run, 0.1F)) * 100 / run.Window();
  };
  CHECK(gain(7) > 20);
  CHECK(gain(5) < 10);
}

TEST_CASE("a thread that decodes what it receives is a loader, one that only receives is none") {
  const auto needs = [](Nanos receiving) {
    TraceBuilder story = BusySteps(20);
    story.Thread("feeder");
    Repeat(80, 500_us, [&](int, Nanos at) { story.OsCall("recv", {at, at + receiving}); });
    return Analyzed(story, kAuto)->input.needs_ns;
  };
  CHECK(needs(100_us) > 30_ms);
  CHECK(needs(450_us) == 0);
}

TEST_CASE("a worker that is done early takes for the window's steps what it took for all") {
  TraceBuilder story = BusySteps(20);
  story.Process("worker").Thread("pt_data_worker");
  Repeat(80, 300_us, [&](int, Nanos at) { story.OsCall("read", {at, at + 50_us}); });
  const Analyzed run(story, kAuto);
  CHECK(run->input.needs_ns == Approx(24_ms).epsilon(0.05));
}

TEST_CASE("what workers were ahead at the end is still to be worked on behind their last batch") {
  TraceBuilder story = BusySteps(20);
  story.OsCall("open64", {0, 1_us});
  for (int worker = 0; worker < 5; ++worker) {
    story.Process("worker " + std::to_string(worker)).Thread("pt_data_worker");
    Repeat(80, 300_us, [&](int, Nanos at) { story.OsCall("read", {at + 1_ms, at + 1050_us}); });
  }
  const Analyzed run(story, kAuto);
  const auto steps = static_cast<double>(run->run.steps.steady_count());
  CHECK(run->input.left_share == Approx(5 / steps));
  CHECK(run->input.needs_ns == 23750_us);
  // The window ends no sooner than five steps behind the last batch.
  const auto length = static_cast<double>(run.Window());
  const Nanos gain = run->replay().Gain(AllOps(run, 0.7F));
  CHECK(gain == Approx(length - 23750e3 - 0.7 * length * 5 / steps).epsilon(0.05));
}

TEST_CASE("the step that a capture cuts counts among those that a worker was seen to load for") {
  TraceBuilder story;
  for (int k = 4; k < 10; ++k) {
    const Nanos start = 100_us + k * 200_us;
    story.Launch("kernel_" + std::string(1, static_cast<char>('a' + k)),
                 {start - 60_us, start - 57_us}, {start, start + 200_us});
  }
  Repeat(10, 2_ms + 100_us, [&](int, Nanos at) {
    story.Sync({at + 2_ms, at + 2_ms + 110_us}, "cudaDeviceSynchronize");
    AddPlainStep(&story, at + 2_ms + 100_us, 200_us);
  });
  story.Process("worker").Thread("pt_data_worker");
  Repeat(40, 400_us, [&](int, Nanos at) { story.OsCall("read", {at, at + 50_us}); });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.source == "period");
  const auto whole = static_cast<double>(run->run.steps.steady_count());
  CHECK(run->input.needs_ns == Approx(15.65e6 * whole / 10.6).epsilon(0.02));
}

}  // namespace
}  // namespace advise
