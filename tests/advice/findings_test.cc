// What a finding says: severity, confidence, words, places and evidence.
#include <algorithm>

#include "engine/advice/describe.h"
#include "tests/advice/verdicts.h"

namespace advise {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("severity follows the share that is saved") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  REQUIRE(run->support.verdict);
  const auto severity = [&](Nanos percent) {
    Verdicts verdicts;
    verdicts.Add({.id = "a/b", .claims = {Percent(run, 0, percent)}});
    return verdicts.Rank(run).at(0).severity;
  };
  CHECK(severity(60) == Severity::kCritical);
  CHECK(severity(15) == Severity::kHigh);
  CHECK(severity(5) == Severity::kMedium);
  CHECK(severity(2) == Severity::kLow);
  CHECK(severity(0) == Severity::kInfo);
}

TEST_CASE("a fix that has nothing to say in this run is left out, with its code") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  Verdict& verdict = verdicts.Add({.id = "a/b", .claims = {Percent(run, 0, 5)}});
  verdict.evidence["first"] = std::string();
  verdict.evidence["second"] = std::string("do this");
  Fix first, second;
  first.action = "{first:text}", first.snippet = "command";
  second.action = "{second:text}";
  verdicts.rule(0).fixes = {first, second};
  const std::vector<Fix> fixes = verdicts.Rank(run).at(0).fixes;
  REQUIRE(fixes.size() == 1);
  CHECK(fixes[0].action == "do this");
}

TEST_CASE("rules that inform stay at info, claim nothing, and come last") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add(
      {.id = "a/info", .priority = 100, .claims = {Percent(run, 0, 90)}, .kind = RuleKind::kInfo});
  verdicts.Add({.id = "a/small", .priority = 10, .claims = {Percent(run, 0, 2)}});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].rule->id == "a/small");
  CHECK(findings[0].saving_share == Approx(0.02).epsilon(0.01));
  CHECK(findings[1].rule->id == "a/info");
  CHECK(findings[1].severity == Severity::kInfo);
  CHECK(findings[1].saving_s == 0);
}

TEST_CASE("of what has no price, what can be changed comes before what is only told") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/told", .kind = RuleKind::kInfo});
  verdicts.Add({.id = "b/symptom", .kind = RuleKind::kSymptom});
  verdicts.Add({.id = "c/cause", .kind = RuleKind::kRoot});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].rule->id == "c/cause");
  CHECK(findings[1].rule->id == "b/symptom");
  CHECK(findings[2].rule->id == "a/told");
}

TEST_CASE(
    "of what is only told, the larger part of the time comes first, notes on the capture last") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "capture/note", .kind = RuleKind::kSymptom});
  verdicts.Add({.id = "a/setting", .kind = RuleKind::kInfo});
  verdicts.Add({.id = "b/small", .kind = RuleKind::kInfo}).evidence["share"] = 0.1;
  verdicts.Add({.id = "c/large", .kind = RuleKind::kInfo}).evidence["share"] = 0.3;
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 4);
  CHECK(findings[0].rule->id == "c/large");
  CHECK(findings[1].rule->id == "b/small");
  CHECK(findings[2].rule->id == "a/setting");
  CHECK(findings[3].rule->id == "capture/note");
}

TEST_CASE("of what has no price, the larger danger comes first, then the more specific rule") {
  RuleInfo low, medium, specific;
  low.id = "monitor/a";
  medium.id = "monitor/b";
  specific.id = "monitor/c";
  medium.priority = 50;
  specific.priority = 85;
  std::vector<Finding> findings(3);
  findings[0].rule = &low;
  findings[0].severity = Severity::kLow;
  findings[1].rule = &medium;
  findings[2].rule = &specific;
  findings[1].severity = findings[2].severity = Severity::kMedium;
  OrderFindings(&findings, ShippedKnowledge());
  CHECK(findings[0].rule == &specific);
  CHECK(findings[1].rule == &medium);
  CHECK(findings[2].rule == &low);
}

TEST_CASE("doubt lowers confidence, not severity") {
  TraceBuilder once;
  once.Launch("a", {0_us, 5_us}, {10_us, 100_us}).Launch("b", {400_us, 405_us}, {410_us, 500_us});
  const Analyzed run(once, kAuto);
  REQUIRE_FALSE(run->support.verdict);
  CHECK_FALSE(run->support.reason.empty());
  Verdicts verdicts;
  verdicts.Add({.id = "a/b", .claims = {Percent(run, 20, 80)}, .confidence = 0.8});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kCritical);
  CHECK(findings[0].tentative);
  CHECK(findings[0].confidence < 0.8);
}

TEST_CASE("what a log records or measures is sure, also where the capture is not enough to judge") {
  TraceBuilder once;
  once.Launch("a", {0_us, 5_us}, {10_us, 100_us}).Launch("b", {400_us, 405_us}, {410_us, 500_us});
  const Analyzed run(once, kAuto);
  REQUIRE_FALSE(run->support.verdict);
  Verdicts verdicts;
  const Knowledge& knowledge = ShippedKnowledge();
  verdicts.Add({.id = "a/guess"});
  verdicts.Add({.id = "a/measured"});
  verdicts.Add({.id = "a/recorded"});
  verdicts.Add({.id = "a/priced", .claims = {Percent(run, 20, 80)}, .confidence = 0.8});
  verdicts.rule(1).observed = Observed::kMeasured;
  verdicts.rule(2).observed = verdicts.rule(3).observed = Observed::kRecorded;
  const auto findings = verdicts.Rank(run);
  const Finding& guess = *Named(findings, "a/guess");
  CHECK(guess.tentative);
  CHECK(guess.confidence == Approx(knowledge.Number("ranking.unclaimed_confidence") *
                                   knowledge.Number("ranking.tentative")));
  const Finding& measured = *Named(findings, "a/measured");
  CHECK_FALSE(measured.tentative);
  CHECK(measured.confidence == Approx(knowledge.Number("ranking.measured_confidence")));
  const Finding& recorded = *Named(findings, "a/recorded");
  CHECK_FALSE(recorded.tentative);
  CHECK(recorded.observed == Observed::kRecorded);
  CHECK(recorded.confidence == Approx(knowledge.Number("ranking.written_confidence")));
  CHECK(recorded.confidence_from == "the input records it; what a fix saves is unknown");
  // What promises time is as sure as that promise.
  const Finding& priced = *Named(findings, "a/priced");
  CHECK(priced.tentative);
  CHECK(priced.observed == Observed::kInferred);
  CHECK(priced.confidence == Approx(0.8 * knowledge.Number("ranking.tentative")));
}

TEST_CASE("what may break is no remark, also when it costs no time yet") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/full"});
  verdicts.rule(0).risk = Risk::kOutOfMemory;
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::kMedium);
  CHECK_FALSE(findings[0].tentative);
}

TEST_CASE("confidence falls with the share of ops whose launch is unknown") {
  const Analyzed known(HalfIdleSteps(), kAuto);
  TraceBuilder story = HalfIdleSteps();
  story.OnStream(9);
  for (int i = 0; i < 100; ++i) story.Kernel("unknown", {i * 200_us + 20_us, i * 200_us + 30_us});
  const Analyzed half(story, kAuto);
  const auto confidence = [](const Analyzed& run) {
    Verdicts verdicts;
    verdicts.Add({.id = "a/b", .claims = {Percent(run, 0, 20)}, .confidence = 0.8});
    return verdicts.Rank(run).at(0).confidence;
  };
  CHECK(confidence(known) == Approx(0.8));
  CHECK(confidence(half) < 0.8);
  CHECK(confidence(half) > 0);
}

TEST_CASE("the whole of something is all of it, and not 100 %") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  Verdict& verdict = verdicts.Add({.id = "a/b", .claims = {Percent(run, 0, 20)}});
  verdicts.rule(0).symptom =
      "In {all:pct} of the steps, {most:pct} of the loads wait. {all:pct} of the waiting takes "
      "{all:pct} of the time ({all:pct} of all). {none:bytes} of the 5 steps is left for "
      "{all:pct} of the ranks in {all:pct} of the 5 steps. {most:pct} of them.";
  verdict.evidence = {{"all", 1.0}, {"most", 0.998}, {"none", 0.0}};
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(
      findings[0].symptom ==
      "In every step, more than 99 % of the loads wait. All of the waiting takes 100 % of the time "
      "(100 % of all). nothing of the 5 steps is left for all ranks in all "
      "5 steps. More than 99 % of them.");
}

TEST_CASE("words are filled from the evidence, with units, and names made safe") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  Verdict& verdict = verdicts.Add({.id = "a/b", .claims = {Percent(run, 0, 20)}});
  verdicts.rule(0).symptom = "{share:pct} of the time in {name:text}";
  verdicts.rule(0).cause = "{count:count} calls";
  verdicts.rule(0).fixes = {
      {.action = "Move {bytes:bytes}", .snippet = "f({x:num})", .language = "python", .links = {}}};
  verdict.evidence = {
      {"share", 0.25}, {"name", std::string("a\nb")}, {"count", 3.0}, {"bytes", 2e6}};
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].symptom == "25 % of the time in a b");
  CHECK(findings[0].cause == "3 calls");
  REQUIRE(findings[0].fixes.size() == 1);
  CHECK(findings[0].fixes[0].action == "Move 2.00 MB");
  CHECK(findings[0].fixes[0].snippet == "f({x:num})");  // code is left alone
}

TEST_CASE("two savings that nobody can tell apart are one number") {
  Finding finding;
  finding.turn = 2;
  finding.severity = Severity::kHigh;
  finding.symptom = "Only communication runs.";
  finding.touched_share = 0.29;
  finding.saving_share = 0.102;
  finding.alone_share = 0.108;  // rounded, 1 % more
  finding.falls_short = true;
  CHECK_FALSE(finding.DiffersAlone());
  CHECK_THAT(finding.Seen(), Contains("would save 10 % of the time"));
  finding.alone_share = 0.2;
  CHECK(finding.DiffersAlone());
  CHECK_THAT(finding.Seen(), Contains("would save 20 % of the time"));
  finding.turn = 1;  // nothing stands above it
  CHECK_FALSE(finding.DiffersAlone());
}

TEST_CASE("a fix for one reason is shown when the evidence or a row of it gives that reason") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  Verdict& verdict = verdicts.Add({.id = "a/b", .claims = {Percent(run, 0, 20)}});
  const auto fix = [](const char* action, const char* reason) {
    return Fix{.action = action, .snippet = "", .language = "", .links = {}, .reason = reason};
  };
  verdicts.rule(0).fixes = {fix("Pad", "odd-sizes"),     fix("Batch", "few-tiles"),
                            fix("Fuse", "strided"),      fix("Measure", ""),
                            fix("Compile", "!compiled"), fix("Grow", "!odd-sizes")};
  verdict.evidence = {{"reason", std::string("odd-sizes")}};
  verdict.tables = {{"rows", {{{"reason", std::string("few-tiles")}}}},
                    {"others", {{{"op", std::string("strided")}}}}};
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  std::vector<std::string> shown;
  for (const Fix& one : findings[0].fixes) shown.push_back(one.action);
  CHECK(shown == std::vector<std::string>{"Pad", "Measure", "Compile", "Batch"});
}

TEST_CASE("code of a fix names the kernel that was found") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  Verdict& verdict = verdicts.Add({.id = "a/b", .claims = {Percent(run, 0, 20)}});
  verdict.evidence = {{"name", std::string("void lib::gemm<float>(int)")}};
  verdicts.rule(0).fixes = {{.action = "Measure it",
                             .snippet = "ncu --kernel-name regex:{name:function}",
                             .language = "bash",
                             .links = {}}};
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].fixes[0].snippet == "ncu --kernel-name regex:gemm");
}

TEST_CASE("links of a fix are those of the rule's references") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  REQUIRE_FALSE(ShippedKnowledge().references().empty());
  const auto& [key, reference] = *ShippedKnowledge().references().begin();
  Verdicts verdicts;
  verdicts.Add({.id = "a/b", .claims = {Percent(run, 0, 20)}});
  verdicts.rule(0).references = {key, "no/such-key"};
  verdicts.rule(0).fixes = {{.action = "Do it", .snippet = "", .language = "", .links = {}}};
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].fixes[0].links == std::vector<Link>{{reference.url, reference.programs}});
}

TEST_CASE("a finding says on which devices and in which steps it is") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/b", .claims = {{{600_us, 1000_us}}}});  // steps 3 and 4
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].where.devices == std::vector<int>{0});
  CHECK(findings[0].where.steps == std::vector<int>{3, 4});
}

TEST_CASE("of several GPUs, a finding on the one for which the others wait says so") {
  const Analyzed run(ThreadsAtBarrier(), kAuto);
  const auto others_wait = [&](const std::vector<std::vector<Interval>>& claims) {
    Verdicts verdicts;
    verdicts.Add({.claims = claims});
    return verdicts.Rank(run).at(0).where.others_wait;
  };
  const std::vector<Interval> claim = {{8_ms, 9_ms}};
  CHECK(others_wait({{}, claim}));
  CHECK_FALSE(others_wait({claim, {}}));  // the second waits for code of its own thread
  CHECK_FALSE(others_wait({claim, claim}));
}

// Well-formed as far as text alone can tell: one statement, closed quotes and brackets, no holes.
void CheckStatement(const std::string& sql) {
  INFO(sql);
  CHECK((sql.rfind("select", 0) == 0 || sql.rfind("with", 0) == 0));
  CHECK(sql.back() == ';');
  CHECK(std::count(sql.begin(), sql.end(), ';') == 1);
  CHECK(std::count(sql.begin(), sql.end(), '(') == std::count(sql.begin(), sql.end(), ')'));
  CHECK(std::count(sql.begin(), sql.end(), '\'') % 2 == 0);
  CHECK(std::count(sql.begin(), sql.end(), '"') % 2 == 0);
  CHECK(sql.find('{') == std::string::npos);
  CHECK(sql.find('\n') == std::string::npos);
}

TEST_CASE("a finding says what its fix changes") {
  TraceBuilder story = HalfIdleSteps();
  story.CopyToGpu(1_MiB, MemoryKind::kPinned, {20'000_us, 20'005_us}, {20'010_us, 20'100_us});
  const Analyzed run(story, kAuto);
  const auto kernel = std::uint32_t{0};
  const auto copy = static_cast<std::uint32_t>(run.trace().ops.size() - 1);
  const auto changes = [&](const std::function<void(Remedy*)>& change) {
    auto remedy = std::make_shared<Remedy>();
    change(remedy.get());
    Verdicts verdicts;
    verdicts.Add({.id = "a/fix", .claims = {Percent(run, 0, 40)}, .remedy = remedy});
    const Finding finding = verdicts.Rank(run).at(0);
    std::string text;
    for (const std::string& word : finding.changes) text += word + " ";
    return text;
  };
  CHECK(changes([&](Remedy* r) { r->vanished_calls = {0}; }) == "launches ");
  CHECK(changes([&](Remedy* r) { r->unblocked_calls = {0}; }) == "waits ");
  CHECK(changes([&](Remedy* r) { r->scaled_ops = {{kernel, 0.5F}}; }) == "kernels ");
  CHECK(changes([&](Remedy* r) { r->lighter_ops = {{kernel, 0.5F}}; }) == "kernels ");
  CHECK(changes([&](Remedy* r) { r->scaled_ops = {{copy, 0.5F}}; }) == "copies ");
  CHECK(changes([&](Remedy* r) { r->detached_ops = {copy}; }) == "copies ");
  CHECK(changes([&](Remedy* r) { r->freed_ops = {copy}; }) == "copies ");
  CHECK(changes([&](Remedy* r) {
          r->host_cuts.push_back({0, IntervalSet::Of({{0_us, 10_us}})});
          r->data_ready = true;
        }) == "host-code data ");
  CHECK(changes([&](Remedy* r) {
          r->scaled_ops = {{kernel, 0.5F}, {copy, 0.5F}};
          r->vanished_calls = {0};
        }) == "launches kernels copies ");
}

TEST_CASE("a finding says which part of what it claims is idle") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  const auto idle = [&](std::vector<Interval> claim) {
    Verdicts verdicts;
    verdicts.Add({.id = "a/claim", .claims = {std::move(claim)}});
    const Finding finding = verdicts.Rank(run).at(0);
    CHECK(finding.comm_share == 0);
    return finding.idle_share;
  };
  std::vector<Interval> gaps, kernels, both;
  for (Nanos step = 1; step < 90; ++step) {
    const Nanos at = step * 200_us;
    kernels.push_back({at + 10_us, at + 110_us});
    gaps.push_back({at + 110_us, at + 210_us});
    both.push_back({at + 60_us, at + 210_us});
  }
  CHECK(idle(gaps) == 1);
  CHECK(idle(kernels) == 0);
  CHECK(idle(both) == Approx(2.0 / 3));
}

TEST_CASE("what limits the run after a fix is said where the fix saves something") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  const auto bound = [&](std::shared_ptr<Remedy> remedy) {
    Verdicts verdicts;
    verdicts.Add({.id = "a/fix", .claims = {Percent(run, 0, 50)}, .remedy = std::move(remedy)});
    return verdicts.Rank(run).at(0).bound_alone;
  };
  auto faster = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    faster->scaled_ops.emplace_back(op, 0.5F);
  CHECK(bound(faster).empty());  // the host launches a kernel each 200 us, however short it is
  auto gone = std::make_shared<Remedy>();
  gone->vanished_calls = run.Calls("cudaLaunchKernel");
  CHECK(bound(gone) == "the GPU's own work");
}

TEST_CASE("evidence names its table and can be checked with one statement") {
  TraceBuilder story = HalfIdleSteps();
  for (int i = 0; i < 100; ++i) {
    const Nanos at = i * 200_us;
    story.CopyToGpu(1_MiB, MemoryKind::kPageable, {at + 111_us, at + 190_us},
                    {at + 115_us, at + 189_us});
  }
  story.Launch("it's \"quoted\"", {20_ms, 20_ms + 5_us}, {20_ms + 10_us, 22_ms});
  Trace trace = story.Build();
  trace.table_rows = {{"CUPTI_ACTIVITY_KIND_KERNEL", 101}, {"CUPTI_ACTIVITY_KIND_MEMCPY", 100}};
  const Analysis analysis(trace, ShippedKnowledge(), {});
  auto remedy = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) remedy->scaled_ops.emplace_back(op, 0.5F);
  remedy->unblocked_calls = {0, 1, 2};
  auto spans = std::make_shared<Spans>();
  spans->by_device = {analysis.times[0].idle};
  RuleInfo rule;
  rule.id = "a/b";
  Verdict verdict;
  verdict.rule = &rule;
  verdict.outcome = Outcome::kFired;
  verdict.saving.claims = spans;
  verdict.saving.remedies = {remedy};
  const auto findings = Rank({verdict}, analysis, ShippedKnowledge());
  REQUIRE(findings.size() == 1);
  REQUIRE(findings[0].evidence.size() >= 3);
  for (const Evidence& item : findings[0].evidence) {
    CHECK_FALSE(item.what.empty());
    CHECK_FALSE(item.table.empty());
    CHECK(item.source == "story.sqlite");
    CHECK(item.end_ns >= item.start_ns);
    REQUIRE_FALSE(item.sql.empty());
    CheckStatement(item.sql);
    CHECK(item.sql.find(item.table) != std::string::npos);
  }
}

TEST_CASE("what runs in lost time is called one of the things only if the fix changes it") {
  TraceBuilder story = HalfIdleSteps();
  for (int i = 0; i < 100; ++i) {
    const Nanos at = i * 200_us;
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {at + 111_us, at + 113_us},
                    {at + 115_us, at + 189_us});
  }
  const Analyzed run(story, kAuto);
  const OpTable& ops = run.trace().ops;
  std::uint32_t copy = 50;
  while (ops.kind[copy] != OpKind::kCopy) ++copy;
  const auto evidence = [&](const std::shared_ptr<Remedy>& remedy, Nanos from) {
    Verdicts verdicts;
    verdicts.Add({.claims = {{{from, ops.end[copy]}}}, .remedy = remedy});
    const Finding finding = verdicts.Rank(run).at(0);
    std::string all;
    for (const Evidence& item : finding.evidence) {
      all += item.what + "; ";
      if (!item.what.starts_with("the longest such copy") && !item.what.starts_with("a copy"))
        continue;
      CHECK(item.start_ns == ops.start[copy]);
      CHECK(item.end_ns == ops.end[copy]);
      CHECK(item.value == 74e3);
    }
    return all;
  };
  auto faster = std::make_shared<Remedy>();
  faster->scaled_ops = {{copy, 0.5F}};
  CHECK_THAT(evidence(faster, ops.start[copy]), Contains("the longest such copy"));
  // The host launches the upload late: it is no copy that is to change.
  auto earlier = std::make_shared<Remedy>();
  earlier->host_cuts = {{0, IntervalSet::Of({{ops.start[copy] - 60_us, ops.start[copy] - 10_us}})}};
  CHECK_THAT(evidence(earlier, ops.start[copy]), Contains("a copy on the GPU;"));
  CHECK_THAT(evidence(earlier, ops.end[copy] - 10_us),
             Contains("a copy on the GPU (this finding explains 10.0 µs of it)"));
}

TEST_CASE("what the driver migrates was launched by nobody, and lowers no confidence") {
  TraceBuilder story = HalfIdleSteps();
  for (int i = 0; i < 900; ++i) {
    const Nanos at = i * 20_us;
    story.MigrateToGpu(64_KiB, {at + 1_us, at + 2_us});
  }
  const Analyzed run(story, kAuto);
  Verdicts verdicts;
  verdicts.Add({.claims = {Percent(run, 0, 20)}, .confidence = 0.5});
  const Finding finding = verdicts.Rank(run).at(0);
  CHECK(finding.confidence == 0.5);
  CHECK_THAT(finding.confidence_from, !Contains("launching calls"));
}

TEST_CASE("evidence of a report that is no database has no statement") {
  Trace trace = HalfIdleSteps().Build();
  trace.kind = "kineto";
  const Analysis analysis(trace, ShippedKnowledge(), {});
  auto spans = std::make_shared<Spans>();
  spans->by_device = {analysis.times[0].compute};
  RuleInfo rule;
  rule.id = "a/b";
  Verdict verdict;
  verdict.rule = &rule;
  verdict.outcome = Outcome::kFired;
  verdict.saving.claims = spans;
  const auto findings = Rank({verdict}, analysis, ShippedKnowledge());
  REQUIRE(findings.size() == 1);
  REQUIRE_FALSE(findings[0].evidence.empty());
  for (const Evidence& item : findings[0].evidence) CHECK(item.sql.empty());
}

TEST_CASE("severity is what a fix adds to those before it; what they make needless stays low") {
  RuleInfo rule;
  const auto severity = [&rule](double in_plan, double alone) {
    Finding finding;
    finding.rule = &rule;
    finding.saving_share = in_plan;
    finding.alone_share = alone;
    return SeverityInPlan(finding, ShippedKnowledge());
  };
  CHECK(severity(0.3, 0.3) == Severity::kCritical);
  CHECK(severity(0.05, 0.3) == Severity::kMedium);
  CHECK(severity(0.2, 0.0) == Severity::kHigh);  // what only the fixes before it make worthwhile
  CHECK(severity(0.0, 0.3) == Severity::kLow);
  CHECK(severity(0.0, 0.005) == Severity::kInfo);
  CHECK(severity(0.015, 0.015) == Severity::kLow);
  // Nobody looks for a cause that wins so little.
  rule.kind = RuleKind::kSymptom;
  CHECK(severity(0.015, 0.015) == Severity::kInfo);
  CHECK(severity(0.015, 0.025) == Severity::kLow);
  CHECK(severity(0.05, 0.05) == Severity::kMedium);
}

TEST_CASE("a small fix that others wait for is listed, whatever explains it") {
  Finding finding;
  finding.severity = Severity::kLow;
  finding.saving_share = finding.alone_share = 0.02;
  finding.touched_share = 0.8;
  finding.explained_by = {"a/cause"};
  CHECK(finding.UnderCause());
  finding.unlocks = {"an/other"};
  CHECK_FALSE(finding.UnderCause());
}

}  // namespace
}  // namespace advise
