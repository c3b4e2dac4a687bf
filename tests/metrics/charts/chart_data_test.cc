// What charts and tables of the reports show, against numbers added up by hand.
#include "engine/metrics/charts/chart_data.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "engine/metrics/kernels/kernel_table.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

TEST_CASE("the kernel table counts, adds up and sorts what starts in the window") {
  const Analyzed run(TraceBuilder()
                         .Launch(kMatrixFp32, {0, 5_us}, {10_us, 40_us}, {100, 256})
                         .Launch(kMatrixFp32, {5_us, 6_us}, {40_us, 90_us}, {200, 128})
                         .Launch(kMatrixFp32, {6_us, 7_us}, {90_us, 100_us}, {100, 256})
                         .Launch(kSoftmax, {7_us, 8_us}, {100_us, 110_us}));
  const std::vector<KernelTotal> table = TabulateKernels(run->basis());
  REQUIRE(table.size() == 2);
  CHECK(table[0].name == kMatrixFp32);
  CHECK(table[0].kernel_class == "matrix");
  CHECK(table[0].precision == "fp32");
  CHECK(table[0].count == 3);
  CHECK(table[0].total_ns == 90_us);
  CHECK(table[0].share == Approx(0.9));
  CHECK(table[0].median_ns == 30_us);
  CHECK(table[0].min_ns == 10_us);
  CHECK(table[0].max_ns == 50_us);
  CHECK(table[0].blocks == 200);  // 50 us with 200 blocks, 40 us with 100
  CHECK(table[0].threads == 128);
  CHECK(table[1].name == kSoftmax);
  CHECK(table[1].count == 1);
  CHECK(table[1].share == Approx(0.1));
}

TEST_CASE("copies are put into powers of two by direction") {
  const Analyzed run(TraceBuilder()
                         .CopyToGpu(1024, MemoryKind::kPinned, {0, 1_us}, {2_us, 4_us})
                         .CopyToGpu(2047, MemoryKind::kPinned, {1_us, 2_us}, {4_us, 9_us})
                         .CopyToGpu(2048, MemoryKind::kPinned, {2_us, 3_us}, {9_us, 10_us})
                         .CopyFromGpu(1, MemoryKind::kPinned, {3_us, 4_us}, {10_us, 11_us}));
  const std::vector<CopySizeBin> bins = CopySizes(run->basis());
  REQUIRE(bins.size() == 3);
  CHECK(bins[0].direction == "device to host");
  CHECK(bins[0].from_bytes == 1);
  CHECK(bins[1].direction == "host to device");
  CHECK(bins[1].from_bytes == 1024);
  CHECK(bins[1].count == 2);
  CHECK(bins[1].bytes == 3071);
  CHECK(bins[1].time_ns == 7_us);
  CHECK(bins[2].from_bytes == 2048);
  CHECK(bins[2].count == 1);
}

// Steps of 100 us each, the last of 300 us; a kernel in each.
TraceBuilder SixSteps() {
  TraceBuilder story;
  for (Nanos s = 0; s < 6; ++s) {
    const Nanos from = s * 100_us;
    const Nanos to = s == 5 ? 800_us : from + 100_us;
    story.Range("step", {from, to})
        .Launch(kMatrixFp32, {from, from + 2_us}, {from + 5_us, to - 5_us});
  }
  return story;
}

TEST_CASE("steps of the warm-up and steady ones share no point") {
  std::vector<Step> steps(10);
  for (Nanos i = 0; i < 10; ++i) {
    steps[static_cast<std::size_t>(i)].start = i * 10;
    steps[static_cast<std::size_t>(i)].end = i * 10 + 10;
  }
  steps[7].end = 90;
  std::string told;
  for (const StepPoint& point : GroupSteps(steps, 3, {7}, 5)) {
    told += std::to_string(point.first) + "+" + std::to_string(point.count) +
            (point.warmup ? "w" : "") + (point.outlier ? "!" : "") + " ";
  }
  CHECK(told == "0+2w 2+1w 3+2 5+2 7+2! 9+1 ");
}

TEST_CASE("step points give each step, or the median and the longest of a group") {
  const Analyzed run(SixSteps());
  REQUIRE(run->run.steps.all.size() == 6);
  const std::vector<StepPoint> all = StepPoints(run->run, 100);
  REQUIRE(all.size() == 6);
  CHECK(all[0].median_ns == 100_us);
  CHECK(all[5].first == 5);
  CHECK(all[5].max_ns == 300_us);
  CHECK(all[5].outlier);
  const std::vector<StepPoint> two = StepPoints(run->run, 2);
  std::size_t steps = 0;
  for (const StepPoint& point : two) steps += point.count;
  CHECK(steps == 6);
  CHECK(two.back().max_ns == 300_us);
  CHECK(two.back().median_ns == 100_us);
  CHECK(two.back().outlier);
}

TEST_CASE("samples are averaged over equal parts of the window, and parts without any stay empty") {
  Trace trace = TraceBuilder().Launch(kMatrixFp32, {0, 1_us}, {0, 100_us}).Build();
  Series series;
  series.name = "SMs Active";
  series.unit = "percent";
  series.device = 0;
  series.time = {5_us, 15_us, 20_us, 30_us, 80_us, 500_us};
  series.value = {10, 20, 60, 70, 90, 1000};
  trace.gpu_series.push_back(series);
  const Analysis analysis(trace, ShippedKnowledge(), {});
  REQUIRE(analysis.run.window.Length() == 100_us);
  const std::vector<ThinSeries> thin = ThinSamples(analysis.run, 4);
  REQUIRE(thin.size() == 1);
  CHECK(thin[0].bucket_ns == 25_us);
  CHECK(thin[0].source == "GPU 0");
  CHECK(thin[0].name == "SMs Active");
  CHECK(thin[0].unit == "percent");
  REQUIRE(thin[0].mean.size() == 4);
  CHECK(thin[0].mean[0] == 30);
  CHECK(thin[0].mean[1] == 70);
  CHECK(std::isnan(thin[0].mean[2]));
  CHECK(thin[0].mean[3] == 90);
}

TEST_CASE("parts of a series are wider than its samples lie apart") {
  Trace trace = TraceBuilder().Launch(kMatrixFp32, {0, 1_us}, {0, 100_us}).Build();
  Series series;
  for (Nanos t = 1_us; t < 100_us; t += 10_us) {
    series.time.push_back(t);
    series.value.push_back(50);
  }
  trace.gpu_series.push_back(series);
  const Analysis analysis(trace, ShippedKnowledge(), {});
  const std::vector<ThinSeries> thin = ThinSamples(analysis.run, 600);
  REQUIRE(thin.size() == 1);
  CHECK(thin[0].bucket_ns == 15_us);
  REQUIRE(thin[0].mean.size() == 7);
  for (const double mean : thin[0].mean) CHECK(mean == 50);
}

TEST_CASE("lateness is how long after the first of its group a device begins") {
  TraceBuilder story;
  for (Nanos s = 0; s < 5; ++s) {
    const Nanos at = s * 1000_us;
    story.OnDevice(0).Range("step", {at, at + 1000_us});
    story.Launch(kMatrixFp32, {at, at + 2_us}, {at + 10_us, at + 100_us});
    story.Launch(kAllReduce, {at + 2_us, at + 4_us}, {at + 100_us, at + 900_us});
    story.OnDevice(1).Launch(kMatrixFp32, {at + 4_us, at + 6_us}, {at + 10_us, at + 400_us});
    story.Launch(kAllReduce, {at + 6_us, at + 8_us}, {at + 400_us, at + 900_us});
  }
  const Analyzed run(story);
  REQUIRE(run->run.steps.all.size() == 5);
  const LatenessMatrix matrix = LatenessByStep(run->run, 100);
  REQUIRE(matrix.names == std::vector<std::string>{"GPU 0", "GPU 1"});
  REQUIRE(matrix.steps.size() == 5);
  for (std::size_t step = 0; step < 5; ++step) {
    CHECK(matrix.mean_ns[0][step] == 0);
    CHECK(matrix.mean_ns[1][step] == 300'000);
  }
  CHECK(LatenessByStep(run->run, 2).steps == std::vector<std::size_t>{0, 3});
}

TEST_CASE("the roofline places counted kernels, and finds the roofs that they lie under") {
  Counters counters;
  const auto kernel = [&](const char* name, double intensity, double balance, double attainable) {
    CountedKernel counted;
    counted.name = name;
    counted.time_ns = 2000;
    counted.intensity = intensity;
    counted.balance = balance;
    counted.attainable = attainable;
    counted.achieved = attainable / 2;
    counters.kernels.push_back(counted);
  };
  kernel("memory bound", 2, 10, 2e12);         // 1 TB/s below 10 FLOP/byte: a peak of 10 TFLOP/s
  kernel("compute bound", 20, 10.1, 10.1e12);  // the same roof at a clock that is 1 % higher
  kernel("tensor", 50, 100, 50e12);            // 1 TB/s, 100 TFLOP/s
  counters.kernels.emplace_back();             // nothing known
  const Roofline roofline = RooflineOf(counters);
  REQUIRE(roofline.points.size() == 3);
  CHECK(roofline.points[0].flop_per_byte == 2);
  CHECK(roofline.points[0].flops == 1e12);
  CHECK(roofline.points[0].time_ns == 2000);
  CHECK(roofline.without_place == 1);
  REQUIRE(roofline.roofs.size() == 2);
  CHECK(roofline.roofs[0].peak_flops == Approx(10e12));
  CHECK(roofline.roofs[0].bytes_per_s == Approx(1e12));
  CHECK(roofline.roofs[1].peak_flops == Approx(100e12));
}

TEST_CASE("without data there is nothing to draw") {
  const Analyzed run(TraceBuilder().Launch("kernel", {0, 1_us}, {2_us, 3_us}));
  CHECK(StepPoints(run->run, 100).empty());
  CHECK(CopySizes(run->basis()).empty());
  CHECK(ThinSamples(run->run, 100).empty());
  CHECK(LatenessByStep(run->run, 100).mean_ns.empty());
  CHECK(RooflineOf(run->counters).points.empty());
}

}  // namespace
}  // namespace advise
