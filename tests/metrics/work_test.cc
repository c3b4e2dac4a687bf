// What a run did, counted by hand on a story of two devices.
#include "engine/metrics/work.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

const PhaseWork* PhaseOf(const Work& work, Phase phase) {
  for (const PhaseWork& row : work.phases) {
    if (row.phase == phase) return &row;
  }
  return nullptr;
}

// Ten steps of 1 ms on each of two ranks: 300 us forward, 400 us backward, 100 us of no phase,
// half of the all-reduce beside the backward pass.
TraceBuilder TwoRanksOfPhases() {
  TraceBuilder story;
  for (std::uint32_t d = 0; d < 2; ++d) {
    story.Process("rank " + std::to_string(d), static_cast<int>(d)).Thread("main").OnDevice(d);
    Repeat(10, 1_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 999_us});
      story.Range("forward", {at + 10_us, at + 40_us}).Range("backward", {at + 40_us, at + 90_us});
      story.OnStream(7);
      story.Launch("fwd", {at + 11_us, at + 14_us}, {at + 20_us, at + 320_us}, {.blocks = 64});
      story.Launch(kMatrixBf16, {at + 41_us, at + 44_us}, {at + 320_us, at + 720_us});
      story.Launch("other", {at + 95_us, at + 99_us}, {at + 720_us, at + 820_us});
      story.OnStream(20);
      story.Launch(kAllReduce, {at + 100_us, at + 103_us}, {at + 770_us, at + 870_us});
      story.CopyToGpu(1000, MemoryKind::kPageable, {at + 110_us, at + 115_us},
                      {at + 900_us, at + 905_us});
      story.CopyToGpu(600, MemoryKind::kPinned, {at + 120_us, at + 125_us},
                      {at + 910_us, at + 915_us});
      story.CopyToGpu(600, MemoryKind::kPinned, {at + 126_us, at + 129_us},
                      {at + 915_us, at + 920_us});
      story.CopyFromGpu(9000, MemoryKind::kPinned, {at + 130_us, at + 135_us},
                        {at + 920_us, at + 925_us});
    });
  }
  return story;
}

TEST_CASE("kernels by name and size, with their class and their time") {
  const Analyzed run(TwoRanksOfPhases());
  const Work& work = run->work;
  REQUIRE(work.kernels.size() == 3);
  CHECK(work.kernels[0].name == kMatrixBf16);
  CHECK(work.kernels[0].kernel_class == "matrix");
  CHECK(work.kernels[0].precision == "bf16");
  CHECK(work.kernels[0].tensor_core == 1);
  CHECK(work.kernels[0].count == 20);
  CHECK(work.kernels[0].time_ns == 20 * 400e3);
  CHECK(work.kernels[0].blocks == 1000);
  CHECK(work.kernels[0].threads == 256);
  CHECK(work.kernels[1].name == "fwd");
  CHECK(work.kernels[1].blocks == 64);
  CHECK(work.kernels[2].time_ns == 20 * 100e3);
}

TEST_CASE("uploads by size, collectives by kind, and the thread that launches most") {
  const Analyzed run(TwoRanksOfPhases());
  const Work& work = run->work;
  REQUIRE(work.uploads.size() == 2);
  CHECK(work.uploads[0].bytes == 600);  // 40 of them are more than 20 of 1000
  CHECK(work.uploads[0].count == 40);
  CHECK(work.uploads[1].count == 20);
  CHECK(work.uploaded_bytes == 44'000);
  CHECK(work.pageable_bytes == 20'000);
  REQUIRE(work.collectives.size() == 1);
  CHECK(work.collectives[0].kind == "allreduce");
  CHECK(work.collectives[0].count == 20);
  CHECK(work.collectives[0].time_ns == 20 * 100e3);
  CHECK(work.collectives[0].hidden_ns == 20 * 50e3);
  CHECK(run.trace().threads[work.launching_thread].process == 1);  // both as many: the first
  REQUIRE(work.steps.size() >= 8);
  CHECK(work.steps.front().length_ns == 1_ms);
  CHECK_FALSE(work.steps.front().outlier);
}

TEST_CASE("phases: how often, on the host, on the GPU, and idle under them") {
  const Analyzed run(TwoRanksOfPhases());
  const PhaseWork* forward = PhaseOf(run->work, Phase::kForward);
  const PhaseWork* backward = PhaseOf(run->work, Phase::kBackward);
  const PhaseWork* unnamed = PhaseOf(run->work, Phase::kUnnamed);
  REQUIRE(forward != nullptr);
  REQUIRE(backward != nullptr);
  REQUIRE(unnamed != nullptr);
  CHECK(backward->count == 20);
  CHECK(backward->host_ns == 10 * 50e3);
  CHECK(forward->host_ns == 10 * 30e3 - 10e3);  // the window begins with the first kernel
  CHECK(forward->gpu_ns == 10 * 300e3);
  CHECK(backward->gpu_ns == 10 * 400e3);
  CHECK(unnamed->gpu_ns == 10 * (100e3 + 100e3 + 4 * 5e3));
  double idle = 0;
  for (const PhaseWork& row : run->work.phases) idle += row.idle_ns;
  CHECK(idle == static_cast<double>(run->times[0].idle.Total()));  // both devices are alike
  CHECK(run->work.range_coverage == Approx(700.0 / 920));
}

TEST_CASE("without calls or ranges nothing is covered by them") {
  const Analyzed run(TraceBuilder().Kernel("a", {0, 100_us}));
  CHECK(run->work.range_coverage == 0);
  CHECK(run->work.phases.empty());
  CHECK(run->work.launching_thread == kNone);
}

TEST_CASE("rates of cards and links, in the words of several tools") {
  Trace trace = TwoRanksOfPhases().Build();
  const auto series = [](const char* name, const char* unit, std::vector<double> values) {
    Series one;
    one.name = name;
    one.unit = unit;
    one.device = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      one.time.push_back(800_us + static_cast<Nanos>(i) * 1_ms);  // inside the all-reduces
    }
    one.value = std::move(values);
    return one;
  };
  trace.nic_series = {series("received bytes", "bytes/s", {100, 300}),
                      series("sent bytes", "bytes per second", {50, 50}),
                      series("packets", "1/s", {7, 7})};
  trace.gpu_series = {series("NVLink RX", "percent", {20, 40, 60}),
                      series("PCIe RX Throughput", "percent", {5, 15}),
                      series("SMs Active", "percent", {90})};
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const Analysis run(trace, ShippedKnowledge(), options);
  CHECK(run.work.nic_bytes_per_s == 250);
  CHECK(run.work.nvlink_percent == 40);
  CHECK(run.work.pcie_percent == 10);
  trace.nic_series = {series("bytes", "bytes", {1000, 3000})};
  trace.gpu_series.clear();
  const Analysis counted(trace, ShippedKnowledge(), options);
  const double seconds = static_cast<double>(counted.run.window.Length()) * 1e-9;
  CHECK(counted.work.nic_bytes_per_s == Approx(4000 / seconds));
  CHECK(counted.work.nvlink_percent == -1);
  const Analyzed without(TwoRanksOfPhases());
  CHECK(without->work.nic_bytes_per_s == -1);
  CHECK(without->work.pcie_percent == -1);
}

}  // namespace
}  // namespace advise
