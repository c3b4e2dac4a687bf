// Tables of kernels, calls, copies and ranges, added up by hand.
#include "engine/metrics/charts/summaries.h"

#include "tests/support/analyzed.h"

namespace advise {
namespace {

TEST_CASE("a row holds count, total, share, mean, median, least, most and deviation") {
  TraceBuilder story;
  // 2, 4, 4 and 10 us: mean 5, deviations 3, 1, 1 and 5.
  Nanos at = 10_us;
  for (const Nanos length : {4_us, 10_us, 2_us, 4_us}) {
    story.Kernel("a", {at, at + length});
    at += 20_us;
  }
  story.Kernel("b", {at, at + 20_us});
  const Analyzed run(story);
  const std::vector<SummaryRow>& rows = run->summaries.kernels;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "a");  // of two that take as long the first
  CHECK(rows[0].count == 4);
  CHECK(rows[0].total == 20e3);
  CHECK(rows[0].share == 0.5);
  CHECK(rows[0].mean == 5e3);
  CHECK(rows[0].median == 4e3);
  CHECK(rows[0].min == 2e3);
  CHECK(rows[0].max == 10e3);
  CHECK(rows[0].stddev == 3e3);  // of 9, 1, 1 and 25: the root of 9
  CHECK(rows[1].name == "b");
  CHECK(rows[1].median == 20e3);
  CHECK(rows[1].stddev == 0);
}

TEST_CASE("the median of an even number lies between the two in the middle") {
  TraceBuilder story;
  Nanos at = 0;
  for (const Nanos length : {9_us, 1_us, 6_us, 2_us}) {
    story.Kernel("a", {at, at + length});
    at += 20_us;
  }
  CHECK(Analyzed(story)->summaries.kernels[0].median == 4e3);
  story.Kernel("a", {at, at + 5_us});
  CHECK(Analyzed(story)->summaries.kernels[0].median == 5e3);
}

TEST_CASE("graphs are a row of kernels; copies go by direction, memsets behind them") {
  TraceBuilder story;
  story.Launch("a", {0, 1_us}, {10_us, 20_us})
      .Graph(3, {12_us, 13_us}, {20_us, 50_us})
      .CopyToGpu(1000, MemoryKind::kPinned, {14_us, 15_us}, {60_us, 65_us})
      .CopyToGpu(3000, MemoryKind::kPinned, {15_us, 16_us}, {65_us, 80_us})
      .CopyFromGpu(500, MemoryKind::kPinned, {16_us, 17_us}, {80_us, 120_us})
      .Memset(64, {17_us, 18_us}, {120_us, 121_us});
  const Analyzed run(story);
  const Summaries& all = run->summaries;
  REQUIRE(all.kernels.size() == 2);
  CHECK(all.kernels[0].name == "(a CUDA graph as a whole)");
  CHECK(all.kernels[0].total == 30e3);
  CHECK(all.kernels[1].total == 10e3);
  REQUIRE(all.copy_times.size() == 3);
  CHECK(all.copy_times[0].total == 40e3);  // the download
  CHECK(all.copy_times[0].count == 1);
  CHECK(all.copy_times[1].total == 20e3);
  CHECK(all.copy_times[1].mean == 10e3);
  CHECK(all.copy_times[2].total == 1e3);
  REQUIRE(all.copy_sizes.size() == 3);
  CHECK(all.copy_sizes[0].total == 4000);
  CHECK(all.copy_sizes[0].name == all.copy_times[1].name);
  CHECK(all.copy_sizes[1].total == 500);
  CHECK(all.copy_sizes[2].total == 64);
  CHECK(all.copy_sizes[2].name == all.copy_times[2].name);
  REQUIRE(all.calls.size() == 3);  // the launch lies before the window
  CHECK(all.calls[0].name == "cudaMemcpyAsync");
  CHECK(all.calls[0].count == 3);
  CHECK(all.calls[0].total == 3e3);
  CHECK(all.calls[0].share == Approx(0.6));
}

TEST_CASE("ranges that count are one row") {
  TraceBuilder story;
  story.Kernel("a", {0, 100_us});
  story.Range("step 9", {0, 10_us}).Range("step 10", {10_us, 40_us}).Range("12", {50_us, 51_us});
  story.OsCall("read", {1_us, 4_us}).Mpi("MPI_Send", {5_us, 7_us});
  const Analyzed run(story);
  REQUIRE(run->summaries.ranges.size() == 2);
  CHECK(run->summaries.ranges[0].name == "step #");
  CHECK(run->summaries.ranges[0].total == 40e3);
  CHECK(run->summaries.ranges[0].count == 2);
  CHECK(run->summaries.ranges[1].name == "#");
  REQUIRE(run->summaries.os_calls.size() == 1);
  CHECK(run->summaries.os_calls[0].total == 3e3);
  REQUIRE(run->summaries.mpi.size() == 1);
  CHECK(run->summaries.mpi[0].total == 2e3);
}

TEST_CASE("the largest rows are kept, and shares are of all of them") {
  TraceBuilder story;
  Nanos at = 0;
  for (std::size_t i = 0; i < kSummaryRows + 10; ++i) {
    const Nanos length = 1_us + static_cast<Nanos>(i);
    // Names without digits, which kernels may keep.
    story.Kernel("kernel " + std::string(i + 1, 'x'), {at, at + length});
    at += 2_us;
  }
  const Analyzed run(story);
  const std::vector<SummaryRow>& rows = run->summaries.kernels;
  REQUIRE(rows.size() == kSummaryRows);
  CHECK(rows.front().total == 1000 + 49);
  CHECK(rows.back().total == 1000 + 10);
  CHECK(rows.front().share == Approx(1049.0 / (50 * 1000 + 49 * 25)));
}

}  // namespace
}  // namespace advise
