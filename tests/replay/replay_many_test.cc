// The replay of runs with several threads, streams and devices.
#include "engine/replay/replay.h"
#include "tests/support/analyzed.h"
#include "tests/support/dice.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

struct Size {
  int threads, devices, streams;
};
constexpr Size kSizes[] = {{1, 1, 3}, {2, 1, 1}, {2, 1, 2}, {1, 2, 1}, {1, 2, 2}};

// Each thread of each rank launches to streams of its own, uploads and waits; all of it can have
// happened.
TraceBuilder RandomRun(Dice* dice, const Size& size) {
  TraceBuilder story;
  for (int d = 0; d < size.devices; ++d) {
    story.Process("rank " + std::to_string(d), d).OnDevice(static_cast<std::uint32_t>(d));
    for (int t = 0; t < size.threads; ++t) {
      story.Thread("thread " + std::to_string(t));
      Nanos host = dice->Roll(50) * 1_us;
      std::vector<Nanos> free(static_cast<std::size_t>(size.streams), 0);
      for (std::int64_t n = dice->Between(10, 40); n > 0; --n) {
        host += dice->Between(1, 30) * 1_us * (dice->Chance(8) ? 10 : 1);
        const std::int64_t stream = dice->Roll(size.streams);
        story.OnStream(7 + 10 * t + stream);
        Nanos& end = free[static_cast<std::size_t>(stream)];
        const Interval call{host, host + dice->Between(2, 8) * 1_us};
        const Nanos start = std::max(end, call.start + 8_us);
        host = call.end;
        switch (dice->Roll(6)) {
          case 0:
            end = start + dice->Between(20, 200) * 1_us;
            host = end + 2_us;
            story.CopyToGpu(1_MiB, MemoryKind::kPageable, {call.start, host}, {start, end});
            break;
          case 1:
            host = std::max(end, call.start) + 3_us;
            story.Sync({call.start, host});
            break;
          default:
            end = start + dice->Between(3, 150) * 1_us;
            story.Launch("work", call, {start, end});
        }
      }
    }
  }
  return story;
}

TEST_CASE("with several threads, streams and devices the replay without a fix gives the window") {
  Dice dice(101);
  for (const Size& size : kSizes) {
    for (int round = 0; round < Rounds(60); ++round) {
      const Analyzed run(RandomRun(&dice, size));
      REQUIRE(run->replay().BaselineNs() == run.Window());
    }
  }
}

TEST_CASE("with several threads, streams and devices nothing that is removed lengthens the run") {
  Dice dice(102);
  for (const Size& size : kSizes) {
    for (int round = 0; round < Rounds(60); ++round) {
      const Analyzed run(RandomRun(&dice, size));
      Remedy waits;
      waits.unblocked_calls = run.Calls("cudaStreamSynchronize");
      REQUIRE(run->replay().With(waits).length_ns <= run->replay().BaselineNs());
      Remedy call;
      call.vanished_calls = {
          static_cast<std::uint32_t>(dice.Roll(static_cast<Nanos>(run.trace().calls.size())))};
      REQUIRE(run->replay().With(call).length_ns <= run->replay().BaselineNs());
    }
  }
}

TEST_CASE("a run with all times doubled wins twice as much, but for the fixed cost of calls") {
  Dice dice(103);
  for (const Size& size : kSizes) {
    for (int round = 0; round < Rounds(60); ++round) {
      TraceBuilder story = RandomRun(&dice, size);
      const Analyzed run(story);
      const Analyzed slower(story.Stretch(2));
      Remedy waits;
      waits.unblocked_calls = run.Calls("cudaStreamSynchronize");
      const Nanos gain = run->replay().Gain(waits);
      const Nanos twice = slower->replay().Gain(waits);
      INFO(gain << " and " << twice);
      REQUIRE(std::abs(twice - 2 * gain) <= std::max<Nanos>(20_us, gain / 20));
    }
  }
}

}  // namespace
}  // namespace advise
