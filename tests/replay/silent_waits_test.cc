// Waits of the host for GPU work of which no call was recorded.
#include "engine/replay/silent_waits.h"

#include <algorithm>

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

constexpr int kRounds = 30;
constexpr Nanos kVaries[] = {0,       70'000, 20'000,
                             110'000, 40'000, 90'000};  // varies from step to step

// Steps of one product and one kernel that ends the step; their length varies. The host uploads a
// batch `behind` after the end of the step before the last one, or, when that is 0, as soon as it
// has prepared it.
TraceBuilder TwoStepsAhead(Nanos behind) {
  TraceBuilder story;
  std::vector<Nanos> ends;
  Nanos gpu = 60_us;
  Nanos host = 0;
  for (int i = 0; i < kRounds; ++i) {
    if (behind > 0 && i >= 2) host = std::max(host, ends[static_cast<std::size_t>(i) - 2] + behind);
    story.Range("step " + std::to_string(i), {host, host + 30_us});
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {host, host + 5_us}, {host + 8_us, host + 60_us});
    story.Launch(kMatrixFp32, {host + 10_us, host + 14_us}, {gpu, gpu + 3_ms + kVaries[i % 6]});
    gpu += 3_ms + kVaries[i % 6];
    story.Launch("step_end", {host + 20_us, host + 24_us}, {gpu, gpu + 40_us});
    gpu += 40_us;
    ends.push_back(gpu);
    host += 30_us;
    if (behind == 0) host += 2'900_us + kVaries[(5 * i + 2) % 6];
  }
  return story;
}

std::size_t SilentWaits(const Analyzed& run) {
  const std::vector<std::uint32_t> awaited = AwaitedInPauses(run->run, run->hand_overs);
  return static_cast<std::size_t>(
      std::count_if(awaited.begin(), awaited.end(), [](auto op) { return op != kNone; }));
}

Remedy FasterProducts(const Analyzed& run) {
  Remedy remedy;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op) {
    const OpTable& ops = run.trace().ops;
    if (ops.kind[op] == OpKind::kKernel && ops.end[op] - ops.start[op] > 1_ms)
      remedy.scaled_ops.emplace_back(op, 0.25F);
  }
  return remedy;
}

TEST_CASE("a host that goes on behind the end of each step waits for it") {
  const Analyzed run(TwoStepsAhead(60_us));
  CHECK(SilentWaits(run) >= kRounds - 4);
  CHECK(run->replay().BaselineNs() == run.Window());
  // The GPU's time falls by almost three quarters, and nothing else is the limit.
  const Remedy remedy = FasterProducts(run);
  CHECK(run->replay().Gain(remedy) > run.Window() * 65 / 100);
}

TEST_CASE("a host that takes its own time waits for nothing") {
  const Analyzed run(TwoStepsAhead(0));
  CHECK(SilentWaits(run) == 0);
  const Remedy remedy = FasterProducts(run);
  CHECK(run->replay().Gain(remedy) < run.Window() * 10 / 100);
}

// Steps of 40 like kernels each, as of an optimizer, of varying length. The host goes on 140 us
// behind the last of them, or takes its own time while the GPU is ahead or behind.
TraceBuilder LikeKernels(bool waits) {
  TraceBuilder story;
  Nanos gpu = 60_us;
  Nanos host = 0;
  for (int i = 0; i < kRounds; ++i) {
    story.Range("step " + std::to_string(i), {host, host + 30_us});
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {host, host + 5_us}, {host + 8_us, host + 60_us});
    gpu = std::max(gpu, host + 60_us);
    for (int k = 0; k < 40; ++k) {
      const Nanos call = host + 10_us + k * 4_us;
      const Nanos length = 70_us + kVaries[(i + k) % 6] / 10 + kVaries[i % 6] / 20;
      story.Launch("wrapped_add", {call, call + 3_us}, {gpu, gpu + length});
      gpu += length;
    }
    host = waits ? gpu + 140_us : host + 3_ms + kVaries[(5 * i + 2) % 6];
  }
  return story;
}

// Batches of two workers come in turn after 38 ms and 4 ms, while the GPU has 8 ms of like kernels.
TEST_CASE("who waits for batches of several workers does not wait for one of many like kernels") {
  TraceBuilder story;
  Nanos host = 0;
  Nanos gpu = 0;
  for (int i = 0; i < kRounds; ++i) {
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {host, host + 5_us}, {host + 8_us, host + 60_us});
    gpu = std::max(gpu, host + 60_us);
    for (int k = 0; k < 80; ++k) {
      const Nanos call = host + 10_us + k * 4_us;
      story.Launch("batch_norm", {call, call + 3_us}, {gpu, gpu + 100_us + kVaries[i % 6] / 100});
      gpu += 100_us + kVaries[i % 6] / 100;
    }
    host += 400_us + (i % 2 == 0 ? 38_ms : 4_ms) + kVaries[(5 * i + 2) % 6];
  }
  CHECK(SilentWaits(Analyzed(story)) == 0);
}

TEST_CASE("a host that goes on behind the last of many like kernels waits for it") {
  const Analyzed run(LikeKernels(true));
  CHECK(SilentWaits(run) >= kRounds - 4);
  const Analyzed own_pace(LikeKernels(false));
  CHECK(SilentWaits(own_pace) == 0);
}

// Batches of two slow loaders come after long pauses and shorter ones; in a few that are shorter
// still, no kernel ends.
TEST_CASE("pauses of several lengths are no wait for the kernel that ends in most of them") {
  constexpr Nanos kPauses[] = {12_ms, 6_ms, 12_ms, 6_ms, 12_ms, 2_ms, 12_ms, 6_ms, 12_ms, 6_ms,
                               12_ms, 2_ms, 12_ms, 6_ms, 12_ms, 6_ms, 12_ms, 2_ms, 6_ms,  6_ms};
  TraceBuilder story;
  Nanos gpu = 0;
  Nanos host = 10_us;
  for (int i = 0; i < 2 * kRounds; ++i) {
    const Nanos pause = kPauses[i % 20];
    const Nanos start = std::max(gpu, host + 8_us);
    gpu = start + (pause == 2_ms ? 2'600_us : 4_ms);
    story.Launch(kMatrixFp32, {host, host + 5_us}, {start, gpu});
    host += 5_us + pause + 4 * kVaries[(5 * i + 2) % 6];
  }
  CHECK(SilentWaits(Analyzed(story)) == 0);
}

// The executing thread goes on 60 us behind the end of each step, and is asked by the main thread,
// which uploads a batch before the step has ended. Behind two of the steps the main thread computes
// for 20 ms first, without a call.
TEST_CASE("who waits for another thread behind the end of a step gets it sooner without its code") {
  TraceBuilder story;
  std::vector<Interval> code;
  Nanos at = 0;
  for (int i = 0; i < kRounds; ++i) {
    const Nanos done = at + 3_ms + kVaries[i % 6];
    story.Thread("execute").OnStream(7);
    story.Launch(kMatrixFp32, {at, at + 5_us}, {at + 10_us, done - 40_us});
    story.Launch("step_end", {at + 8_us, at + 12_us}, {done - 40_us, done});
    story.Thread("main").OnStream(13).CopyToGpu(
        1_MiB, MemoryKind::kPinned, {done - 500_us, done - 495_us}, {done - 490_us, done - 400_us});
    const Nanos extra = i == 10 || i == 20 ? 20_ms : 0;
    if (extra > 0) code.push_back({done, done + extra});
    story.Thread("execute").OsCall("futex", {at + 13_us, done + extra + 58_us});
    at = done + extra + 60_us;
  }
  const Analyzed run(story);
  const std::uint32_t main = run.trace().calls.thread[run.Calls("cudaMemcpyAsync").front()];
  Remedy remedy;
  remedy.host_cuts.push_back({main, IntervalSet::Of(std::move(code))});
  CHECK(std::abs(run->replay().Gain(remedy) - 40_ms) < 1_ms);
}

// The executing thread launches 40 kernels a step, with code before each, and begins each step with
// a call of its own. The main thread uploads the next batch 230 us behind that call, or in its own
// time. Its waits are not recorded, those of others are.
TraceBuilder Hands(bool waits) {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < kRounds; ++i) {
    story.Thread("execute").OnStream(7).Call("cudaStreamWaitEvent", {at, at + 1_us});
    Nanos upload = at + 231_us;
    if (!waits) upload = i * 3'300_us + 150_us + kVaries[(5 * i + 2) % 6];
    story.Thread("main").OnStream(13).CopyToGpu(1_MiB, MemoryKind::kPinned, {upload, upload + 5_us},
                                                {upload + 8_us, upload + 60_us});
    const Nanos apart = 80_us + kVaries[i % 6] / 20;
    for (int k = 1; k <= 40; ++k) {
      const Nanos call = at + k * apart;
      story.Thread("execute").OnStream(7).Launch("work", {call, call + 5_us},
                                                 {call + 8_us, call + 20_us});
    }
    at += 41 * apart;
  }
  story.Thread("reader").OsCall("poll", {0, at});
  return story;
}

std::size_t LetGo(const Analyzed& run) {
  const auto calls = LetGoInPauses(run->run, ThreadDevices(run->run));
  return static_cast<std::size_t>(
      std::count_if(calls.begin(), calls.end(), [](auto call) { return call != kNone; }));
}

TEST_CASE("who goes on in step with a call of another thread waits for it") {
  const Analyzed run(Hands(true));
  CHECK(LetGo(run) >= kRounds - 2);
  Remedy graph;
  graph.vanished_calls = run.Calls("cudaLaunchKernel");
  CHECK(run->replay().Gain(graph) > run.Window() * 7 / 10);
}

TEST_CASE("who takes as long for each step, at its own pace, waits for no other thread") {
  const Analyzed run(Hands(false));
  CHECK(LetGo(run) == 0);
}

// The executing thread launches 40 kernels a step without a rest, each in a slow call. The main
// thread hands them over and uploads the next batch near the end of a step: at most two ahead, or
// in its own time. No call says so, and none of the executing thread's calls comes once a step.
TraceBuilder HandsAhead(bool at_most_two) {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < kRounds; ++i) {
    const Nanos apart = 80_us + kVaries[i % 6] / 20;
    Nanos upload = at + 38 * apart + 20_us;
    if (!at_most_two) upload = (i + 1) * 3'320_us + kVaries[(5 * i + 2) % 6];
    story.Thread("main").OnStream(13).CopyToGpu(1_MiB, MemoryKind::kPinned, {upload, upload + 5_us},
                                                {upload + 8_us, upload + 60_us});
    for (int k = 0; k < 40; ++k, at += apart) {
      story.Thread("execute").OnStream(7).Launch("work", {at, at + 72_us},
                                                 {at + 75_us, at + 79_us});
    }
  }
  story.Thread("reader").OsCall("poll", {0, at});
  return story;
}

TEST_CASE("who goes on at the same place of what another thread repeats waits for it") {
  const Analyzed run(HandsAhead(true));
  CHECK(LetGo(run) >= kRounds - 2);
  CHECK(run->replay().BaselineNs() == run.Window());
  Remedy graph;
  graph.vanished_calls = run.Calls("cudaLaunchKernel");
  CHECK(run->replay().Gain(graph) > run.Window() * 7 / 10);
  CHECK(LetGo(Analyzed(HandsAhead(false))) == 0);
}

// The main thread launches a kernel and hands a value to a thread that uploads it; then it goes on.
// Each round takes it as long, but in each tenth, which reads for 3 ms. Or the other thread uploads
// in its own time, and is as long at something else once in ten rounds.
TraceBuilder HandsValues(bool waits) {
  TraceBuilder story;
  Nanos at = 0;
  Nanos upload = 0;
  for (int i = 0; i < 6 * kRounds; ++i) {
    const Nanos reads = i % 10 == 9 ? 3_ms : 0;
    story.Thread("execute").OnStream(7).Launch("work", {at + reads + 60_us, at + reads + 65_us},
                                               {at + reads + 70_us, at + reads + 80_us});
    const Nanos code = kVaries[i % 6] / 20;
    if (waits) upload = at + reads + 140_us + code;
    story.Thread("upload").OnStream(13).CopyToGpu(4, MemoryKind::kPinned, {upload, upload + 5_us},
                                                  {upload + 8_us, upload + 9_us});
    at = waits ? upload + 10_us : at + reads + 150_us + code;
    if (!waits) upload += 155_us + kVaries[(5 * i + 2) % 6] / 20 + (i % 10 == 4 ? 3_ms : 0);
  }
  story.Thread("reader").OsCall("poll", {0, at});
  return story;
}

TEST_CASE("who is handed something now and then far later waits for it, however even the rest is") {
  const Analyzed run(HandsValues(true));
  CHECK(LetGo(run) >= 12 * kRounds - 12);  // each for the other
  CHECK(run->replay().BaselineNs() == run.Window());
  CHECK(LetGo(Analyzed(HandsValues(false))) == 0);
}

// The main thread uploads a batch, sleeps, and then waits for the executing thread, whose launches
// take 50 us each. Its sleeps vary, as those do that no timer ends.
TEST_CASE("who sleeps before it waits for another thread goes on as soon as both are done") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < kRounds; ++i) {
    story.Thread("main").OnStream(13).CopyToGpu(1_MiB, MemoryKind::kPinned, {at, at + 5_us},
                                                {at + 8_us, at + 60_us});
    const Nanos awake = at + 3_ms + kVaries[i % 6];
    story.OsCall("clock_nanosleep", {at + 10_us, awake});
    Nanos launch = awake + 10_us;
    for (int k = 0; k < 40; ++k, launch += 52_us) {
      story.Thread("execute").OnStream(7).Launch("work", {launch, launch + 50_us},
                                                 {launch + 52_us, launch + 60_us});
    }
    story.Thread("main").OsCall("futex", {awake + 5_us, launch});
    at = launch + 5_us;
  }
  const Analyzed run(story);
  const std::vector<std::uint32_t> launches = run.Calls("cudaLaunchKernel");
  const CallTable& calls = run.trace().calls;
  IntervalSet slow;
  for (const std::uint32_t c : launches) slow.Append(calls.start[c] + 5_us, calls.end[c]);
  Remedy remedy;
  remedy.host_cuts.push_back({calls.thread[launches.front()], std::move(slow)});
  const double wins = static_cast<double>(kRounds) * 40 * 45'000;
  CHECK(static_cast<double>(run->replay().Gain(remedy)) > 0.9 * wins);
  CHECK(static_cast<double>(run->replay().Gain(remedy)) < 1.05 * wins);
}

// One step: the main thread prepares a batch for 60 ms, uploads it and launches the forward pass,
// another thread the backward pass. Its wait began before the recording, which holds none of it.
TEST_CASE("a thread whose first call comes behind another thread's work begins with that") {
  TraceBuilder story;
  story.Thread("main").CopyToGpu(1_MiB, MemoryKind::kPinned, {60_ms, 60_ms + 5_us},
                                 {60_ms + 10_us, 60_ms + 100_us});
  story.Launch("forward", {60_ms + 10_us, 60_ms + 15_us}, {60_ms + 110_us, 65_ms});
  story.OsCall("pthread_cond_wait", {60_ms + 30_us, 62_ms});
  story.Thread("backward").Launch("dgrad", {60_ms + 50_us, 60_ms + 55_us}, {65_ms, 75_ms});
  story.Thread("main").Range("step 3", {0, 76_ms});
  story.Launch("update", {62_ms + 10_us, 62_ms + 15_us}, {75_ms, 76_ms});
  const Analyzed run(story, kAuto);
  Remedy loaded;
  loaded.host_cuts.push_back({0, IntervalSet::Of({{0, 60_ms}})});
  CHECK(std::abs(run->replay().Gain(loaded) - 60_ms) < 1_ms);
}

}  // namespace
}  // namespace advise
