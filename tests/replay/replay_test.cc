// What a fix would win: the run again with the fix in it, until the next bound shows.
#include "engine/replay/replay.h"

#include "tests/support/all_ops.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// 20 kernels of 200 us that the host queues far ahead of the GPU, and then waits for.
TraceBuilder GpuBound() {
  TraceBuilder story;
  story.Launch("work", {0_us, 5_us}, {10_us, 1_ms});
  const Nanos end = AddFullQueue(&story, "work", 1_ms, 20, 200_us);
  story.Sync({1_ms + 700_us, end}, "cudaDeviceSynchronize");
  return story;
}

// 100 kernels of 5 us, one every 25 us.
TraceBuilder HostBound() {
  TraceBuilder story;
  AddEmptyQueue(&story, "tiny", 0, 100, 5_us, 25_us);
  return story;
}

// Full, then drained by a synchronize and 100 us of host code, then full again.
TraceBuilder Drained() {
  TraceBuilder story;
  const Nanos drained = AddFullQueue(&story, "work", 1_ms, 20, 200_us);
  story.Sync({1_ms + 1_us, drained + 5_us}, "cudaDeviceSynchronize");
  for (int i = 0; i < 20; ++i) {
    const Nanos call = drained + 100_us + i * 5_us;
    const Nanos start = drained + 110_us + i * 200_us;
    story.Launch("work", {call, call + 4_us}, {start, start + 200_us});
  }
  return story;
}

TEST_CASE("a timer begins the next iteration when it is time, however soon the GPU is done") {
  const auto gain = [](bool timer) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 40; ++i) {
      const Nanos work = 3_ms + (i * 7 % 11) * 100'000;
      story.Launch("render", {at, at + 5_us}, {at + 10_us, at + work});
      story.Sync({at + 6_us, at + work + 10_us});
      const Nanos next = timer ? (i + 1) * 10_ms : at + work + 5_ms;
      story.OsCall("nanosleep", {at + work + 20_us, next});
      at = next + 10_us;
      if (timer) at = next + (i % 3) * 3'000;
    }
    const Analyzed run(story);
    CHECK(run->replay().IsPaced() == timer);
    Remedy faster;
    for (std::uint32_t op = 0; op < run->run.trace.ops.size(); ++op)
      faster.scaled_ops.emplace_back(op, 0.5F);
    return run->replay().Gain(faster);
  };
  CHECK(gain(true) < 3_ms);  // of the last frame
  CHECK(gain(false) > 60_ms);
}

// Frames come every 8 ms. The thread handles each for 400 us once the GPU is done, and waits in
// poll() for the next one.
TEST_CASE("code between a frame and the wait for the next one costs nothing") {
  TraceBuilder story;
  std::vector<Interval> code;
  Nanos at = 8_ms;
  for (int i = 1; i <= 100; ++i) {
    const Nanos done = at + 1_ms + (i * 7 % 11) * 50'000;
    story.Launch("decode", {at, at + 5_us}, {at + 10_us, done});
    story.Sync({at + 6_us, done + 2_us});
    code.push_back({done + 3_us, done + 400_us});
    const Nanos next = (i + 1) * 8_ms + (i % 3) * 4'000;
    story.OsCall("poll", {done + 400_us, next});
    story.OsCall("ioctl", {next, next + 35_us});
    at = next + 40_us;
  }
  const Analyzed run(story);
  CHECK(run->replay().IsPaced());
  Remedy remedy;
  remedy.host_cuts.push_back({run->run.trace.calls.thread.front(), IntervalSet::Of(code)});
  CHECK(run->replay().Gain(remedy) < 1_ms);  // of the last frame
}

TEST_CASE("ops that a fix has queued keep the distance that queued ones have") {
  // Each second kernel is queued and follows 2 us behind the first one, which comes late.
  TraceBuilder story;
  Repeat(50, 300_us, [&](int, Nanos at) {
    story.Launch("first", {at + 90_us, at + 95_us}, {at + 98_us, at + 198_us});
    story.Launch("second", {at + 96_us, at + 100_us}, {at + 200_us, at + 300_us});
  });
  const Analyzed run(story);
  Remedy remedy;  // without the code between the launches
  std::vector<Interval> code;
  Repeat(50, 300_us, [&](int, Nanos at) { code.push_back({at + 100_us, at + 390_us}); });
  const std::uint32_t thread = run->run.trace.calls.thread.front();
  remedy.host_cuts.push_back({thread, IntervalSet::Of(std::move(code))});
  // 100 us of each 300 are no kernel: 98 before the first, and 2 between the two. 4 are needed.
  CHECK(run->replay().Gain(remedy) <= 50 * 96_us);
  CHECK(run->replay().Gain(remedy) >= 48 * 95_us);
}

TEST_CASE("without a fix the replay gives the recorded window") {
  for (const TraceBuilder& story : {GpuBound(), HostBound(), Drained(), GapStory()}) {
    const Analyzed run(story);
    CHECK(run->replay().BaselineNs() == run.Window());
    CHECK(run->replay().Gain(Remedy{}) == 0);
  }
}

TEST_CASE("gaps that may be full of work that the profiler lost cannot be won") {
  for (const bool recorded : {true, false}) {
    TraceBuilder story;
    Repeat(50, 50_us, [&](int, Nanos at) {
      story.Launch("tiny", {at, at + 3_us}, {at + 6_us, at + 11_us});
      if (recorded)
        story.Launch("tiny", {at + 25_us, at + 28_us}, {at + 31_us, at + 36_us});
      else
        story.Call("cudaLaunchKernel", {at + 25_us, at + 28_us});
    });
    const Analyzed run(story);
    Remedy remedy;
    for (std::uint32_t call = 0; call < run.trace().calls.size(); ++call)
      remedy.vanished_calls.push_back(call);
    CHECK((run->replay().Gain(remedy) > 0) == recorded);
  }
}

TEST_CASE("calls that a coarse clock gives no length keep their place") {
  TraceBuilder story;
  Repeat(100, 25_us, [&](int, Nanos at) {
    story.Call("cudaStreamIsCapturing", {at, at}).Call("cudaGetDevice", {at, at});
    story.Launch("tiny", {at, at + 3_us}, {at + 6_us, at + 11_us});
    story.Call("cudaFuncGetAttributes", {at + 3_us, at + 3_us});
    story.Launch("tiny", {at + 12_us, at + 12_us}, {at + 14_us, at + 19_us});
  });
  const Analyzed run(story);
  CHECK(run->replay().BaselineNs() == run.Window());
}

TEST_CASE("copies beside a host that is the limit win no more than one of them") {
  TraceBuilder story;  // the host computes for 20 ms a step; copying and computing take 19 ms
  Repeat(10, 20_ms, [&](int, Nanos at) {
    story.Range("step", {at, at + 20_ms});
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {at, at + 5_us}, {at + 10_us, at + 11_ms});
    story.Launch("work", {at + 10_us, at + 15_us}, {at + 11_ms, at + 14_ms});
    story.CopyFromGpu(1_MiB, MemoryKind::kPinned, {at + 20_us, at + 25_us},
                      {at + 14_ms, at + 19_ms});
  });
  const Analyzed run(story, kAuto);
  Remedy remedy;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op) {
    if (run.trace().ops.kind[op] == OpKind::kCopy) remedy.detached_ops.push_back(op);
  }
  CHECK(run->run.window.end == 9 * 20_ms + 11_ms);  // where the last step begins to compute
  CHECK(run->replay().BaselineNs() == run.Window());
  CHECK(run->replay().Gain(remedy) <= 11_ms);
}

TEST_CASE("a link carries uploads and downloads at once") {
  TraceBuilder story;  // an upload of 8 ms, 2 ms of work, a download of 7 ms, all queued far ahead
  for (int i = 0; i < 10; ++i) {
    const Nanos call = i * 30_us;
    const Nanos at = 1_ms + i * 17_ms;
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {call, call + 5_us}, {at, at + 8_ms});
    story.Launch("work", {call + 8_us, call + 11_us}, {at + 8_ms, at + 10_ms});
    story.CopyFromGpu(1_MiB, MemoryKind::kPinned, {call + 15_us, call + 20_us},
                      {at + 10_ms, at + 17_ms});
  }
  const Analyzed run(story);
  Remedy remedy;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op) {
    if (run.trace().ops.kind[op] == OpKind::kCopy) remedy.detached_ops.push_back(op);
  }
  std::string bound;
  CHECK(run->replay().Gain(remedy, &bound) == 10 * 9_ms);
  CHECK(bound == "the link that the copies use");
}

TEST_CASE("what runs aside and is the limit then has its own name: copies, or communication") {
  for (const bool talk : {false, true}) {
    TraceBuilder story;  // 4 ms of kernels and 8 ms of transfers in turn, all queued far ahead
    for (int i = 0; i < 10; ++i) {
      const Nanos call = i * 20_us;
      const Nanos at = 1_ms + i * 12_ms;
      story.Launch("work", {call, call + 5_us}, {at, at + 4_ms});
      const Interval transfer = {at + 4_ms, at + 12_ms};
      if (talk) {
        story.Launch(kAllReduce, {call + 8_us, call + 11_us}, transfer);
      } else {
        story.CopyToGpu(1_MiB, MemoryKind::kPinned, {call + 8_us, call + 11_us}, transfer);
      }
    }
    const Analyzed run(story);
    Remedy remedy;
    for (std::uint32_t op = 1; op < run.trace().ops.size(); op += 2)
      remedy.detached_ops.push_back(op);
    std::string bound;
    CHECK(run->replay().Gain(remedy, &bound) > 30_ms);
    CHECK(bound == (talk ? "communication" : "the link that the copies use"));
  }
}

TEST_CASE("removing a harmless synchronize gains nothing") {
  TraceBuilder story = GpuBound();
  story.Sync({960_us, 1_ms + 600_us}, "cudaEventSynchronize");
  const Analyzed run(story);
  Remedy remedy;
  remedy.unblocked_calls = run.Calls("cudaEventSynchronize");
  REQUIRE(remedy.unblocked_calls.size() == 1);
  CHECK(run->replay().Gain(remedy) <= 5_us);
}

TEST_CASE("removing a costly synchronize gains the bubble after it") {
  const Analyzed run(Drained());
  Remedy remedy;
  remedy.unblocked_calls = run.Calls("cudaDeviceSynchronize");
  REQUIRE(remedy.unblocked_calls.size() == 1);
  const Nanos gain = run->replay().Gain(remedy);
  CHECK(gain >= 105_us);
  CHECK(gain <= 110_us);
}

// Twenty kernels of 1 us, each of which has ended when its launch of 5 us returns, and a wait of 3
// us behind each: it never blocks, but every one takes its time.
TEST_CASE("waits that never block cost the thread their own time") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 20; ++i, at += 10_us) {
    story.Launch("small", {at, at + 5_us}, {at + 2_us, at + 3_us});
    story.Sync({at + 6_us, at + 9_us}, "cudaStreamSynchronize");
  }
  story.Launch("last", {at, at + 5_us}, {at + 2_us, at + 3_us});
  const Analyzed run(story);
  Remedy remedy;
  remedy.unblocked_calls = run.Calls("cudaStreamSynchronize");
  REQUIRE(remedy.unblocked_calls.size() == 20);
  CHECK(run->replay().Gain(remedy) == Approx(20 * 3_us).epsilon(0.05));
}

TEST_CASE("making a kernel faster in a run that the GPU bounds gains exactly that") {
  const Analyzed run(GpuBound());
  Remedy remedy;
  remedy.scaled_ops = {{7, 0.25F}};  // one of 200 us
  std::string bound;
  CHECK(run->replay().Gain(remedy, &bound) == 150_us);
  CHECK(bound == "the GPU's own work");
}

TEST_CASE("a host that queued all its work early does not hold the window open") {
  TraceBuilder story;
  story.Launch("work", {0_us, 5_us}, {10_us, 1_ms});
  AddFullQueue(&story, "work", 1_ms, 20, 200_us);  // the last call ends at 1 ms, the work at 5 ms
  const Analyzed run(story);
  Remedy remedy;
  remedy.scaled_ops = {{7, 0.25F}};  // one of 200 us
  CHECK(run->replay().Gain(remedy) == 150_us);
}

TEST_CASE("a last wait that returns after the last op does not lengthen the baseline") {
  TraceBuilder story;
  story.Launch("work", {0_us, 5_us}, {10_us, 1_ms});
  story.Sync({10_us, 1_ms + 3_us}, "cudaDeviceSynchronize");
  const Analyzed run(story);
  CHECK(run->replay().BaselineNs() == run.Window());
}

TEST_CASE("making kernels faster in a run that the host bounds gains no more than the last one") {
  const Analyzed run(HostBound());
  std::string bound;
  const Nanos gain = run->replay().Gain(AllOps(run, 0.2F), &bound);
  CHECK(gain <= 4_us);
  CHECK(bound == "the launching thread");
}

TEST_CASE("launches that are gone from a run that the host bounds leave the kernels alone") {
  const Analyzed run(HostBound());
  Remedy remedy;
  remedy.vanished_calls = run.Calls("cudaLaunchKernel");
  remedy.vanished_calls.erase(remedy.vanished_calls.begin());  // the graph's own launch
  const Nanos length = run->replay().With(remedy).length_ns;
  CHECK(length >= 100 * 5_us);
  CHECK(length <= 100 * 5_us + 20_us);
}

TEST_CASE("launches that are gone from a run that the GPU bounds gain nothing") {
  const Analyzed run(GpuBound());
  Remedy remedy;
  remedy.vanished_calls = run.Calls("cudaLaunchKernel");
  CHECK(run->replay().Gain(remedy) <= 5_us);
}

// Ten steps: 400 us of loading on the launching thread, 600 us of GPU work that it waits for.
TraceBuilder LoadsItself() {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int, Nanos at) {
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 610_us});
    story.Range("load_batch", {at + 10_us, at + 995_us});
  });
  return story;
}

TEST_CASE("loading that moves off the launching thread leaves the GPU's work") {
  const Analyzed run(LoadsItself());
  std::string bound;
  const Nanos gain = run->replay().Gain(*run->input.loss.remedy, &bound);
  CHECK(gain >= 9 * 350_us);
  CHECK(gain <= 9 * 400_us);
  CHECK(bound == "the GPU's own work");
}

// A pageable upload of 1 ms (at a quarter of the link's rate) before each 500 us of work. With a
// loader whose batches come every 2 ms, when there is one.
TraceBuilder Uploads(bool loader) {
  TraceBuilder story;
  const Nanos apart = loader ? 2_ms : 1520_us;
  for (int i = 0; i < 10; ++i) {
    const Nanos at = i * apart;
    story.CopyToGpu(3'000'000, MemoryKind::kPageable, {at, at + 1_ms}, {at + 5_us, at + 995_us});
    story.Launch("work", {at + 1001_us, at + 1005_us}, {at + 1010_us, at + 1510_us});
    if (loader && i < 9) story.OsCall("poll", {at + 1010_us, at + apart - 5_us});
  }
  if (loader) {
    story.Process("worker").Thread("pt_data_worker");
    for (int i = 0; i < 10; ++i) story.OsCall("read", {i * apart, (i + 1) * apart - 10_us});
  }
  return story;
}

TEST_CASE("pinning brings a pageable upload to the rate of the link") {
  const Analyzed run(Uploads(false));
  // 3 MB at the assumed 12 GB/s take 250 us in place of 990 us.
  const Nanos gain = run->replay().Gain(*run->copies.pageable.remedy);
  CHECK(gain >= 10 * 700_us);
  CHECK(gain <= 10 * 800_us);
}

TEST_CASE("behind a slow loader pinning gains next to nothing: the loader is the next bound") {
  const Analyzed run(Uploads(true));
  std::string bound;
  const Nanos gain = run->replay().Gain(*run->copies.pageable.remedy, &bound);
  CHECK(gain <= 2_ms);  // of 20 ms: the last step alone may gain its own copy
  CHECK(bound == "the data loader");
}

// Steps of 1 ms whose batches take the one loader 1.5 ms each. In each fifth step the host saves
// for 20 ms, in which the loader gets two batches ahead and rests.
TraceBuilder SavesBesideLoader() {
  TraceBuilder story;
  std::vector<Nanos> saves_at;
  Nanos at = 0;
  for (int step = 0; step < 30; ++step) {
    const bool waits = step % 5 > 1;  // the batches of the others lie ready
    const bool saves = step % 5 == 0;
    const Nanos got = at + (waits ? 500_us : 5_us);
    const Nanos length = got - at + 1_ms + (saves ? 20_ms : 0);
    story.Range("step " + std::to_string(step), {at, at + length - 1_us});
    if (waits) story.OsCall("poll", {at + 2_us, got - 2_us});
    story.Launch("work", {got, got + 5_us}, {got + 10_us, got + 980_us});
    story.Sync({got + 6_us, got + 985_us}, "cudaStreamSynchronize");
    if (saves) {
      story.OsCall("write", {got + 990_us, at + length - 5_us});
      saves_at.push_back(at);
    }
    at += length;
  }
  story.Process("worker").Thread("pt_data_worker");
  for (const Nanos save : saves_at) {
    story.OsCall("sem_wait", {save + 4_ms, save + 20_ms});
    story.OsCall("read", {save + 20_ms + 5_us, save + 28_ms});
  }
  return story;
}

TEST_CASE("a loader that rests while the host saves comes sooner without that") {
  const Analyzed run(SavesBesideLoader(), kAuto);
  REQUIRE(run->step_stats.stall.lost);
  // Most of the 20 ms of each save go: the batches then come as fast as the loader makes them.
  const Nanos gain = run->replay().Gain(*run->step_stats.stall.remedy);
  CHECK(gain > run.Window() / 2);
}

// Every 400 us a batch comes, whose upload of 150 us and kernel of 230 us run one behind the other,
// since the next batch is not there: the GPU itself waits for 10 us only. Streams alternate.
TEST_CASE("waits for batches that the GPU hardly notices keep copies from overlapping") {
  TraceBuilder story;
  Repeat(40, 400_us, [&](int n, Nanos at) {
    story.OnStream(n % 2 == 0 ? 13 : 14);
    story.Range("step", {at, at + 399_us});
    story.CopyToGpu(2_MiB, MemoryKind::kPinned, {at, at + 5_us}, {at + 8_us, at + 158_us});
    story.Launch("work", {at + 6_us, at + 11_us}, {at + 160_us, at + 390_us});
    story.OsCall("poll", {at + 15_us, at + 398_us});
  });
  story.Process("worker").Thread("pt_data_worker");
  Repeat(40, 400_us, [&](int, Nanos at) { story.OsCall("read", {at, at + 395_us}); });
  const Analyzed run(story, kAuto);
  CHECK(run->replay().BaselineNs() == Approx(static_cast<double>(run.Window())).epsilon(0.001));
  Remedy ready;
  ready.data_ready = true;
  CHECK(run->replay().Gain(ready) > run.Window() * 35 / 100);
  CHECK(run->replay().Gain(AllOps(run, 0.5F)) < run.Window() / 50);  // batches come no sooner
}

// Steps in which the host waits for the GPU, and then a worker begins to load the next batch.
TraceBuilder OnDemand(Nanos work) {
  TraceBuilder story;
  const Nanos apart = work + 1_ms;
  Repeat(20, apart, [&](int, Nanos at) {
    story.Range("step", {at, at + apart - 5_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + work});
    story.Sync({at + 10_us, at + work + 1_us}, "cudaStreamSynchronize");
    story.Range("load_batch", {at + work + 2_us, at + apart - 8_us});
    story.OsCall("sem_wait", {at + work + 2_us, at + apart - 8_us});
  });
  story.Process("worker").Thread("pt_data_worker");
  Repeat(20, apart, [&](int, Nanos at) {
    story.OsCall("sem_wait", {at, at + work + 2_us});
    story.OsCall("read", {at + work + 4_us, at + apart - 10_us});
  });
  return story;
}

TEST_CASE("batches that are loaded when asked for come earlier when the step is shorter") {
  const Analyzed run(OnDemand(4_ms), kAuto);
  REQUIRE(run->input.on_demand == 1);
  std::string bound;
  const Nanos gain = run->replay().Gain(AllOps(run, 0.5F), &bound);
  const auto steps = static_cast<Nanos>(run->run.steps.steady_count());
  CHECK(gain >= (steps - 1) * 1900_us);
  CHECK(gain <= steps * 2_ms);
}

// As PyTorch's profiler records it: a range around the wait for a batch, and then work of the GPU
// of which each step has another amount. Batches come every 4 ms, or 2 ms after they are asked for.
Nanos GainOfHalfTheWork(bool on_demand) {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 20; ++n) {
    const Nanos work = 1_ms + n % 5 * 200_us;
    const Nanos jitter = n * 37 % 11 * 1_us;
    const Nanos asked = at + work + 5_us;
    const Nanos batch = on_demand ? asked + 2_ms + jitter : (n + 1) * 4_ms + jitter;
    story.Range("step", {at, batch - 1_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + work});
    story.Sync({at + 10_us, at + work + 1_us}, "cudaStreamSynchronize");
    story.Range("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", {asked, batch});
    at = batch + 5_us;
  }
  const Analyzed run(story, kAuto);
  return run->replay().Gain(AllOps(run, 0.5F));
}

TEST_CASE("ranges around waits for workers tell whether these set the pace") {
  CHECK(GainOfHalfTheWork(false) < 1_ms);
  CHECK(GainOfHalfTheWork(true) > 10_ms);
}

// The GPU works for all of each step of 2 ms. Two workers read for 1 ms each meanwhile, and rest.
TraceBuilder LoadsAhead() {
  TraceBuilder story;
  Repeat(20, 2_ms, [&](int, Nanos at) {
    story.Range("step", {at, at + 1990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1950_us});
    story.Sync({at + 10_us, at + 1960_us}, "cudaDeviceSynchronize");
  });
  for (int w = 0; w < 2; ++w) {
    story.Process("worker " + std::to_string(w)).Thread("pt_data_worker");
    Repeat(20, 2_ms, [&](int, Nanos at) {
      story.OsCall("read", {at, at + 1_ms});
      story.OsCall("sem_wait", {at + 1_ms, at + 2_ms});
    });
  }
  return story;
}

TEST_CASE("no fix makes the run faster than its workers load") {
  const Analyzed run(LoadsAhead(), kAuto);
  std::string bound;
  Remedy faster = AllOps(run, 0.1F);
  const Nanos gain = run->replay().Gain(faster, &bound);
  CHECK(gain == Approx(static_cast<double>(run.Window()) / 2).epsilon(0.02));
  CHECK(bound == "the data loader");
  faster.data_ready = true;
  CHECK(run->replay().Gain(faster, &bound) > gain + run.Window() / 4);
  CHECK(bound != "the data loader");
}

// Steps of 2 ms in which the GPU works all the time, in a program that trains or not. A thread
// receives for 1 ms in each, and rests; another one listens all the time.
Nanos GainBesideReceiver(bool trains, std::string* bound) {
  TraceBuilder story;
  Repeat(20, 2_ms, [&](int, Nanos at) {
    story.Range("step", {at, at + 1990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1900_us});
    story.Launch(trains ? "adamw_kernel" : "more_work", {at + 6_us, at + 9_us},
                 {at + 1900_us, at + 1950_us});
    story.Sync({at + 10_us, at + 1960_us}, "cudaDeviceSynchronize");
  });
  story.Thread("feeder");
  Repeat(20, 2_ms, [&](int, Nanos at) {
    story.OsCall("recv", {at, at + 500_us});
    story.OsCall("recv", {at + 600_us, at + 1_ms});
    story.OsCall("pthread_cond_wait", {at + 1_ms, at + 2_ms});
  });
  story.Thread("listener");
  Repeat(20, 2_ms, [&](int, Nanos at) { story.OsCall("recv", {at, at + 2_ms}); });
  const Analyzed run(story, kAuto);
  return run->replay().Gain(AllOps(run, 0.1F), bound);
}

TEST_CASE("training becomes no faster than the thread that receives its data; a server does") {
  std::string bound;
  CHECK(GainBesideReceiver(true, &bound) < 21_ms);
  CHECK(bound == "the data loader");
  CHECK(GainBesideReceiver(false, &bound) > 30_ms);
  CHECK(bound != "the data loader");
}

TEST_CASE("remedies join: two fixes together win at least what each wins alone") {
  TraceBuilder story = Drained();
  const Analyzed run(story);
  Remedy sync;
  sync.unblocked_calls = run.Calls("cudaDeviceSynchronize");
  const Remedy faster = AllOps(run, 0.5F);
  Remedy both = sync;
  both.Join(faster);
  CHECK(both.scaled_ops.size() == run.trace().ops.size());
  CHECK(both.unblocked_calls.size() == 1);
  const Nanos together = run->replay().Gain(both);
  CHECK(together >= run->replay().Gain(sync));
  CHECK(together >= run->replay().Gain(faster));
}

TEST_CASE("a floor is the least that a fix can leave") {
  const Analyzed run(HostBound());
  Remedy remedy;
  remedy.vanished_calls = run.Calls("cudaLaunchKernel");
  remedy.floor_ns = 2_ms;
  CHECK(run->replay().With(remedy).length_ns == 2_ms);
}

TEST_CASE("a trace without work can be replayed and gains nothing") {
  const Analyzed run(TraceBuilder().Sync({0_us, 10_us}));
  CHECK(run->replay().Gain(Remedy{}) == 0);
}

TEST_CASE("pages that the driver moves come earlier with the kernel that touches them") {
  TraceBuilder story;
  Repeat(10, 10_ms, [&](int, Nanos at) {
    story.Launch("sweep", {at, at + 5_us}, {at + 10_us, at + 4_ms});
    for (const Nanos page : {1_ms, 2_ms, 3_ms})
      story.MigrateToGpu(2_MiB, {at + page, at + page + 100_us}, MigrationCause::kFault);
    story.Sync({at + 10_us, at + 4_ms});
  });
  const Analyzed run(story);
  Remedy no_code;
  IntervalSet code;
  for (int i = 0; i < 9; ++i) code.Append(i * 10_ms + 4_ms, i * 10_ms + 10_ms);
  no_code.host_cuts.push_back({0, code});
  CHECK(run->replay().Gain(no_code) >= 9 * 6_ms - 1_ms);
}

}  // namespace
}  // namespace advise
