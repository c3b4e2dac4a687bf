// Speed-up and efficiency over several runs.
#include "engine/compare/scaling.h"

#include "tests/compare/reports.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

TEST_CASE("217 s on one GPU and 179 s on four: speed-up 1.21, efficiency 30.3 % (K-M1)") {
  const Speedup gain = SpeedupOf(217, 1, 179, 4);
  CHECK(gain.speedup == Approx(1.21).margin(0.005));
  CHECK(gain.efficiency == Approx(0.303).margin(0.0005));
}

TEST_CASE("after the input pipeline is mended: about 24 and 20 times as fast (K-M2)") {
  CHECK(SpeedupOf(217, 1, 9, 4).speedup == Approx(24).margin(0.5));
  CHECK(SpeedupOf(179, 4, 9, 4).speedup == Approx(20).margin(0.5));
}

// A data-parallel run: each GPU does the same step on its own part of the batch.
ReportStory OnGpus(double devices, double step_ms, double blocks = 100) {
  ReportStory story;
  story.Number("run.devices", devices).Number("run.processes", devices);
  story.Steps(std::vector<double>(10, step_ms)).Kernel("gemm", blocks, 30 * devices, 60 * devices);
  return story;
}

TEST_CASE("the same batch a GPU: as many times the work as there are GPUs") {
  ReportStory one = OnGpus(1, 100), four = OnGpus(4, 110);
  const Scaling s = ScaleRuns({{"one", &one.Done(), {}}, {"four", &four.Done(), {}}}, Shipped());
  REQUIRE(s.problems.empty());
  CHECK(s.source == "step");
  CHECK(s.rows[1].speedup == Approx(4 * 100.0 / 110));
  CHECK(s.rows[1].efficiency == Approx(100.0 / 110));
  CHECK(s.rows[0].speedup == Approx(1));
}

TEST_CASE("the batch is divided, though some kernels keep their grids: the uploads tell") {
  const auto run = [](double devices, double step_ms, double upload) {
    ReportStory story;
    story.Number("run.devices", devices).Number("run.processes", devices);
    story.Number("work.upload_bytes", upload, "bytes").Uploads(upload);
    story.Steps(std::vector<double>(10, step_ms));
    story.Kernel("gemm", 100, 30 * devices, 40 * devices);
    story.Kernel("relu", upload / 1e4, 30 * devices, 20 * devices);
    return story;
  };
  ReportStory one = run(1, 20, 8e6), two = run(2, 12, 4e6);
  const Scaling s = ScaleRuns({{"one", &one.Done(), {}}, {"two", &two.Done(), {}}}, Shipped());
  REQUIRE(s.problems.empty());
  CHECK(s.rows[1].speedup == Approx(20.0 / 12));
}

TEST_CASE("one rank of a job is no run on one GPU") {
  ReportStory one = OnGpus(1, 100), four = OnGpus(4, 110);
  Report alone = one.Done();
  alone.read_with_care.push_back({Care::kSomeRanks, "1 of 4 ranks is shown"});
  const Scaling s = ScaleRuns({{"one", &alone, {}}, {"four", &four.Done(), {}}}, Shipped());
  REQUIRE(s.problems.size() == 1);
  CHECK_THAT(s.problems[0], Contains("one shows only some ranks of its job"));
  CHECK_FALSE(s.rows[1].known);
}

TEST_CASE("the same batch over all GPUs: each GPU has a quarter of the threads") {
  ReportStory one = OnGpus(1, 100, 400), four = OnGpus(4, 40, 100);
  const Scaling s = ScaleRuns({{"one", &one.Done(), {}}, {"four", &four.Done(), {}}}, Shipped());
  CHECK(s.rows[1].work == Approx(0.25));
  CHECK(s.rows[1].speedup == Approx(2.5));
  CHECK(s.rows[1].efficiency == Approx(0.625));
}

TEST_CASE("times that were measured win over steps") {
  ReportStory one = OnGpus(1, 100), four = OnGpus(4, 100);
  const Scaling s =
      ScaleRuns({{"one", &one.Done(), 217.0}, {"four", &four.Done(), 179.0}}, Shipped());
  CHECK(s.source == "given");
  CHECK(s.rows[1].efficiency == Approx(0.303).margin(0.0005));
}

TEST_CASE("other GPUs, or no steps and no times, give no efficiency") {
  ReportStory one = OnGpus(1, 100), four = OnGpus(4, 100);
  four.Text("hw.name", "NVIDIA H100");
  Scaling s = ScaleRuns({{"one", &one.Done(), {}}, {"four", &four.Done(), {}}}, Shipped());
  REQUIRE(s.problems.size() == 1);
  CHECK_THAT(s.problems[0], Contains("four ran on different GPUs"));
  CHECK_FALSE(s.rows[1].known);
  ReportStory bare;
  bare.Number("run.devices", 4).Window(1000).Kernel("gemm", 100, 30, 60);
  s = ScaleRuns({{"one", &one.Done(), {}}, {"bare", &bare.Done(), {}}}, Shipped());
  REQUIRE(s.problems.size() == 1);
  CHECK_THAT(s.problems[0], Contains("--seconds"));
}

TEST_CASE("different programs have no speed-up, unless somebody measured the same work") {
  ReportStory one = OnGpus(1, 100), other;
  other.Number("run.devices", 4).Steps(std::vector<double>(10, 100));
  other.Kernel("stencil27", 100, 30, 60);
  const Scaling s = ScaleRuns({{"one", &one.Done(), {}}, {"other", &other.Done(), {}}}, Shipped());
  REQUIRE(s.problems.size() == 1);
  CHECK_THAT(s.problems[0], Contains("one and other seem to be different programs"));
  CHECK_FALSE(s.rows[1].known);
  CHECK(ScaleRuns({{"one", &one.Done(), 2.0}, {"other", &other.Done(), 1.0}}, Shipped())
            .problems.empty());
}

TEST_CASE("the leading finding of the smaller run is looked up in the larger one") {
  ReportStory one = OnGpus(1, 100), four = OnGpus(4, 100);
  one.Fires("input/no-workers", 800);
  four.Fires("comm/exposed", 100).Fires("input/no-workers", 700);
  const std::vector<ScalingRun> runs = {{"one", &one.Done(), {}}, {"four", &four.Done(), {}}};
  const Scaling s = ScaleRuns(runs, Shipped());
  const auto facts = ScaleFacts(s, 1, runs);
  CHECK(std::get<std::string>(facts->Find("scale.bottleneck")->value) == "input/no-workers");
  CHECK(std::get<double>(facts->Find("scale.bottleneck_before")->value) == Approx(0.8));
  CHECK(std::get<double>(facts->Find("scale.bottleneck_after")->value) == Approx(0.7));
  CHECK(std::get<double>(facts->Find("scale.devices_after")->value) == 4);
}

}  // namespace
}  // namespace advise
