// Work that was renamed, fused or captured is still found in both runs, and it is said by what.
#include "engine/compare/match_levels.h"

#include <map>

#include "engine/base/text.h"
#include "tests/compare/reports.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

ReportStory StepsOf(double ms) {
  ReportStory story;
  story.Steps(std::vector<double>(10, ms));
  return story;
}

RunComparison Matching(ReportStory* before, ReportStory* after, bool force = false) {
  return CompareRuns(before->Done(), after->Done(), Shipped(), force);
}

// Shares before and after by level: {"name", {1, 1}}.
std::map<std::string, std::pair<double, double>> Levels(const RunComparison& c) {
  std::map<std::string, std::pair<double, double>> levels;
  for (const MatchedPart& part : c.matched) levels[part.by] = {part.before, part.after};
  return levels;
}

TEST_CASE("names that differ only in numbers are one kernel") {
  CHECK(WithoutNumbers("solve_F1L204<float>") == WithoutNumbers("solve_F1L210<float>"));
  CHECK(WithoutNumbers("solve_F1L204") != WithoutNumbers("smooth_F1L204"));
  ReportStory before = StepsOf(40);
  before.Origin("solve_F1L204", "", "", "", 0.5, 300);
  ReportStory after = StepsOf(20);
  after.Origin("solve_F1L210", "", "", "", 0.5, 100);
  const RunComparison c = Matching(&before, &after);
  REQUIRE(c.comparable);
  CHECK(Levels(c)["name"] == std::pair(1.0, 1.0));
  for (const std::string& note : c.notes) CHECK_THAT(note, !Contains("hold only"));
}

TEST_CASE("a kernel that was exchanged is known by its operator and shapes") {
  ReportStory before = StepsOf(40);
  before.Origin("sgemm", "aten::mm", "[64, 8] [8, 32]", "", 0.2, 300)
      .Origin("sgemm_other", "aten::mm", "[16, 8] [8, 32]", "", 0.4, 100);
  ReportStory after = StepsOf(20);
  after.Origin("bf16gemm", "aten::mm", "[64, 8] [8, 32]", "", 0.2, 100)
      .Origin("something", "aten::mm", "[99, 8] [8, 32]", "", 0.9, 100);
  const RunComparison c = Matching(&before, &after);
  REQUIRE(c.comparable);
  CHECK(Levels(c)["shapes"] == std::pair(0.75, 0.5));
  CHECK(Levels(c)["operator"] == std::pair(0.25, 0.5));
}

TEST_CASE("kernels that were fused are known by the module around them, or their place") {
  ReportStory before = StepsOf(40);
  before.Origin("mul", "aten::mul", "", "nn.Module: MLP_0", 0.3, 150)
      .Origin("add", "aten::add", "", "nn.Module: MLP_1", 0.4, 150)
      .Origin("norm", "", "", "", 0.9, 100);
  ReportStory after = StepsOf(20);
  after.Origin("triton_fused_add_mul", "Compiled", "", "nn.Module: MLP_0", 0.35, 150)
      .Origin("triton_norm", "", "", "", 0.92, 50);
  const RunComparison c = Matching(&before, &after);
  REQUIRE(c.comparable);
  CHECK(Levels(c)["range"] == std::pair(0.75, 0.75));
  CHECK(Levels(c)["place"] == std::pair(0.25, 0.25));
  CHECK_THAT(c.notes.at(0), Contains("hold only 0 % of the kernel time before"));
}

TEST_CASE("a chain that a compiler fused is known by the operators that its kernel names") {
  ReportStory before = StepsOf(40);
  before.Origin("elementwise_1", "aten::mul", "", "", 0.2, 100)
      .Origin("elementwise_2", "aten::add_", "", "", 0.4, 100)
      .Origin("elementwise_3", "aten::sigmoid", "", "", 0.6, 100)
      .Origin("elementwise_4", "aten::tanh", "", "", 0.1, 100);
  ReportStory after = StepsOf(20);
  after.Origin("triton_poi_fused_add_mul_sigmoid_0", "triton_poi_fused_add_mul_sigmoid_0", "", "",
               0.9, 100);
  const RunComparison c = Matching(&before, &after);
  REQUIRE(c.comparable);
  CHECK(Levels(c)["fused"] == std::pair(0.75, 1.0));
  const RunComparison back = Matching(&after, &before);
  REQUIRE(back.comparable);
  CHECK(Levels(back)["fused"] == std::pair(1.0, 0.75));
  ReportStory few = StepsOf(20);
  few.Origin("triton_poi_fused_add_mul_0", "triton_poi_fused_add_mul_0", "", "", 0.9, 100);
  CHECK_FALSE(Matching(&before, &few).comparable);
}

TEST_CASE("a run whose graphs were traced as a whole is compared where uploads are the same") {
  ReportStory before = StepsOf(40);
  before.Origin("mul", "", "", "", 0.3, 300);
  ReportStory after = StepsOf(20);
  after.Origin("", "", "", "", 0.3, 100);
  CHECK_THAT(Matching(&before, &after).reasons.at(0), Contains("recorded as a whole"));
  before.Uploads(1e6);
  after.Uploads(1e6);
  const RunComparison c = Matching(&before, &after);
  REQUIRE(c.comparable);
  CHECK(Levels(c)["graph"] == std::pair(1.0, 1.0));
  CHECK_THAT(c.notes.at(0), Contains("is assumed"));
  after.Uploads(2e6);
  CHECK_FALSE(Matching(&before, &after).comparable);
}

TEST_CASE("without uploads, a run of graphs is compared with one of the same program") {
  ReportStory before = StepsOf(40);
  before.Origin("mul", "", "", "", 0.3, 300).Text("launch.process", "python bench.py");
  ReportStory after = StepsOf(20);
  after.Origin("", "", "", "", 0.3, 100).Text("launch.process", "python bench.py");
  CHECK(Matching(&before, &after).comparable);
  after.Text("launch.process", "python other.py");
  CHECK_FALSE(Matching(&before, &after).comparable);
}

TEST_CASE("words that every training script has do not make two programs one") {
  ReportStory before = StepsOf(40);
  before.Origin("mul", "", "", "forward", 0.3, 300);
  ReportStory after = StepsOf(20);
  after.Origin("scan", "", "", "forward", 0.3, 100);
  const RunComparison refused = Matching(&before, &after);
  CHECK_FALSE(refused.comparable);
  CHECK_FALSE(refused.forced);
  CHECK(refused.budget.empty());
  const RunComparison forced = Matching(&before, &after, true);
  CHECK_FALSE(forced.comparable);
  CHECK(forced.forced);
  CHECK(forced.reasons == refused.reasons);
  CHECK(forced.before.ns == Approx(40e6));
  CHECK(forced.after.ns == Approx(20e6));
  CHECK(forced.budget.size() == 5);
  CHECK_FALSE(forced.certain.has_value());
  CHECK(forced.speedup == 1);
}

TEST_CASE("runs of the same work are compared as always when forced") {
  ReportStory before = StepsOf(40);
  before.Kernel("gemm", 100, 30, 60);
  ReportStory after = StepsOf(20);
  after.Kernel("gemm", 100, 30, 60);
  const RunComparison c = Matching(&before, &after, true);
  CHECK(c.comparable);
  CHECK_FALSE(c.forced);
  CHECK(c.speedup == Approx(2));
}

}  // namespace
}  // namespace advise
