// How a rule reached its verdict, for people.
#include "engine/report/why.h"

#include <catch2/catch.hpp>

#include "tests/report/sample_report.h"

namespace advise {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("what a rule passes on has the unit of the fact that it read") {
  const auto sample = MakeSampleReport();
  Verdict& fired = sample->report.verdicts.front();
  fired.reads = {{"input.load.median", "50.7 ms"}, {"a.share", "33 %"}, {"b.share", "100 %"}};
  fired.evidence = {
      {"load_time", 50'665'000.0}, {"reached", 0.331}, {"other", 0.4}, {"count", 1.0}};
  const std::string text = RenderWhyText(sample->report, "transfer/repeated-upload", 80, false);
  CHECK_THAT(text, Contains("load_time                   50.7 ms"));
  CHECK_THAT(text, Contains("reached                     33 %"));
  CHECK_THAT(text, Contains("other                       0.4"));
  CHECK_THAT(text, Contains("count                       1\n"));
}

TEST_CASE("what no command checks is named, with the place where it stands") {
  const auto sample = MakeSampleReport();
  Evidence& item = sample->report.findings.front().evidence.front();
  item.sql.clear();
  item.what = "share of the peak of memory that gemm reaches";
  item.value = 0.53;
  item.unit = "share";
  item.source = "kernels.csv:2";
  CHECK_THAT(
      RenderWhyText(sample->report, "transfer/repeated-upload", 80, false),
      Contains("look at kernels.csv:2: share of the peak of memory that gemm reaches, 53 %"));
  item.source.clear();
  CHECK_THAT(RenderWhyText(sample->report, "transfer/repeated-upload", 80, false),
             !Contains("check it by hand"));
}

TEST_CASE("a rule that is silent does not call the run fine, and facts are of the window") {
  const auto sample = MakeSampleReport();
  sample->report.window = {"steady", 1'000'000'000, 1'500'000'000};
  sample->report.step_count = 5;
  sample->report.verdicts.front().outcome = Outcome::kFine;
  const std::string text = RenderWhyText(sample->report, "transfer/repeated-upload", 80, false);
  CHECK_THAT(text, Contains("silent: what it looks for was not found, or is too small to matter"));
  CHECK_THAT(text, !Contains("fine"));
  CHECK_THAT(text,
             Contains("Facts are of the part analyzed (0.50 s, 5 steps); of all: --window all"));
  sample->report.window.mode = "all";
  CHECK_THAT(RenderWhyText(sample->report, "transfer/repeated-upload", 80, false),
             !Contains("Facts are of the part"));
}

}  // namespace
}  // namespace advise
