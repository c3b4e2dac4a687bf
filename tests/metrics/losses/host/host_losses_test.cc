// Calls and pauses of the host that cost the GPU time: all that is lost, and what the fix changes.
#include <array>

#include "engine/metrics/losses/host/host.h"
#include "tests/metrics/losses/loss_words.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

Analysis AnalyzeAll(const Trace& trace) {
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  return Analysis(trace, ShippedKnowledge(), options);
}

TEST_CASE("allocating calls: their time, when they come, and which takes most") {
  TraceBuilder story = GapStory();  // a gap from 100 to 210 us; the window is 10 to 300 us
  story.Call("cudaMalloc", {110_us, 150_us})
      .Call("cudaHostRegister", {155_us, 180_us})
      .Call("cudaFree", {182_us, 190_us})
      .Call("cudaGetDevice", {191_us, 192_us});
  const Analyzed run(story);
  CHECK(run->host.alloc.count == 3);
  CHECK(run->host.alloc.time_ns == 73e3);
  CHECK(run->host.alloc_name == "cudaMalloc");
  CHECK(run->host.alloc_late_share == Approx(2.0 / 3));  // behind 155 us
  CHECK(run->host.alloc.lost->Total() >= 73_us);
  CHECK(Changes(run->host.alloc) == "unblocks 1 2 3, cuts 73000 ns");
  CHECK(Analyzed(GapStory())->host.alloc.count == 0);
  CHECK(Analyzed(GapStory())->host.alloc_late_share == 0);
  CHECK(Analyzed(GapStory())->host.alloc_name.empty());
}

TEST_CASE("a wait for all work that only makes a free safe goes with it") {
  const auto freed = [](const std::string& sync, const std::string& then, bool download) {
    TraceBuilder story = GapStory();
    if (download) story.CopyFromGpu(4_KiB, MemoryKind::kPinned, {101_us, 103_us}, {103_us, 105_us});
    story.Sync({106_us, 120_us}, sync).Call(then, {121_us, 150_us});
    return Analyzed(story)->host.alloc.remedy->unblocked_calls.size();
  };
  CHECK(freed("cudaDeviceSynchronize", "cudaFree", false) == 2);
  CHECK(freed("cudaStreamSynchronize", "cudaFree", false) == 1);
  CHECK(freed("cudaDeviceSynchronize", "cudaMalloc", false) == 1);
  CHECK(freed("cudaDeviceSynchronize", "cudaFree", true) == 1);  // it may wait for the result
}

TEST_CASE("loading code in a gap costs the gap") {
  TraceBuilder story = GapStory();
  story.Call("cuModuleLoadData", {120_us, 170_us});
  const Analyzed run(story);
  REQUIRE(run.Idle(IdleCause::kJitOrModuleLoad) >= 50_us);
  CHECK(run->host.jit.count == 1);
  CHECK(run->host.jit.time_ns == 50e3);
  CHECK(run->host.jit.lost->Total() == run.Idle(IdleCause::kJitOrModuleLoad));
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(run->host.jit.remedy->host_cuts)) {
    cut += when.Total();
  }
  CHECK(cut == run.Idle(IdleCause::kJitOrModuleLoad));
}

TEST_CASE("loading code beside the GPU's work costs what the host comes late to behind it") {
  // Kernels of 600 us. The host loads code for 500 us beside them, then computes for 400 us.
  const auto jit = [](bool loads) {
    TraceBuilder story;
    Repeat(10, 1_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 990_us});
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 610_us});
      if (loads) story.Call("cuModuleLoadData", {at + 20_us, at + 520_us});
    });
    return Analyzed(story)->host.jit;
  };
  CHECK(jit(true).count >= 7);
  CHECK(jit(true).lost->Total() > 7 * 350_us);
  CHECK(jit(true).lost->Total() < 10 * 450_us);
  CHECK(jit(false).count == 0);
}

// In each step, the host works on results for 400 us, in 100 us of which pages move back to it.
TEST_CASE("while pages that it touched move back, the host runs no code") {
  const auto code = [](MigrationCause cause) {
    TraceBuilder story;
    Repeat(20, 1_ms, [&](int, Nanos at) {
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 500_us});
      story.Sync({at + 6_us, at + 502_us});
      story.MigrateToHost(2_MiB, {at + 600_us, at + 700_us}, cause);
    });
    return Analyzed(story)->host_code->code_ns;
  };
  CHECK(code(MigrationCause::kEviction) - code(MigrationCause::kFault) == 19 * 100_us);
}

TEST_CASE("waiting for a lock in a gap") {
  TraceBuilder story = GapStory();
  story.OsCall("pthread_mutex_lock", {120_us, 180_us});
  const Analyzed run(story);
  CHECK(Told(run->host.lock) == "1 times, 0 bytes, 60000 ns in all, 60000 ns lost");
  CHECK(Changes(run->host.lock) == "cuts 60000 ns");
  CHECK(Analyzed(GapStory())->host.lock.count == 0);
}

// The thread waits for a lock twice in each step: while the GPU has work, and when it has none.
TEST_CASE("a lock that nobody holds any more is waited for at no place of the loop") {
  TraceBuilder story;
  Repeat(10, 3_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 2990_us});
    story.Launch("first", {at, at + 5_us}, {at + 10_us, at + 1400_us});
    story.OsCall("pthread_mutex_lock", {at + 20_us, at + 1020_us});
    story.LaunchBy("cuLaunchKernelEx", "second", {at + 1030_us, at + 1035_us},
                   {at + 1400_us, at + 1500_us});
    story.OsCall("pthread_mutex_lock", {at + 1040_us, at + 2040_us});
    story.Launch("third", {at + 2050_us, at + 2055_us}, {at + 2060_us, at + 2990_us});
  });
  const Analyzed run(story, kAuto);
  const auto& cuts = run->host.lock.remedy->host_cuts;
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(cuts)) cut += when.Total();
  const auto steps = static_cast<Nanos>(run->run.steps.steady_count());
  CHECK(cut == steps * 2_ms);
  // In each step 540 us in the second wait, and 28 us of the launch behind it, which comes later
  // for the first one.
  CHECK(run->host.lock.lost->Total() == Approx(static_cast<double>(steps * 568_us)).epsilon(0.05));
}

// In each step of 3 ms, the thread waits 800 us for a lock beside a kernel, then computes for 2 ms.
TEST_CASE("a lock that is waited for beside a kernel delays the code that follows") {
  TraceBuilder story;
  Repeat(10, 3_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 2990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1_ms});
    story.OsCall("pthread_mutex_lock", {at + 20_us, at + 820_us});
  });
  const Analyzed run(story, kAuto);
  const auto steps = static_cast<double>(run->run.steps.steady_count());
  CHECK(run->host.lock.count == Approx(steps).margin(1));
  CHECK(run->host.lock.lost->Total() == Approx(steps * 800_us).epsilon(0.1));
}

// The scheduler's events of the first thread: off and on a CPU.
struct Scheduled {
  Nanos time;
  bool on;
  int cpu;
};
Trace WithScheduling(TraceBuilder story, const std::vector<Scheduled>& events) {
  story.OsCall("read", {1_us, 2_us});
  Trace trace = story.Build();
  for (const Scheduled& event : events) {
    trace.sched.time.push_back(event.time);
    trace.sched.thread.push_back(0);
    trace.sched.cpu.push_back(static_cast<std::uint16_t>(event.cpu));
    trace.sched.on.push_back(event.on ? 1 : 0);
  }
  return trace;
}

TEST_CASE("a launching thread that is off the CPU while the GPU waits was preempted") {
  const Trace trace = WithScheduling(GapStory(), {{0, true, 1},
                                                  {120_us, false, 1},
                                                  {150_us, true, 2},
                                                  {160_us, false, 2},
                                                  {170_us, true, 2},
                                                  {260_us, false, 2},
                                                  {270_us, true, 3}});
  const Analysis run = AnalyzeAll(trace);
  CHECK(Told(run.host.preempted) == "2 times, 0 bytes, 40000 ns in all, 40000 ns lost");
  CHECK(run.host.preempted_ns == 40e3);
  // With another GPU whose thread is never off the CPU, it is the mean of the two.
  const Trace beside =
      WithScheduling(GapStory().Twice(), {{0, true, 1}, {120_us, false, 1}, {160_us, true, 1}});
  CHECK(AnalyzeAll(beside).host.preempted_ns == 20e3);
  // From CPU 2 (seen first inside the window) to 3, in 290 us.
  CHECK(run.host.cpu_moves_per_s == Approx(1 / 290e-6));
  const Analyzed unknown(GapStory());
  CHECK(unknown->host.preempted_ns == -1);
  CHECK(unknown->host.cpu_moves_per_s == -1);
  const auto longest = static_cast<Nanos>(ShippedKnowledge().Number("host.longest_preemption"));
  TraceBuilder wide;
  wide.Launch("before", {0, 5_us}, {10_us, 100_us});
  const Nanos later = 200_us + 2 * longest;
  wide.Launch("after", {later, later + 5_us}, {later + 10_us, later + 90_us});
  const auto away = [&](Nanos length) {
    return AnalyzeAll(WithScheduling(wide, {{150_us, false, 1}, {150_us + length, true, 1}}))
        .host.preempted.count;
  };
  CHECK(away(longest) == 1);
  CHECK(away(longest + 1) == 0);  // it waited for something
}

// Blocks of memory that come and go: bytes by time.
Trace WithMemory(TraceBuilder story, const std::vector<std::pair<Nanos, std::int64_t>>& blocks,
                 MemoryKind kind = MemoryKind::kDevice) {
  Trace trace = story.Build();
  for (const auto& [time, bytes] : blocks) {
    trace.memory.time.push_back(time);
    trace.memory.bytes.push_back(bytes);
    trace.memory.memory.push_back(kind);
    trace.memory.device.push_back(0);
    trace.memory.process.push_back(0);
    trace.memory.address.push_back(0);
  }
  return trace;
}

// In each step one block is allocated and kept, another is freed again.
TEST_CASE("only allocations that nothing frees again are the cost of kept memory") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 100_us});
    story.Call("cudaMalloc", {at + 200_us, at + 300_us});
    story.Call("cudaMalloc", {at + 400_us, at + 600_us});
    story.Call("cudaFree", {at + 700_us, at + 750_us});
  });
  CHECK(Analyzed(story)->host.kept.per_step == 3);  // any may be kept
  std::vector<std::pair<Nanos, std::int64_t>> blocks;
  for (Nanos at = 0; at < 10_ms; at += 1_ms) {
    for (const auto& [when, bytes] : {std::pair{200_us, 1000}, {400_us, 500}, {700_us, -500}})
      blocks.emplace_back(at + when, bytes);
  }
  Trace trace = WithMemory(story, blocks);
  for (std::size_t i = 0; i < trace.memory.size(); ++i)
    trace.memory.address[i] = i % 3 == 0 ? 1000 + i : 1;
  const Analysis run = AnalyzeAll(trace);
  CHECK(run.host.kept.per_step == 1);
  CHECK(run.host.kept.lost->Total() >= 9 * 100_us);
  CHECK(run.host.kept.lost->Total() < run.host.alloc.lost->Total());
}

TEST_CASE("memory that is never freed grows from step to step") {
  TraceBuilder story;
  std::vector<std::pair<Nanos, std::int64_t>> blocks;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 900_us});
    blocks.emplace_back(at + 100_us, 1000);
    if (i < 8) blocks.emplace_back(at + 200_us, -400);
  });
  for (const MemoryKind kind :
       {MemoryKind::kDevice, MemoryKind::kDeviceStatic, MemoryKind::kManaged}) {
    const Trace trace = WithMemory(story, blocks, kind);
    const Analysis run = AnalyzeAll(trace);
    REQUIRE(run.run.steps.known());
    CHECK(run.host.memory_peak == 8 * 600 + 2000);
    CHECK(run.host.growth_per_step == 600);
    CHECK(run.host.growth_steps == 1);
    CHECK(run.host.memory_reserved_peak == 0);
    CHECK(run.host.memory_allocated_peak == 0);
  }
  const Trace host = WithMemory(story, blocks, MemoryKind::kPinned);
  CHECK(AnalyzeAll(host).host.memory_peak == -1);
  CHECK(Analyzed(story)->host.memory_peak == -1);
}

TEST_CASE("memory grows although the host, which allocates it, runs ahead of the GPU's steps") {
  TraceBuilder story;
  std::vector<std::pair<Nanos, std::int64_t>> blocks;
  Repeat(12, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 900_us});
    // In each of its steps, of 880 us, the host allocates 1000 bytes and frees 900 of them.
    blocks.emplace_back(i * 880_us + 100_us, 1000);
    blocks.emplace_back(i * 880_us + 700_us, -900);
  });
  const Trace trace = WithMemory(story, blocks, MemoryKind::kDevice);
  const Analysis run = AnalyzeAll(trace);
  CHECK(run.host.growth_per_step == 100);
  CHECK(run.host.growth_steps == 1);
}

TEST_CASE("what a caching allocator holds is gone for others, used or not") {
  Trace trace = WithMemory(GapStory(), {{20_us, 1000}, {30_us, 500}, {40_us, -1500}});
  trace.memory.reserved = {4000, 6000, 5000};
  const Analysis run = AnalyzeAll(trace);
  CHECK(run.host.memory_peak == 6000);
  CHECK(run.host.memory_reserved_peak == 6000);
  CHECK(run.host.memory_allocated_peak == 1500);
}

TEST_CASE("what fills an emptied cache again is blamed with it, and no more") {
  TraceBuilder story;
  story.Launch("before", {0, 5_us}, {10_us, 100_us});
  for (int i = 0; i < 6; ++i) story.Call("cudaFree", {120_us + i * 10_us, 128_us + i * 10_us});
  for (int i = 0; i < 7; ++i) story.Call("cudaMalloc", {180_us + i * 10_us, 185_us + i * 10_us});
  story.Launch("after", {260_us, 265_us}, {270_us, 300_us});
  const Analyzed run(story);
  CHECK(run->host.free_bursts.count == 1);
  CHECK(Changes(run->host.free_bursts) ==
        "unblocks 1 2 3 4 5 6 7 8 9 10 11 12, cuts 78000 ns");  // the seventh is new
}

TEST_CASE("a burst of frees blames the time that the GPU is idle in it") {
  TraceBuilder story;
  story.Launch("before", {0, 5_us}, {10_us, 100_us});
  for (int i = 0; i < 6; ++i) story.Call("cudaFree", {120_us + i * 10_us, 128_us + i * 10_us});
  story.Launch("after", {200_us, 205_us}, {210_us, 300_us});
  const Analyzed run(story);
  CHECK(run->host.free_bursts.count == 1);
  CHECK(run->host.free_bursts.lost->Total() >= 48_us);
  CHECK(Changes(run->host.free_bursts) == "unblocks 1 2 3 4 5 6, cuts 48000 ns");
  // An allocation in between parts them; a synchronizing call and what is no call of memory do not.
  const auto bursts = [](const char* between) {
    TraceBuilder parted;
    parted.Launch("before", {0, 5_us}, {10_us, 100_us});
    for (int i = 0; i < 6; ++i) {
      parted.Call("cudaFree", {120_us + i * 10_us, 128_us + i * 10_us});
      if (i == 2) parted.Call(between, {148_us, 149_us});
    }
    parted.Launch("after", {200_us, 205_us}, {210_us, 300_us});
    return Analyzed(parted)->host.free_bursts.count;
  };
  CHECK(bursts("cudaMalloc") == 0);
  CHECK(bursts("cudaStreamSynchronize") == 1);
  CHECK(bursts("cudaGetDevice") == 1);
}

TEST_CASE("an allocator that makes room for a request frees in the middle of it") {
  const auto retried = [](Nanos asked, Nanos asks_again) {
    TraceBuilder story;
    story.Launch("before", {0, 5_us}, {10_us, 100_us});
    story.Call("cudaMalloc", {asked, asked + 5_us});
    story.Call("cudaDeviceSynchronize", {112_us, 118_us});
    for (int i = 0; i < 6; ++i) story.Call("cudaFree", {120_us + i * 10_us, 128_us + i * 10_us});
    story.Call("cudaMalloc", {asks_again, asks_again + 5_us});
    story.Launch("after", {300_us, 305_us}, {310_us, 400_us});
    return Analyzed(story)->host.retried_bursts;
  };
  CHECK(retried(105_us, 181_us) == 1);
  CHECK(retried(105_us, 250_us) == 1);  // what came first was refused
  CHECK(retried(20_us, 181_us) == 1);
  CHECK(retried(20_us, 250_us) == 0);  // emptied on purpose
}

TEST_CASE("what fills an emptied cache again goes with it, and no more than was freed") {
  TraceBuilder story;
  story.Launch("before", {0, 5_us}, {10_us, 100_us});
  for (int i = 0; i < 6; ++i) story.Call("cudaFree", {120_us + i * 10_us, 128_us + i * 10_us});
  for (int i = 0; i < 8; ++i) story.Call("cudaMalloc", {200_us + i * 10_us, 209_us + i * 10_us});
  story.Launch("after", {300_us, 305_us}, {310_us, 400_us});
  const Analyzed run(story);
  CHECK(run->host.free_bursts.count == 1);
  CHECK(Changes(run->host.free_bursts) ==
        "unblocks 1 2 3 4 5 6 7 8 9 10 11 12, cuts 102000 ns");  // 6 of 8 us, 6 of 9 us
  CHECK(run->host.free_bursts.lost->Total() >= 102_us);
  CHECK(run->host.alloc.count == 14);
}

TEST_CASE("idle time in the ranges of each phase is that phase's, by range") {
  constexpr std::array<const char*, 5> kRanges = {"save_checkpoint", "evaluate", "gc.collect",
                                                  "log_metrics", "optimizer"};
  for (std::size_t phase = 0; phase < kRanges.size(); ++phase) {
    INFO(kRanges[phase]);
    TraceBuilder story;
    Repeat(10, 1_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 950_us});
      story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
      story.Range(kRanges[phase], {at + 300_us, at + 700_us});
    });
    const Analyzed run(story);
    for (std::size_t other = 0; other < kRanges.size(); ++other) {
      const Loss& loss = run->stalls.phases[other];
      CHECK(loss.count == (other == phase ? 9 : 0));
      CHECK(loss.lost->Total() == (other == phase ? 9 * 400_us : 0));
      Nanos cut = 0;
      for (const auto& [thread, when] : CutsByThread(loss.remedy->host_cuts)) cut += when.Total();
      CHECK(cut == loss.lost->Total());
    }
  }
}

TEST_CASE("code that is compiled in a phase is no part of what the phase costs") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
    story.Range("evaluate", {at + 300_us, at + 700_us});
    story.Call("cuModuleLoadData", {at + 350_us, at + 600_us});
  });
  const Analyzed run(story);
  const Loss& evaluation = run->stalls.phases[1];
  CHECK(evaluation.count == 9);
  CHECK(evaluation.lost->Total() == 9 * 100_us);  // what comes behind the call
  CHECK(run->host.jit.lost->Total() >= 9 * 250_us);
}

TEST_CASE("what a program does behind each of its waits is no launching, however usual it is") {
  // A script: each kernel is another one. Every kernel is waited for, and 190 us of code follow.
  const auto lost = [](bool waits) {
    TraceBuilder story;
    Repeat(130, 400_us, [&](int i, Nanos at) {
      const auto name = "stage_" + std::string(1 + static_cast<std::size_t>(i * i % 11), 'a') +
                        std::string(1, static_cast<char>('a' + i / 6));
      story.Launch(name, {at, at + 5_us}, {at + 10_us, at + 205_us});
      if (waits) story.Sync({at + 6_us, at + 210_us}, "cudaDeviceSynchronize");
    });
    return AnalyzeAll(story.Build()).host_code->time.lost->Total();
  };
  CHECK(lost(true) >= 128 * 190_us);
  CHECK(lost(false) == 0);  // each kernel may need so long to be launched
}

}  // namespace
}  // namespace advise
