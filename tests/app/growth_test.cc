// A diagnosis takes time in proportion to the report: what looks through all steps for each step,
// or through all gaps for each finding, is found out here and not on a report of a gigabyte.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "engine/pipeline/diagnose.h"
#include "tests/app/simulated_ranks.h"
#include "tests/support/trace_builder.h"

namespace advise {
namespace {

// A training run with a bit of everything that is looked for, step after step: loading, a pageable
// copy, reading a value back, micro-batches, gradients that are reduced beside and behind compute,
// allocations, and now and then a much longer step.
Trace Training(int steps) {
  TraceBuilder story;
  Nanos at = 1_ms;
  for (int i = 0; i < steps; ++i) {
    const Nanos begin = at;
    story.Range("DataLoader next", {at, at + 60_us}).OsCall("read", {at + 5_us, at + 50_us});
    at += 60_us;
    story.CopyToGpu(1_MiB, MemoryKind::kPageable, {at, at + 90_us}, {at + 10_us, at + 80_us},
                    "cudaMemcpy");
    at += 100_us;
    for (int micro = 0; micro < 2; ++micro) {
      story.Range("forward", {at, at + 40_us});
      story.Launch("elementwise_kernel", {at, at + 5_us}, {at + 8_us, at + 20_us});
      story.Launch("ampere_sgemm_128x64_tn", {at + 6_us, at + 10_us}, {at + 22_us, at + 60_us});
      at += 70_us;
      story.Range("backward", {at, at + 40_us});
      story.Launch("ampere_sgemm_128x64_nn", {at, at + 5_us}, {at + 8_us, at + 50_us});
      story.OnStream(20).Launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", {at + 6_us, at + 10_us},
                                {at + 30_us, at + 90_us});
      story.OnStream(7);
      at += 100_us;
    }
    story.CopyFromGpu(4, MemoryKind::kPageable, {at, at + 20_us}, {at + 8_us, at + 10_us});
    story.Sync({at + 20_us, at + 24_us}).Call("cudaMalloc", {at + 25_us, at + 60_us});
    at += 65_us;
    story.Range("optimizer.step", {at, at + 30_us});
    story.Memset(64, {at, at + 3_us}, {at + 6_us, at + 7_us});
    story.Launch("multi_tensor_apply_kernel", {at + 5_us, at + 9_us}, {at + 12_us, at + 40_us});
    story.Call("cudaFree", {at + 45_us, at + 60_us});
    at += 70_us + (i % 5) * 1_us;
    if (i % 97 == 50 || i % 131 == 20) {
      story.Range("save_checkpoint", {at, at + 3_ms}).OsCall("write", {at + 10_us, at + 2900_us});
      at += 3_ms;
    }
    story.Range("train_step", {begin, at});
  }
  return story.Build();
}

// Seconds of all cores: another program's work does not count.
double SecondsFor(const Session& session, const Trace& trace) {
  const std::clock_t begin = std::clock();
  const auto report = DiagnoseTrace(session, {}, trace, {});
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  REQUIRE(report);
  REQUIRE(report->report.findings.size() > 2);
  REQUIRE(report->report.step_count > 1000);
  return seconds;
}

TEST_CASE("eight times the steps take about eight times the time") {
  DiagnoseOptions options;
  options.ignore_working_directory = true;
  const auto session = LoadSession(options);
  REQUIRE(session);
  const Trace small = Training(5'000);
  const Trace large = Training(40'000);
  SecondsFor(*session, small);  // the first time reads pages that the others find
  const double once = std::min(SecondsFor(*session, small), SecondsFor(*session, small));
  const double eight_times = std::min(SecondsFor(*session, large), SecondsFor(*session, large));
  INFO(once << " s and " << eight_times << " s");
  CHECK(eight_times < 14 * once);  // 64 times, were all of it quadratic
}

#ifdef ADVISE_SIM_PROGRAM

// The highest memory of a run, in KiB.
long PeakOf(const Folder& folder, const std::string& arguments) {
  const Ran ran =
      RunAdvise(folder, "-f %M -o peak '" ADVISE_PROGRAM "' " + arguments, "/usr/bin/time");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return std::atol(ReadAll(folder / "peak").c_str());
}

TEST_CASE("one more facts file takes a quarter of a megabyte") {
  const Folder folder;
  const std::string reports = RanksOf("scenarios/rank/straggler-compute-x4");
  REQUIRE(RunAdvise(folder, "facts " + reports + " -o made/").status == 0);
  const auto peak_of = [&](int copies) {
    const std::string into = "facts" + std::to_string(copies);
    std::filesystem::create_directories(folder / into);
    for (const auto& file : std::filesystem::directory_iterator(folder / "made")) {
      for (int copy = 0; copy < copies; ++copy) {
        const std::string name = std::to_string(copy) + file.path().filename().string();
        std::filesystem::copy(file.path(), std::filesystem::path(folder / into) / name);
      }
    }
    return PeakOf(folder, into);
  };
  const long few = peak_of(1);
  const long many = peak_of(16);
  const double each = static_cast<double>(many - few) / (15 * 4);
  INFO(few << " and " << many << " KiB");
  CHECK(each < 256);
}

#endif

}  // namespace
}  // namespace advise
