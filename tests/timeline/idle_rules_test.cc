// What holds for every gap, whatever its cause.
#include "engine/timeline/idle.h"
#include "tests/support/analyzed.h"
#include "tests/support/dice.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

TEST_CASE("the gap is explained by the thread that launched the op that ends it") {
  TraceBuilder story = GapStory();
  story.Thread("bystander").OsCall("read", {100_us, 200_us}).Call("cudaMalloc", {100_us, 200_us});
  const Analyzed run(story);
  CHECK(run.Idle(IdleCause::kHostCompute) == 100_us);
}

TEST_CASE("gaps say which op and call end them, and whether the host was late") {
  const Analyzed run(TraceBuilder()
                         .Launch("a", {0_us, 5_us}, {10_us, 100_us})
                         .Launch("b", {50_us, 55_us}, {104_us, 200_us})
                         .Launch("c", {250_us, 255_us}, {260_us, 300_us}));
  REQUIRE(run->idle.gaps.size() == 2);
  const Gap in_time = run->idle.gaps[0];
  const Gap late = run->idle.gaps[1];
  CHECK_FALSE(in_time.host_late);
  CHECK(late.host_late);
  CHECK(run.trace().ops.start[late.op] == 260_us);
  CHECK(run.trace().calls.start[run.trace().ops.call[late.op]] == 250_us);
}

TEST_CASE("each device has causes of its own") {
  TraceBuilder story = GapStory().OsCall("read", {100_us, 200_us});
  story.Process("rank 1", 1).Thread("main").OnDevice(1);
  story.Launch("before", {0_us, 5_us}, {10_us, 100_us});
  story.Launch("after", {200_us, 205_us}, {210_us, 300_us});
  story.Call("cudaMalloc", {100_us, 200_us});
  const Analyzed run(story);
  CHECK(run.Idle(IdleCause::kFileIo, 0) == 100_us);
  CHECK(run.Idle(IdleCause::kAllocation, 0) == 0);
  CHECK(run.Idle(IdleCause::kAllocation, 1) == 100_us);
  CHECK(run.Idle(IdleCause::kFileIo, 1) == 0);
}

TEST_CASE("a blocking copy that returned before the gap leaves none of it to host sync") {
  const Analyzed run(
      TraceBuilder()
          .CopyToGpu(1_MiB, MemoryKind::kPageable, {0_us, 100_us}, {10_us, 100_us}, "cudaMemcpy")
          .Launch("after", {200_us, 205_us}, {210_us, 300_us}));
  CHECK(run.Idle(IdleCause::kHostSync) == 0);
  CHECK(run.Idle(IdleCause::kHostCompute) == 100_us);
}

// One thread feeds two GPUs: while the second one sends its edges, the first has nothing to do.
TEST_CASE("a pageable copy that holds the thread up for another GPU is no launch") {
  const auto causes = [](MemoryKind memory, Nanos returns) {
    TraceBuilder story;
    story.OnDevice(1).OnDevice(0);
    story.Launch("before", {0_us, 5_us}, {10_us, 100_us});
    story.OnDevice(1).CopyFromGpu(20_MiB, memory, {6_us, returns}, {10_us, 3_ms});
    story.OnDevice(0).Launch("after", {3_ms, 3_ms + 5_us}, {3_ms + 10_us, 4_ms});
    return Analyzed(story);
  };
  const Analyzed held = causes(MemoryKind::kPageable, 3_ms);
  CHECK(held.Idle(IdleCause::kHostSync, 0) == 2900_us);
  CHECK(held.Idle(IdleCause::kLaunch, 0) == 10_us);
  CHECK(causes(MemoryKind::kPinned, 11_us).Idle(IdleCause::kHostSync, 0) == 0);
}

// Anything may happen on three threads and two devices.
TraceBuilder RandomStory(Dice* dice) {
  TraceBuilder story;
  for (const char* thread : {"main", "second", "pt_data_worker"}) {
    story.Thread(thread);
    const bool launches = std::string(thread) != "pt_data_worker";
    Nanos at = dice->Roll(50'000);
    Nanos queue_end = at;
    for (std::int64_t n = dice->Between(5, 25); n > 0; --n) {
      const Interval when{at, at + dice->Between(500, 60'000)};
      at = when.end + dice->Roll(30'000);
      switch (dice->Roll(launches ? 8 : 3)) {
        case 0:
          story.OsCall(dice->Chance(2) ? "read" : "poll", when);
          break;
        case 1:
          story.Range(dice->Chance(2) ? "load_batch" : "forward", {when.start, at});
          break;
        case 2:
          story.Overhead(dice->Chance(2) ? "Buffer flush" : "Lazy function loading", when);
          break;
        case 3:
          story.Sync(when);
          break;
        case 4:
          story.Call(dice->Chance(2) ? "cudaMalloc" : "cuModuleLoadData", when);
          break;
        default: {
          story.OnDevice(static_cast<std::uint32_t>(dice->Roll(2)));
          const Nanos start =
              std::max(queue_end, when.start + dice->Between(1'000, 20'000)) + dice->Roll(5'000);
          queue_end = start + dice->Between(1'000, 90'000);
          if (dice->Chance(4)) {
            story.CopyToGpu(1_MiB, MemoryKind::kPageable, when, {start, queue_end});
          } else if (dice->Chance(8)) {
            story.Kernel("uncaptured", {start, queue_end});
          } else {
            story.Launch("work", when, {start, queue_end});
          }
        }
      }
    }
  }
  return story;
}

TEST_CASE("in any run the causes add up to the idle time of each device exactly") {
  Dice dice(31);
  for (int round = 0; round < Rounds(150); ++round) {
    const Analyzed run(RandomStory(&dice));
    for (std::uint32_t d = 0; d < run->times.size(); ++d) {
      Nanos sum = 0;
      for (const Nanos time : run->idle.by_device[d]) {
        REQUIRE(time >= 0);
        sum += time;
      }
      REQUIRE(sum == run->times[d].idle.Total());
    }
  }
}

TEST_CASE("in any run the pieces of the gaps are the idle time, each nanosecond once") {
  Dice dice(32);
  for (int round = 0; round < Rounds(100); ++round) {
    const Analyzed run(RandomStory(&dice));
    std::vector<std::vector<Interval>> pieces(run->times.size());
    Nanos sum = 0;
    for (const GapPiece piece : run->idle.pieces) {
      pieces[piece.device].push_back({piece.start, piece.end});
      const Gap gap = run->idle.gaps[piece.gap];
      REQUIRE((piece.start >= gap.start && piece.end <= gap.end && piece.device == gap.device));
      sum += piece.Length();
    }
    Nanos idle = 0;
    for (std::uint32_t d = 0; d < pieces.size(); ++d) {
      REQUIRE(IntervalSet::Of(pieces[d]) == run->times[d].idle);
      idle += run->times[d].idle.Total();
    }
    REQUIRE(sum == idle);
  }
}

TEST_CASE("removing all ranges leaves the idle time and all causes but data loading's in place") {
  Dice dice(33);
  for (int round = 0; round < Rounds(60); ++round) {
    TraceBuilder story = RandomStory(&dice);
    const Analyzed with(story);
    const Analyzed without(story.WithoutRanges());
    for (std::uint32_t d = 0; d < with->times.size(); ++d) {
      REQUIRE(with->times[d].idle == without->times[d].idle);
      for (const IdleCause cause : {IdleCause::kAllocation, IdleCause::kJitOrModuleLoad,
                                    IdleCause::kProfilerOverhead, IdleCause::kHostSync})
        REQUIRE(with.Idle(cause, d) == without.Idle(cause, d));
    }
  }
}

}  // namespace
}  // namespace advise
