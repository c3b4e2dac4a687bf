// Waits for batches in the replay: who sets their pace, and what a fix of the wait itself wins.
#include "engine/replay/replay.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TraceBuilder WithWorker(TraceBuilder story, const std::vector<Interval>& loads) {
  story.Process("worker").Thread("pt_data_worker");
  Nanos rests_since = 0;
  for (const Interval& load : loads) {
    story.OsCall("sem_wait", {rests_since, load.start - 1_us});
    story.OsCall("read", load);
    rests_since = load.end + 1_us;
  }
  return story;
}

// Steps of 1 ms whose batches are there. Behind each eighth the host validates: it waits for three
// batches, 8 ms each, from a loader that begins with that.
TraceBuilder Validates() {
  TraceBuilder story;
  std::vector<Interval> loads;
  Nanos at = 0;
  const auto compute = [&] {
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 980_us});
    story.Sync({at + 6_us, at + 985_us}, "cudaStreamSynchronize");
    at += 1_ms;
  };
  for (int step = 0; step < 32; ++step) {
    const Nanos begin = at;
    story.Range("forward", {at, at + 900_us});
    compute();
    const Nanos validates = at;
    for (int batch = 0; step % 8 == 7 && batch < 3; ++batch) {
      story.OsCall("poll", {at + 5_us, at + 8_ms});
      loads.push_back({at + 6_us, at + 8_ms - 2_us});
      at += 8_ms + 10_us;
      compute();
    }
    if (at > validates) story.Range("validate", {validates, at - 2_us});
    story.Range("step " + std::to_string(step), {begin, at - 1_us});
  }
  return WithWorker(std::move(story), loads);
}

TEST_CASE("a validation whose batches come in time wins the waits for them") {
  const Analyzed run(Validates(), kAuto);
  const Loss& evaluation = run->stalls.phases[1];
  REQUIRE(evaluation.remedy);
  CHECK(evaluation.lost->by_device[0].Total() > 80_ms);
  // Its one worker still has to load all that.
  CHECK(run->replay().Gain(*evaluation.remedy) > 40_ms);
}

// Steps of 2 ms of work, each behind a wait for a batch as PyTorch's profiler records it.
Nanos GainOfHalfTheWork(Nanos (*waits)(int batch)) {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 24; ++n) {
    const Nanos asked = at + 2_ms + 5_us;
    const Nanos batch = asked + waits(n);
    story.Range("step", {at, batch - 1_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 2_ms});
    story.Sync({at + 10_us, at + 2_ms + 1_us}, "cudaStreamSynchronize");
    story.Range("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", {asked, batch});
    at = batch + 5_us;
  }
  const Analyzed run(story, kAuto);
  Remedy faster;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    faster.scaled_ops.emplace_back(op, 0.5F);
  return run->replay().Gain(faster);
}

TEST_CASE("batches that come in the rhythm of several workers come at their pace") {
  CHECK(GainOfHalfTheWork([](int n) { return n % 2 == 0 ? 1_ms : 3_ms; }) < 2_ms);
  CHECK(GainOfHalfTheWork([](int n) { return n % 3 == 0 ? 4_ms : 1_ms + n % 3 * 500_us; }) < 2_ms);
  // Without a rhythm, each was loaded when it was asked for.
  CHECK(GainOfHalfTheWork([](int n) { return 1_ms + n * n * 37 % 23 * 150_us; }) > 10_ms);
}

// Steps of 2 ms of work and uneven code, each behind a range of data loading that ends when `ends`
// says, given when the range before ended and when this one begins.
Nanos GainBehindRanges(Nanos (*ends)(int batch, Nanos before, Nanos begin), bool calls = false) {
  TraceBuilder story;
  Nanos at = 0, before = 0;
  for (int n = 0; n < 24; ++n) {
    const Nanos asked = at + 2_ms + n * 7 % 5 * 100_us;
    const Nanos batch = ends(n, before, asked);
    story.Range("step", {at, batch - 1_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1900_us});
    story.Sync({at + 10_us, at + 1901_us}, "cudaStreamSynchronize");
    story.Range("load_batch", {asked, batch});
    if (calls) story.Sync({asked + 1_us, batch - 2_us}, "cudaStreamSynchronize");
    before = batch;
    at = batch + 5_us;
  }
  const Analyzed run(story, kAuto);
  Remedy faster;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    faster.scaled_ops.emplace_back(op, 0.5F);
  return run->replay().Gain(faster);
}

TEST_CASE("ranges of loading whose ends are far more even than their lengths wait for a loader") {
  CHECK(GainBehindRanges([](int, Nanos before, Nanos) { return before + 4_ms; }) < 2_ms);
  // A call in the range may be what ends it.
  CHECK(GainBehindRanges([](int, Nanos before, Nanos) { return before + 4_ms; }, true) > 10_ms);
  // Code of the thread itself.
  CHECK(GainBehindRanges([](int n, Nanos, Nanos begin) { return begin + 1_ms + n % 4 * 100_us; }) >
        10_ms);
  // Ends that differ by a half of what the lengths do are no chance; by more, they may be.
  const auto uneven = [](int n, Nanos before, Nanos) {
    return before + 4_ms + n * 5 % 7 % 4 * 50_us;
  };
  CHECK(GainBehindRanges(uneven) < 2_ms);
}

// Steps of 2 ms in which the host waits for the GPU. Most batches lie ready; now and then one takes
// its worker 20 ms, and the next one is waited for as well.
TraceBuilder SlowBatches() {
  TraceBuilder story;
  std::vector<Interval> loads;
  Nanos at = 0;
  for (int step = 0; step < 36; ++step) {
    const Nanos begin = at;
    const Nanos wait = step % 6 == 4 ? 20_ms : step % 6 == 5 ? 1500_us : 0;
    if (wait > 0) {
      story.OsCall("poll", {at + 5_us, at + wait});
      loads.push_back({at - 1_ms, at + wait - 2_us});  // it was asked for before
    }
    at += wait + 10_us;
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1900_us});
    story.Sync({at + 6_us, at + 1905_us}, "cudaStreamSynchronize");
    at += 2_ms;
    story.Range("step " + std::to_string(step), {begin, at - 1_us});
  }
  return WithWorker(std::move(story), loads);
}

TEST_CASE("without a fix batches come when they came, whether the loader rested before or not") {
  const Analyzed run(SlowBatches(), kAuto);
  CHECK(run->replay().BaselineNs() == Approx(static_cast<double>(run.Window())).epsilon(0.01));
  Remedy ready;
  ready.data_ready = true;
  CHECK(run->replay().Gain(ready) > run.Window() * 35 / 100);
}

// Steps of 10 ms: the GPU works 1 ms, the host computes for 5 ms, and then asks for a batch that a
// worker loads for the rest.
TEST_CASE("batches that are ready leave what the host computes before it asks for them") {
  TraceBuilder story;
  std::vector<Interval> loads;
  Repeat(20, 10_ms, [&](int n, Nanos at) {
    story.Range("step " + std::to_string(n), {at, at + 10_ms - 1_us});
    story.OsCall("poll", {at + 5_us, at + 4900_us});
    loads.push_back({at + 10_us, at + 4895_us});
    story.Launch("work", {at + 4910_us, at + 4915_us}, {at + 4920_us, at + 5920_us});
  });
  const Analyzed run(WithWorker(std::move(story), loads), kAuto);
  Remedy ready;
  ready.data_ready = true;
  const Nanos waited = run.Window() * 49 / 100;
  CHECK(std::abs(run->replay().Gain(ready) - waited) < run.Window() / 50);
}

// Steps of 10 ms whose batches a reader has ready, one read each 5 ms. In the third step the
// host writes for 200 ms; the reader fills its queue for so long and then rests. In the end the
// host waits for it. Gives what the stall costs.
Nanos StallCosts(Nanos reads_on) {
  TraceBuilder story;
  Nanos at = 0;
  Nanos stalled = 0;
  for (int step = 0; step < 20; ++step) {
    const Nanos begin = at;
    if (step == 3) {
      stalled = at;
      story.OsCall("write", {at + 1_us, at + 199_ms});
      at += 200_ms;
    }
    if (step >= 17) {
      story.OsCall("poll", {at + 5_us, at + 4_ms});
      at += 4_ms + 10_us;
    }
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 9900_us});
    story.Sync({at + 6_us, at + 9905_us}, "cudaStreamSynchronize");
    at += 10_ms;
    story.Range("step " + std::to_string(step), {begin, at - 1_us});
  }
  story.Thread("reader");
  for (Nanos load = 1_ms; load < at; load += 5_ms) {
    const bool full = load > stalled + reads_on && load < stalled + 200_ms;
    if (!full) story.OsCall("read", {load, load + 4_ms});
  }
  const Analyzed run(story, kAuto);
  REQUIRE(std::abs(run->replay().BaselineNs() - run.Window()) < 1_ms);
  Remedy quick;
  quick.host_cuts.push_back({0, IntervalSet::Of({{stalled, stalled + 199_ms}})});
  return run->replay().Gain(quick);
}

// Steps of 10 ms of work. Behind each, the thread fetches what lies ready in two short waits, one
// right behind the other, while a worker loads.
TEST_CASE("two moments behind each other are no wait for the loader") {
  TraceBuilder story;
  std::vector<Interval> loads;
  for (int step = 0; step < 24; ++step) {
    const Nanos at = step * 10_ms;
    story.Range("step " + std::to_string(step), {at, at + 9'999_us});
    story.Launch("work", {at + 1_us, at + 5_us}, {at + 10_us, at + 9'700_us});
    story.Sync({at + 6_us, at + 9'701_us}, "cudaStreamSynchronize");
    for (const Nanos wait : {at + 9'705_us, at + 9'805_us}) {
      story.OsCall("poll", {wait, wait + 60_us});
      story.Launch("set", {wait + 62_us, wait + 66_us}, {wait + 70_us, wait + 71_us});
    }
    loads.push_back({at + 8_ms, at + 12_ms});
  }
  const Analyzed run(WithWorker(std::move(story), loads), kAuto);
  REQUIRE(run->input.waiting_ns > 0);
  Remedy faster;
  const OpTable& ops = run.trace().ops;
  for (std::uint32_t op = 0; op < ops.size(); ++op)
    if (ops.Length(op) > 1_ms) faster.scaled_ops.emplace_back(op, 0.5F);
  CHECK(run->replay().Gain(faster) > run.Window() * 4 / 10);
}

TEST_CASE("a loader that rests because its queue is full goes on as soon as the host does") {
  CHECK(StallCosts(5_ms) > 190_ms);
  // What it loads still takes it as long.
  CHECK(StallCosts(140_ms) > 50_ms);
  CHECK(StallCosts(140_ms) < 70_ms);
}

}  // namespace
}  // namespace advise
