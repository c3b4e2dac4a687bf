// What must hold when the same run is told differently: other device numbers, no ranges, another
// clock, twice as slow.
#include "engine/replay/replay.h"
#include "tests/facts/runs.h"
#include "tests/support/fact_checks.h"

namespace advise {
namespace {

// Three ranks that differ in what they do.
TraceBuilder Uneven() {
  TraceBuilder story = TrainingRun(2);
  story.Process("rank 2", 2).Thread("main").OnDevice(2);
  for (int i = 0; i < 10; ++i) {
    const Nanos at = i * 4_ms;
    story.Range("step " + std::to_string(i), {at, at + 3900_us});
    story.Launch(kMatrixBf16, {at, at + 5_us}, {at + 10_us, at + 3_ms});
    story.Launch(kAllReduce, {at + 6_us, at + 9_us}, {at + 3_ms, at + 3050_us});
  }
  return story;
}

TEST_CASE("swapping the numbers of devices changes no number of the run") {
  const Analyzed run(Uneven(), kAuto);
  const Analyzed swapped(Uneven().SwapDevices(0, 2), kAuto);
  CheckSameFacts(*FactsOf(run), *FactsOf(swapped));
}

TEST_CASE("swapping devices swaps their budgets and causes") {
  const Analyzed run(Uneven(), kAuto);
  const Analyzed swapped(Uneven().SwapDevices(0, 2), kAuto);
  CHECK(run->times[0].idle == swapped->times[2].idle);
  CHECK(run->times[2].compute == swapped->times[0].compute);
  CHECK(run->idle.by_device[0] == swapped->idle.by_device[2]);
  CHECK(run->idle.by_device[2] == swapped->idle.by_device[0]);
  CHECK(run->idle.by_device[1] == swapped->idle.by_device[1]);
}

TEST_CASE("moving all times changes no number of the run") {
  const Analyzed run(Uneven(), kAuto);
  const Analyzed later(Uneven().Shift(123'456_us), kAuto);
  CheckSameFacts(*FactsOf(run), *FactsOf(later));
}

TEST_CASE("a GPU of the machine that nobody uses changes no number of the run") {
  for (const std::uint32_t devices : {1U, 2U}) {
    const Analyzed run(TrainingRun(devices), kAuto);
    const Analyzed beside(TrainingRun(devices).OnDevice(devices), kAuto);
    CheckSameFacts(*FactsOf(run), *FactsOf(beside));
  }
}

TEST_CASE("without ranges the budget and the waits of a run are what they were") {
  const Analyzed with(TrainingRun(2));
  const Analyzed without(TrainingRun(2).WithoutRanges());
  const auto a = FactsOf(with);
  const auto b = FactsOf(without);
  for (const char* name :
       {"window.time", "budget.compute", "budget.comm_exposed", "budget.copy_exposed",
        "budget.idle", "idle.allocation", "idle.launch", "copy.bytes", "copy.pageable.bytes",
        "launch.count", "kernel.time", "comm.time", "precision.fp32.share"}) {
    INFO(name);
    CHECK(Number(*a, name) == Approx(Number(*b, name)));
  }
}

TEST_CASE("a run with all times doubled loses twice as much") {
  const Analyzed run(TrainingRun(2), kAuto);
  const Analyzed slower(TrainingRun(2).Stretch(2), kAuto);
  const auto a = FactsOf(run);
  const auto b = FactsOf(slower);
  CHECK(2 * Number(*a, "window.time") == Number(*b, "window.time"));
  CHECK(2 * Number(*a, "steps.median") == Number(*b, "steps.median"));
  CHECK(2 * Number(*a, "budget.idle") == Number(*b, "budget.idle"));
  for (const char* name :
       {"copy.pageable.lost", "sync.loop.lost", "sync.item.lost", "input.lost", "memory.alloc.lost",
        "precision.fp32.lost", "copy.exposed", "comm.exposed"}) {
    INFO(name);
    CHECK(2 * Lost(*a, name) == Lost(*b, name));
  }
}

TEST_CASE("a run with all times doubled wins twice as much from each fix") {
  TraceBuilder story = TrainingRun(1);
  story.Device("NVIDIA H100 80GB HBM3", 132);
  const Analyzed run(story, kAuto);
  const Analyzed slower(story.Stretch(2), kAuto);
  const auto compare = [&](const char* what, const Loss& a, const Loss& b) {
    INFO(what);
    const auto before = static_cast<double>(run->replay().Gain(*a.remedy));
    const auto after = static_cast<double>(slower->replay().Gain(*b.remedy));
    CHECK(before > 0);
    // What a launch or a call costs stays as it is: a few microseconds a step.
    CHECK(after == Approx(2 * before).epsilon(0.02));
  };
  compare("input", run->input.loss, slower->input.loss);
  compare("sync.loop", run->syncs.loop, slower->syncs.loop);
  compare("precision.fp32", run->kernels.fp32, slower->kernels.fp32);
}

TEST_CASE("a fix wins no more than the window, and all of them leave the work that remains") {
  const Analyzed run(TrainingRun(2), kAuto);
  Remedy all;
  for (const Loss* loss : {&run->input.loss, &run->syncs.loop, &run->syncs.item,
                           &run->copies.pageable, &run->host.alloc, &run->launches.bound}) {
    const Nanos gain = run->replay().Gain(*loss->remedy);
    CHECK(gain >= 0);
    CHECK(gain <= run.Window());
    all.Join(*loss->remedy);
  }
  Nanos compute = 0;
  for (const DeviceTime& time : run->times) compute = std::max(compute, time.ComputeNs());
  CHECK(run->replay().Gain(all) <= run.Window() - compute);
}

TEST_CASE("the replay of the whole run without a fix gives its window") {
  for (const std::uint32_t devices : {1U, 2U}) {
    const Analyzed run(TrainingRun(devices), kAuto);
    CHECK(run->replay().BaselineNs() == run.Window());
  }
}

TEST_CASE("a run that goes on for twice as long has the same shares") {
  const Analyzed once(TrainingRun(1, 20), kAuto);
  const Analyzed twice(TrainingRun(1, 40), kAuto);
  const auto a = FactsOf(once);
  const auto b = FactsOf(twice);
  CHECK(Number(*b, "steps.count") == Number(*a, "steps.count") + 20);
  for (const char* name : {"budget.compute", "budget.comm_exposed", "budget.copy_exposed",
                           "budget.idle", "idle.data_loading", "sync.time", "input.own"}) {
    INFO(name);
    CHECK(Number(*a, name) / Number(*a, "window.time") ==
          Approx(Number(*b, name) / Number(*b, "window.time")).epsilon(0.02));
  }
  for (const char* name : {"precision.fp32.share", "comm.overlap", "launch.queue_empty"}) {
    INFO(name);
    CHECK(Number(*a, name) == Approx(Number(*b, name)).epsilon(0.02));
  }
}

TEST_CASE("the same run gives the same facts") {
  CheckSameFacts(*FactsOf(Analyzed(Uneven(), kAuto)), *FactsOf(Analyzed(Uneven(), kAuto)));
}

}  // namespace
}  // namespace advise
