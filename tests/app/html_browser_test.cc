// The HTML report in a real browser: it draws, it can be used, and it shuts nobody out. Skipped
// where no Chromium is installed.
#include <catch2/catch.hpp>
#include <chrono>

#include "engine/report/compare_pages.h"
#include "engine/report/html.h"
#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"
#include "tests/report/sample_report.h"
#include "tests/report/views_sample.h"

namespace advise {
namespace {

constexpr const char* kHostile =
    "<script>window.adviseOwned = 1</script><img src=x onerror=\"adviseOwned=2\"> & '";

// "chromium", or "" (with a message) where there is none.
std::string Browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (std::system((std::string("command -v ") + name + " >/dev/null 2>&1").c_str()) == 0)
      return name;
  }
  WARN("skipped: no Chromium is installed (scripts/setup.sh --browser)");
  return "";
}

void Replace(std::string* text, const std::string& from, const std::string& to) {
  const std::size_t at = text->find(from);
  REQUIRE(at != std::string::npos);
  text->replace(at, from.size(), to);
}

// What the check inside the page found: {"problems": […], "facts": {…}}. The page is as wide as
// said: it stands in a frame, because browsers open no windows as narrow as a phone.
Json Inspect(std::string page, int width,
             const std::string& check = ReadAll(ADVISE_SOURCE_DIR "/tests/app/html_selftest.js")) {
  const std::string browser = Browser();
  if (browser.empty()) return nullptr;
  const Folder folder;
  Replace(
      &page, "<meta charset=\"utf-8\">",
      "<meta charset=\"utf-8\"><script>window.adviseErrors = [];"
      "window.addEventListener('error', function (e) { adviseErrors.push(String(e.message)); });"
      "console.error = function (m) { adviseErrors.push(String(m)); };</script>");
  const std::size_t end = page.rfind("</body>");
  REQUIRE(end != std::string::npos);
  page.insert(end, "<script>" + check + "</script>");
  folder.Write("page.html", page);
  folder.Write(
      "frame.html",
      "<!DOCTYPE html><script>window.addEventListener('message', function (e) {"
      "var pre = document.createElement('pre'); pre.id = 'result'; pre.textContent = e.data;"
      "document.body.appendChild(pre); });</script><body><iframe src=page.html style='width:" +
          std::to_string(width) + "px;height:900px'></iframe>");
  const std::string command =
      "cd '" + folder.path() + "' && HOME='" + folder.path() + "' timeout 120 " + browser +
      " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=profile"
      " --virtual-time-budget=10000 --window-size=1400,1000 --dump-dom 'file://" +
      folder.path() + "/frame.html' >dom.html 2>browser.txt";
  const int status = std::system(command.c_str());
  const std::string dom = ReadAll(folder / "dom.html");
  INFO("status " << status << "\n" << ReadAll(folder / "browser.txt"));
  const std::string open = "<pre id=\"result\">";
  const std::size_t start = dom.rfind(open);
  REQUIRE(start != std::string::npos);
  std::string text =
      dom.substr(start + open.size(), dom.find("</pre>", start) - start - open.size());
  for (const auto& [entity, plain] :
       {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", " "}, {"&amp;", "&"}}) {
    for (std::size_t at = text.find(entity); at != std::string::npos;
         at = text.find(entity, at + 1)) {
      text.replace(at, std::string(entity).size(), plain);
    }
  }
  return ParseJson(text);
}

void CheckSound(const Json& seen) {
  INFO(seen["facts"].dump());
  CHECK(seen["problems"] == Json::array());
  CHECK(seen["facts"]["errors"] == Json::array());
  CHECK(seen["facts"]["resources"] == 0);  // nothing was fetched
}

TEST_CASE("a report with every chart draws, and what a trace names stays text") {
  const auto sample = MakeSampleReport();
  sample->report.views = SampleViews(kHostile);
  sample->report.facts = RankFacts();
  sample->report.findings[0].symptom = kHostile;
  sample->report.inputs[0].path = kHostile;
  const Json seen = Inspect(RenderHtml(sample->report, {}), 1300);
  if (seen.is_null()) return;
  CheckSound(seen);
  const Json& facts = seen["facts"];
  CHECK(facts["steps_marks"] == 2);
  CHECK(facts["copies_marks"] == 1);
  CHECK(facts["samples_marks"] == 1);
  CHECK(facts["lateness_marks"] == 4);
  CHECK(facts["roofline_marks"] == 1);
  CHECK(facts["timelines"] == 1);
  CHECK(facts["timeline_marks"] == 3);
}

TEST_CASE("a report on a phone does not scroll sideways") {
  const auto sample = MakeSampleReport();
  sample->report.views = SampleViews(std::string(300, 'k'));
  const Json seen = Inspect(RenderHtml(sample->report, {}), 390);
  if (seen.is_null()) return;
  CheckSound(seen);
  CHECK(seen["facts"]["overflow"] <= 0);
}

TEST_CASE("a phone shows some of many kernels, and all when asked") {
  const auto sample = MakeSampleReport();
  ReportViews views = *SampleViews();
  for (int i = 1; i < 40; ++i) {
    views.kernels.push_back(views.kernels[0]);
    views.kernels.back().name = "void long_name::of::kernel<float, " + std::to_string(i) + ">";
  }
  sample->report.views = std::make_shared<const ReportViews>(std::move(views));
  const Json seen = Inspect(RenderHtml(sample->report, {}), 390);
  if (seen.is_null()) return;
  CheckSound(seen);
  CHECK(seen["facts"]["kernels"] == 40);
}

TEST_CASE("a file's name stands whole above the report, however short room is") {
  const auto sample = MakeSampleReport();
  const std::string file = "worker0_step_12.1694128201545_of_a_long_experiment.pt.trace.json";
  sample->report.inputs.resize(1);
  sample->report.inputs[0].path = "/data/traces/of/many/people/" + file;
  const Json seen = Inspect(RenderHtml(sample->report, {}), GENERATE(390, 1300));
  if (seen.is_null()) return;
  CheckSound(seen);
  CHECK(seen["facts"]["overflow"] <= 0);
}

TEST_CASE("a comparison on a phone shows its whole table, and the names of its files") {
  RunComparison c;
  c.comparable = true;
  c.unit = "step";
  c.before.ns = 1214e6;
  c.after.ns = 1124e6;
  c.budget = {{"compute", 1105e6, 1104e6},
              {"comm_exposed", 1.1e6, 0},
              {"idle", 107e6, 16e6},
              {"idle.no_work_queued", 1105e6, 1.2e6},
              {"idle.host_sync", 1400e3, 1200e3}};
  std::string page = CompareHtml(c, "/data/traces/people/resnet50_workers_0__worker0.pt.trace.json",
                                 "/data/traces/people/resnet50_workers_4__worker0.pt.trace.json");
  // The page allows no scripts: but for the one that looks at it.
  Replace(&page, "default-src 'none'", "default-src 'unsafe-inline'");
  const Json seen = Inspect(page, 390, R"(var problems = [];
    document.querySelectorAll("body *").forEach(function (node) {
      if (node.closest(".folders, .bar") || getComputedStyle(node).overflowX === "visible") return;
      if (node.scrollWidth > node.clientWidth + 1) problems.push("cut: " + node.outerHTML.slice(0, 90));
    });
    document.querySelectorAll(".file").forEach(function (node) {
      if (node.getBoundingClientRect().right > innerWidth) problems.push("cut: " + node.textContent);
    });
    parent.postMessage(JSON.stringify({ problems: problems, facts: {
      errors: window.adviseErrors, resources: performance.getEntriesByType("resource").length,
      overflow: document.documentElement.scrollWidth - innerWidth,
      folders: document.querySelectorAll(".folders").length } }), "*");)");
  if (seen.is_null()) return;
  CheckSound(seen);
  CHECK(seen["facts"]["overflow"] <= 0);
  CHECK(seen["facts"]["folders"] == 2);
}

TEST_CASE("five hundred findings and two thousand kernels stay usable") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  const Finding first = report.findings[0];
  report.findings.clear();
  for (int i = 0; i < 500; ++i) {
    Finding finding = first;
    finding.rank = i + 1;
    finding.rule = sample->Rule("transfer/rule-" + std::to_string(i),
                                "Rule number " + std::to_string(i), RuleKind::kRoot);
    finding.severity = i % 2 == 0 ? Severity::kHigh : Severity::kLow;
    finding.explains.clear();
    report.findings.push_back(finding);
  }
  ReportViews views = *SampleViews();
  const KernelTotal kernel = views.kernels[0];
  for (int i = 1; i < 2000; ++i) {
    views.kernels.push_back(kernel);
    views.kernels.back().name = "kernel_" + std::to_string(i);
    views.kernels.back().count = (i * 7919) % 2000;
  }
  report.views = std::make_shared<const ReportViews>(std::move(views));
  const auto start = std::chrono::steady_clock::now();
  const Json seen = Inspect(RenderHtml(report, {}), 1300);
  if (seen.is_null()) return;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CheckSound(seen);
  CHECK(seen["facts"]["findings"] == 500);
  CHECK(seen["facts"]["kernels"] == 2000);
  // Start of the browser, all findings opened, every check: far more than a reader ever does.
  CHECK(took.count() < 60);
}

TEST_CASE("the reports of simulated runs draw without a problem") {
  for (const char* scenario : {"pairs/loading-over-pageable", "pairs/straggler-and-exposed",
                               "healthy/transformer-a100", "healthy/no-gpu-work"}) {
    const Folder folder;
    Simulate(folder, std::string("scenarios/") + scenario, "-o run.sqlite");
    const Ran ran = RunAdvise(folder, "run.sqlite --format html -o run.html");
    INFO(scenario << ": " << ran.err);
    REQUIRE(ran.status == 0);
    const Json seen = Inspect(ReadAll(folder / "run.html"), 1300);
    if (seen.is_null()) return;
    CheckSound(seen);
  }
}

TEST_CASE("ranks, and facts files of them, draw without a problem, on a phone too") {
  const Folder folder;
  Simulate(folder, "scenarios/rank/straggler-compute-x4", "--per-rank ranks");
  REQUIRE(RunAdvise(folder, "facts ranks -o facts/").status == 0);
  for (const char* run : {"./ranks", "./facts"}) {
    const Ran ran = RunAdvise(folder, std::string(run) + " --format html");
    REQUIRE(ran.status == 0);
    const Json seen = Inspect(ran.out, run == std::string("./ranks") ? 1300 : 390);
    if (seen.is_null()) return;
    INFO(run);
    CheckSound(seen);
    CHECK(seen["facts"]["overflow"] <= 0);
    CHECK(seen["facts"]["timelines"] == 1);
    CHECK(seen["facts"]["steps_marks"] > 0);
    CHECK(seen["facts"]["lateness_marks"] > 0);
  }
}

}  // namespace
}  // namespace advise
