// Launches that wait for room in the queue, and what a launch costs without such waits.
#include "engine/replay/launch_queue.h"

#include "engine/replay/replay.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

constexpr int kRoom = 100;     // launches that the queue takes
constexpr int kKernels = 800;  // so that most launches find it full

// Kernels of 1 ms, launched as fast as the queue takes them: every 8 us while there is room, later
// one whenever one has ended. Each launch costs `cost` once there is room. A capture that starts
// later lacks the first `missing` launches and their kernels.
TraceBuilder FullQueue(Nanos cost, int missing = 0) {
  TraceBuilder story;
  std::vector<Nanos> ended;
  Nanos host = 0;
  Nanos gpu = 10_us;
  for (int i = 0; i < kKernels; ++i) {
    const Nanos begun = host;
    const Nanos room =
        i < kRoom ? begun : std::max(begun, ended[static_cast<std::size_t>(i - kRoom)]);
    host = room + cost;
    gpu = std::max(gpu, host + 5_us);
    if (i >= missing) story.Launch("work", {begun, host}, {gpu, gpu + 1_ms});
    gpu += 1_ms;
    ended.push_back(gpu);
    host += 3_us;
  }
  story.Sync({host, gpu + 2_us}, "cudaDeviceSynchronize");
  return story;
}

Remedy Faster(const Analyzed& run, float factor) {
  Remedy remedy;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    remedy.scaled_ops.emplace_back(op, factor);
  return remedy;
}

TEST_CASE("what a launch costs is seen where the queue had room") {
  const Analyzed run(FullQueue(5_us));
  const LaunchQueues queues = MeasureQueues(run->run);
  CHECK(queues.usual_call == 5_us);
  const std::vector<std::uint32_t> calls = run.Calls("cudaLaunchKernel");
  CHECK(queues.deep[calls[10]] == 0);
  CHECK(queues.deep[calls[kRoom + 10]] == 1);
}

TEST_CASE("launches that wait for their kernel do not tell what a launch costs") {
  TraceBuilder story;
  Repeat(50, 1_ms, [&](int, Nanos at) {
    story.Launch("work", {at, at + 910_us}, {at + 8_us, at + 908_us});
    // A short one behind a copy of another stream: its launch takes as long as the copy.
    story.Launch("short", {at + 911_us, at + 980_us}, {at + 970_us, at + 978_us});
  });
  const Analyzed run(story);
  CHECK(MeasureQueues(run->run).usual_call <= 5_us);
  Remedy remedy;
  remedy.unblocked_calls = run.Calls("cudaLaunchKernel");
  CHECK(run->replay().Gain(remedy) < run.Window() / 10);  // the pauses stay the host's own
}

TEST_CASE("slow launches into a queue with room are slow, not held") {
  TraceBuilder story;
  AddEmptyQueue(&story, "tiny", 0, 300, 5_us, 120_us);
  const Analyzed run(story);
  const LaunchQueues queues = MeasureQueues(run->run);
  CHECK(queues.usual_call == 5_us);
  for (const std::uint8_t deep : queues.deep) CHECK(deep == 0);
}

// Each step: an upload that blocks the host, 2 ms of kernels, a pause in which the GPU runs dry,
// and as many kernels again. Every tenth is launched by a call that always costs more. Without the
// pause, the next upload runs beside the second half.
TEST_CASE("launches of a kind that always costs more are not held back by a full queue") {
  constexpr int kSteps = 12;
  constexpr Nanos kUpload = 3_ms;
  constexpr Nanos kPause = 2400_us;
  TraceBuilder story;
  IntervalSet pauses;
  Nanos host = 0;
  Nanos gpu = 0;
  Nanos launching = 0;  // in one step
  for (int step = 0; step < kSteps; ++step) {
    story.OnStream(9).CopyToGpu(8 << 20, MemoryKind::kPageable, {host, host + kUpload},
                                {host + 5_us, host + kUpload - 1_us});
    host += kUpload;
    launching = 0;
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < 100; ++i) {
        const bool costly = i % 10 == 9;
        const Nanos cost = costly ? 13_us : 4_us;
        gpu = std::max(gpu, host + 6_us);
        story.OnStream(7).LaunchBy(costly ? "cudaLaunchKernelExC" : "cudaLaunchKernel", "work",
                                   {host, host + cost}, {gpu, gpu + 20_us});
        gpu += 20_us;
        host += cost + 1_us;
        launching += cost + 1_us;
      }
      if (half > 0) continue;
      pauses.Append(host, host + kPause);
      host += kPause;
    }
  }
  story.Sync({host, gpu + 2_us}, "cudaDeviceSynchronize");
  const Analyzed run(story);
  Remedy remedy;
  remedy.host_cuts.push_back({0, pauses});
  const Nanos step = kUpload + launching;
  const Nanos gain =
      run.Window() - kSteps * step - 4_ms;  // behind the last upload, the kernels run
  CHECK(std::abs(run->replay().BaselineNs() - run.Window()) < run.Window() / 100);
  CHECK(std::abs(run->replay().Gain(remedy) - gain) < run.Window() / 50);
}

TEST_CASE("kernels that run faster drain a full queue faster") {
  const Nanos cost = GENERATE(5_us, 90_us);
  const Analyzed run(FullQueue(cost));
  const Replay& replay = run->replay();
  CHECK(std::abs(replay.BaselineNs() - run.Window()) < run.Window() / 100);
  // A fifth of the time, which is still more than launching takes.
  const Nanos gain = replay.Gain(Faster(run, 0.2F));
  CHECK(gain > kKernels * 780_us);
  CHECK(gain < kKernels * 805_us);
}

// Every second kernel is tiny, and the queue takes 100 launches: 50 ms of work. Then the host
// pauses for 80 ms. Without the tiny kernels the queue holds 100 ms of work.
TEST_CASE("a full queue holds more work when small launches are gone") {
  TraceBuilder story;
  std::vector<Nanos> ended;
  Remedy remedy;
  Nanos host = 0;
  Nanos gpu = 10_us;
  Nanos idle = 0;
  for (int i = 0; i < kKernels; ++i) {
    const bool tiny = i % 2 == 1;
    if (i == kKernels - 200) host += 80_ms;
    const Nanos begun = host;
    const Nanos room =
        i < kRoom ? begun : std::max(begun, ended[static_cast<std::size_t>(i - kRoom)]);
    host = room + 5_us;
    if (i > 0) idle += std::max<Nanos>(0, host + 5_us - gpu);
    gpu = std::max(gpu, host + 5_us);
    const Nanos length = tiny ? 2_us : 1_ms;
    story.Launch(tiny ? "tiny" : "work", {begun, host}, {gpu, gpu + length});
    if (tiny) {
      remedy.vanished_calls.push_back(static_cast<std::uint32_t>(i));
      remedy.scaled_ops.emplace_back(static_cast<std::uint32_t>(i), 0.0F);
    }
    gpu += length;
    ended.push_back(gpu);
    host += 3_us;
  }
  story.Sync({host, gpu + 2_us}, "cudaDeviceSynchronize");
  const Analyzed run(story);
  const Replay& replay = run->replay();
  CHECK(std::abs(replay.BaselineNs() - run.Window()) < run.Window() / 100);
  REQUIRE(idle > 25_ms);
  CHECK(replay.Gain(remedy) > idle);
  CHECK(replay.Gain(remedy) < idle + kKernels * 2_us);
}

TEST_CASE("a queue that was full before the capture began is told, too") {
  const Analyzed run(FullQueue(5_us, 2 * kRoom));
  CHECK(MeasureQueues(run->run).usual_call <= 10_us);
  const Nanos gain = run->replay().Gain(Faster(run, 0.2F));
  CHECK(gain > (kKernels - 3 * kRoom) * 780_us);
}

// Launches take 150 us each, and the kernel begins when its launch returns; the host waits for
// every fourth one, so that the GPU waits for all of them.
TEST_CASE("a launch that takes less time hands its kernel over sooner") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 120; ++i, at += 152_us) {
    story.Launch("work", {at, at + 150_us}, {at + 151_us, at + 171_us});
    if (i % 4 != 3) continue;
    story.Sync({at + 152_us, at + 174_us}, "cudaStreamSynchronize");
    at += 25_us;
  }
  const Analyzed run(story);
  const CallTable& calls = run.trace().calls;
  IntervalSet slow;
  for (const std::uint32_t c : run.Calls("cudaLaunchKernel"))
    slow.Append(calls.start[c] + 5_us, calls.end[c]);
  Remedy remedy;
  remedy.host_cuts.push_back({0, std::move(slow)});
  // Of four launches, three then overlap with the kernels: 4 x 20 us, and what the wait takes.
  const Nanos rounds = 30 * 110_us;
  CHECK(static_cast<double>(run.Window() - run->replay().Gain(remedy)) ==
        Approx(static_cast<double>(rounds)).epsilon(0.15));
}

}  // namespace
}  // namespace advise
