#include "engine/report/html.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>

#include "engine/report/html_text.h"
#include "tests/report/sample_report.h"
#include "tests/report/views_sample.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

using Json = nlohmann::json;

// Where a line breaks is told apart by one test; the others read words.
std::string WithPlainSpaces(std::string page) {
  const std::string unbroken = "\u00A0";
  for (std::size_t at = page.find(unbroken); at != std::string::npos; at = page.find(unbroken, at))
    page.replace(at, unbroken.size(), " ");
  return page;
}

std::string HtmlPage(SampleReport* sample, const std::string& kernel = "gemm") {
  sample->report.views = SampleViews(kernel);
  return WithPlainSpaces(RenderHtml(sample->report, {}));
}

// The part between the opening tag and the next end of a script.
std::string DataOf(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t start = page.find(open) + open.size();
  return page.substr(start, page.find("</script>", start) - start);
}

// The page without its scripts: what a browser shows when it runs none.
std::string WithoutScripts(const std::string& page) {
  return page.substr(0, page.find("<script type=\"application/json\""));
}

TEST_CASE("the page reads without scripts: verdict, budget, findings, fixes, checks") {
  const auto sample = MakeSampleReport();
  const std::string page = WithoutScripts(HtmlPage(sample.get()));
  CHECK_THAT(
      page,
      Contains(
          "<h1 id=\"verdict\">The GPUs wait for host-to-device copies 93 % of the time.</h1>"));
  CHECK_THAT(page, Contains("aria-label=\"GPU 1: compute 2 %, copies 93 %, idle 5 %\""));
  CHECK_THAT(page, Contains("Weights are uploaded from the host in every step"));
  CHECK_THAT(page, Contains("saves up to 0.90 s of 0.97 s (93 %)"));
  CHECK_THAT(page, Contains("Keep the weights on the GPU and upload them once"));
  CHECK_THAT(page, Contains("for batch in loader:\n    step(model, batch)"));
  CHECK_THAT(page, Contains("sqlite3 run.sqlite &quot;select sum(bytes) from"));
  CHECK_THAT(page, Contains("advise why transfer/repeated-upload run.sqlite"));
  CHECK_THAT(page, Contains("428 ms in cudaStreamSynchronize (sync/host-busy-wait)"));
  CHECK_THAT(page, Contains("train.py:12, load"));
  CHECK_THAT(page, Contains("Only three steps were captured."));
  CHECK_THAT(page, Contains("no GPU metrics were sampled"));
  CHECK_THAT(page, Contains("nsys profile --trace=cuda,nvtx,osrt"));
  CHECK_THAT(page, Contains("Read with care: GPU table missing"));
}

TEST_CASE("no line begins with a unit, and code is copied as it stands") {
  CHECK(HtmlText("idle 60 % of 3 ms, 2 GPUs") == "idle 60\u00A0% of 3\u00A0ms, 2 GPUs");
  CHECK(HtmlText("1 s: 5 sums") == "1\u00A0s: 5 sums");
  CHECK(HtmlCode("sleep 3 s") == "sleep 3 s");
}

TEST_CASE("a path is cut in its folders, not in its name") {
  CHECK(HtmlPath("run.sqlite") == "<span class=\"file\">run.sqlite</span>");
  CHECK(HtmlPath("/data/a&b/run.sqlite", " and 7 more") ==
        "<span class=\"folders\">/data/a&amp;b/</span>"
        "<span class=\"file\">run.sqlite and 7 more</span>");
  CHECK(HtmlPath("traces/run/") ==
        "<span class=\"folders\">traces/</span><span class=\"file\">run/</span>");
}

TEST_CASE("what was analyzed is told in seconds, where anything was") {
  const auto sample = MakeSampleReport();
  sample->report.window.start_ns = 373'067'193;
  sample->report.window.end_ns = 1'559'985'826;
  CHECK_THAT(HtmlPage(sample.get()),
             Contains("Analyzed: 0.373067 s to 1.559986 s on the trace&#39;s clock (window: "));
  sample->report.window.end_ns = sample->report.window.start_ns;
  CHECK_THAT(HtmlPage(sample.get()), !Contains("on the trace"));
}

TEST_CASE("many GPUs are folded under their sum") {
  const auto sample = MakeSampleReport();
  const DeviceBudget one = sample->report.devices.front();
  sample->report.devices.assign(4, one);
  CHECK_THAT(HtmlPage(sample.get()), !Contains("Every GPU"));
  sample->report.devices.assign(5, one);
  CHECK_THAT(HtmlPage(sample.get()),
             Contains("All GPUs") && Contains("<summary>Every GPU</summary>"));
}

TEST_CASE("the page names the finding that has the same fix") {
  const auto sample = MakeSampleReport();
  Finding again = sample->report.findings.front();
  again.rank = 9;
  again.turn = 9;
  sample->report.findings.push_back(again);
  CHECK_THAT(HtmlPage(sample.get()), Contains("(the fix of <a href=\"#finding-1\">1</a>)"));
}

TEST_CASE("a finding that another one explains stands under it only") {
  const auto sample = MakeSampleReport();
  const std::string page = HtmlPage(sample.get());
  std::size_t findings = 0;
  for (std::size_t at = page.find("<details class=\"finding"); at != std::string::npos;
       at = page.find("<details class=\"finding", at + 1)) {
    ++findings;
  }
  CHECK(findings == 2);
}

TEST_CASE("the page needs nothing from anywhere, and says so to the browser") {
  const auto sample = MakeSampleReport();
  const std::string page = HtmlPage(sample.get());
  CHECK_THAT(page, Contains("default-src 'none'"));
  const std::regex loads(
      "<(link|img|iframe|object|embed|base|form [^>]*action)[ >]|src=|@import|url\\(");
  const std::string own = WithoutScripts(page);
  CHECK_FALSE(std::regex_search(own, loads));
  CHECK_THAT(page, Contains("License: BSD-3-Clause"));
}

TEST_CASE("what a trace names stays text, wherever it stands") {
  const std::string hostile = "<script>alert(1)</script><!-- </style> & \" ' \xE2\x80\xA8 \xFF\x01";
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  report.inputs[0].path = hostile;
  report.inputs[0].producer = hostile;
  report.devices[0].name = hostile;
  report.verdict = hostile;
  report.findings[0].symptom = hostile;
  report.findings[0].fixes[0].snippet = hostile;
  report.findings[0].fixes[0].links = {{hostile}, {"javascript:alert(1)"}};
  report.findings[0].evidence[0].what = hostile;
  report.findings[0].evidence[0].sql = hostile;
  const std::string page = HtmlPage(sample.get(), hostile);
  const std::string own = WithoutScripts(page);
  CHECK(own.find("<script") == std::string::npos);
  CHECK(own.find("<!-- ") == std::string::npos);
  CHECK(own.find("\x01") == std::string::npos);
  CHECK_THAT(own, Contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
  CHECK(own.find("href=\"javascript:") == std::string::npos);
  const std::string data = DataOf(page);
  CHECK(data.find('<') == std::string::npos);
  CHECK(data.find("\xE2\x80\xA8") == std::string::npos);
  const Json json = Json::parse(data);
  CHECK_THAT(json["kernels"][0][0].get<std::string>(), Contains("<script>alert(1)</script>"));
}

TEST_CASE("charts of steps have the word of the run for them") {
  const auto sample = MakeSampleReport();
  sample->report.run.unit = "iteration";
  CHECK(Json::parse(DataOf(HtmlPage(sample.get())))["called"] == "iterations");
}

TEST_CASE("the data of the charts is that of the views") {
  const auto sample = MakeSampleReport();
  const Json data = Json::parse(DataOf(HtmlPage(sample.get())));
  const Json& timeline = data["timelines"][0];
  CHECK(timeline["finding"] == 1);
  CHECK(timeline["origin"] == 1000);
  CHECK(timeline["length"] == 8000);
  CHECK(timeline["from"] == 2000);
  CHECK(timeline["to"] == 6000);
  const Json& event = timeline["rows"][0]["events"][0];
  CHECK(event[0] == 2000);
  CHECK(event[1] == 4000);
  CHECK(data["names"][event[2].get<std::size_t>()] == "copy");
  CHECK(event[6] == 4096);
  CHECK(event[8] == 1);
  CHECK(data["steps"].size() == 2);
  CHECK(data["called"] == "steps");
  CHECK(data["kernels"][0][4] == 9000);
  CHECK(data["samples"][0]["mean"] == Json::array({10, nullptr, 90}));
  CHECK(data["lateness"]["rows"] == Json::array({{0, 0}, {5000, nullptr}}));
  CHECK(data["roofline"]["points"][0][2] == 1e12);
  CHECK(data["roofline"]["estimated"] == false);
}

TEST_CASE("several ranks get an efficiency tree and a table; one rank gets neither") {
  const auto sample = MakeSampleReport();
  CHECK_THAT(HtmlPage(sample.get()), !Contains("id=\"efficiency\""));
  sample->report.facts = RankFacts();
  const std::string page = HtmlPage(sample.get());
  CHECK_THAT(page, Contains("Parallel efficiency</span> <strong>72 %</strong>"));
  CHECK_THAT(page, Contains("Load balance</span> <strong>90 %</strong>"));
  CHECK_THAT(page, Contains("Host keeping up</span> <strong>100 %</strong>"));
  CHECK_THAT(page, Contains("<td data-name=\"Host\">node&lt;1&gt;</td>"
                            "<td data-name=\"Step\" class=\"num\">2.00 ms</td>"));
  CHECK_THAT(page, !Contains(">Waited</th>"));  // of no rank
  sample->report.facts[0].fact.value = 1.0;
  CHECK_THAT(HtmlPage(sample.get()), !Contains("id=\"efficiency\""));
}

TEST_CASE("a finding without a picture says why, and so does the page of what it cannot draw") {
  const auto sample = MakeSampleReport();
  ReportViews views = *SampleViews();
  views.timelines[0].note = "Step 3 of 9.";
  views.without_timeline = {{2, "a <facts> file keeps no events"}};
  views.not_drawn = {"Not drawn: <samples>."};
  sample->report.views = std::make_shared<const ReportViews>(views);
  std::string page = RenderHtml(sample->report, {});
  CHECK_THAT(page, Contains("No timeline: a &lt;facts&gt; file keeps no events."));
  const Json data = Json::parse(DataOf(page));
  CHECK(data["timelines"][0]["note"] == "Step 3 of 9.");
  CHECK(data["not_drawn"] == Json::array({"Not drawn: <samples>."}));
  views.timelines.clear();
  sample->report.views = std::make_shared<const ReportViews>(views);
  page = RenderHtml(sample->report, {});
  CHECK_THAT(page, Contains("No timeline: this is about the run as a whole"));
}

TEST_CASE("without views the page says what it can") {
  const auto sample = MakeSampleReport();
  const std::string page = RenderHtml(sample->report, {});
  CHECK_THAT(page, Contains("Weights are uploaded"));
  CHECK_FALSE(Json::parse(DataOf(page)).contains("kernels"));
}

TEST_CASE("escaping leaves plain text alone and breaks no character") {
  CHECK(HtmlText("gemm<float>(a & b)") == "gemm&lt;float&gt;(a &amp; b)");
  CHECK(HtmlText("µs × 2") == "µs × 2");
  CHECK(HtmlCode("a\n\tb<c").find("\n") != std::string::npos);
  CHECK(ScriptSafeJson("\"</script>\xE2\x80\xA9µ\"") == "\"\\u003c/script\\u003e\\u2029µ\"");
  CHECK(
      HtmlLink("https://a.org/?b&c") ==
      "<a href=\"https://a.org/?b&amp;c\" rel=\"noopener noreferrer\">https://a.org/?b&amp;c</a>");
  CHECK(HtmlLink("javascript:x") == "javascript:x");
}

TEST_CASE("what was not there to be looked at is not called fine") {
  const auto sample = MakeSampleReport();
  sample->report.verdicts.front().outcome = Outcome::kFine;
  CHECK_THAT(HtmlPage(sample.get()), Contains("Looked for, and not found or too small to matter"));
  CHECK_THAT(HtmlPage(sample.get()), Contains("reached a verdict"));
  sample->report.devices.clear();
  CHECK_THAT(HtmlPage(sample.get()), !Contains("Looked for, and not found"));
  CHECK_THAT(HtmlPage(sample.get()), !Contains("reached a verdict"));
}

}  // namespace
}  // namespace advise
