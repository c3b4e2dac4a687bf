// What the HTML report and slices show of a run of several reports.
#include "engine/pipeline/run_views.h"

#include <catch2/catch.hpp>

#include "engine/facts/declare.h"
#include "engine/pipeline/run_rules.h"
#include "engine/pipeline/session.h"
#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"
#include "tests/support/analyzed.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

// Two ranks, five steps of 10 ms: they meet in an all-reduce that rank 0 enters after 4 ms, rank 1
// after 6 ms, and that ends after 8 ms.
Cluster TwoRanks() {
  std::vector<RankSummary> ranks(2);
  for (int r = 0; r < 2; ++r) {
    RankSummary& rank = ranks[static_cast<std::size_t>(r)];
    rank.rank = r;
    rank.path = "rank_" + std::to_string(r) + ".sqlite";
    rank.kinds = {"allreduce"};
    for (int s = 0; s < 5; ++s) {
      const Nanos at = s * 10_ms;
      const Nanos meet = at + (r == 0 ? 4_ms : 6_ms);
      RankStep step;
      step.start = at;
      step.end = at + 10_ms;
      step.time.compute = meet - at + 2_ms;
      step.time.comm_exposed = at + 8_ms - meet;
      rank.steps.push_back(step);
      RankCollectives& list = rank.collectives;
      list.start.push_back(meet);
      list.end.push_back(at + 8_ms);
      list.exposed.push_back(at + 8_ms - meet);
      list.kind.push_back(0);
      list.phase.push_back(0);
      list.lane.push_back(0);
      list.group.push_back(-1);
      list.bytes.push_back(-1);
      list.peer.push_back(-1);
    }
    rank.window_end = 50_ms;
  }
  return {std::move(ranks), ShippedKnowledge()};
}

// Of several ranks, a rule that reads facts of all of them, if only where there are any, is asked
// of all together: nobody would ever hear of one that needs what only the report of each knows.
TEST_CASE("rules that may read facts of ranks need what is known of all ranks together") {
  DiagnoseOptions options;
  options.ignore_working_directory = true;
  const auto session = LoadSession(options);
  REQUIRE(session);
  const std::unique_ptr<Facts> facts = MakeRunFacts(TwoRanks(), *session->knowledge);
  for (const RuleInfo* rule : RuleInfos(*session)) {
    const bool of_several = std::any_of(rule->needs.begin(), rule->needs.end(), IsAboutRanks);
    if (of_several || !AboutRanks(*rule)) continue;
    for (const std::string& name : rule->needs) {
      INFO(rule->id << " needs " << name);
      const Absent* absent = std::get_if<Absent>(&facts->Find(name)->value);
      CHECK((absent == nullptr || absent->reason != facts::OfOneReport().reason));
    }
  }
}

TEST_CASE("lateness of ranks counts from the first to begin") {
  const Cluster cluster = TwoRanks();
  const LatenessMatrix matrix = JointLateness(cluster, 100, 100);
  REQUIRE(matrix.names == std::vector<std::string>{"rank 0", "rank 1"});
  REQUIRE(matrix.steps.size() == 5);
  for (std::size_t step = 0; step < 5; ++step) {
    CHECK(matrix.mean_ns[0][step] == 0);
    CHECK(matrix.mean_ns[1][step] == 2e6);
  }
  // Where there is no room for all, the latest rank stays.
  CHECK(JointLateness(cluster, 100, 1).names == std::vector<std::string>{"rank 1"});
  CHECK(JointLateness(cluster, 2, 100).steps == std::vector<std::size_t>{0, 3});
}

std::shared_ptr<const ReportViews> Example(const std::string& rule, Nanos length) {
  ReportViews views;
  FindingTimeline timeline;
  timeline.finding = 7;
  timeline.rule = rule;
  timeline.end_ns = length;
  timeline.what = "the longest gap";
  views.timelines = {timeline};
  views.sources = {{7, rule, "train.py", static_cast<int>(length), "f"}};
  views.kernels.emplace_back();
  views.kernels.back().name = "kernel of " + std::to_string(length);
  return std::make_shared<const ReportViews>(std::move(views));
}

TEST_CASE("each finding of the run shows the longest example of any report") {
  const Cluster cluster = TwoRanks();
  RuleInfo rule;
  rule.id = "input/starved";
  Report report;
  Finding finding;
  finding.rule = &rule;
  finding.rank = 2;
  finding.severity = Severity::kHigh;
  report.findings = {finding};
  const auto views = MergeViews(
      {{"rank 0", Example("input/starved", 100)}, {"rank 1", Example("input/starved", 300)}},
      cluster, report);
  REQUIRE(views != nullptr);
  REQUIRE(views->timelines.size() == 1);
  CHECK(views->timelines[0].finding == 2);
  CHECK(views->timelines[0].end_ns == 300);
  CHECK(views->timelines[0].what == "the longest gap (rank 1)");
  REQUIRE(views->sources.size() == 1);
  CHECK(views->sources[0].line == 300);
  CHECK(views->sources[0].finding == 2);
  CHECK(views->charts_of == "rank 0");
  CHECK(views->kernels[0].name == "kernel of 100");
  REQUIRE(views->steps.size() == 5);
  CHECK(views->steps[0].median_ns == 10_ms);
  CHECK(views->lateness.names.size() == 2);
  CHECK(views->not_drawn.empty());
  // Of facts files only: what they hold is drawn, and what they do not is said.
  const auto facts = MergeViews({}, cluster, report);
  CHECK(facts->timelines.empty());
  REQUIRE(facts->without_timeline.size() == 1);
  CHECK(facts->without_timeline[0].first == 2);
  CHECK_THAT(facts->without_timeline[0].second, Contains("facts file"));
  REQUIRE(facts->not_drawn.size() == 1);
  CHECK_THAT(facts->not_drawn[0], Contains("sizes of copies"));
  CHECK(facts->steps.size() == 5);
  CHECK(facts->lateness.names.size() == 2);
}

Json DataOf(const std::string& page) {
  const std::string open = "id=\"data\">";
  const std::size_t start = page.find(open) + open.size();
  return ParseJson(page.substr(start, page.find("</script>", start) - start));
}

TEST_CASE("facts files draw the same ranks as the reports they were made of") {
  const Folder folder;
  Simulate(folder, "scenarios/rank/straggler-compute-x4", "--per-rank ranks");
  REQUIRE(RunAdvise(folder, "facts ranks -o facts/").status == 0);
  const Json reports = DataOf(RunAdvise(folder, "ranks --format html").out);
  const std::string page = RunAdvise(folder, "./facts --format html").out;
  const Json facts = DataOf(page);
  std::size_t of_ranks = 0;
  for (const Json& timeline : facts["timelines"]) {
    ++of_ranks;
    CHECK(timeline["rows"].size() == 4);
    CHECK(timeline["rows"][0]["kind"] == "rank");
  }
  REQUIRE(of_ranks > 0);
  const Json* same = nullptr;
  for (const Json& timeline : reports["timelines"]) {
    if (timeline["rows"][0]["kind"] == "rank") same = &timeline;
  }
  REQUIRE(same != nullptr);
  CHECK((*same)["what"] == facts["timelines"].back()["what"]);
  CHECK((*same)["length"] == facts["timelines"].back()["length"]);
  CHECK((*same)["note"] == facts["timelines"].back()["note"]);
  CHECK(facts["steps"] == reports["steps"]);
  CHECK(facts["lateness"] == reports["lateness"]);
  CHECK_FALSE(facts["kernels"].empty());
  CHECK(facts["not_drawn"].size() == 1);
  CHECK(reports["not_drawn"].empty());
}

TEST_CASE("a folder of ranks has its efficiency, its lateness and slices of single reports") {
  const Folder folder;
  Simulate(folder, "scenarios/rank/straggler-compute-x4", "--per-rank ranks");
  const Ran html = RunAdvise(folder, "ranks --format html --jobs 2");
  REQUIRE(html.status == 0);
  CHECK_THAT(html.out, Contains("id=\"efficiency\"") && Contains("Load balance"));
  CHECK(RunAdvise(folder, "ranks --format html --jobs 1").out == html.out);
  const std::string open = "id=\"data\">";
  const std::size_t start = html.out.find(open) + open.size();
  const Json data = ParseJson(html.out.substr(start, html.out.find("</script>", start) - start));
  CHECK(data["lateness"]["names"].size() == 4);
  CHECK(data["charts_of"] == "rank 0");
  CHECK_FALSE(data["kernels"].empty());
  CHECK_FALSE(data["steps"].empty());
  const Json report = ParseJson(RunAdvise(folder, "ranks --format json").out);
  for (std::size_t i = 0; i < report["findings"].size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const Ran ran = RunAdvise(folder, "slice ranks --finding " + number + " -o slice.json");
    INFO(report["findings"][i]["rule"] << ": " << ran.err);
    // A finding about the ranks together is shown by no single report.
    const bool shown = ran.status == 0;
    if (!shown) {
      CHECK(ran.status == 2);
      CHECK_THAT(ran.err, Contains("points at no stretch of time"));
      continue;
    }
    const Json slice = ParseJson(ReadAll(folder / "slice.json"));
    CHECK(slice["traceEvents"].size() > 10);
  }
}

}  // namespace
}  // namespace advise
