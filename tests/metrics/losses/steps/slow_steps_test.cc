// Steps that take longer than the others, and pauses of the host in every step.
#include <set>

#include "engine/metrics/losses/steps/step_copies.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Steps of 10 ms with a range each, in which the GPU works for 9 ms. Before its launch a step takes
// as much longer as `more` says.
TraceBuilder Steps(int count, const std::function<Nanos(int)>& more) {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < count; ++n) {
    const Nanos begin = at + more(n);
    story.Range("step", {at, begin + 10_ms});
    story.Launch("work", {begin, begin + 5_us}, {begin + 10_us, begin + 9_ms});
    at = begin + 10_ms;
  }
  return story;
}

TEST_CASE("a single slow step among regular ones is told apart") {
  const Analyzed run(Steps(41,
                           [](int n) {
                             if (n == 22) return 400_ms;
                             return n % 5 == 4 ? 6_ms : Nanos{0};
                           }),
                     kAuto);
  CHECK(run->step_stats.stall_every == 5);
  CHECK(run->step_stats.stall_excess_ns == Approx(8 * 6e6).epsilon(0.05));
  REQUIRE(run->step_stats.outliers.size() == 1);
  CHECK(run->step_stats.outlier_excess_ns == Approx(400e6).epsilon(0.05));
  CHECK(run->step_stats.outlier_gpu_share < 0.01);
  CHECK(run->step_stats.outlier.lost->Total() == Approx(400e6).epsilon(0.05));
}

// Kernels of 300 us, one after the other, with as much host code after each as `pause` says.
TraceBuilder Kernels(int count, int in_a_row, const std::function<Nanos(int)>& pause) {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < count; ++n) {
    for (int k = 0; k < in_a_row; ++k) {
      const std::string name = "kernel_" + std::string(1, static_cast<char>('a' + k));
      story.Launch(name, {at, at + 5_us}, {at + 10_us, at + 310_us});
      at += 320_us;
    }
    at += pause(n);
  }
  return story;
}

TEST_CASE("host code after every twelfth kernel of one name may be in each iteration") {
  const auto pause = [](int n) { return n % 12 == 11 ? 5_ms : Nanos{0}; };
  const Analyzed lone(Kernels(480, 1, pause), kAuto);
  CHECK(lone->step_stats.stall_every == 12);
  CHECK(lone->step_stats.stall_of_pieces);
  const Analyzed steps(Kernels(240, 5, pause), kAuto);
  CHECK(steps->step_stats.stall_every == 12);
  CHECK_FALSE(steps->step_stats.stall_of_pieces);
}

TEST_CASE("two slow steps and a far slower one are no rhythm, though evenly apart") {
  const Analyzed run(Steps(41,
                           [](int n) {
                             if (n == 38) return 144_ms;
                             return n == 12 || n == 25 ? 9_ms : Nanos{0};
                           }),
                     kAuto);
  CHECK(run->step_stats.stall_every == 0);
  CHECK(run->step_stats.outlier_excess_ns == Approx(162e6).epsilon(0.05));
}

TEST_CASE("a slightly slow step does not break the rhythm of the slow ones") {
  const Analyzed run(Steps(34,
                           [](int n) {
                             if (n == 12) return 15_ms;
                             return n % 8 == 7 ? 300_ms : Nanos{0};
                           }),
                     kAuto);
  CHECK(run->step_stats.stall_every == 8);
  CHECK(run->step_stats.outlier_excess_ns == Approx(15e6).epsilon(0.05));
}

TEST_CASE("a step as slow as the regular ones, but out of turn, does not break their rhythm") {
  const Analyzed run(Steps(30, [](int n) { return n == 13 || n % 5 == 4 ? 60_ms : Nanos{0}; }),
                     kAuto);
  CHECK(run->step_stats.stall_every == 5);
  CHECK(run->step_stats.stall_excess_ns == Approx(6 * 60e6).epsilon(0.05));
  CHECK(run->step_stats.outlier_excess_ns == Approx(60e6).epsilon(0.05));
}

TEST_CASE("many slow steps at no distance do not break the rhythm of every fourth") {
  // Two of five others are slow as well, half as much.
  const Analyzed run(Steps(45,
                           [](int n) {
                             if (n % 4 == 3) return 24_ms;
                             return n > 5 && (n % 7 == 1 || n % 7 == 5) ? 12_ms : Nanos{0};
                           }),
                     kAuto);
  CHECK(run->step_stats.stall_every == 4);
  CHECK(run->step_stats.stall_excess_ns == Approx(11 * 24e6).epsilon(0.05));
}

TEST_CASE("slow steps of which a part happens to keep a turn are no rhythm") {
  // Of the turn 8, 17, 26, 35, 44 four are among them.
  const Analyzed run(Steps(45,
                           [](int n) {
                             const bool slow = n == 2 || n == 5 || n == 8 || n == 17 || n == 21 ||
                                               n == 26 || n == 30 || n == 33 || n == 35 || n == 39;
                             return slow ? 24_ms : Nanos{0};
                           }),
                     kAuto);
  CHECK(run->step_stats.stall_every == 0);
}

// Every 16th step pauses for 20 ms; four steps behind it, and in single other ones, the rank waits
// as long for ranks that pause longer.
TEST_CASE("steps that wait for other ranks do not break the rhythm of the slow ones") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 80; ++n) {
    const Nanos begin = at + (n % 16 == 11 ? 20_ms : 0);
    const bool waits = n == 9 || n == 31 || n == 55 || n % 16 == 15;
    const Nanos talk = waits ? 22_ms : 2_ms;
    story.Range("step", {at, begin + 8_ms + talk});
    story.Launch("work", {begin, begin + 5_us}, {begin + 10_us, begin + 7_ms});
    story.Launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", {begin + 6_us, begin + 11_us},
                 {begin + 7_ms, begin + 7_ms + talk});
    at = begin + 8_ms + talk;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->step_stats.stall_every == 16);
  CHECK(run->step_stats.stall.lost->Total() == Approx(5 * 20e6).epsilon(0.1));
}

// One of twenty steps waits for 50 ms in its all-reduce.
TEST_CASE("a step that waits for other ranks has no more work for that") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 20; ++n) {
    const Nanos talk = n == 12 ? 52_ms : 2_ms;
    story.Range("step", {at, at + 8_ms + talk});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 7_ms});
    story.Launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", {at + 6_us, at + 11_us},
                 {at + 7_ms, at + 7_ms + talk});
    at += 8_ms + talk;
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->step_stats.outliers.size() == 1);
  CHECK(run->step_stats.outliers.front().what == "waiting for other ranks, or slow communication");
  CHECK(run->step_stats.outlier_what == "waiting for other ranks, or slow communication");
  CHECK(run->step_stats.outlier_gpu_share == 0);  // it waits, and has no more work
}

// Each eighth step evaluates: ten batches more, one kernel each, that keep the GPU busy.
TEST_CASE("an evaluation that keeps the GPU busy is more work, and no loss") {
  for (const bool named : {true, false}) {
    TraceBuilder story;
    Nanos at = 0;
    for (int n = 0; n < 40; ++n) {
      const int batches = n % 8 == 7 ? 10 : 0;
      const Nanos train = at + 10_ms;
      const Nanos end = train + batches * 3_ms;
      story.Range("step", {at, end});
      story.Launch("train", {at, at + 5_us}, {at + 10_us, at + 5_ms});
      story.Launch("train", {at + 6_us, at + 11_us}, {at + 5_ms, train});
      if (named && batches > 0) story.Range("evaluation", {at + 12_us, end - 1_us});
      for (int b = 0; b < batches; ++b) {
        const Nanos call = at + 20_us + b * 10_us;
        story.Launch("infer", {call, call + 5_us}, {train + b * 3_ms, train + (b + 1) * 3_ms});
      }
      at = end;
    }
    const Analyzed run(story, kAuto);
    CHECK(run->step_stats.stall_every == 8);
    CHECK(run->step_stats.stall_excess_ns == Approx(5 * 30e6).epsilon(0.05));
    CHECK(run->step_stats.stall_gpu_share == Approx(1).epsilon(0.05));
    CHECK(run->step_stats.stall.lost->Total() < 1_ms);
    CHECK(run->step_stats.stall_work == Approx(6));  // 12 kernels over 2
    CHECK(run->step_stats.stall_work_phase == (named ? "evaluation" : ""));
  }
}

// Each eighth step does more: six of ten batches, or four, are launched while it evaluates.
TEST_CASE("what makes steps longer is called by the phase that most of the extra work is in") {
  const auto phase = [](int evaluated) {
    TraceBuilder story;
    Nanos at = 0;
    for (int n = 0; n < 40; ++n) {
      const int batches = n % 8 == 7 ? 10 : 0;
      const Nanos end = at + 10_ms + batches * 3_ms;
      story.Range("step", {at, end});
      story.Launch("train", {at, at + 5_us}, {at + 10_us, at + 10_ms});
      for (int b = 0; b < batches; ++b) {
        const Nanos call = at + 20_us + b * 10_us;
        const Nanos start = at + 10_ms + b * 3_ms;
        story.Launch("infer", {call, call + 5_us}, {start, start + 3_ms});
      }
      if (batches > 0) story.Range("evaluation", {at + 15_us, at + 16_us + evaluated * 10_us});
      at = end;
    }
    return Analyzed(story, kAuto)->step_stats.stall_work_phase;
  };
  CHECK(phase(6) == "evaluation");
  CHECK(phase(4).empty());
}

TEST_CASE("a pause at a regular distance is no more work") {
  const Analyzed run(Steps(40, [](int n) { return n % 8 == 7 ? 30_ms : Nanos{0}; }), kAuto);
  CHECK(run->step_stats.stall_every == 8);
  CHECK(run->step_stats.stall_work == Approx(1));
}

TEST_CASE("short pauses at a regular distance are a rhythm, though no step is unusually long") {
  const Analyzed run(Steps(40, [](int n) { return n % 4 == 3 ? 1200_us : Nanos{0}; }), kAuto);
  REQUIRE(run->run.steps.outliers.empty());
  CHECK(run->step_stats.stall_every == 4);
  CHECK(run->step_stats.stall_excess_ns == Approx(10 * 1.2e6).epsilon(0.15));
  CHECK(run->step_stats.stall.lost->Total() == Approx(10 * 1.2e6).epsilon(0.15));
  CHECK(run->step_stats.outlier_excess_ns == 0);
}

TEST_CASE("a single slow step does not hide short pauses at a regular distance") {
  const Analyzed run(Steps(40,
                           [](int n) {
                             if (n == 21) return 50_ms;
                             return n % 4 == 3 ? 1200_us : Nanos{0};
                           }),
                     kAuto);
  CHECK(run->step_stats.stall_every == 4);
  CHECK(run->step_stats.stall_excess_ns == Approx(10 * 1.2e6).epsilon(0.15));
  CHECK(run->step_stats.outlier_excess_ns == Approx(50e6).epsilon(0.05));
}

TEST_CASE(
    "pauses at a regular distance are one rhythm, though only some steps are unusually long") {
  // Every fourth step pauses alike; the work of some of these takes longer, too.
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 40; ++n) {
    const Nanos begin = at + (n % 4 == 3 ? 1200_us : Nanos{0});
    const bool longer = n == 3 || n == 7 || n == 19 || n == 23 || n == 35;
    const Nanos work = longer ? 10'500_us : 9_ms;
    story.Range("step", {at, begin + work + 1_ms});
    story.Launch("work", {begin, begin + 5_us}, {begin + 10_us, begin + work});
    at = begin + work + 1_ms;
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.outliers.size() == 5);
  CHECK(run->step_stats.stall_every == 4);
  CHECK(run->step_stats.stall_excess_ns == Approx(10 * 1.2e6).epsilon(0.15));
  CHECK(run->step_stats.stall.lost->Total() == Approx(10 * 1.2e6).epsilon(0.15));
}

// Every third step pauses; as they are so many, only the two longest are unusual in their length.
TEST_CASE("pauses of every third step are one rhythm, whatever rhythm the longest of them keep") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 24; ++n) {
    const bool longest = n == 6 || n == 18;
    const Nanos begin = at + (n % 3 == 0 ? (longest ? 40_ms : 15_ms) : Nanos{0});
    const Nanos work = 7_ms + (n % 3 == 0 ? 4 : n * 37 % 11) * 2100_us;
    story.Range("step", {at, begin + work + 1_ms});
    story.Launch("work", {begin, begin + 5_us}, {begin + 10_us, begin + work});
    at = begin + work + 1_ms;
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.outliers.size() == 2);
  CHECK(run->step_stats.stall_every == 3);
  CHECK(run->step_stats.outlier_excess_ns == 0);
  CHECK(run->step_stats.stall_excess_ns == Approx(5 * 15e6 + 2 * 40e6).epsilon(0.15));
}

TEST_CASE("short pauses that leave out a turn, or come out of turn, are no rhythm") {
  const auto every_fourth = [](int n) { return n % 4 == 3; };
  const Analyzed seldom(
      Steps(40, [&](int n) { return every_fourth(n) && n / 4 % 3 != 0 ? 1200_us : Nanos{0}; }),
      kAuto);
  CHECK(seldom->step_stats.stall_every == 0);
  const Analyzed also(
      Steps(40, [&](int n) { return every_fourth(n) || n % 9 == 5 ? 1200_us : Nanos{0}; }), kAuto);
  CHECK(also->step_stats.stall_every == 0);
}

TEST_CASE("pauses that usual steps have, too, are no stall") {
  const Analyzed run(Steps(40, [](int n) { return n % 4 == 3 ? 1400_us : 1200_us; }), kAuto);
  CHECK(run->step_stats.stall_every == 0);
}

TEST_CASE("few slow steps of which one comes out of turn are no rhythm") {
  const Analyzed run(
      Steps(30, [](int n) { return n == 9 || n == 12 || n == 19 || n == 29 ? 60_ms : Nanos{0}; }),
      kAuto);
  CHECK(run->step_stats.stall_every == 0);
}

TEST_CASE("slow steps one behind the other are no rhythm") {
  const Analyzed run(Steps(30, [](int n) { return n == 12 || n == 13 ? 20_ms : Nanos{0}; }), kAuto);
  CHECK(run->step_stats.stall_every == 0);
  CHECK(run->step_stats.outliers.size() == 2);
}

TEST_CASE("two slow steps that differ much are no rhythm") {
  const Analyzed run(Steps(30, [](int n) { return n == 9    ? 20_ms
                                                  : n == 19 ? 200_ms
                                                            : Nanos{0}; }),
                     kAuto);
  CHECK(run->step_stats.stall_every == 0);
  CHECK(run->step_stats.outlier_excess_ns == Approx(220e6).epsilon(0.05));
}

TEST_CASE("two slow steps are no rhythm when the third that it asks for is not slow") {
  const auto steps = [](int count) {
    return Steps(count, [](int n) { return n == 10 || n == 21 ? 20_ms : Nanos{0}; });
  };
  CHECK(Analyzed(steps(40), kAuto)->step_stats.stall_every == 0);  // 32 is due
  CHECK(Analyzed(steps(31), kAuto)->step_stats.stall_every == 11);
}

TEST_CASE("pauses that are evenly apart for a third of the run are no rhythm of the program") {
  const auto every = [](int from) {
    return Analyzed(Steps(60, [from](int n) { return n >= from && n % 5 == 4 ? 20_ms : Nanos{0}; }),
                    kAuto)
        ->step_stats.stall_every;
  };
  CHECK(every(40) == 0);
  CHECK(every(25) == 5);
}

// The host reads a number back in every 13th step, and then sends the batches of 13 steps at once.
TEST_CASE("batches that come in bursts are no copies that a stall adds") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 40; ++n) {
    const bool read = n % 13 == 12;
    story.Range("step", {at, at + 10_ms + (read ? 3_ms : 0)});
    if (read) {
      for (int batch = 0; batch < 13; ++batch) {
        const Nanos from = at + batch * 230_us;
        story.OnStream(13).CopyToGpu(1 << 20, MemoryKind::kPinned, {from, from + 2_us},
                                     {from + 3_us, from + 220_us});
      }
      at += 3_ms;
    }
    story.OnStream(7).Launch("work", {at, at + 5_us}, {at + 10_us, at + 9_ms});
    at += 10_ms;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->step_stats.stall_what != "copies that other steps do not make");
}

TEST_CASE("a slow step claims the idle time that others do not have, not its own work") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 30; ++n) {
    const Nanos work = n == 15 ? 50_ms : 8_ms;  // and 2 ms of idle time in each
    story.Range("step", {at, at + 2_ms + work});
    story.Launch("work", {at + 2_ms - 10_us, at + 2_ms - 5_us}, {at + 2_ms, at + 2_ms + work});
    at += 2_ms + work;
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->step_stats.outliers.size() == 1);
  CHECK(run->step_stats.outlier.lost->Total() < 100_us);
  CHECK(run->step_stats.outlier_gpu_share == Approx(1).epsilon(0.01));
}

// Every fifth step of 10 ms has 50 ms more work for the GPU, and then writes a file for 20 ms.
TEST_CASE("what fills a stall is what the GPU waits for, not the work that it has there") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 40; ++n) {
    const bool more = n % 5 == 4;
    const Nanos work = more ? 59_ms : 9_ms;
    const Nanos end = at + 10_us + work;
    story.Launch("work", {at, at + 5_us}, {at + 10_us, end});
    if (more) story.OsCall("write", {end + 10_us, end + 20_ms});
    const Nanos next = end + (more ? 21_ms : 1_ms);
    story.Range("step", {at, next});
    at = next;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->step_stats.stall_every == 5);
  CHECK(run->step_stats.stall_what == "file calls");
  CHECK(run->step_stats.stall_gpu_share == Approx(50.0 / 70).epsilon(0.1));
}

// Every tenth step of 10 ms copies 64 MiB to the host for 20 ms, and as much back or nothing.
TEST_CASE("copies to the host and back are no stall that could go on beside the loop") {
  const auto claimed = [](bool back) {
    TraceBuilder story;
    Nanos at = 0;
    for (int n = 0; n < 40; ++n) {
      story.Range("step", {at, at + 10_ms + (n % 10 == 9 ? 40_ms : 0)});
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 9_ms});
      if (n % 10 == 9) {
        const Interval down{at + 9_ms, at + 29_ms};
        const Interval again{at + 29_ms, at + 49_ms};
        story.CopyFromGpu(1 << 26, MemoryKind::kPageable, down, down);
        if (back) story.CopyToGpu(1 << 26, MemoryKind::kPageable, again, again);
        at += 40_ms;
      }
      at += 10_ms;
    }
    return Analyzed(story, kAuto)->step_stats.stall.lost->Total();
  };
  CHECK(claimed(true) < 4 * 1_ms);
  CHECK(claimed(false) > 4 * 19_ms);
}

// Iterations of 10 ms, of which every third ends with twelve copies to the host. The steps, which
// are known by what repeats, begin behind the fourth of them.
TEST_CASE("the copies of a stall belong to one step where that begins among them") {
  constexpr int kIterations = 30;
  TraceBuilder story;
  Repeat(kIterations, 10_ms, [&](int n, Nanos at) {
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1_ms});
    for (int i = 0; n % 3 == 2 && i < 12; ++i) {
      const Nanos from = at + 4_ms + i * 500_us;
      story.CopyFromGpu(1_MiB, MemoryKind::kPageable, {from, from + 500_us}, {from, from + 490_us});
    }
  });
  const Trace trace = story.Build();
  Run run(trace, ShippedKnowledge());
  for (int n = 0; n < kIterations; ++n)
    run.steps.all.push_back({.start = n * 10_ms - 4_ms, .end = n * 10_ms + 6_ms});
  const std::vector<CopyOfStep> extra = ExtraCopies(run);
  REQUIRE(extra.size() == 12 * kIterations / 3 - 8);  // the last of them lie behind the last step
  for (std::size_t i = 0; i + 4 < extra.size(); ++i) CHECK(extra[i].step == i / 12 * 3 + 3);
}

// One of 30 steps of 10 ms copies 1 MiB from pageable memory for 30 ms, or all of them for 1 ms.
TEST_CASE("copies of a step that stands out are no habit of the loop") {
  const auto pageable = [](bool always) {
    TraceBuilder story;
    Nanos at = 0;
    for (int n = 0; n < 30; ++n) {
      const Nanos copy = n == 17 ? 30_ms : always ? 1_ms : 0;
      story.Range("step", {at, at + copy + 10_ms});
      if (copy > 0)
        story.CopyToGpu(1_MiB, MemoryKind::kPageable, {at, at + copy}, {at + 5_us, at + copy});
      at += copy;
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 9_ms});
      at += 10_ms;
    }
    const Analyzed run(story, kAuto);
    CHECK(run->step_stats.outliers.size() == 1);
    CHECK((run->step_stats.outlier.lost->Total() > 29_ms) == !always);
    return run->copies.pageable.count;
  };
  CHECK(pageable(false) == 0);
  CHECK(pageable(true) >= 29);  // but for the first step, before the loop is steady
}

// In each step of 4 ms the host works for 600 us before it launches the next one, which the GPU
// does not notice, since it has enough to do. Every fourth step waits for the GPU first, and then
// the host works for as much longer as said.
TEST_CASE("what a few steps wait for the GPU for is theirs, with the wait") {
  const auto stall = [](Nanos more) {
    TraceBuilder story;
    Nanos gpu = 0;
    Nanos host = 0;
    for (int n = 0; n < 40; ++n) {
      const Nanos begin = host;
      if (n % 4 == 3) {
        story.Call("cudaDeviceSynchronize", {host, gpu + 10_us});
        host = gpu + 10_us + more;
      }
      host += 600_us;
      const Nanos start = std::max(gpu, host) + 10_us;
      story.Launch("work", {host, host + 5_us}, {start, start + 3900_us});
      gpu = start + 3900_us;
      host = std::max(host + 5_us, gpu - 3_ms);
      story.Call("cudaStreamSynchronize", {host - 2_us, host});
      story.Range("step", {begin, host});
    }
    const Analyzed run(story, kAuto);
    const Loss& loss = run->step_stats.stall;
    // The waits go with what they are made for.
    const std::vector<std::uint32_t>& freed = loss.remedy->unblocked_calls;
    const std::set<std::uint32_t> waits(freed.begin(), freed.end());
    CHECK(waits.size() == (loss.lost->Total() > 0 ? 10 : 0));
    CHECK(loss.remedy->reach_ns ==
          (waits.empty() ? 0 : static_cast<Nanos>(run->step_stats.stall_excess_ns)));
    CHECK(run->replay().Gain(*loss.remedy) <= loss.remedy->reach_ns);
    return loss.lost->Total();
  };
  CHECK(stall(500_us) > 8 * 1_ms);
  CHECK(stall(150_us) > 8 * 700_us);  // steps without the wait vary by far less
  CHECK(stall(20_us) == 0);           // the wait itself is to be removed
}

// Each step ends with a number read back, after which the host works for 200 us; in one step it
// works for 50 ms.
TEST_CASE("what only a slow step has is not the doing of the call that blocked before it") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 30; ++n) {
    const Nanos code = n == 15 ? 50_ms : 200_us;
    const Nanos end = at + 2_ms;
    story.Range("step", {at, end + 30_us + code});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, end});
    story.CopyFromGpu(4, MemoryKind::kPageable, {at + 10_us, end + 20_us},
                      {end + 5_us, end + 8_us});
    at = end + 30_us + code;
  }
  const Analyzed run(story, kAuto);
  const Nanos lost = run->syncs.item.lost->Total();
  CHECK(lost > 28 * 200_us);
  CHECK(lost < 30 * 300_us);
  CHECK(run->step_stats.outlier.lost->Total() > 49_ms);
}

// A graph of 1 ms each 1.1 ms: after its launch the host computes for 1 ms, of which the GPU waits
// for 80 us, and for the launch behind it.
TEST_CASE("a long pause of the host counts where the GPU waits for a little of it only") {
  TraceBuilder story;
  Repeat(60, 1100_us, [&](int, Nanos at) {
    story.Range("step", {at, at + 1100_us});
    story.Graph(1, {at, at + 10_us}, {at + 20_us, at + 1020_us});
    story.Call("cudaEventRecord", {at + 12_us, at + 14_us});
  });
  const Analyzed run(story, kAuto);
  CHECK(run->host_code->time.lost->Total() == Approx(59 * 95e3).epsilon(0.05));
  CHECK(run->launches.bound.lost->Total() < 59 * 30_us);
}

// In one pass no place comes again: what a thread does while the GPU has work is not for it to
// lose.
TEST_CASE("in one pass only the host code that the GPU waits for counts") {
  TraceBuilder story;
  story.Launch("long", {0, 5_us}, {10_us, 20_ms});
  story.Launch("next", {9_ms, 9_ms + 5_us}, {20_ms, 21_ms});
  story.Launch("late", {24_ms, 24_ms + 5_us}, {24_ms + 10_us, 30_ms});
  const Analyzed run(story, kAuto);
  REQUIRE_FALSE(run->run.steps.known());
  CHECK(run->host_code->time.lost->Total() == Approx(3e6).epsilon(0.02));
  CHECK(run->host_code->code_ns == Approx(3e6).epsilon(0.02));
}

TEST_CASE("samples of the CPU name the functions that run while the GPU waits") {
  TraceBuilder story;
  story.Launch("next", {0_ms, 5_us}, {10_us, 20_ms});
  story.Launch("late", {24_ms, 24_ms + 5_us}, {24_ms + 10_us, 30_ms});
  story.Sample("busy(int)", 10_ms);  // the GPU does not wait
  for (const Nanos at : {21_ms, 22_ms}) story.Sample("check(double*, int)", at);
  story.Sample("", 23_ms);  // of a library without symbols
  story.Thread("bystander").Sample("other()", 22_ms);
  const Analyzed run(story, kAuto);
  const auto& functions = run->host_code->functions;
  REQUIRE(functions.size() == 2);
  CHECK(functions[0].name == "check");
  CHECK(functions[0].samples == 2);
  CHECK(functions[1].name == "program");
  CHECK(run->host_code->sampled);
}

TEST_CASE("the code between two launches is no long pause") {
  TraceBuilder story;
  Repeat(40, 2_ms, [&](int, Nanos at) {
    story.Range("step", {at, at + 2_ms});
    for (int k = 0; k < 20; ++k) {
      const Nanos call = at + k * 100_us;  // 60 us of code behind each kernel
      story.Launch("small", {call, call + 5_us}, {call + 10_us, call + 40_us});
    }
  });
  const Analyzed run(story, kAuto);
  CHECK(run->host_code->time.lost->Total() == 0);
  CHECK(run->launches.bound.lost->Total() > run.Window() / 2);
}

}  // namespace
}  // namespace advise
