#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "engine/report/budget_text.h"
#include "engine/report/facts_text.h"
#include "engine/report/finding_text.h"
#include "engine/report/html.h"
#include "engine/report/json.h"
#include "engine/report/layout.h"
#include "engine/report/sarif.h"
#include "engine/report/shell.h"
#include "engine/report/text_report.h"
#include "engine/report/where_text.h"
#include "engine/report/why.h"
#include "tests/report/sample_report.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("only commands and addresses pass the width of the page") {
  const auto sample = MakeSampleReport();
  for (const int width : {72, 80, 100, 120}) {
    TextOptions options;
    options.width = width;
    options.devices = true;
    for (const std::string& line : Lines(RenderText(sample->report, options))) {
      const bool whole = line.find("sqlite3 ") != std::string::npos ||
                         line.find("nsys profile") != std::string::npos ||
                         line.find("https://") != std::string::npos;
      if (!whole) {
        INFO(line);
        CHECK(DisplayWidth(line) <= width);
      }
    }
  }
}

TEST_CASE("waiting for late ranks is told only where collectives of ranks were matched") {
  const auto sample = MakeSampleReport();
  RanksInfo& ranks = sample->report.ranks;
  ranks.ranks = ranks.reports = 2;
  ranks.transfer = 0.26;
  CHECK_THAT(RenderText(sample->report, {}), !Contains("waiting for late ranks"));
  ranks.waited = 0.1;
  CHECK_THAT(RenderText(sample->report, {}),
             Contains("waiting for late ranks 10 % | moving data 26 %"));
}

TEST_CASE("notes that say again what stands above, or whose fix wins nothing, are only counted") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  const auto add = [&](const char* id, const char* symptom) -> Finding& {
    Finding note;
    note.rule = sample->Rule(id, "A note", RuleKind::kRoot);
    note.symptom = symptom;
    report.findings.push_back(note);
    return report.findings.back();
  };
  report.no_verdict_reason = "only one pass was recorded";
  add("a/again", "No steps were found: only one pass was recorded.");
  add("a/sliver", "The GPU waits 40 % of the time for it.").falls_short = true;
  const std::string text = RenderText(report, {});
  CHECK_THAT(text, Contains("Tentative: only one pass was recorded."));
  CHECK_THAT(text, !Contains("No steps were found"));
  CHECK_THAT(text, !Contains("The GPU waits 40 %"));
  CHECK_THAT(text, Contains("and 1 more: -v"));
}

TEST_CASE("of many steps, the first are listed; most of them are no place") {
  Report report;
  report.step_count = 239;
  Where where;
  where.steps = {3, 4, 5, 6, 9};
  CHECK(WhereText(report, where) == "steps 3–6, 9");
  for (int step = 12; step < 200; step += 3) where.steps.push_back(step);
  CHECK(WhereText(report, where) == "steps 3–6, 9, 12 and others");
  where.steps = {5, 240};  // behind a warm-up, which the number of steps does not count
  CHECK(WhereText(report, where) == "steps 5, 240 (counted from the first one recorded)");
  for (int step = 0; step < 230; ++step) where.steps.push_back(step);
  CHECK(WhereText(report, where).empty());
  where = {};
  where.in_turns = true;
  where.figures = "rank 0";
  CHECK(WhereText(report, where) == "each rank in different steps; the numbers are from rank 0");
  where.in_turns = false;
  CHECK(WhereText(report, where) == "all ranks; the numbers are from rank 0");
}

TEST_CASE("a finding of all ranks names no GPU, which each of them may call 0") {
  Report report;
  report.devices.resize(2);
  report.devices[1].rank = 1;
  Where where;
  where.ranks = {0, 1};
  where.devices = {0};
  CHECK(WhereText(report, where).empty());
  where.ranks = {1};
  CHECK(WhereText(report, where) == "rank 1, GPU 0");
}

TEST_CASE("a finding whose gain the findings before it take is told in short") {
  const auto sample = MakeSampleReport();
  Finding& finding = sample->report.findings.front();
  REQUIRE_FALSE(finding.fixes.empty());
  finding.severity = Severity::kLow;
  finding.saving_share = 0.001;
  finding.alone_share = 0.3;
  const std::string first = finding.fixes.front().action.substr(0, 20);
  CHECK_THAT(RenderText(sample->report, {}), !Contains(first));
  CHECK_THAT(RenderText(sample->report, {}), Contains("% by itself  " + finding.rule->id + "\n"));
  TextOptions all;
  all.all_fixes = true;
  CHECK_THAT(RenderText(sample->report, all), Contains(first));
  finding.severity = Severity::kHigh;  // a risk
  CHECK_THAT(RenderText(sample->report, {}), Contains(first));
}

TEST_CASE("of many fixes the best is shown, with what it takes; all of them on request") {
  const auto sample = MakeSampleReport();
  Finding& finding = sample->report.findings.front();
  finding.fixes.assign(2, {"Do this", "", "", {}, {}, ""});
  finding.fixes.back().action = "Do that";
  CHECK_THAT(RenderText(sample->report, {}), Contains("    Do     Do this (a code change)\n"));
  CHECK_THAT(RenderText(sample->report, {}),
             Contains("More on each finding  other fixes and links: -v; why: advise"));
  TextOptions verbose;
  verbose.verbose = true;
  CHECK_THAT(RenderText(sample->report, verbose), Contains("    Do     Do this (a code change)\n"
                                                           "    or     Do that\n"));
}

TEST_CASE("a fix that only looks is no change, and C++ is no setting") {
  const auto sample = MakeSampleReport();
  Finding& finding = sample->report.findings.front();
  finding.fixes = {{"Find out why", "", "", {}, {}, ""}};
  CHECK_THAT(RenderText(sample->report, {}), Contains("    Do     Find out why\n"));
  RuleInfo setting = *finding.rule;
  setting.effort = "flag";
  finding.rule = &setting;
  finding.fixes = {{"Do this", "f(x)", "python", {}, {}, ""}};
  CHECK_THAT(RenderText(sample->report, {}), Contains("    Do     Do this (a setting)\n"));
  finding.fixes.front().effort = "design";
  CHECK_THAT(RenderText(sample->report, {}), Contains("    Do     Do this (a design change)\n"));
  CHECK_THAT(RenderHtml(sample->report, {}), Contains("effort: a design change"));
  CHECK_THAT(RenderJson(sample->report), Contains("\"effort\": \"design\""));
  finding.fixes.front().effort.clear();
  finding.fixes.front().snippet = "# once\nf(x,\n  y)\n";
  CHECK_THAT(RenderText(sample->report, {}), Contains("    Do     Do this (a setting)\n"));
  finding.fixes.front().snippet = "y = g(x)\nf(y)";
  CHECK_THAT(RenderText(sample->report, {}), Contains("    Do     Do this (a code change)\n"));
  finding.fixes.front().snippet = "f(x);";
  finding.fixes.front().language = "cpp";
  CHECK_THAT(RenderText(sample->report, {}), Contains("    Do     Do this (a code change)\n"));
  finding.fixes = {{"Do this", "", "", {}, {}, ""}};
  CHECK_THAT(RenderText(sample->report, {}), Contains("    Do     Do this\n"));
}

// Lines of a terminal of 80 columns that a finding takes.
int RowsOf(const std::string& text, int rank) {
  int rows = 0;
  bool inside = false;
  for (const std::string& line : Lines(text)) {
    inside = line.empty() ? false : inside || line.starts_with(fmt::format("{:>2}  ", rank));
    if (inside) rows += (DisplayWidth(line) + 79) / 80;
  }
  return rows;
}

TEST_CASE("a finding takes a dozen lines, and all that is said on request") {
  const auto sample = MakeSampleReport();
  Finding& finding = sample->report.findings.front();
  finding.cause += " The driver copies them again. Each copy waits for the one before.";
  finding.bound_alone = "the launching thread";
  finding.confidence_from = "the report records the cause itself";
  finding.fixes.front().links = {{"https://example.org/more"}};
  const std::string text = RenderText(sample->report, {});
  CHECK(RowsOf(text, 1) <= 12);
  CHECK_THAT(text, Contains("saves up to 0.90 s of 0.97 s (93 %); critical, confidence 90 %\n"));
  const std::vector<std::string> on_request = {"copies them again", "example.org/more",
                                               "assumes: ", "the cause itself"};
  TextOptions verbose;
  verbose.verbose = true;
  for (const std::string& said : on_request) {
    CHECK_THAT(text, !Contains(said));
    CHECK_THAT(RenderText(sample->report, verbose), Contains(said));
  }
}

TEST_CASE("what a finding has no room for is left out whole, and the report says where it is") {
  const auto sample = MakeSampleReport();
  Finding& finding = sample->report.findings.front();
  std::string& code = finding.fixes.front().snippet;
  code = "one();\ntwo();\nthree();\n";
  std::string text = RenderText(sample->report, {});
  CHECK_THAT(text, Contains("      one();\n      two();\n      three();\n"));
  CHECK(RowsOf(text, 1) <= 12);
  for (int line = 0; line < 9; ++line) code += "more();\n";
  text = RenderText(sample->report, {});
  CHECK_THAT(text, !Contains("one();"));
  CHECK_THAT(text, Contains("; example: -v)"));
  CHECK(RowsOf(text, 1) <= 12);
  // The command that checks it gives way to the one that prints it.
  code = "one();\ntwo();\nthree();\n";
  finding.evidence.front().sql = "select " + std::string(500, '1');
  text = RenderText(sample->report, {});
  CHECK_THAT(text, Contains("    Check  advise why transfer/repeated-upload run.sqlite\n"));
  CHECK_THAT(RenderWhyText(sample->report, "transfer/repeated-upload", 80, false),
             Contains("sqlite3 run.sqlite \"select 111"));
  CHECK(RowsOf(text, 1) <= 12);
  // Of what was seen, the first sentence stays.
  finding.symptom = "This was seen first. X" + std::string(700, 'x') + " was seen next.";
  text = RenderText(sample->report, {});
  CHECK_THAT(text, Contains("    Seen   This was seen first.\n"));
  CHECK(RowsOf(text, 1) <= 12);
}

TEST_CASE("a basis names the limit of the plan, or says that it holds for this fix alone") {
  Finding finding;
  finding.basis = "the waits are gone";
  CHECK(BasisText(finding) == "the waits are gone");
  finding.turn = 2;
  finding.bound_alone = finding.next_bound = "the launching thread";
  CHECK(BasisText(finding) == "the waits are gone; then the launching thread is the limit");
  finding.next_bound = "the GPU's own work";
  CHECK(BasisText(finding) ==
        "the waits are gone; if this is the only fix, the launching thread is the limit");
}

TEST_CASE("the first of the plan has no findings above it") {
  const auto sample = MakeSampleReport();
  Finding finding = sample->report.findings.front();
  finding.alone_share = finding.saving_share / 2;
  finding.turn = 1;
  CHECK_THAT(SavingText(sample->report, finding), !Contains("above"));
  finding.turn = 2;
  CHECK_THAT(SavingText(sample->report, finding), Contains("after the findings above"));
  // Both bases in one sentence, and one of them in the table.
  finding.saving_s = 0.15;
  finding.saving_share = 0.16;
  finding.alone_share = 0.07;
  finding.unprofiled_share = 0.12;
  CHECK(SavingText(sample->report, finding) ==
        "saves up to 0.15 s of 0.97 s (16 %), or 12 % of a run without the profiler, after the "
        "findings above; 7 % by itself");
  CHECK(SavingAmount(finding) == "0.15 s (16 %, or 12 % without the profiler; 7 % by itself)");
  CHECK(SavingShares(finding) == "12 % without the profiler");
  // What only the profiler costs.
  finding.alone_share = 0.16;
  finding.unprofiled_share = 0;
  CHECK_THAT(SavingText(sample->report, finding),
             Contains(" (16 %), but nothing of a run without the profiler"));
}

TEST_CASE("what the profiler hides of a saving comes first, and why it is hidden") {
  const auto sample = MakeSampleReport();
  Finding finding = sample->report.findings.front();
  finding.alone_share = 0.002;
  const std::string why =
      " of this recording: the profiler slows the host, which then holds the GPU back";
  finding.saving_s = 0.002;
  finding.saving_share = 0.002;
  finding.unprofiled_share = 0.2;
  CHECK(SavingText(sample->report, finding) ==
        "saves up to 20 % of a run without the profiler, but 0.2 %" + why);
  CHECK(SavingAmount(finding) == "20 % without the profiler; 0.2 % of this recording");
  finding.saving_s = 0;
  finding.saving_share = 0;
  CHECK(SavingText(sample->report, finding) ==
        "saves up to 20 % of a run without the profiler, but nothing" + why);
  CHECK(SavingAmount(finding) == "20 % without the profiler; nothing of this recording");
  // Where other fixes take it, they are the reason.
  finding.turn = 2;
  finding.alone_share = 0.3;
  CHECK(SavingText(sample->report, finding) ==
        "saves up to 20 % of a run without the profiler after the findings above; 30 % by itself");
  finding.saving_s = finding.saving_share = 0.01;
  CHECK(SavingText(sample->report, finding) ==
        "saves up to 10.0 ms of 0.97 s (1 %), or 20 % of a run without the profiler, after the "
        "findings above; 30 % by itself");
  finding.saving_s = finding.saving_share = finding.alone_share = 0;
  // What was seen speaks of the same run.
  finding.symptom = "Kernels take 58 % of the time.";
  finding.touched_share = 0.58;
  finding.falls_short = true;
  CHECK(finding.Seen() ==
        finding.symptom + " This fix would save 20 % of a run without the profiler.");
}

TEST_CASE("a saving that others leave nothing of is never called unknown") {
  const auto sample = MakeSampleReport();
  Finding finding = sample->report.findings.front();
  finding.turn = 0;
  finding.saving_s = finding.saving_share = 0;
  finding.alone_share = 0.0004;
  CHECK(SavingText(sample->report, finding) == "saving unknown");
  finding.alone_share = 0.0011;
  CHECK(SavingText(sample->report, finding) ==
        "saves nothing more after the findings above; up to 0.11 % by itself");
  finding.alone_share = 0.0004;
  finding.unprofiled_alone_share = 0.02;
  CHECK(SavingText(sample->report, finding) ==
        "saves nothing more after the findings above; up to 2 % of a run without the profiler by "
        "itself");
  CHECK(SavingAmount(finding) == "2 % by itself, without the profiler");
  CHECK(SavingShares(finding) == "2 % without the profiler");
  finding.alone_share = 0.07;
  CHECK(SavingText(sample->report, finding) ==
        "saves nothing more after the findings above; up to 7 % by itself");
}

TEST_CASE("GPUs without a name are counted, and are no model") {
  const auto sample = MakeSampleReport();
  for (DeviceBudget& device : sample->report.devices) device.name.clear();
  CHECK_THAT(Lines(RenderText(sample->report, {})).front(), Contains("run.sqlite   2 GPUs   "));
}

TEST_CASE("the report opens with the run and its verdict") {
  const auto sample = MakeSampleReport();
  const std::vector<std::string> lines = Lines(RenderText(sample->report, {}));
  CHECK(lines[0] == "run.sqlite   2 × NVIDIA H100 80GB HBM3   0.97 s   nsys 2026.2");
  CHECK(lines[1] == "training, 3 steps");
  CHECK(lines[3] == "The GPUs wait for host-to-device copies 93 % of the time.");
  CHECK(lines[5] == "Where the time went   compute 2 % | copies 93 % | idle 5 %");
  CHECK(lines[6] == "Idle because of       launching 4 % | unknown 1 %");
}

TEST_CASE("a finding says what was seen, why, what to do and how to check it") {
  const auto sample = MakeSampleReport();
  const std::string text = RenderText(sample->report, {});
  CHECK_THAT(text, Contains("saves up to 0.90 s of 0.97 s (93 %)"));
  CHECK_THAT(text, Contains("    Seen   223 copies"));
  CHECK_THAT(text, Contains("    Do     Keep the weights on the GPU"));
  CHECK_THAT(text, Contains("      for batch in loader:\n          step(model"));
  CHECK_THAT(text, Contains("    Check  advise why transfer/repeated-upload run.sqlite\n"));
  TextOptions verbose;
  verbose.verbose = true;
  const std::string all = RenderText(sample->report, verbose);
  CHECK_THAT(all, Contains("    Check  sqlite3 run.sqlite \"select sum(bytes) from "));
  CHECK_THAT(all, Contains("    Rule   transfer/repeated-upload\n"));
  TextOptions wide;
  wide.width = 100;
  CHECK_THAT(
      RenderText(sample->report, wide),
      Contains("transfer/repeated-upload   (advise why transfer/repeated-upload run.sqlite)"));
}

TEST_CASE("an explained symptom stands under its cause and nowhere else") {
  const auto sample = MakeSampleReport();
  sample->report.findings.front().fixes.front().snippet.clear();  // which comes before
  const std::string text = RenderText(sample->report, {});
  CHECK_THAT(text, Contains("└─ covers: sync/host-busy-wait\n"));
  CHECK(text.find("The host waits in synchronising calls") == std::string::npos);
}

TEST_CASE("an effect of an effect stands one level deeper") {
  const auto sample = MakeSampleReport();
  Finding& root = sample->report.findings[0];
  RuleInfo middle;
  middle.id = "host/cpu-bound";
  middle.title = "The host computes";
  middle.explains = {"step/jitter"};
  RuleInfo leaf;
  leaf.id = "step/jitter";
  leaf.title = "Steps vary";
  leaf.explains = {"host/cpu-bound"};  // a circle, as rules of a site could make one
  for (const RuleInfo& rule : {middle, leaf}) {
    sample->rules.push_back(rule);
    Verdict verdict;
    verdict.rule = &sample->rules.back();
    verdict.outcome = Outcome::kFired;
    sample->report.verdicts.push_back(verdict);
  }
  root.explains = {"host/cpu-bound", "step/jitter", "sync/host-busy-wait"};
  TextOptions verbose;
  verbose.verbose = true;
  CHECK_THAT(
      RenderText(sample->report, verbose),
      Contains("        ├─ covers: The host computes (host/cpu-bound)\n"
               "        │  └─ covers: Steps vary (step/jitter)\n"
               "        └─ explains: 428 ms in cudaStreamSynchronize (sync/host-busy-wait)\n"));
}

TEST_CASE("a confidence says where it comes from") {
  const auto sample = MakeSampleReport();
  sample->report.findings[0].confidence_from = "recorded memory kind";
  TextOptions verbose;
  verbose.verbose = true;
  CHECK_THAT(RenderText(sample->report, verbose),
             Contains("confidence 90 %: recorded memory kind"));
}

TEST_CASE("why gives margins and says who took the claimed time") {
  const auto sample = MakeSampleReport();
  Verdict& fired = sample->report.verdicts[0];
  fired.comparisons = {{"at_least", 0.93, 0.02, 0, "min_share", "share", true},
                       {"at_least", 3, 5, 0, "min_count", "count", false},
                       {"at_most", 9, 6, 0, "max_count", "count", false},
                       {"between", 4, 2, 10, "", "count", true}};
  const std::string text = RenderWhyText(sample->report, "transfer/repeated-upload", 200, false);
  CHECK_THAT(text, Contains("91 % to spare"));
  CHECK_THAT(text, Contains("short by 2"));
  CHECK_THAT(text, Contains("over by 3"));
  CHECK_THAT(text, Contains("2 to spare"));
  sample->report.claim_results = {
      {sample->report.verdicts[1].rule, 400, 300, 100, 0, {{fired.rule, 400}}}};
  sample->report.findings[0].explains.clear();
  sample->report.findings.erase(sample->report.findings.begin() + 2);
  CHECK_THAT(RenderWhyText(sample->report, "sync/host-busy-wait", 200, false),
             Contains("of that, for transfer/repeated-upload") &&
                 Contains("saves with all its changes              300 ns") &&
                 Contains("without those of others                 100 ns") &&
                 Contains("not in the report: transfer/repeated-upload took the time it claims"));
}

TEST_CASE("a finding of one GPU says which") {
  const auto sample = MakeSampleReport();
  const std::string text = RenderText(sample->report, {});
  CHECK_THAT(text, Contains("    Where  GPU 1\n"));
}

TEST_CASE("findings past --top get one line each") {
  const auto sample = MakeSampleReport();
  TextOptions options;
  options.top = 1;
  const std::string text = RenderText(sample->report, options);
  CHECK_THAT(text, Contains("Capture the step as a CUDA graph"));
  CHECK(text.find("800 short gaps") == std::string::npos);
}

TEST_CASE("a healthy run is said to be healthy") {
  const auto sample = MakeSampleReport();
  sample->report.findings.clear();
  sample->report.healthy = true;
  sample->report.verdict = "The GPU computes 97 % of the time.";
  CHECK_THAT(RenderText(sample->report, {}),
             Contains("Healthy: 40 rules were checked and none found anything to fix."));
}

TEST_CASE("why findings are tentative is said once") {
  const auto sample = MakeSampleReport();
  sample->report.no_verdict_reason = "only start-up was captured";
  CHECK_THAT(RenderText(sample->report, {}), Contains("Tentative: only start-up was captured."));
}

TEST_CASE("an empty report renders") {
  CHECK(RenderText(Report(), {}).find("Where the time went") == std::string::npos);
}

TEST_CASE("names of a trace cannot steer the terminal") {
  const auto sample = MakeSampleReport();
  sample->report.inputs[0].path = "evil\x1b[2J.sqlite";
  sample->report.findings[0].symptom = "kernel \x1b]0;title\x07 \xff";
  sample->report.findings[0].fixes[0].snippet = "a\x1b[31m";
  CHECK(RenderText(sample->report, {}).find('\x1b') == std::string::npos);
}

TEST_CASE("what could not be checked ends with one command, unbroken") {
  const auto sample = MakeSampleReport();
  const std::string text = RenderText(sample->report, {});
  CHECK_THAT(text, Contains("1 rule: no GPU metrics were sampled"));
  CHECK_THAT(text, Contains("\n  " + sample->report.capture_command + "\n"));
}

TEST_CASE("why shows value, threshold and what became of the finding") {
  const auto sample = MakeSampleReport();
  const std::string text = RenderWhyText(sample->report, "transfer/repeated-upload", 80, false);
  CHECK_THAT(text, Contains("93 % ≥ 2 %") && Contains("min_share"));
  CHECK_THAT(text, Contains("Finding 1 of the report, critical"));
  CHECK_THAT(RenderWhyText(sample->report, "sync/host-busy-wait", 80, false),
             Contains("Explained by transfer/repeated-upload"));
}

TEST_CASE("facts are listed with values, and absent ones with the reason") {
  const auto sample = MakeSampleReport();
  const std::string text = RenderFactsText(sample->report.facts, false, 80, false);
  CHECK_THAT(text, Contains("copy.pageable.bytes") && Contains("1.50 GB"));
  CHECK_THAT(text, Contains("absent: no GPU metrics were sampled"));
  CHECK_THAT(RenderFactsText(sample->report.facts, true, 80, false), Contains("HtoD"));
}

TEST_CASE("numbers keep their unit when lines break") {
  CHECK(WrapWords("it takes 93 % of it", 11) == std::vector<std::string>{"it takes", "93 % of it"});
  CHECK(WrapWords("", 10) == std::vector<std::string>{""});
}

TEST_CASE("names that differ only in their middle are cut so that they still differ") {
  const std::vector<std::string> names = {
      "Cijk_Alik_Bljk_BBS_BH_Bias_MT32x16x512_MI16x16x1_SN_LDSB1_WG16_4_4",
      "Cijk_Alik_Bljk_BBS_BH_Bias_MT64x16x256_MI16x16x1_SN_LDSB1_WG16_4_4", "short"};
  const std::vector<std::string> cut = ShortenedApart(names, 32);
  CHECK_THAT(cut[0], Contains("MT32x16x512"));
  CHECK_THAT(cut[1], Contains("MT64x16x256"));
  CHECK(cut[2] == "short");
  for (const std::string& name : cut) CHECK(DisplayWidth(name) <= 32);
}

TEST_CASE("percentages add up, and those that sentences quote are rounded alike") {
  using Parts = std::vector<BudgetPart>;
  CHECK(Percentages(Parts{{"compute", 3655}, {"copies", 0}, {"idle", 6345}}) ==
        std::vector<int>{37, 0, 63});
  CHECK(Percentages(Parts{{"compute", 45}, {"copies", 305}, {"idle", 9650}}) ==
        std::vector<int>{0, 3, 97});
  CHECK(Percentages(Parts{{"compute", 0}, {"copies", 3350}, {"comm", 3350}, {"idle", 3300}}) ==
        std::vector<int>{0, 33, 34, 33});
}

TEST_CASE("efficiency is told only where most kernel time was measured") {
  EfficiencyInfo efficiency;
  efficiency.mfu = 0.4;
  efficiency.bandwidth = 0.1;
  efficiency.measured_share = 0.9;
  CHECK(EfficiencyText(efficiency) ==
        "MFU 40 % (of the peak for the types used), 10 % of the memory bandwidth");
  efficiency.mfu = efficiency.bandwidth = 0.004;
  CHECK(EfficiencyText(efficiency).empty());
  efficiency.mfu = 0.4;
  efficiency.measured_share = 0.01;
  CHECK(EfficiencyText(efficiency).empty());
}

TEST_CASE("width counts columns, not bytes") {
  CHECK(DisplayWidth("2 × H100") == 8);
  CHECK(DisplayWidth("日本") == 4);
  CHECK(CutMiddle("abcdefghij", 7) == "abcd…ij");
  CHECK(CutEnd("two words", 6) == "two w…");
}

TEST_CASE("shell words survive a shell") {
  CHECK(ShellQuote("run.sqlite") == "run.sqlite");
  CHECK(ShellQuote("my run.sqlite") == "\"my run.sqlite\"");
  CHECK(ShellQuote("it's \"x\"") == "'it'\\''s \"x\"'");
  CHECK(ShellQuote("") == "\"\"");
  CHECK(SqliteCommand("-x", "select\n'a'") == "sqlite3 ./-x \"select 'a'\"");
}

TEST_CASE("what is known of idle time without a cause has words of its own") {
  Report report;
  DeviceBudget device;
  device.window_ns = 1000;
  device.idle_ns = 800;
  device.idle_causes = {{"host_compute", 200}, {"unknown", 600}};
  device.unseen = {.before_capture = 150, .in_graphs = 350, .queued = 40};
  CHECK(IdleParts(report, {device}, 9) ==
        std::vector<std::string>{"gaps inside graphs 35 %", "host code 20 %", "earlier work 15 %",
                                 "unknown 6 %", "unrecorded waits 4 %"});
  report.read_with_care = {{Care::kRequestsLikeCode, "in whatever words"}};
  CHECK(IdleParts(report, {device}, 2).back() == "requests or host code 20 %");
}

TEST_CASE("every format says which finding has the same fix") {
  const auto sample = MakeSampleReport();
  Report& report = sample->report;
  Finding& again = report.findings[1];  // which stands behind the first
  again.fixes = {report.findings[0].fixes.front()};
  const std::string json = RenderJson(report, {});
  CHECK_THAT(json, Contains("\"same_as_finding\": 1"));
  CHECK_THAT(RenderBriefJson(report, -1, 4096), Contains("\"same_as_finding\":1"));
  CHECK_THAT(RenderSarif(report), Contains("(also the fix of transfer/repeated-upload)"));
}

}  // namespace
}  // namespace advise
