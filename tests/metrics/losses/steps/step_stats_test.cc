// Figures of steps: how they spread and drift, what slow ones hold, and the phases inside.
#include "engine/metrics/losses/steps/step_stats.h"

#include "tests/metrics/losses/loss_words.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Steps one behind the other, in which the GPU works but for the first 10 us and the last 40 us.
TraceBuilder StepsOf(const std::vector<Nanos>& lengths) {
  TraceBuilder story;
  Nanos at = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    story.Range("step " + std::to_string(i), {at, at + lengths[i] - 1_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + lengths[i] - 40_us});
    at += lengths[i];
  }
  return story;
}

std::vector<Nanos> Repeated(const std::vector<std::pair<int, Nanos>>& groups) {
  std::vector<Nanos> lengths;
  for (const auto& [count, length] : groups) lengths.insert(lengths.end(), count, length);
  return lengths;
}

TEST_CASE("jitter is the distance of the quarters over the median") {
  std::vector<Nanos> lengths;
  // Of each four steps one is shorter, two are usual, one is longer.
  for (int i = 0; i < 6; ++i) {
    for (const Nanos length : {900_us, 1000_us, 1100_us, 1000_us}) lengths.push_back(length);
  }
  const Analyzed run(StepsOf(lengths), kAuto);
  REQUIRE(run->run.steps.known());
  REQUIRE(run->run.steps.first_steady == 0);
  // Steps run from one range to the next; the quarters are the 7th and the 19th of 24.
  CHECK(run->step_stats.jitter == Approx(0.1).epsilon(0.02));
  CHECK(Analyzed(StepsOf(Repeated({{24, 1000_us}})), kAuto)->step_stats.jitter ==
        Approx(0).margin(1e-3));
}

TEST_CASE("the last third of the steps over the first") {
  const auto drift = [](int third, Nanos late) {
    std::vector<Nanos> lengths;
    for (int i = 0; i < 3 * third; ++i) {
      lengths.push_back(1000_us + late * i / (3 * third));
    }
    return Analyzed(StepsOf(lengths), kAuto)->step_stats.drift;
  };
  // Medians of the thirds lie two thirds of the rise apart: 200 us of 300, on a first of 1050.
  CHECK(drift(20, 300_us) == Approx(200.0 / 1047.5).epsilon(0.03));
  CHECK(drift(20, 0) == Approx(0).margin(1e-3));
  const auto least = static_cast<int>(ShippedKnowledge().Number("step.drift_steps"));
  CHECK(drift(least, 300_us) > 0.1);
  CHECK(drift(least - 1, 300_us) == 0);  // too few to tell
}

TEST_CASE("steps of random length drift by chance, and a trend by more than that") {
  const auto errors = [](Nanos rise, Nanos varies) {
    std::vector<Nanos> lengths;
    unsigned random = 7;
    for (int i = 0; i < 60; ++i) {
      random = random * 1103515245U + 12345U;
      lengths.push_back(1000_us + rise * i / 60 + varies * ((random >> 16U) % 100) / 100);
    }
    const Analyzed run(StepsOf(lengths), kAuto);
    return run->step_stats.drift / run->step_stats.drift_by_chance;
  };
  CHECK(std::abs(errors(0, 1000_us)) < 3);
  CHECK(errors(900_us, 300_us) > 3);
}

TEST_CASE("two kinds of steps: how many are of the slower kind, and by how much") {
  std::vector<Nanos> lengths;
  for (int i = 0; i < 45; ++i) lengths.push_back(i % 3 == 1 ? 1000_us : 1300_us);
  const Analyzed run(StepsOf(lengths), kAuto);
  REQUIRE(run->run.steps.outliers.empty());
  CHECK(run->step_stats.two_kinds_share == Approx(2.0 / 3).epsilon(0.05));
  CHECK(run->step_stats.two_kinds_ratio == Approx(1.3).epsilon(0.01));
}

TEST_CASE("work of the phases: a step, on the GPU and on the host") {
  TraceBuilder story;
  for (std::uint32_t d = 0; d < 2; ++d) {
    story.Process("rank " + std::to_string(d), static_cast<int>(d)).Thread("main").OnDevice(d);
    Repeat(10, 1_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 999_us});
      story.Range("forward", {at, at + 20_us}).Range("backward", {at + 20_us, at + 70_us});
      story.Launch("fwd_kernel", {at + 1_us, at + 4_us}, {at + 10_us, at + 310_us});
      story.Launch("bwd_kernel", {at + 21_us, at + 24_us}, {at + 310_us, at + 710_us});
      story.Launch("other_kernel", {at + 80_us, at + 84_us}, {at + 710_us, at + 800_us});
    });
  }
  const Analyzed run(story);
  REQUIRE(run->run.steps.steady_count() == 10);
  CHECK(run->step_stats.forward_gpu_ns == Approx(300e3));
  CHECK(run->step_stats.backward_gpu_ns == Approx(400e3));
  // The window begins with the first kernel, 10 us into the first forward pass.
  CHECK(run->step_stats.forward_host_ns == Approx(19e3));
  CHECK(run->step_stats.backward_host_ns == Approx(50e3));
  CHECK(Analyzed(StepsOf(Repeated({{12, 1_ms}})))->step_stats.forward_gpu_ns == 0);
}

// Steps of 10 ms; before the launch of the 15th the host does something for 100 ms.
Analyzed WithSlowStep(const std::function<void(TraceBuilder*, Interval)>& slow) {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 30; ++n) {
    const Nanos begin = at + (n == 15 ? 100_ms : 0);
    story.Range("step", {at, begin + 10_ms});
    if (n == 15) slow(&story, {at + 20_us, begin - 20_us});
    story.Launch("work", {begin, begin + 5_us}, {begin + 10_us, begin + 9_ms});
    at = begin + 10_ms;
  }
  return Analyzed(story, kAuto);
}

TEST_CASE("a slow step is told with what fills it") {
  const auto what = [](const std::function<void(TraceBuilder*, Interval)>& slow) {
    const Analyzed run = WithSlowStep(slow);
    REQUIRE(run->step_stats.outliers.size() == 1);
    // A step lasts from its own GPU work to that of the next.
    CHECK(run->step_stats.outliers[0].index == 14);
    CHECK(run->step_stats.outliers[0].time_ns == Approx(110e6).epsilon(0.001));
    CHECK(run->step_stats.outliers[0].median_ns == Approx(10e6).epsilon(0.001));
    CHECK(run->step_stats.outlier_excess_ns == Approx(100e6).epsilon(0.001));
    CHECK(run->step_stats.outlier.lost->Total() == Approx(100e6).epsilon(0.001));
    Nanos cut = 0;
    for (const auto& [thread, when] : CutsByThread(run->step_stats.outlier.remedy->host_cuts)) {
      cut += when.Total();
    }
    CHECK(cut == Approx(100e6).epsilon(0.001));
    return run->step_stats.outliers[0].what;
  };
  CHECK(what([](TraceBuilder*, Interval) {}) == "host code");
  CHECK(what([](TraceBuilder* story, Interval when) { story->Range("load_batch", when); }) ==
        "data loading");
  CHECK(what([](TraceBuilder* story, Interval when) { story->OsCall("read", when); }) ==
        "reading files");
  CHECK(what([](TraceBuilder* story, Interval when) { story->OsCall("write", when); }) ==
        "file calls");
  CHECK(what([](TraceBuilder* story, Interval when) { story->OsCall("wait4", when); }) ==
        "waiting for a child process");
  CHECK(what([](TraceBuilder* story, Interval when) { story->OsCall("poll", when); }) ==
        "waiting in the OS");
  CHECK(what([](TraceBuilder* story, Interval when) { story->Call("cudaMalloc", when); }) ==
        "memory allocation");
  CHECK(what([](TraceBuilder* story, Interval when) { story->Call("cuModuleLoadData", when); }) ==
        "compiling or loading code");
  CHECK(what([](TraceBuilder* story, Interval when) { story->OsCall("nanosleep", when); }) ==
        "sleeping");
  CHECK(what([](TraceBuilder* story, Interval when) {
          story->OsCall("pthread_mutex_lock", when);
        }) == "waiting for locks");
  CHECK(what([](TraceBuilder* story, Interval when) { story->Range("evaluate", when); }) ==
        PhaseName(Phase::kEvaluation));
}

TEST_CASE("copies of a slow step are called after the phase that they lie in") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 20; ++n) {
    const Nanos end = at + 9_ms + (n == 12 ? 60_ms : 0);
    story.Range("step", {at, end + 1_ms});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 9_ms});
    if (n == 12) {
      story.Range("save_checkpoint", {at + 9_ms, end + 20_us});
      story.CopyFromGpu(800_MiB, MemoryKind::kPageable, {at + 9_ms, end + 10_us},
                        {at + 9_ms + 10_us, end});
    }
    at = end + 1_ms;
  }
  const Analyzed run(story, kAuto);
  REQUIRE(run->step_stats.outliers.size() == 1);
  CHECK(run->step_stats.outliers[0].what == "checkpoint");
}

TEST_CASE("what slow steps send to the GPU, and others do not, is counted as well") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 30; ++n) {
    const Nanos end = at + 9_ms + (n % 10 == 9 ? 60_ms : 0);
    story.Range("step", {at, end + 1_ms});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 9_ms});
    if (n % 10 == 9) {
      story.CopyFromGpu(6_MiB, MemoryKind::kPinned, {at + 10_us, at + 9500_us},
                        {at + 9_ms, at + 9400_us});
      story.CopyToGpu(20_MiB, MemoryKind::kPinned, {end - 2_ms, end}, {end - 1_ms, end});
    }
    at = end + 1_ms;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->step_stats.stall_every == 10);
  CHECK(run->step_stats.stall_bytes == 6_MiB);
  CHECK(run->step_stats.stall_upload_bytes == 20_MiB);
}

TEST_CASE("copies that usual steps do not make could run beside the kernels") {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < 30; ++n) {
    const Nanos end = at + 9_ms + (n % 10 == 9 ? 60_ms : 0);
    story.Range("step", {at, end + 1_ms});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 9_ms});
    if (n % 10 == 9) {
      story.CopyFromGpu(400_MiB, MemoryKind::kPageable, {at + 10_us, end + 10_us},
                        {at + 9_ms, end});
    }
    at = end + 1_ms;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->step_stats.stall_every == 10);
  CHECK(run->step_stats.stall_what == "copies that other steps do not make");
  CHECK(run->step_stats.stall_bytes == 400_MiB);
  CHECK(run->step_stats.stall_gpu_share == 0);
  CHECK(run->step_stats.stall_excess_ns == Approx(3 * 60e6).epsilon(0.001));
  CHECK(run->step_stats.stall.lost->Total() == Approx(3 * 60e6).epsilon(0.001));
  const Remedy& remedy = *run->step_stats.stall.remedy;
  CHECK(remedy.detached_ops.size() == 3);
  CHECK(remedy.unblocked_calls.size() == 3);
  // Their memory is pinned then, and they run at the rate of the link.
  REQUIRE(remedy.scaled_ops.size() == 3);
  CHECK(remedy.scaled_ops.front().second ==
        Approx(400_MiB / run->hardware.host_link_bytes_per_s / 0.06).epsilon(0.01));
}

TEST_CASE("warm-up: how much longer the first steps take, and what they do") {
  const auto cause = [](const char* call, bool in_os = false) {
    TraceBuilder story;
    Nanos at = 0;
    for (int n = 0; n < 30; ++n) {
      const Nanos begin = at + (n == 0 ? 90_ms : 0);
      story.Range("step", {at, begin + 10_ms - 1_us});
      if (n == 0) {
        story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 20_us});
        const Interval when{at + 30_us, begin - 30_us};
        in_os ? story.OsCall(call, when) : story.Call(call, when);
      }
      story.Launch("work", {begin, begin + 5_us}, {begin + 10_us, begin + 9_ms});
      at = begin + 10_ms;
    }
    const Analyzed run(story, kAuto);
    REQUIRE(run->run.steps.first_steady == 1);
    CHECK(run->step_stats.warmup_excess_ns == Approx(90e6).epsilon(0.001));
    return run->step_stats.warmup_cause;
  };
  CHECK(cause("cuModuleLoadData") == "loading and compiling GPU code");
  CHECK(cause("cudaMalloc") == "allocating memory");
  CHECK(cause("cudaGetDevice") == "first-time work on the host");
  CHECK(cause("poll", true) == "waits of the host, such as that for the first batch");
  CHECK(cause("read", true) == "first-time work on the host");

  // Nobody knows what the host did where nothing of it was recorded.
  TraceBuilder unseen;
  for (int n = 0; n < 30; ++n) {
    const Nanos at = 90_ms + n * 10_ms;
    const Nanos earlier = n == 0 ? 45_ms : 0;
    unseen.Kernel("first", {at - 2 * earlier, at - 2 * earlier + 1_ms});
    unseen.Kernel("second", {at - earlier + 2_ms, at - earlier + 4_ms});
    unseen.Kernel("third", {at + 5_ms, at + 9_ms});
  }
  const Analyzed run(unseen, kAuto);
  CHECK(run->step_stats.warmup_excess_ns > 40e6);
  CHECK(run->step_stats.warmup_cause.empty());
}

}  // namespace
}  // namespace advise
