// What is gone by its own fix is told apart from what went with the fix of another.
#include "engine/compare/applied_fixes.h"

#include "tests/compare/reports.h"

namespace advise {
namespace {

// Ten steps of `ms`, in which the host makes so many launches and the GPU waits for data.
ReportStory Loop(double ms, double launches, double data_ms, double compute_ms = 100) {
  ReportStory story;
  story.Steps(std::vector<double>(10, ms))
      .Kernel("gemm", 100, 30, compute_ms)
      .Number("launch.count", launches, "count")
      .Number("budget.compute", compute_ms * 1e6)
      .Number("budget.comm_exposed", 0)
      .Number("idle.data_loading", data_ms * 1e6);
  return story;
}

RunComparison WithFixes(ReportStory* before, ReportStory* after) {
  return CompareRuns(before->Done(), after->Done(), Shipped());
}

TEST_CASE("a finding is not fixed where nothing of its fix is seen: it went with one that is") {
  ReportStory before = Loop(200, 10'000, 500);
  before.Fires("launch/bound", 560).Changes({"launches"});
  before.Fires("input/no-workers", 460).Changes({"data"});
  ReportStory after = Loop(120, 10'000, 0);
  const RunComparison c = WithFixes(&before, &after);
  REQUIRE(c.fixed.size() == 1);
  CHECK(c.fixed[0].rule == "input/no-workers");
  REQUIRE(c.gone.size() == 1);
  CHECK(c.gone[0].rule == "launch/bound");
  CHECK(c.gone[0].went_with == std::vector<std::string>{"input/no-workers"});
  CHECK(c.gone[0].why == "AFTER still launches as much work");
  CHECK_FALSE(c.gone[0].replayed);        // a guess
  CHECK(c.predicted_ns == Approx(46e6));  // of what was fixed
}

TEST_CASE("fewer launches are the fix of what launches too much") {
  ReportStory before = Loop(200, 10'000, 500);
  before.Fires("launch/bound", 560).Changes({"launches"});
  ReportStory after = Loop(120, 100, 500);
  const RunComparison c = WithFixes(&before, &after);
  CHECK(c.gone.empty());
  REQUIRE(c.fixed.size() == 1);
  CHECK(c.fixed[0].why.empty());
}

TEST_CASE("as many launches tell nothing where no other fix shows: each may cost less") {
  ReportStory before = Loop(200, 10'000, 500);
  before.Fires("launch/bound", 560).Changes({"launches"});
  ReportStory after = Loop(120, 10'000, 500);
  CHECK(WithFixes(&before, &after).fixed.size() == 1);
}

TEST_CASE("kernels that take as long were not fixed") {
  ReportStory before = Loop(200, 10'000, 500, 800);
  before.Fires("kernel/slow", 400).Changes({"kernels"});
  ReportStory same = Loop(120, 10'000, 500, 790);
  const RunComparison gone = WithFixes(&before, &same);
  REQUIRE(gone.gone.size() == 1);
  CHECK(gone.gone[0].went_with.empty());  // nobody knows
  ReportStory faster = Loop(120, 10'000, 500, 500);
  CHECK(WithFixes(&before, &faster).fixed.size() == 1);
}

TEST_CASE("what leaves no sign is fixed, unless a fix that is seen makes it needless") {
  ReportStory before = Loop(200, 10'000, 500);
  before.Fires("input/no-workers", 460).Changes({"data"}, {"host/cpu-bound"});
  before.Fires("host/cpu-bound", 100).Changes({"host-code"});
  before.Fires("sync/in-loop", 100).Changes({"waits"});
  ReportStory after = Loop(120, 10'000, 0);
  const RunComparison c = WithFixes(&before, &after);
  REQUIRE(c.fixed.size() == 2);
  CHECK(c.fixed[1].rule == "sync/in-loop");
  REQUIRE(c.gone.size() == 1);
  CHECK(c.gone[0].rule == "host/cpu-bound");
  CHECK(c.gone[0].replayed);
  CHECK(c.gone[0].went_with == std::vector<std::string>{"input/no-workers"});
}

}  // namespace
}  // namespace advise
