// The first sentence of a report: what was captured, where the time went, and what comes next.
#include "engine/pipeline/verdict_sentence.h"

#include <catch2/catch.hpp>

#include "engine/pipeline/answer.h"
#include "engine/pipeline/care_notes.h"
#include "engine/pipeline/next_step.h"
#include "engine/pipeline/next_without_timeline.h"
#include "engine/report/finding_text.h"
#include "tests/support/analyzed.h"
#include "tests/support/fact_infos.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

RuleInfo RuleCalled(const char* id, const char* title) {
  RuleInfo rule;
  rule.id = id;
  rule.title = title;
  return rule;
}

// One GPU in a window of 1000 ns; idle is what is left.
Report ReportWith(Nanos compute, Nanos comm, Nanos copy,
                  const std::vector<std::pair<IdleCause, Nanos>>& causes = {}) {
  Report report;
  report.run.kind = "training";
  report.run.framework = "PyTorch";
  report.run.unit = "step";
  report.inputs.emplace_back();
  report.inputs.front().kind = "kineto";
  report.devices.emplace_back();
  DeviceBudget& device = report.devices.front();
  device.window_ns = 1000;
  device.compute_ns = compute;
  device.comm_exposed_ns = comm;
  device.copy_exposed_ns = copy;
  device.idle_ns = 1000 - compute - comm - copy;
  for (std::size_t c = 0; c < kIdleCauseCount; ++c)
    device.idle_causes.emplace_back(WordsOf(static_cast<IdleCause>(c)).name, 0);
  for (const auto& [cause, time] : causes)
    device.idle_causes[static_cast<std::size_t>(cause)].second = time;
  return report;
}

// With a finding of this rule that wins a share of the window.
void Find(Report* report, const RuleInfo* rule, double share) {
  Finding finding;
  finding.rule = rule;
  finding.severity = Severity::kMedium;
  finding.saving_share = finding.saving_s = share;
  report->findings.push_back(std::move(finding));
}

std::string Sentence(Report report) {
  FillNextStep(ShippedKnowledge(), &report);
  return VerdictSentence(report, ShippedKnowledge(), nullptr);
}

TEST_CASE("idle time that the profiler makes is not blamed on code of the program") {
  Report report = ReportWith(700, 0, 0, {{IdleCause::kHostCompute, 250}});
  CHECK(Sentence(report).find("idle for 30 %, mostly waiting for host code") != std::string::npos);
  report.read_with_care.push_back({Care::kMostlyProfiler, "the profiler costs the host 2 ms"});
  CHECK(Sentence(report).find("idle for 30 %, mostly because the profiler slows the host") !=
        std::string::npos);
}

TEST_CASE("gaps inside graphs that were recorded as a whole do not show") {
  Report graphs = ReportWith(1000, 0, 0);
  graphs.facts.emplace_back();
  graphs.facts.back().info = InfoOf("graph.whole.share");
  graphs.facts.back().fact.value = 0.999;
  CHECK_THAT(Sentence(graphs), Catch::Contains("no time is lost between CUDA graphs. What runs "
                                               "inside them was not recorded."));
}

TEST_CASE("what the GPU does most comes before what it waits for") {
  const RuleInfo rule = RuleCalled("precision/fp32-gemm", "Run matrix products on tensor cores");
  Report copies = ReportWith(730, 100, 130, {{IdleCause::kLaunch, 40}});
  Find(&copies, &rule, 0.17);
  CHECK(Sentence(copies) ==
        "Training (PyTorch): the GPU computes for 73 % of the time and waits for copies for 13 %. "
        "Next: run matrix products on tensor cores.");
  Report comm = ReportWith(610, 190, 40, {{IdleCause::kHostCompute, 160}});
  Find(&comm, &rule, 0.17);
  CHECK_THAT(Sentence(comm),
             Catch::Contains("the GPU computes for 61 % of the time and waits for communication "
                             "for 19 %."));
  Report idle = ReportWith(700, 0, 0, {{IdleCause::kHostCompute, 300}});
  Find(&idle, &rule, 0.17);
  CHECK_THAT(Sentence(idle), Catch::Contains("the GPU computes for 70 % of the time and is idle "
                                             "for 30 %, mostly waiting for host code."));
  Report waits = ReportWith(190, 0, 790, {{IdleCause::kLaunch, 20}});
  Find(&waits, &rule, 0.17);
  CHECK_THAT(Sentence(waits), Catch::Contains("the GPU waits for copies 79 % of the time."));
}

TEST_CASE("time without a cause is parted as the row of causes parts it") {
  const RuleInfo rule = RuleCalled("host/cpu-bound", "Find out");
  Report report = ReportWith(
      170, 280, 0,
      {{IdleCause::kUnknown, 270}, {IdleCause::kHostCompute, 230}, {IdleCause::kLaunch, 50}});
  report.devices.front().unseen.queued = 200;
  Find(&report, &rule, 0.2);
  CHECK_THAT(Sentence(report), Catch::Contains("idle 55 % of the time, 23 % waiting for host code "
                                               "and 20 % in waits that were not recorded."));
}

TEST_CASE("a GPU that only copies for a while loses time between kernels") {
  CHECK_THAT(Sentence(ReportWith(970, 20, 10)), Catch::Contains("no time is lost between kernels"));
  CHECK_THAT(Sentence(ReportWith(960, 0, 0, {{IdleCause::kLaunch, 40}})),
             Catch::Contains("little time is lost between kernels"));
  CHECK_THAT(Sentence(ReportWith(830, 10, 140)),
             Catch::Contains("the GPU computes for 83 % of the time and waits for copies for 14 %. "
                             "How well the kernels run was not measured"));
}

TEST_CASE("where two causes share the idle time, both are named") {
  const RuleInfo rule = RuleCalled("input/no-workers", "Load data in worker processes");
  Report two = ReportWith(
      490, 0, 10,
      {{IdleCause::kHostCompute, 240}, {IdleCause::kDataLoading, 220}, {IdleCause::kLaunch, 40}});
  Find(&two, &rule, 0.22);
  CHECK_THAT(
      Sentence(two),
      Catch::Contains("the GPU is idle 50 % of the time, 24 % waiting for host code and 22 % "
                      "waiting for data."));
  Report one = ReportWith(300, 0, 0,
                          {{IdleCause::kHostCompute, 340},
                           {IdleCause::kDataLoading, 160},
                           {IdleCause::kLaunch, 150},
                           {IdleCause::kUnknown, 50}});
  Find(&one, &rule, 0.16);
  CHECK_THAT(Sentence(one), Catch::Contains("is idle 70 % of the time, 34 % waiting for host "
                                            "code."));
}

// A number among the facts of a report.
void Tell(Report* report, const char* name, double value) {
  report->facts.emplace_back();
  report->facts.back().info = InfoOf(name);
  report->facts.back().fact.value = value;
}

TEST_CASE("what began before the recording is no fault of the program") {
  Report report = ReportWith(19, 0, 0, {{IdleCause::kUnknown, 981}});
  report.run.kind = "inference";
  report.run.unit = "token";
  report.no_verdict_reason = "only one step was recorded";
  Tell(&report, "idle.before_capture", 980);
  CHECK(Sentence(report) ==
        "Token generation (PyTorch): for 98 % of the time, the GPU waits for, or still runs, work "
        "from before the recording. Recorded work fills 95 % of the rest. Next, record ten "
        "tokens: this capture holds little but the wait at its start.");
  report.facts.back().fact.value = 100.0;  // of 981: the rest has other reasons
  CHECK_THAT(Sentence(report), Catch::Contains("is idle 98 % of the time, mostly for unknown"));
}

TEST_CASE("a server without requests does not wait for a thread") {
  Report report = ReportWith(260, 0, 0, {{IdleCause::kHostWait, 700}, {IdleCause::kLaunch, 40}});
  report.run.kind = "inference";
  report.run.unit = "token";
  Tell(&report, "run.serves", 1);
  Tell(&report, "serving.no_request.lost", 700);
  CHECK(
      Sentence(report) ==
      "Token generation (PyTorch): the GPU is idle 74 % of the time, mostly waiting for requests. "
      "Next: send the server the load that you expect, and record it again.");
}

TEST_CASE("where kernels of graphs are missing, the GPU only seems idle") {
  Report report = ReportWith(300, 0, 0, {{IdleCause::kUnknown, 600}, {IdleCause::kLaunch, 100}});
  Tell(&report, "idle.in_graphs", 500);
  CHECK_THAT(Sentence(report),
             Catch::Contains("idle 70 % of the time, mostly inside CUDA graphs, where the profiler "
                             "probably lost kernels."));
}

TEST_CASE("code of the host that is only told comes before what wins a sliver beside it") {
  const RuleInfo copies = RuleCalled("transfer/managed-memory-faults", "Prefetch managed memory");
  RuleInfo code = RuleCalled("host/some-code", "Find out what the launching thread computes");
  code.topic = Topic::kHostCode;
  const auto next = [&](double share, double idle) {
    const auto time = static_cast<Nanos>(idle);
    Report report = ReportWith(1000 - time, 0, 0, {{IdleCause::kHostCompute, time}});
    Tell(&report, "capture.has_os_calls", 1);
    Find(&report, &copies, share);
    Find(&report, &code, 0);
    report.findings.back().severity = Severity::kInfo;
    FillNextStep(ShippedKnowledge(), &report);
    return report.next_step;
  };
  CHECK(next(0.02, 900) == "Find out what the launching thread computes.");
  CHECK(next(0.6, 900) == "Prefetch managed memory.");
  CHECK(next(0.02, 50) == "Prefetch managed memory.");
}

TEST_CASE("a loop that keeps the rate of a display waits for that, and not for unknown reasons") {
  RuleInfo rule = RuleCalled("step/display-rate", "Turn vertical sync off to measure");
  Report report = ReportWith(10, 0, 0, {{IdleCause::kUnknown, 990}});
  CHECK_THAT(Sentence(report), Catch::Contains("for unknown reasons"));
  rule.topic = Topic::kDisplayRate;
  Find(&report, &rule, 0);
  report.findings.front().severity = Severity::kInfo;
  CHECK_THAT(Sentence(report),
             Catch::Contains("probably waiting for the next refresh of the display. "
                             "Next: turn vertical sync off to measure."));
  // A cause that was recorded is told.
  report.devices.front().idle_causes[static_cast<std::size_t>(IdleCause::kUnknown)].second = 0;
  report.devices.front().idle_causes[static_cast<std::size_t>(IdleCause::kHostCompute)].second =
      990;
  CHECK_THAT(Sentence(report), Catch::Contains("mostly waiting for host code"));
}

TEST_CASE("copies that are only told come before what wins a sliver beside them") {
  const RuleInfo sliver =
      RuleCalled("host/some-code", "Find out what the launching thread computes");
  RuleInfo copies = RuleCalled("transfer/some-copies", "Copy less");
  copies.topic = Topic::kCopies;
  const auto next = [&](double share, Nanos copy, Nanos idle = 0, double touched = 0) {
    Report report = ReportWith(1000 - copy - idle, 0, copy, {{IdleCause::kHostCompute, idle}});
    Tell(&report, "capture.has_os_calls", 1);
    Find(&report, &sliver, share);
    report.findings.back().touched_share = touched;
    Find(&report, &copies, 0);
    report.findings.back().severity = Severity::kInfo;
    FillNextStep(ShippedKnowledge(), &report);
    return report.next_step;
  };
  CHECK(next(0.04, 400) == "Copy less.");
  CHECK(next(0.2, 400) == "Find out what the launching thread computes.");
  CHECK(next(0.04, 250) == "Find out what the launching thread computes.");
  CHECK(next(0.04, 310, 320) == "Find out what the launching thread computes.");  // idle for longer
  CHECK(next(0.04, 400, 0, 0.4) ==
        "Find out what the launching thread computes.");  // it has their price
}

TEST_CASE("a GPU that did something was not idle all of the time") {
  CHECK_THAT(Sentence(ReportWith(1, 0, 0, {{IdleCause::kHostCompute, 999}})),
             Catch::Contains("the GPU is idle more than 99 % of the time"));
}

TEST_CASE("what a program without a framework is written with is told where advice is for it") {
  Report report = ReportWith(910, 0, 90);
  report.run.kind = "solver";
  report.run.framework = "";
  report.run.languages = {"CUDA C++", "Fortran", "OpenACC"};
  CHECK_THAT(Sentence(report), Catch::StartsWith("A loop of iterations (OpenACC, Fortran): "));
  report.run.languages = {"CUDA C++"};
  CHECK_THAT(Sentence(report), Catch::StartsWith("A loop of iterations: "));
}

TEST_CASE("the kernel that is to be measured is not named again as the hottest") {
  const auto measured = [](const char* hottest) {
    Report report = ReportWith(990, 0, 10);
    for (const char* fact : {"efficiency.unmeasured", "kernel.top.name"}) {
      report.facts.emplace_back();
      report.facts.back().info = InfoOf(fact);
    }
    report.facts[0].fact.value = Rows{{{"name", Cell(std::string("pfacKernel(int*)"))},
                                       {"share", Cell(1.0)},
                                       {"count", Cell(1.0)}}};
    report.facts[1].fact.value = std::string(hottest);
    FillNextStep(ShippedKnowledge(), &report);
    RuleInfo rule = RuleCalled("kernel/hot", "Start with the kernel that dominates");
    rule.topic = Topic::kHottestKernel;
    Finding finding;
    finding.rule = &rule;
    return SaysAgain(report, finding);
  };
  CHECK(measured("pfacKernel(int*)"));
  CHECK_FALSE(measured("gemm(int*)"));
}

TEST_CASE("a capture without kernels says so, and asks for the work") {
  Report cleared = ReportWith(0, 0, 0);
  cleared.devices.front().memset_exposed_ns = 1000;
  cleared.devices.front().idle_ns = 0;
  CHECK(Sentence(cleared) ==
        "No kernel was recorded: the GPU only cleared memory. Next: capture the program while it "
        "works on the GPU. If it did, check that the profiler may use the GPU.");
  CHECK_THAT(Sentence(ReportWith(0, 0, 400, {{IdleCause::kHostCompute, 600}})),
             Catch::Contains("No kernel was recorded: the GPU only moved data."));
  const RuleInfo rule = RuleCalled("transfer/pageable-copy", "Use pinned host memory");
  Report copies = ReportWith(0, 0, 900, {{IdleCause::kHostCompute, 100}});
  Find(&copies, &rule, 0.4);
  CHECK_THAT(Sentence(copies), Catch::Contains("Next: use pinned host memory."));
}

TEST_CASE("kernels that were all measured are not to be measured again") {
  Report report = ReportWith(990, 0, 0);
  report.efficiency.measured_share = 1;
  const std::string sentence = Sentence(report);
  CHECK_THAT(sentence, Contains("no fix was found"));
  CHECK_THAT(sentence, Contains("Next, save work"));
}

TEST_CASE("kernels that take nearly all of the time are measured before slivers are won") {
  RuleInfo rule = RuleCalled("transfer/blocking-copy", "Replace synchronous copies");
  const auto found = [&](double share) {
    Report report = ReportWith(910, 0, 90);
    report.facts.emplace_back();
    report.facts.back().info = InfoOf("summary.kernels");
    report.facts.back().fact.value = Rows{{{"name", Cell(std::string("pfacKernel(int*)"))},
                                           {"share", Cell(1.0)},
                                           {"count", Cell(1.0)}}};
    Find(&report, &rule, share);
    return Sentence(report);
  };
  CHECK(found(0.04) ==
        "Training (PyTorch): the GPU computes for 91 % of the time and waits for copies for 9 %. "
        "How well the kernels run was not measured: one kernel takes 100 %. Next: measure this "
        "kernel with Nsight Compute.");
  CHECK_THAT(found(0.3), Catch::Contains("for 9 %. Next: replace synchronous copies."));
  // What may end the run comes before both.
  rule.risk = Risk::kOutOfMemory;
  CHECK_THAT(found(0.04), Catch::Contains("takes 100 %. Next: replace synchronous copies."));
}

TEST_CASE("samples of device memory near its peak say what limits the kernels") {
  const auto sampled = [](double memory) {
    Report report = ReportWith(990, 0, 0);
    for (const auto& [name, value] :
         {std::pair("sample.compute.sm_active", 0.84), std::pair("sample.compute.tensor", 0.0),
          std::pair("sample.compute.dram", memory)}) {
      report.facts.emplace_back();
      report.facts.back().info = InfoOf(name);
      report.facts.back().fact.value = value;
    }
    return Sentence(report);
  };
  CHECK_THAT(sampled(0.8),
             Contains("While kernels run, device memory is at 80 % of its peak rate, which limits "
                      "them. Single kernels were not measured"));
  CHECK_THAT(sampled(0.5), Contains("While kernels run, 84 % of the SMs have work"));
}

TEST_CASE("whoever runs a server is told how its own profiler starts") {
  const auto command = [](const char* framework) {
    Report report = ReportWith(20, 0, 0, {{IdleCause::kLaunch, 980}});
    report.run.kind = "inference";
    report.run.unit = "token";
    report.run.framework = framework;
    report.no_verdict_reason = "only one pass was recorded";
    FillNextStep(ShippedKnowledge(), &report);
    CHECK(report.next_step ==
          "Record ten tokens after a warm-up, and what the host does while the "
          "GPU waits.");
    return report.next_command;
  };
  CHECK_THAT(command("SGLang"), Catch::Contains("/start_profile"));
  CHECK_THAT(command("vLLM"), Catch::Contains("--profiler-config"));
  CHECK_THAT(command("PyTorch"), Catch::StartsWith("profile(schedule="));
  CHECK_THAT(command("JAX"), Catch::StartsWith("nsys profile"));  // no loop of PyTorch's
}

TEST_CASE("Nsight Systems is for NVIDIA's GPUs only") {
  Report report = ReportWith(20, 0, 0, {{IdleCause::kLaunch, 980}});
  report.run.framework = "JAX";
  CHECK_FALSE(IsForTorch(ShippedKnowledge(), report));
  report.devices.front().name = "AMD Instinct MI300X";
  CHECK(IsForTorch(ShippedKnowledge(), report));
}

TEST_CASE("where launches were recorded, the program did work on the GPU") {
  Report report;
  report.inputs.emplace_back();
  report.inputs.front().kind = "nsys-sqlite";
  report.facts.emplace_back();
  report.facts.back().info = InfoOf("capture.launches");
  report.facts.back().fact.value = 12873.0;
  FillNextStep(ShippedKnowledge(), &report);
  CHECK_THAT(report.next_step, Catch::StartsWith("Stop other profilers"));
}

TEST_CASE("a GPU whose kernels were launched did more than move data") {
  const auto sentence = [](double launches) {
    Report report = ReportWith(0, 0, 400, {{IdleCause::kHostCompute, 600}});
    report.facts.emplace_back();
    report.facts.back().info = InfoOf("capture.launches");
    report.facts.back().fact.value = launches;
    return Sentence(report);
  };
  CHECK_THAT(sentence(2482),
             Catch::StartsWith("No kernel was recorded, although 2,482 were launched: what the GPU "
                               "computed is missing. Next: stop other profilers"));
  CHECK_THAT(sentence(1), Catch::Contains("although one was launched"));
  CHECK_THAT(sentence(0), Catch::Contains("the GPU only moved data"));
}

TEST_CASE("processes that share a GPU are told, since its figures are of all of them") {
  const auto notes = [](bool two) {
    TraceBuilder story;
    Repeat(40, 1_ms, [&](int i, Nanos at) {
      story.Process(two && i % 2 == 1 ? "other" : "python").Thread("main");
      story.Launch("jacobi", {at + 1_us, at + 6_us}, {at + 10_us, at + 900_us});
    });
    const Analyzed run(story);
    std::string text;
    for (const CareNote& note : ReadWithCare(*run.operator->())) text += note.text + "\n";
    return text;
  };
  CHECK_THAT(notes(true),
             Contains("two processes share the GPU: figures are of all of them together"));
  CHECK(notes(false).find("share the GPU") == std::string::npos);
}

TEST_CASE("work that the profiler lost is told") {
  const auto notes = [](int kept_of) {
    TraceBuilder story;
    Repeat(40, 1_ms, [&](int i, Nanos at) {
      story.CopyToGpu(1_MiB, MemoryKind::kPinned, {at + 910_us, at + 915_us},
                      {at + 920_us, at + 960_us});
      if (kept_of > 0 && i % kept_of == 0)
        story.Launch("jacobi", {at + 1_us, at + 6_us}, {at + 10_us, at + 900_us});
      else
        story.Call("cudaLaunchKernel", {at + 1_us, at + 6_us});
    });
    const Analyzed run(story, kAuto);
    std::string text;
    for (const CareNote& note : ReadWithCare(*run.operator->())) text += note.text + "\n";
    return text;
  };
  CHECK_THAT(
      notes(2),
      Catch::Contains("for 19 of 39 calls that give the GPU work, that work was not recorded"));
  CHECK_THAT(notes(1), !Catch::Contains("the profiler lost it"));
  CHECK_THAT(notes(0), Catch::Contains("none was recorded: where the GPU seems idle"));
}

TEST_CASE("work of another accelerator is no GPU that did nothing") {
  Report report;
  report.inputs.emplace_back();
  report.inputs.front().kind = "kineto";
  FillNextStep(ShippedKnowledge(), &report);
  CHECK_THAT(report.next_step, Catch::StartsWith("Capture the program while it works on the GPU."));
  report.diagnostics.push_back({Level::kWarning, std::string(kOtherAccelerator), "", 3});
  FillNextStep(ShippedKnowledge(), &report);
  CHECK(report.next_step.empty());
}

TEST_CASE("memory that is cleared for longer than the GPU is idle is told instead") {
  Report report = ReportWith(750, 0, 0, {{IdleCause::kLaunch, 10}});
  report.devices.front().idle_ns = 10;  // memsets are what is left
  CHECK_THAT(Sentence(report),
             Catch::Contains("the GPU computes for 75 % of the time and clears memory for 24 %"));
  CHECK_THAT(Sentence(ReportWith(750, 0, 0)), Catch::Contains("and is idle for 25 %"));
}

TEST_CASE("a next step that gives its reason behind a colon gets no second colon") {
  Report report = ReportWith(750, 0, 0);
  report.next_step = "Name the GPU: with its peaks, the recorded sizes tell how well kernels run.";
  CHECK(WithNextStep("Words.", report) ==
        "Words. Next, name the GPU: with its peaks, the recorded sizes tell how well kernels run.");
  report.next_step = "Record a timeline.";
  CHECK(WithNextStep("Words.", report) == "Words. Next: record a timeline.");
}
}  // namespace
}  // namespace advise
