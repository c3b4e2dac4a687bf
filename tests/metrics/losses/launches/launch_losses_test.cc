// What launching loses, and what the fixes of it change: kinds of calls, edges of what counts.
#include "engine/metrics/losses/launches/launch.h"
#include "tests/metrics/losses/loss_words.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE(
    "launches that came late go with the small calls before them; a graph takes all launches") {
  TraceBuilder story;
  // The first launch is part of no gap. The second comes late, behind a record of an event.
  story.Launch("a", {0, 5_us}, {8_us, 20_us})
      .Call("cudaEventRecord", {22_us, 23_us})
      .Launch("b", {30_us, 35_us}, {38_us, 200_us})
      .Call("cudaStreamWaitEvent", {36_us, 37_us})
      .Launch("c", {40_us, 45_us}, {201_us, 300_us})  // in time
      .Call("cudaMalloc", {46_us, 47_us})
      .Launch("d", {48_us, 52_us}, {300_us, 400_us});
  const Analyzed run(story);
  CHECK(Told(run->launches.bound) == "1 times, 0 bytes, 18000 ns in all, 18000 ns lost");
  CHECK(Changes(run->launches.bound) == "drops 1 2");
  CHECK(Told(run->launches.graph) == Told(run->launches.bound));
  // Between b and c, which was queued, lies 1 us, of which a graph needs a quarter.
  CHECK(run->launches.nodes.lost->Total() == 18'750);
  CHECK(Changes(run->launches.nodes) == Changes(run->launches.graph));
  // The allocation stays; the launch before the window and the first kernel cannot be told from it.
  CHECK(Changes(run->launches.graph) == "drops 1 2 3 4 6");
  CHECK(run->launches.gap_median_ns == 18e3);
  CHECK(run->launches.count == 4);
  CHECK(run->launches.queue_empty == Approx(0.5));
}

TEST_CASE("launches that come in time delay what a host that never waits does behind them") {
  // 10 launches of 20 us beside kernels of 100 us, then 3 ms of code; the host may wait before it.
  const auto graph = [](bool waits) {
    TraceBuilder story;
    Repeat(10, 4_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 3990_us});
      for (int n = 0; n < 10; ++n) {
        const Nanos launch = at + n * 20_us;
        story.Launch("work", {launch, launch + 10_us},
                     {at + 15_us + n * 100_us, at + 115_us + n * 100_us});
      }
      if (waits) story.Call("cudaDeviceSynchronize", {at + 200_us, at + 1016_us});
    });
    return Analyzed(story)->launches;
  };
  const Nanos launching = 9 * 20_us;  // the first launch of a step ends the gap before
  CHECK(graph(false).graph.lost->Total() >= 9 * launching);
  CHECK(graph(false).graph.lost->Total() <= 10 * (launching + 20_us));
  CHECK(graph(false).graph.remedy->makes_room);
  CHECK(graph(false).bound.lost->Total() < 10 * 20_us);
  CHECK_FALSE(graph(true).graph.remedy->makes_room);
  CHECK(graph(true).graph.lost->Total() < 10 * 20_us);
}

TEST_CASE("launches delay code behind them also where the GPU waits for it only briefly") {
  // 20 launches of 20 us beside kernels of 22 us, then 450 us of code, which outlasts them by 400
  // us.
  TraceBuilder story;
  Repeat(12, 850_us, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 845_us});
    for (int n = 0; n < 20; ++n) {
      const Nanos launch = at + n * 20_us;
      story.Launch("work", {launch, launch + 10_us},
                   {at + 15_us + n * 22_us, at + 37_us + n * 22_us});
    }
  });
  const Analyzed run(story);
  REQUIRE(400_us < run->run.knowledge.Time("launch.long_gap"));
  CHECK(run->launches.graph.lost->Total() > 11 * 370_us);
  CHECK(run->launches.bound.lost->Total() < 11 * 20_us);
}

TEST_CASE("launches that take more of the host's time than its code do not only make room for it") {
  // 60 launches of 20 us beside kernels of 25 us, then code until the next step begins.
  const auto graph = [](Nanos step) {
    TraceBuilder story;
    Repeat(10, step, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + step - 10_us});
      for (int n = 0; n < 60; ++n) {
        const Nanos launch = at + n * 20_us;
        const Nanos starts = at + 15_us + n * 25_us;
        story.Launch("work", {launch, launch + 10_us}, {starts, starts + 25_us});
      }
    });
    return Analyzed(story)->launches.graph;
  };
  CHECK(graph(2200_us).lost->Total() > 9 * 600_us);
  CHECK_FALSE(graph(2200_us).remedy->makes_room);  // 1 ms of code behind 1.2 ms of launches
  CHECK(graph(2800_us).remedy->makes_room);        // 1.6 ms of code
}

TEST_CASE("nodes of a graph follow each other sooner than kernels that wait in the queue") {
  // 40 steps of 30 kernels of 20 us each, 1.2 us apart; the host is ahead, and waits for each step.
  TraceBuilder story;
  Repeat(40, 700_us, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 690_us});
    for (int n = 0; n < 30; ++n) {
      const Nanos start = at + 20_us + n * 21'200;
      story.Launch("decode_" + std::to_string(n % 3), {at + n * 3_us, at + n * 3_us + 2_us},
                   {start, start + 20_us});
    }
    story.Call("cudaStreamSynchronize", {at + 91_us, at + 660_us});
  });
  const Analyzed run(story);
  const auto left = static_cast<double>(run->run.knowledge.Number("replay.graph_spacing"));
  const auto won = (1 - left) * 40 * 29 * 1200;
  const Launches& launches = run->launches;
  CHECK(launches.graph.lost->Total() < 40 * 30_us);
  const auto more =
      static_cast<double>(launches.nodes.lost->Total() - launches.graph.lost->Total());
  CHECK(more == Approx(won).epsilon(0.05));
  const Nanos gain = run->replay().Gain(*launches.nodes.remedy);
  CHECK(static_cast<double>(gain - run->replay().Gain(*launches.graph.remedy)) >= 0.9 * won);
}

TEST_CASE("a pause that only one step has is not for launches to answer for") {
  // 20 steps of 2 ms, with 40 launches of 15 us beside kernels; before one, code of 40 ms.
  TraceBuilder story;
  Nanos from = 0;
  for (int i = 0; i < 20; ++i) {
    story.Range("step " + std::to_string(i), {from, from + 1'990_us});
    for (int n = 0; n < 40; ++n) {
      const Nanos launch = from + n * 16_us;
      const Nanos start = from + 20_us + n * 48_us;
      story.Launch("work", {launch, launch + 15_us}, {start, start + 47_us});
    }
    from += i == 14 ? 42_ms : 2_ms;
  }
  const Analyzed run(story);
  REQUIRE(run->run.steps.outliers.size() == 1);
  CHECK(run->launches.graph.lost->Total() < 2_ms);
}

TEST_CASE("tiny kernels: their share, their time and how many there are a step") {
  const auto tiny = static_cast<Nanos>(ShippedKnowledge().Number("launch.tiny_kernel"));
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 990_us});
    story.Launch("a", {at, at + 5_us}, {at + 10_us, at + 10_us + tiny});
    story.Launch("b", {at + 20_us, at + 25_us}, {at + 100_us, at + 100_us + tiny - 1_ns});
    story.Launch("c", {at + 40_us, at + 45_us}, {at + 200_us, at + 300_us});
    story.Launch("d", {at + 50_us, at + 55_us}, {at + 300_us, at + 900_us});
  });
  const Analyzed run(story);
  CHECK(run->launches.tiny_share == Approx(0.25));
  CHECK(run->launches.tiny_ns == static_cast<double>(10 * (tiny - 1)));
  CHECK(run->launches.kernels_per_step == 4);
  CHECK(run->launches.sequence_length == 4);
  CHECK(run->launches.sequence_same == 1);
  CHECK(run->launches.sequence_breaks == 0);
}

TEST_CASE("steps that launch other kernels, or others of their grids, have no single sequence") {
  const auto same = [](const std::function<Look(int)>& look, const std::function<bool(int)>& more) {
    TraceBuilder story;
    Repeat(10, 1_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 990_us});
      story.Launch("a", {at, at + 5_us}, {at + 10_us, at + 300_us}, look(i));
      if (more(i)) story.Launch("b", {at + 6_us, at + 9_us}, {at + 300_us, at + 400_us});
      story.Launch(kAllReduce, {at + 10_us, at + 13_us}, {at + 500_us, at + 600_us});
    });
    return Analyzed(story)->launches;
  };
  const auto one = [](int) { return Look(); };
  const auto none = [](int) { return false; };
  CHECK(same(one, none).sequence_same == 1);
  CHECK(same(one, none).sequence_length == 1);  // collectives are left out
  CHECK(same([](int i) { return Look{.blocks = i < 3 ? 10U : 20U}; }, none).sequence_same ==
        Approx(0.7));
  CHECK(same(one, [](int i) { return i < 4; }).sequence_same == Approx(0.6));
}

TEST_CASE("small copies inside the device in a row are one launch") {
  const auto least = static_cast<int>(ShippedKnowledge().Number("launch.train_length"));
  const auto run_of = [](int count, std::int64_t bytes) {
    TraceBuilder story;
    story.Launch("a", {0, 1_us}, {1_ms, 1_ms + 100_us});
    Nanos at = 1_ms + 100_us;
    for (int i = 0; i < count; ++i) {
      const Nanos call = 2_us + i * 2_us;
      if (i % 2 == 0) {
        story.CopyOnGpu(bytes, {call, call + 1_us}, {at, at + 2_us});
      } else {
        story.Memset(bytes, {call, call + 1_us}, {at, at + 2_us});
      }
      at += 3_us;
    }
    story.Launch("b", {500_us, 501_us}, {at, at + 100_us});
    return Analyzed(story);
  };
  const auto small = static_cast<std::int64_t>(ShippedKnowledge().Number("copy.small_bytes"));
  const Analyzed run = run_of(least, small);
  CHECK(run->launches.trains.count == 1);
  CHECK(run->launches.trains.lost->Total() == (least - 1) * 3_us + 2_us);
  CHECK(run->launches.trains_ops_per_step == least);
  CHECK(run->launches.trains.remedy->scaled_ops.size() == static_cast<std::size_t>(least - 1));
  CHECK(run->launches.trains.remedy->scaled_ops[0] == std::pair(2U, 0.0F));
  CHECK(run->launches.trains.remedy->vanished_calls.front() == 2);
  CHECK(run_of(least - 1, small)->launches.trains.count == 0);
  CHECK(run_of(least, small + 1)->launches.trains.count == 0);
}

TEST_CASE("slow launching calls: what they take beyond the usual, and who else is at it") {
  const auto usual = static_cast<Nanos>(ShippedKnowledge().Number("launch.usual_call"));
  const auto slow = static_cast<Nanos>(ShippedKnowledge().Number("launch.slow_call"));
  const auto run_of = [&](Nanos call, bool two) {
    TraceBuilder story;
    for (int t = 0; t < (two ? 2 : 1); ++t) {
      story.Thread("thread " + std::to_string(t)).OnStream(7 + t);
      for (int i = 0; i < 20; ++i) {
        const Nanos at = i * (call + 10_us) + t * 2_us;
        story.Launch("k", {at, at + call}, {at + call + 1_us, at + call + 4_us});
      }
    }
    return Analyzed(story);
  };
  const Analyzed one = run_of(slow, false);
  // The first call lies before the window.
  CHECK(one->launches.slow.count == 19);
  CHECK(one->launches.slow_median_ns == static_cast<double>(slow));
  CHECK(one->launches.slow_contended == 0);
  CHECK(one->launches.threads == 1);
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(one->launches.slow.remedy->host_cuts)) {
    cut += when.Total();
  }
  CHECK(cut == 19 * (slow - usual));
  CHECK(one->launches.slow.lost->Total() == one.Idle(IdleCause::kLaunch));
  const Analyzed two = run_of(slow, true);
  CHECK(two->launches.threads == 2);
  CHECK(two->launches.slow_contended == 1);
  CHECK(run_of(slow - 1_us, false)->launches.slow.count == 0);
}

// 40 launches of 40 us, 20 pinned copies of as much, and 10 pageable ones that wait for the GPU.
TEST_CASE("what makes launches slow makes calls slow that queue copies, not those that wait") {
  TraceBuilder story;
  Nanos at = 0;
  const auto call = [&](auto&& add) { add(at), at += 50_us; };
  const auto copy = [&](MemoryKind kind) {
    call([&](Nanos t) { story.CopyToGpu(64, kind, {t, t + 40_us}, {t + 30_us, t + 31_us}); });
  };
  for (int i = 0; i < 10; ++i) {
    for (int k = 0; k < 4; ++k)
      call([&](Nanos t) { story.Launch("k", {t, t + 40_us}, {t + 41_us, t + 42_us}); });
    copy(MemoryKind::kPinned), copy(MemoryKind::kPinned), copy(MemoryKind::kPageable);
  }
  const Analyzed run(story);
  const auto usual = static_cast<Nanos>(ShippedKnowledge().Number("launch.usual_call"));
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(run->launches.slow.remedy->host_cuts))
    cut += when.Total();
  CHECK(run->launches.slow.count == 39);  // the first call lies before the window
  CHECK(cut == (39 + 20) * (40_us - usual));
}

}  // namespace
}  // namespace advise
