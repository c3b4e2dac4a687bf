// What a report gives up to fit its screen, and what it must keep.
#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/report/html.h"
#include "engine/report/json.h"
#include "engine/report/markdown.h"
#include "engine/report/plan_text.h"
#include "engine/report/sarif.h"
#include "engine/report/text_report.h"
#include "engine/report/where_text.h"
#include "tests/report/sample_report.h"

namespace advise {
namespace {

using Catch::Matchers::Contains;

std::size_t LinesOf(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_CASE("a few kernels, a cut file and a part of a step are answered in twenty lines") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  report.findings.front().severity = Severity::kHigh;
  report.plan = {{"transfer/repeated-upload", 0.07, {}, {}, ""}, {"launch/gaps", 0.05, {}, {}, ""}};
  const std::string of_loop = RenderText(report, {});
  CHECK(LinesOf(of_loop) > 20);
  CHECK_THAT(of_loop, Contains("Could not be checked") && Contains("Fixed in this order"));

  const auto tell = [&](const std::string& text) {
    INFO(text);
    CHECK(LinesOf(text) <= 20);
    CHECK_THAT(text, Contains("    Do     Keep the weights on the GPU"));
    CHECK_THAT(text, Contains("    Check  "));
    CHECK_THAT(text, Contains(" 2  Capture the step as a CUDA graph"));
  };
  report.run.kind = "kernels";
  tell(RenderText(report, {}));
  report.run.kind = "training";
  Diagnostic damage;
  damage.level = Level::kError;
  damage.text = "the file was cut off";
  report.diagnostics.push_back(damage);
  CHECK(LinesOf(RenderText(report, {})) > 20);  // what is left is enough for a verdict
  report.no_verdict_reason = "only one pass was recorded";
  tell(RenderText(report, {}));
  report.diagnostics.clear();
  report.no_verdict_reason.clear();
  report.window.end_ns = report.window.start_ns + 1'000'000;
  CHECK(LinesOf(RenderText(report, {})) > 20);  // short, but nothing speaks against a verdict
  report.no_verdict_reason = "only one step was recorded";
  tell(RenderText(report, {}));

  TextOptions verbose;
  verbose.verbose = true;
  CHECK(RenderText(report, verbose).find("Could not be checked") != std::string::npos);
}

TEST_CASE("a report without a timeline keeps one command that captures one, in twenty lines") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  report.devices.clear();
  report.capture_command = "nsys profile --trace=cuda -o run -- COMMAND";
  report.findings.front().cause += " It does so in each step, and the host waits for all of it.";
  const auto commands = [&] {
    const std::string text = RenderText(report, {});
    INFO(text);
    CHECK(LinesOf(text) <= 20);
    CHECK(text.find(". (") == std::string::npos);
    std::size_t count = 0;
    for (std::size_t at = text.find("nsys profile"); at != std::string::npos;
         at = text.find("nsys profile", at + 1))
      ++count;
    return count;
  };
  CHECK(commands() == 1);
  // Once is enough.
  Fix capture;
  capture.action = "Capture a timeline; it shows what the GPU waits for";
  capture.snippet = "nsys profile --trace=cuda --duration=60 -- COMMAND";
  report.findings.front().fixes = {capture};
  CHECK(commands() == 1);
  report.findings.front().fixes.front().snippet = "";
  CHECK(commands() == 1);
}

TEST_CASE("long words of the profiler take two lines, and come whole on request") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  std::string message = "the profiler said:";
  for (int i = 0; i < 40; ++i) message += " it could not";
  message += " end";
  report.read_with_care = {{Care::kProfilerMessage, message}};
  const std::string text = RenderText(report, {});
  const std::size_t from = text.find("Read with care");
  const std::size_t end = text.find("…", from);
  REQUIRE(end != std::string::npos);
  CHECK(std::count(text.begin() + static_cast<std::ptrdiff_t>(from),
                   text.begin() + static_cast<std::ptrdiff_t>(end), '\n') == 1);
  TextOptions verbose;
  verbose.verbose = true;
  CHECK_THAT(RenderText(report, verbose), Contains("not end\n"));
}

TEST_CASE("a note that says what to do next is printed, however little room there is") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  Finding note;
  note.rule = sample->Rule("host/cpu-bound", "Find out what the host computes", RuleKind::kInfo);
  note.symptom = "The GPU waits for CPU code.";
  note.falls_short = true;
  report.findings.push_back(note);
  CHECK_THAT(RenderText(report, {}), !Contains("The GPU waits for CPU code."));
  report.next_step = "Find out what the host computes.";
  CHECK_THAT(RenderText(report, {}), Contains("Good to know          The GPU waits for CPU code."));
}

TEST_CASE("notes for which a report has no room are counted") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  report.findings.clear();
  for (int i = 0; i < 3; ++i) {
    Finding note;
    note.rule = sample->Rule("a/note", "A note", RuleKind::kInfo);
    note.symptom = "The program does this.";
    report.findings.push_back(note);
  }
  for (int word = 0; word < 60; ++word) report.verdict += " The GPU is not idle.";
  const std::string text = RenderText(report, {});
  CHECK_THAT(text, Contains("Good to know          3 notes: -v"));
}

TEST_CASE("what a fix wins stands beside what was seen, before where it is") {
  const auto sample = MakeSampleReport();
  Finding& finding = sample->report.findings.front();
  finding.symptom = "For 79 % of the time, the GPU computes nothing. Meanwhile, copies run slowly.";
  finding.touched_share = 0.79;
  finding.saving_share = finding.alone_share = 0.02;
  finding.severity = Severity::kLow;
  finding.falls_short = true;
  finding.bound_alone = "the launching thread";
  CHECK_THAT(RenderText(sample->report, {}), Contains("This fix would"));
  finding.fixes.front().snippet = "a\nb\nc";  // the code takes all other lines
  CHECK_THAT(RenderText(sample->report, {}), Contains("This fix would"));
}

TEST_CASE("why a fix wins more than was seen is told before all of the cause") {
  const auto sample = MakeSampleReport();
  Finding& finding = sample->report.findings.front();
  finding.symptom =
      "For 25 % of the time, the GPU waits while its launching thread waits for locks.";
  finding.cause =
      "Another thread of the process holds a lock that the launching thread needs, such as a lock "
      "of the interpreter of Python, of an allocator, of a queue, of the driver of the GPU, or of "
      "what else many threads share, which takes many lines.";
  finding.touched_share = 0.25;
  finding.saving_share = finding.alone_share = 0.27;
  finding.fixes.front().snippet = "a\nb\nc\nd\ne\nf";
  CHECK_THAT(RenderText(sample->report, {}), Contains("This fix would save 27 % of the time"));
  // The title says what is saved: without the share beside it, there is nothing to explain.
  finding.symptom = "The launching thread waits for locks. " + finding.symptom;
  finding.fixes.front().snippet = "a\nb\nc\nd\ne\nf\ng\nh";
  CHECK_THAT(RenderText(sample->report, {}), !Contains("For 25 %") && !Contains("would save"));
}

TEST_CASE("a cause for which there is little room is cut outside parentheses") {
  const auto sample = MakeSampleReport();
  Finding& finding = sample->report.findings.front();
  finding.cause =
      "There are few rows to reduce (in batch norm: channels), and each of these rows is long, so";
  for (int i = 0; i < 12; ++i) finding.cause += " few blocks work and most of the GPU has none and";
  finding.cause += " that takes many lines.";
  finding.fixes.front().snippet = "a\nb\nc\nd\ne\nf";
  const std::string text = RenderText(sample->report, {});
  CHECK_THAT(text, Contains("few rows to reduce (in batch norm:"));
  CHECK_THAT(text, Contains("these rows is long."));
}

TEST_CASE("what a finding covers is named in one line, and told on request") {
  const auto sample = MakeSampleReport();
  Finding& finding = sample->report.findings.front();
  finding.fixes.front().snippet.clear();  // which comes before
  CHECK_THAT(RenderText(sample->report, {}), Contains("└─ covers: sync/host-busy-wait\n"));
  finding.explains = {"sync/host-busy-wait", "a/much-longer-name", "a/name-that-is-longer-still",
                      "a/last"};
  CHECK_THAT(RenderText(sample->report, {}),
             Contains("└─ covers: sync/host-busy-wait, a/much-longer-name, and 2 more: -v\n"));
}

TEST_CASE("a row says after which finding its fix is needless") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  report.findings[0].makes_needless = {"launch/gaps"};
  report.findings[1].severity = Severity::kLow;
  report.findings[1].saving_s = 0.0001;
  report.findings[1].saving_share = 0.0001;
  report.findings[1].alone_share = 0.14;
  CHECK_THAT(RenderText(report, {}), Contains("needless after 1; 14 % by itself  launch/gaps"));
  report.findings[0].makes_needless.clear();
  CHECK_THAT(RenderText(report, {}), !Contains("needless after"));
}

TEST_CASE("a block of code that statements are moved into is no setting") {
  const auto sample = MakeSampleReport();
  RuleInfo rule = *sample->report.findings[0].rule;
  rule.effort = "flag";
  sample->report.findings[0].rule = &rule;
  Fix& fix = sample->report.findings[0].fixes.front();
  fix.action = "Compute in bf16";
  fix.snippet = "with torch.autocast(\"cuda\"):\n    out = model(x)";
  CHECK_THAT(RenderText(sample->report, {}), Contains("(a code change"));
  fix.snippet = "torch.backends.cudnn.benchmark = True";
  CHECK_THAT(RenderText(sample->report, {}), Contains("(a setting"));
}

TEST_CASE("commands of two profilers are alternatives") {
  const auto sample = MakeSampleReport();
  sample->report.capture_command = "profile(with_stack=True)\nnsys profile -o run -- COMMAND";
  TextOptions verbose;
  verbose.verbose = true;
  const std::string text = RenderText(sample->report, verbose);
  const std::size_t first = text.find("\n  profile(with_stack=True)\n");
  const std::size_t other = text.find("or with:\n  nsys profile -o run -- COMMAND\n");
  REQUIRE(first != std::string::npos);
  CHECK(other > first);
  CHECK(other != std::string::npos);
}

TEST_CASE("what is about most steps is nowhere in particular, and a phase is no step") {
  Report report;
  report.step_count = 6;
  Where where;
  where.phase = "communication";
  where.steps = {1, 2, 4, 5};
  CHECK(WhereText(report, where) == "communication phase");
  where.steps = {1, 2, 4};
  CHECK(WhereText(report, where) == "steps 1, 2, 4, communication phase");
}

}  // namespace
}  // namespace advise
