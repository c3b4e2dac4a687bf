#include "engine/pipeline/next_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "engine/base/text.h"
#include "engine/facts/rows.h"
#include "engine/import/host_calls.h"
#include "engine/pipeline/answer.h"
#include "engine/pipeline/measure_command.h"
#include "engine/pipeline/next_without_timeline.h"

namespace advise {
namespace {

// What may end the run or make its results wrong, whatever time it takes.
const Finding* FirstRisk(const Report& report) {
  for (const Finding& finding : report.findings) {
    const bool advice = finding.severity != Severity::kInfo && !finding.UnderCause();
    if (advice && finding.rule->risk != Risk::kNothing) return &finding;
  }
  return nullptr;
}

// Whether a rank mostly waits for others, of which the report shows nothing.
bool WaitsForUnseenRanks(const Report& report) {
  const TimeOfDevices time = TimeOf(report);
  return time.comm > time.idle && report.devices.size() == 1;
}

// The GPUs wait, and nothing recorded says for what.
void FillNextStepOfHost(const Knowledge& knowledge, Report* report) {
  const auto of_clocks = [](const Diagnostic& told) { return told.text == kClocksDisagree; };
  if (std::any_of(report->diagnostics.begin(), report->diagnostics.end(), of_clocks)) {
    report->next_step =
        "Capture again with a newer profiler and driver: the clocks of host and GPU disagree.";
    report->next_command = TimelineCommand(knowledge, *report, "", "--trace=cuda,nvtx,osrt");
    return;
  }
  const bool waits_for_ranks = WaitsForUnseenRanks(*report);
  const std::string units = report->run.unit == "pass"     ? "passes"
                            : report->run.unit == "launch" ? "rounds"
                                                           : report->run.unit + "s";
  const bool enough = report->no_verdict_reason.empty();
  if (BeginsAmidWork(*report)) {
    report->next_step =
        fmt::format("Record ten {}: this capture holds little but the wait at its start.", units);
    report->next_command = TimelineCommand(knowledge, *report, "", "--trace=cuda,nvtx,osrt");
    return;
  }
  report->next_step =
      waits_for_ranks && enough ? "Record every rank: one alone does not show who is late."
      : waits_for_ranks         ? fmt::format(
                                      "Record ten {} of every rank after a warm-up: one alone does not "
                                              "show who is late.",
                                      units)
      : enough ? "Record what the host does while the GPU waits."
               : fmt::format(
                     "Record ten {} after a warm-up, and what the host does while the GPU waits.",
                     units);
  std::string options = "--trace=cuda,nvtx,osrt --sample=process-tree --cpuctxsw=process-tree";
  if (!enough) options += " --capture-range=cudaProfilerApi --capture-range-end=stop";
  report->next_command = TimelineCommand(knowledge, *report, ", with_stack=True", options);
  // The program says where the range begins: without that, the command records nothing.
  if (!enough && report->next_command.find(options) != std::string::npos) {
    const bool torch = report->run.framework.find("PyTorch") != std::string::npos;
    report->next_command +=
        fmt::format("   # {} after the warm-up, {} ten {} later",
                    torch ? "torch.cuda.profiler.start()" : "cudaProfilerStart()",
                    torch ? "torch.cuda.profiler.stop()" : "cudaProfilerStop()", units);
  }
}

// Whatever else was found, it was found in what is left.
void FillNextStepOfLoss(const Knowledge& knowledge, double lost, Report* report) {
  report->next_step = fmt::format(
      "Capture again, for a shorter time: {} of the GPU's work was lost.", Percent(lost));
  report->next_command = TimelineCommand(knowledge, *report, "", "--trace=cuda,nvtx --duration=30");
}

// Whether GPUs wait for long, for the host or for ranks that the report does not show, and what was
// found wins little of that.
bool WinsLittleOfWaits(const Report& report, const Knowledge& knowledge) {
  const TimeOfDevices time = TimeOf(report);
  double won = 0;
  for (const Finding& finding : report.findings) won += finding.saving_share;
  const bool of_ranks = WaitsForUnseenRanks(report);
  const double lost = of_ranks ? time.comm : time.idle;
  const double enough = knowledge.Number(of_ranks ? "verdict.mostly" : "verdict.explained_idle");
  return lost >= knowledge.Number("verdict.long_idle") * time.all && won * time.all < enough * lost;
}

// Where that is so, and a capture could show more than this one does.
bool LeavesIdleUnexplained(const Report& report, const Knowledge& knowledge) {
  const bool of_ranks = WaitsForUnseenRanks(report);
  const bool all_seen = !of_ranks && FactNumber(report, "capture.has_os_calls").value_or(0) > 0;
  return !all_seen && WinsLittleOfWaits(report, knowledge);
}

// Code of the host that the GPUs mostly wait for, where it is only told, since no loop shows what
// it costs; null where there is none, or where what was found wins more of the time.
const Finding* HostCodeThatIsToldOnly(const Report& report, const Knowledge& knowledge) {
  if (WaitsForUnseenRanks(report) || !WinsLittleOfWaits(report, knowledge)) return nullptr;
  return NoteOf(report, Topic::kHostCode);
}

// Copies that take most of what the GPUs lose, where they are only told: a program that runs once
// copies its data once, and what that costs depends on what it is to do with them. Null where there
// is no such note, or where what was found wins a good part of that time.
const Finding* CopiesThatAreToldOnly(const Report& report, const Knowledge& knowledge) {
  const TimeOfDevices time = TimeOf(report);
  double won = 0;
  for (const Finding& finding : report.findings) won += finding.saving_share;
  const bool most = 2 * time.copy > time.all - time.compute;
  const bool little = won * time.all < knowledge.Number("verdict.explained_idle") * time.copy;
  return most && little ? NoteOf(report, Topic::kCopies) : nullptr;
}

// The same, where copies take so long that nothing else comes before them. Where a finding speaks
// of most of that time, its price says what copies cost: the host may be as slow as they are.
const Finding* LongCopiesThatAreToldOnly(const Report& report, const Knowledge& knowledge) {
  const TimeOfDevices time = TimeOf(report);
  const bool priced =
      std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
        return finding.severity != Severity::kInfo &&
               2 * finding.touched_share * time.all >= time.copy;
      });
  if (priced) return nullptr;
  return time.copy >= knowledge.Number("verdict.long_idle") * time.all
             ? CopiesThatAreToldOnly(report, knowledge)
             : nullptr;
}

void FillNextStepOfKernels(const Knowledge& knowledge, Report* report) {
  if (FactNumber(*report, "kernel.unnamed.share").value_or(0) >
      knowledge.Number("verdict.mostly")) {
    const bool torch = report->inputs.front().kind == "kineto";
    report->next_step = torch ? "Write the trace again: most of its kernels have no name."
                              : "Export the report again: most of its kernels have no name.";
    report->next_command =
        torch ? "" : "nsys export --type sqlite --force-overwrite true -o run.sqlite run.nsys-rep";
    return;
  }
  const MeasureCommand measure = CommandToMeasure(*report, knowledge);
  report->next_step = measure.step;
  report->next_command = measure.command;
  const Rows* const unmeasured = FactRows(*report, "efficiency.unmeasured");
  for (std::size_t i = 0; unmeasured != nullptr && i < unmeasured->size(); ++i) {
    const bool hottest =
        TextIn((*unmeasured)[i], "name") == FactWord(*report, "kernel.top.name", "");
    if (i < measure.kernels && hottest) report->next_measures_hottest = true;
  }
  // Ranks of several reports are brought together without the kernels of each.
  if (report->next_step.empty() && report->ranks.ranks > 1) {
    report->next_step = "Analyze one rank alone: its report names the kernels to measure.";
    report->next_command = fmt::format("advise {}", report->inputs.front().path);
  }
}

// `advise --window` for the part between two facts.
std::string CommandForWindow(const Report& report, const char* from, const char* to) {
  const auto time = [&report](const char* fact) {
    return static_cast<Nanos>(FactNumber(report, fact).value_or(0));
  };
  return fmt::format("advise {} REPORT", WindowOption(time(from), time(to)));
}

// What to do about a run that mostly waited for its next request or command.
void FillNextStepOfInput(Report* report) {
  if (FactNumber(*report, "run.serves").value_or(0) > 0) {
    report->next_step = "Send the server the load that you expect, and record it again.";
    return;
  }
  report->next_step = "Analyze the part of the session in which the program works.";
  report->next_command =
      CommandForWindow(*report, "host.input.between_from", "host.input.between_to");
}

// Whether GPUs idle for longer in work outside of these steps than what was found here wins.
bool LosesMoreElsewhere(const Report& report) {
  double won = 0;
  for (const Finding& finding : report.findings) won += finding.saving_s;
  const double idle = FactNumber(report, "capture.other.idle").value_or(0) / kNanosPerSecond;
  // Start-up comes once, however long the run is.
  const bool starts_up = FactNumber(report, "capture.other.starts_up").value_or(0) > 0;
  return FactNumber(report, "capture.other.share").value_or(0) > 0 && !starts_up && idle > won;
}

void FillNextStepOfOtherWork(Report* report) {
  report->next_step = "Analyze what runs outside of this loop, too.";
  report->next_command = CommandForWindow(*report, "capture.other.from", "capture.other.to");
}

}  // namespace

void FillNextStep(const Knowledge& knowledge, Report* report) {
  report->next_step.clear();
  report->next_command.clear();
  report->next_records_graphs = false;
  report->next_measures_hottest = false;
  const std::string input = report->inputs.empty() ? "" : report->inputs.front().kind;
  if (report->devices.empty()) {
    if (input != "kineto" && input != "nsys-sqlite") {
      FillNextStepOfCounters(report);
      if (report->next_step.empty()) FillNextStepOfLogs(knowledge, report);
      return;
    }
    return FillNextStepOfNothing(report);
  }
  if (RanNoKernel(*report)) return FillNextStepOfNothing(report);
  if (const double lost = FactNumber(*report, "capture.lost").value_or(0);
      lost >= knowledge.Number("verdict.lost_work"))
    return FillNextStepOfLoss(knowledge, lost, report);
  if (LosesMoreElsewhere(*report)) return FillNextStepOfOtherWork(report);
  const Finding* first = FirstAdvice(*report);
  if (first != nullptr && LeavesIdleUnexplained(*report, knowledge))
    return FillNextStepOfHost(knowledge, report);
  if (const Finding* const host = HostCodeThatIsToldOnly(*report, knowledge);
      first != nullptr && host != nullptr) {
    report->next_step = host->Title() + ".";
    return;
  }
  if (const Finding* const copies = LongCopiesThatAreToldOnly(*report, knowledge);
      first != nullptr && copies != nullptr) {
    report->next_step = copies->Title() + ".";
    return;
  }
  if (LeavesKernelsUnmeasured(*report, knowledge)) {
    const Finding* const risk = FirstRisk(*report);
    if (risk == nullptr) return FillNextStepOfKernels(knowledge, report);
    report->next_step = risk->Title() + ".";
    return;
  }
  if (first != nullptr) {
    report->next_step = first->Title() + ".";
    return;
  }
  if (report->run.kind == "start-up") {
    report->next_step = "Record the work after the start-up.";
    report->next_command = TimelineCommand(
        knowledge, *report, "", "--capture-range=cudaProfilerApi --capture-range-end=stop");
    return;
  }
  if (WaitsForInput(*report)) return FillNextStepOfInput(report);
  const TimeOfDevices time = TimeOf(*report);
  const bool idles = time.idle > knowledge.Number("verdict.little_lost") * time.all;
  if (idles && IsMostOfIdleTime(*report, "host.source.lost")) {
    report->next_step = "Give the GPU more work, or accept the pace of the source.";
    return;
  }
  if (const Finding* const rate = NoteOf(*report, Topic::kDisplayRate); idles && rate != nullptr) {
    report->next_step = rate->Title() + ".";
    return;
  }
  if (FactNumber(*report, "graph.whole.share").value_or(0) > knowledge.Number("verdict.mostly")) {
    report->next_records_graphs = true;
    report->next_step = "Record the kernels inside the CUDA graphs.";
    report->next_command = "nsys profile --cuda-graph-trace=node -o run -- COMMAND";
    return;
  }
  if (const Finding* const copies = CopiesThatAreToldOnly(*report, knowledge); copies != nullptr) {
    report->next_step = copies->Title() + ".";
    return;
  }
  if (!LosesNothingBetweenKernels(*report, knowledge)) return FillNextStepOfHost(knowledge, report);
  if (report->healthy) return;
  if (OnlyPeaksAreMissing(*report)) {
    report->next_step =
        "Name the GPU: with its peaks, the recorded sizes tell how well kernels run.";
    report->next_command = KernelsAreOfAmd(*report, knowledge)
                               ? "advise --gpu mi300x REPORT   # or which of AMD's it is"
                               : "advise --gpu NAME REPORT   # such as h100-sxm or mi300x";
    return;
  }
  // Where nearly all kernels were measured, and no rule found a fix for them, to measure them again
  // shows nothing new.
  if (RunsAsWellAsLibraries(*report, knowledge) ||
      report->efficiency.measured_share >= knowledge.Number("verdict.healthy_measured")) {
    report->next_step =
        "Save work rather than tune kernels: smaller types, fewer or smaller layers.";
    return;
  }
  FillNextStepOfKernels(knowledge, report);
}

}  // namespace advise
