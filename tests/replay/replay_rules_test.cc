// What holds for every replay, whatever the run.
#include "engine/replay/replay.h"
#include "tests/support/analyzed.h"
#include "tests/support/dice.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

// One host thread that launches, copies, waits and computes; streams in order; sometimes ahead of
// the GPU and sometimes not. All of it can have happened.
TraceBuilder RandomRun(Dice* dice) {
  TraceBuilder story;
  Nanos host = 0;
  Nanos gpu = 0;
  for (std::int64_t n = dice->Between(10, 60); n > 0; --n) {
    host += dice->Between(1, 30) * 1_us * (dice->Chance(8) ? 10 : 1);
    const Interval call{host, host + dice->Between(2, 8) * 1_us};
    const Nanos start = std::max(gpu, call.start + 8_us);
    host = call.end;
    switch (dice->Roll(6)) {
      case 0: {
        gpu = start + dice->Between(20, 200) * 1_us;
        host = gpu + 2_us;
        story.CopyToGpu(dice->Between(100, 2000) * 1024, MemoryKind::kPageable, {call.start, host},
                        {start, gpu});
        break;
      }
      case 1:
        host = std::max(gpu, call.start) + 3_us;
        story.Sync({call.start, host});
        break;
      case 2:
        story.Range("load_batch", {host, host + 40_us});
        host += 40_us;
        break;
      default:
        gpu = start + dice->Between(3, 150) * 1_us;
        story.Launch("work", call, {start, gpu});
    }
  }
  const Nanos end = std::max(gpu, host + 8_us) + 100_us;
  story.Launch("last", {host, host + 5_us}, {end - 100_us, end});
  story.Sync({host + 6_us, end}, "cudaDeviceSynchronize");
  return story;
}

Remedy RandomRemedy(const Analyzed& run, Dice* dice) {
  Remedy remedy;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op) {
    if (dice->Chance(4)) remedy.scaled_ops.emplace_back(op, dice->Chance(2) ? 0.5F : 0.0F);
  }
  for (std::uint32_t call = 0; call < run.trace().calls.size(); ++call) {
    if (dice->Chance(4)) remedy.unblocked_calls.push_back(call);
    if (dice->Chance(6)) remedy.vanished_calls.push_back(call);
  }
  return remedy;
}

TEST_CASE("without a fix the replay of any run gives its window") {
  Dice dice(1);
  for (int round = 0; round < Rounds(200); ++round) {
    const Analyzed run(RandomRun(&dice));
    REQUIRE(run->replay().BaselineNs() == run.Window());
  }
}

TEST_CASE("no fix loses time, and none wins more than the window") {
  Dice dice(2);
  for (int round = 0; round < Rounds(200); ++round) {
    const Analyzed run(RandomRun(&dice));
    const Remedy remedy = RandomRemedy(run, &dice);
    const Nanos gain = run->replay().Gain(remedy);
    REQUIRE(gain >= 0);
    REQUIRE(gain <= run.Window());
  }
}

// Each step computes on the host for 40 ms, launches 2000 kernels of 1 us within 20 ms, and then
// one of 30 ms. Without the host's code it may queue 1024 of the small ones behind the long one;
// the rest is launched once that has ended: 30 ms + 976 * 10 us per step.
TEST_CASE("a host that is freed runs no further ahead than the queue is deep") {
  constexpr int kSteps = 40;
  TraceBuilder story;
  Nanos host = 0;
  Remedy remedy;
  IntervalSet code;
  for (int step = 0; step < kSteps; ++step) {
    story.Range("step", {host, host + 60_ms});
    code.Append(host + 1_us, host + 40_ms - 1_us);
    host += 40_ms;
    for (int n = 0; n < 2000; ++n) {
      const bool last = n == 1999;
      story.Launch("work", {host, host + 4_us}, {host + 6_us, host + (last ? 30_ms : 7_us)});
      host += 10_us;
    }
  }
  const Analyzed run(story, kAuto);
  remedy.host_cuts.push_back({0, code});
  const double expected = 60e6 - (30e6 + 976 * 10e3);
  CHECK(static_cast<double>(run->replay().Gain(remedy)) / static_cast<double>(run.Window()) ==
        Approx(expected / 60e6).epsilon(0.025));
}

// 3000 launches return while the first kernel of their stream still runs.
TEST_CASE("a queue that was seen to be deeper does not lengthen the replay") {
  TraceBuilder story;
  Nanos gpu = 100_ms;
  story.Launch("first", {0, 4_us}, {6_us, gpu});
  for (int n = 1; n < 3000; ++n) {
    const Nanos call = n * 10_us;
    story.Launch("work", {call, call + 4_us}, {gpu, gpu + 2_us});
    gpu += 2_us;
  }
  story.Sync({31_ms, gpu + 2_us});
  const Analyzed run(story);
  CHECK(run->replay().BaselineNs() == run.Window());
}

TEST_CASE("a call that is gone never lengthens the run") {
  Dice dice(3);
  for (int round = 0; round < Rounds(200); ++round) {
    const Analyzed run(RandomRun(&dice));
    Remedy remedy;
    remedy.vanished_calls = {
        static_cast<std::uint32_t>(dice.Roll(static_cast<Nanos>(run.trace().calls.size())))};
    REQUIRE(run->replay().With(remedy).length_ns <= run->replay().BaselineNs());
  }
}

TEST_CASE("a wait that is gone never lengthens the run") {
  Dice dice(4);
  for (int round = 0; round < Rounds(200); ++round) {
    const Analyzed run(RandomRun(&dice));
    Remedy remedy;
    remedy.unblocked_calls = run.Calls("cudaStreamSynchronize");
    REQUIRE(run->replay().With(remedy).length_ns <= run->replay().BaselineNs());
  }
}

TEST_CASE("no fix takes the run below the work that is left on the GPU") {
  Dice dice(5);
  for (int round = 0; round < Rounds(200); ++round) {
    const Analyzed run(RandomRun(&dice));
    Remedy remedy;
    for (std::uint32_t call = 0; call < run.trace().calls.size(); ++call) {
      remedy.unblocked_calls.push_back(call);
      remedy.vanished_calls.push_back(call);
    }
    REQUIRE(run->replay().With(remedy).length_ns >= run.Window() - run->times[0].idle.Total());
  }
}

TEST_CASE("a kernel that is faster by half wins at most half its time") {
  Dice dice(6);
  for (int round = 0; round < Rounds(200); ++round) {
    const Analyzed run(RandomRun(&dice));
    const auto op =
        static_cast<std::uint32_t>(dice.Roll(static_cast<Nanos>(run.trace().ops.size())));
    Remedy remedy;
    remedy.scaled_ops = {{op, 0.5F}};
    const Nanos length = run.trace().ops.end[op] - run.trace().ops.start[op];
    REQUIRE(run->replay().Gain(remedy) <= length / 2 + 1);
  }
}

TEST_CASE("a run that is moved in time wins the same") {
  Dice dice(7);
  for (int round = 0; round < Rounds(100); ++round) {
    TraceBuilder story = RandomRun(&dice);
    const Analyzed here(story);
    const Analyzed later(story.Shift(3'000_ms));
    const Remedy remedy = RandomRemedy(here, &dice);
    REQUIRE(here->replay().Gain(remedy) == later->replay().Gain(remedy));
  }
}

// Launches of 5 us with 20 us of code between them, and 200 us of other code before each tenth.
TEST_CASE("code that another fix takes is not taken once more with the call behind it") {
  TraceBuilder story;
  Remedy code;
  IntervalSet pauses;
  Nanos host = 0;
  for (int n = 0; n < 100; ++n) {
    if (n % 10 == 9) pauses.Append(host, host + 200_us);
    host += n % 10 == 9 ? 200_us : 20_us;
    story.Launch("work", {host, host + 5_us}, {host + 8_us, host + 13_us});
    host += 5_us;
  }
  const Analyzed run(story);
  code.host_cuts.push_back({0, pauses});
  Remedy launches;
  launches.vanished_calls = run.Calls("cudaLaunchKernel");
  const Remedy left = Without(launches, code, run->run);
  CHECK(left.vanished_calls.size() == 90);
  const auto share = [&](const Remedy& remedy) {
    return static_cast<double>(run->replay().Gain(remedy)) / static_cast<double>(run.Window());
  };
  CHECK(share(launches) > 0.75);
  CHECK(share(left) < 0.55);
}

// Each launch waits for its kernel; half of the kernels can be fused into those before them.
TEST_CASE("a launch that another fix lets return at once can still go") {
  TraceBuilder story;
  for (int n = 0; n < 40; ++n) {
    const Nanos at = n * 100_us;
    story.Launch("work", {at, at + 80_us}, {at + 8_us, at + 78_us});
  }
  const Analyzed run(story);
  Remedy returns;
  returns.unblocked_calls = run.Calls("cudaLaunchKernel");
  Remedy fused;
  for (std::size_t n = 1; n < 40; n += 2) {
    fused.vanished_calls.push_back(returns.unblocked_calls[n]);
    fused.scaled_ops.emplace_back(run->run.first_op_of_call[returns.unblocked_calls[n]], 0.0F);
  }
  CHECK(Without(fused, returns, run->run).vanished_calls.size() == 20);
  CHECK(Without(returns, fused, run->run).unblocked_calls.size() == 20);
  CHECK(Without(fused, fused, run->run).ChangesNothing());
}

TEST_CASE("a copy that another fix makes faster can still be taken out of its stream") {
  TraceBuilder story;
  for (int n = 0; n < 20; ++n) {
    const Nanos call = n * 20_us;  // far ahead of the GPU
    const Nanos at = n * 400_us + 10_us;
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {call, call + 5_us}, {at, at + 200_us});
    story.Launch("work", {call + 6_us, call + 11_us}, {at + 201_us, at + 399_us});
  }
  const Analyzed run(story);
  Remedy faster;
  Remedy beside;
  Remedy gone;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op) {
    if (run.trace().ops.kind[op] != OpKind::kCopy) continue;
    faster.scaled_ops.emplace_back(op, 0.5F);
    gone.scaled_ops.emplace_back(op, 0.0F);
    beside.detached_ops.push_back(op);
  }
  CHECK(Without(beside, faster, run->run).detached_ops.size() == 20);
  CHECK(Without(beside, gone, run->run).ChangesNothing());
  CHECK(Without(beside, beside, run->run).ChangesNothing());
  Remedy both = faster;
  both.Join(Without(beside, faster, run->run));
  CHECK(run->replay().Gain(both) > run->replay().Gain(faster) + run.Window() / 5);
}

// Twenty kernels that fill the GPU.
TEST_CASE("what has less data to work on gets faster still by what makes it faster") {
  TraceBuilder story;
  for (int n = 0; n < 20; ++n) {
    const Nanos at = n * 100_us;
    story.Launch("work", {n * 5_us, n * 5_us + 3_us}, {at + 10_us, at + 110_us});
  }
  const Analyzed run(story);
  Remedy lighter;
  Remedy faster;
  Remedy gone;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op) {
    lighter.lighter_ops.emplace_back(op, 0.5F);
    faster.scaled_ops.emplace_back(op, 0.5F);
    gone.scaled_ops.emplace_back(op, 0.0F);
  }
  CHECK(Without(faster, lighter, run->run).scaled_ops.size() == 20);
  CHECK(Without(lighter, faster, run->run).lighter_ops.size() == 20);
  CHECK(Without(lighter, lighter, run->run).ChangesNothing());
  CHECK(Without(lighter, gone, run->run).ChangesNothing());
  CHECK(run->replay().Gain(lighter) == Approx(1_ms).margin(10e3));
  Remedy both = lighter;
  both.Join(Without(faster, lighter, run->run));
  CHECK(run->replay().Gain(both) == Approx(1500_us).margin(10e3));
}

// The host prepares each batch for 900 us in a range of its own, and launches outside of it.
TEST_CASE("where the launching thread is the limit, the range that takes its time is named") {
  const auto bound = [](Nanos length) {
    TraceBuilder story;
    Repeat(20, 1_ms, [&](int, Nanos at) {
      story.Range("prepare", {at, at + length});
      story.Launch("work", {at + 910_us, at + 915_us}, {at + 920_us, at + 1820_us});
      story.Launch("work", {at + 920_us, at + 925_us}, {at + 1822_us, at + 1842_us});
    });
    const Analyzed run(story);
    Remedy faster;
    for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
      faster.scaled_ops.emplace_back(op, 0.1F);
    return run->replay().With(faster).next_bound;
  };
  CHECK(bound(900_us) == "code in \"prepare\" on the launching thread");
  CHECK(bound(950_us) == "the launching thread");  // it launches in it, too
}

}  // namespace
}  // namespace advise
