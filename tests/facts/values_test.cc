// What the facts of a run say: units, scopes and sums as their definitions have them.
#include <algorithm>

#include "tests/facts/runs.h"

namespace advise {
namespace {

TEST_CASE("the parts of the budget add up to the window") {
  for (const std::uint32_t devices : {1U, 2U, 3U}) {
    const Analyzed run(TrainingRun(devices), kAuto);
    const auto facts = FactsOf(run);
    double sum = 0;
    for (const char* part : {"compute", "comm_exposed", "copy_exposed", "memset_exposed", "idle"})
      sum += Number(*facts, std::string("budget.") + part);
    CHECK(sum == Approx(Number(*facts, "window.time")));
    CHECK(Number(*facts, "window.device_time") ==
          Number(*facts, "window.time") * Number(*facts, "run.devices"));
  }
}

TEST_CASE("kernels side by side are at most all of the time that a device computes") {
  TraceBuilder story;
  for (int i = 0; i < 20; ++i) {
    const Nanos at = i * 100_us;
    for (const std::uint32_t stream : {7U, 13U})
      story.OnStream(stream).Launch(kMatrixBf16, {at, at + 5_us}, {at + 10_us, at + 90_us});
  }
  const Analyzed run(story);
  const auto facts = FactsOf(run);
  CHECK(Number(*facts, "precision.matrix.share") == 1);
  CHECK(Number(*facts, "precision.half.share") == 1);
}

TEST_CASE("the longest conversion of a layout is a part of the time of all of them") {
  const char* const layout = "void cudnn::nchwToNhwcKernel<float, float, float, false, true>(int)";
  TraceBuilder story;
  Nanos at = 0;
  for (const Nanos length : {30_us, 10_us, 10_us, 10_us}) {
    story.Launch(layout, {at, at + 5_us}, {at + 10_us, at + 10_us + length});
    at += 100_us;
  }
  const Analyzed run(story);
  CHECK(Number(*FactsOf(run), "kernel.layout.longest") == Approx(0.5));
}

TEST_CASE("the causes of idle time add up to the idle time") {
  const Analyzed run(TrainingRun(2), kAuto);
  const auto facts = FactsOf(run);
  double sum = 0;
  for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
    sum += Number(*facts, std::string("idle.") + WordsOf(static_cast<IdleCause>(c)).name);
  }
  CHECK(sum == Approx(Number(*facts, "budget.idle")));
  CHECK(sum > 0);
}

TEST_CASE("times are averages over devices: twice the same rank gives the same times") {
  const Analyzed one(TrainingRun(1), kAuto);
  const Analyzed two(TrainingRun(2), kAuto);
  const auto a = FactsOf(one);
  const auto b = FactsOf(two);
  for (const char* name : {"window.time", "budget.compute", "budget.copy_exposed", "budget.idle",
                           "idle.data_loading", "idle.host_sync", "comm.time", "copy.time",
                           "input.own", "steps.median", "launch.tiny.time"}) {
    INFO(name);
    CHECK(Number(*a, name) == Approx(Number(*b, name)));
  }
  for (const char* name : {"copy.pageable.lost", "sync.loop.lost", "input.lost"}) {
    INFO(name);
    CHECK(2 * Lost(*a, name) == Lost(*b, name));  // spans are summed over devices
  }
}

TEST_CASE("lost time lies inside the window, and on no device is there more of it than window") {
  const Analyzed run(TrainingRun(2), kAuto);
  const auto facts = FactsOf(run);
  const Window& window = run->run.window;
  std::size_t checked = 0;
  for (const FactInfo& info : FactList(ShippedKnowledge())) {
    const Fact* fact = facts->Find(info.name);
    if (fact == nullptr) continue;
    const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&fact->value);
    if (spans == nullptr) continue;
    INFO(info.name);
    for (const IntervalSet& set : (*spans)->by_device) {
      CHECK(set.Clip(window.start, window.end) == set);
      ++checked;
    }
  }
  CHECK(checked > 40);
}

TEST_CASE("shares lie between nothing and all") {
  const Analyzed run(TrainingRun(2), kAuto);
  const auto facts = FactsOf(run);
  for (const FactInfo& info : FactList(ShippedKnowledge())) {
    const Fact* fact = facts->Find(info.name);
    const auto* number = fact == nullptr ? nullptr : std::get_if<double>(&fact->value);
    if (info.unit != "share" || number == nullptr) continue;
    INFO(info.name << " is " << *number);
    CHECK(*number >= 0);
    CHECK(*number <= 1);
  }
}

TEST_CASE("counts say what the run holds") {
  const Analyzed run(TrainingRun(2), kAuto);
  const auto facts = FactsOf(run);
  CHECK(Number(*facts, "run.devices") == 2);
  CHECK(Number(*facts, "run.processes") == 2);
  CHECK(Number(*facts, "comm.per_step") == 1);
  CHECK(Number(*facts, "sync.item.median_bytes") == 4);
  CHECK(Number(*facts, "launch.kernels_per_step") == 4);
  CHECK(Number(*facts, "copy.d2h.bytes") == 4 * Number(*facts, "copy.d2h.count"));
  CHECK(Number(*facts, "rank.idle.devices") == 0);
}

TEST_CASE("without steps the facts of steps are absent, with steps they are there") {
  const Analyzed none(TraceBuilder().Kernel("gemm", {0_us, 10_us}), kAuto);
  CHECK(IsAbsent(*FactsOf(none), "steps.count"));
  CHECK(IsAbsent(*FactsOf(none), "launch.sequence.same"));
  const Analyzed run(TrainingRun(1), kAuto);
  CHECK(Number(*FactsOf(run), "steps.count") >= 9);
  CHECK(Number(*FactsOf(run), "steps.median") == 4_ms);
}

TEST_CASE("a device that the knowledge base does not know has no facts of another one") {
  TraceBuilder story = TrainingRun(1);
  const Analyzed run(story.Device("Unheard-of GPU", 0));
  const auto facts = FactsOf(run);
  CHECK(std::get<bool>(facts->Find("hw.known")->value) == false);
  CHECK(IsAbsent(*facts, "hw.peak_fp32_flops"));
  CHECK(IsAbsent(*facts, "hw.sm_count"));
  CHECK(IsAbsent(*facts, "kernel.small_grid.share"));
}

TEST_CASE("what the trace records of a device wins over the knowledge base") {
  TraceBuilder story = TrainingRun(1);
  const Analyzed run(story.Device("NVIDIA H100 80GB HBM3", 77));
  const auto facts = FactsOf(run);
  CHECK(std::get<bool>(facts->Find("hw.known")->value) == true);
  CHECK(Number(*facts, "hw.sm_count") == 77);
  CHECK(Number(*facts, "hw.peak_tensor_flops") > Number(*facts, "hw.peak_fp32_flops"));
}

}  // namespace
}  // namespace advise
