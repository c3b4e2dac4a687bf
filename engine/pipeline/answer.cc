#include "engine/pipeline/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "engine/base/text.h"
#include "engine/facts/rows.h"
#include "engine/import/host_calls.h"
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

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(", ", at), list.size());
    parts.push_back(list.substr(at, end - at));
    at = end + 2;
  }
  return parts;
}

// Efficiency from counters where kernels were counted, else from sizes where those were recorded.
EfficiencyInfo EfficiencyOf(const Report& report) {
  EfficiencyInfo info;
  const auto number = [&](const char* name) {
    return std::clamp(FactNumber(report, name).value_or(0), 0.0, 1.0);
  };
  if (FactNumber(report, "efficiency.measured_share")) {
    info.measured_share = number("efficiency.measured_share");
    info.mfu = number("efficiency.mfu");
    info.bandwidth = number("efficiency.bandwidth");
    info.source = FactWord(report, "efficiency.source", "none");
    return info;
  }
  const double counted = number("counter.coverage");
  const double sized = number("roofline.shapes.achieved") > 0 ? number("roofline.shapes.share") : 0;
  if (counted <= 0 && sized <= 0) return info;
  info.source = counted >= sized ? "counters" : "shapes";
  info.measured_share = std::max(counted, sized);
  if (info.source == "shapes") info.mfu = number("roofline.shapes.achieved") * sized;
  return info;
}

// How near to what they could do the measured kernels run; 0 when nothing says: unknown is not
// good.
double Attained(const Report& report) {
  for (const char* name : {"efficiency.reached", "roofline.shapes.attained"}) {
    if (const auto share = FactNumber(report, name)) return *share;
  }
  return 0;
}

// Sizes of operators were recorded, but not which GPU they ran on.
bool OnlyPeaksAreMissing(const Report& report) {
  const bool unnamed = std::all_of(report.devices.begin(), report.devices.end(),
                                   [](const DeviceBudget& device) { return device.name.empty(); });
  const Rows* rows = FactRows(report, "roofline.shapes.rows");
  return unnamed && rows != nullptr && !rows->empty() &&
         FactNumber(report, "roofline.rated.time").value_or(0) <= 0;
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

// What is only told of a topic; null where there is no such note.
const Finding* NoteOf(const Report& report, Topic topic) {
  for (const Finding& finding : report.findings) {
    if (finding.rule != nullptr && finding.rule->topic == topic &&
        finding.severity == Severity::kInfo && !finding.UnderCause())
      return &finding;
  }
  return nullptr;
}

// Code of the host that the GPUs mostly wait for, where it is only told, since no loop shows what
// it costs; null where there is none, or where what was found wins more of the time.
const Finding* HostCodeThatIsToldOnly(const Report& report, const Knowledge& knowledge) {
  if (WaitsForUnseenRanks(report) || !WinsLittleOfWaits(report, knowledge)) return nullptr;
  return NoteOf(report, Topic::kHostCode);
}

// Copies that take most of what the GPUs lose, where they are only told: a program that runs once
// copies its data once, and what that costs depends on what it is to do with them.
const Finding* CopiesThatAreToldOnly(const Report& report) {
  const TimeOfDevices time = TimeOf(report);
  return 2 * time.copy > time.all - time.compute ? NoteOf(report, Topic::kCopies) : nullptr;
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

// A kernel of the program itself, or of a library of templates that was compiled into it. PyTorch
// has such a library in a namespace of its own, and sparse products of hand have the same names as
// those of the library, but for its own name.
bool IsOfOwnCode(const std::string& kernel, const Knowledge& knowledge) {
  const std::string family = knowledge.ClassifyKernel(kernel).family;
  const auto says = [&](const char* word) { return kernel.find(word) != std::string::npos; };
  if (family == "cub" || family == "thrust") return !says("at_cuda_detail") && !says("at::");
  if (family == "cusparse") return !says("cusparse");
  return family.empty() || family == "other" || family == "hand-written";
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

}  // namespace

void FillRun(Report* report) {
  RunInfo& run = report->run;
  run.kind = FactWord(*report, "run.kind", report->devices.empty() ? "no-gpu" : "one-pass");
  run.unit = FactWord(*report, "run.unit", "launch");
  run.units = static_cast<std::size_t>(FactNumber(*report, "run.units").value_or(0));
  run.sequences = FactNumber(*report, "serving.sequences").value_or(0);
  run.framework = FactWord(*report, "run.framework", "");
  run.languages = Split(FactWord(*report, "run.languages", ""));
  const std::string server = FactWord(*report, "server.name", "");
  if (report->devices.empty() && !server.empty()) {
    run.kind = "server";
    run.unit = "request";
    run.framework = server;
  }
  run.maker = IsAmd(*report) ? "amd" : IsNvidia(*report) ? "nvidia" : "";
  report->efficiency = EfficiencyOf(*report);
}

void FillLanguages(const Knowledge& knowledge, Report* report) {
  const Rows* rows = FactRows(*report, "counter.rows");
  RunInfo& run = report->run;
  if (run.languages.empty() && run.kind == "server")
    run.languages = knowledge.LanguagesOf(run.framework);
  if (rows == nullptr || rows->empty() || !run.languages.empty() || !run.framework.empty()) return;
  const bool own = std::all_of(rows->begin(), rows->end(), [&](const Row& row) {
    return IsOfOwnCode(TextIn(row, "kernel"), knowledge);
  });
  if (own) run.languages = {"CUDA C++"};
}

void FillRunOfParts(const std::vector<const Report*>& parts, Report* report) {
  std::map<std::string, int> votes;
  const Report* most = nullptr;
  for (const Report* part : parts) {
    if (part->run.kind.empty() || part->run.kind == "no-gpu") continue;
    const int count = ++votes[part->run.kind];
    if (most == nullptr || count > votes[most->run.kind]) most = part;
  }
  if (most == nullptr) {
    FillRun(report);
    return;
  }
  report->run = most->run;
  report->efficiency = most->efficiency;
  for (const Report* part : parts) {
    if (part->efficiency.measured_share < report->efficiency.measured_share)
      report->efficiency = part->efficiency;
  }
  if (report->step_count > 0) report->run.units = static_cast<std::size_t>(report->step_count);
}

const Finding* FirstAdvice(const Report& report) {
  for (const Finding& finding : report.findings) {
    if (finding.severity != Severity::kInfo && !finding.UnderCause()) return &finding;
  }
  return nullptr;
}

bool LosesNothingBetweenKernels(const Report& report, const Knowledge& knowledge) {
  const TimeOfDevices time = TimeOf(report);
  return time.idle < knowledge.Number("verdict.healthy_idle") * time.all &&
         time.compute >= knowledge.Number("verdict.healthy_compute") * time.all;
}

bool IsHealthy(const Report& report, const Knowledge& knowledge) {
  if (!report.no_verdict_reason.empty() || !LosesNothingBetweenKernels(report, knowledge))
    return false;
  const bool found =
      std::any_of(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
        return finding.severity != Severity::kInfo || finding.rule->risk != Risk::kNothing;
      });
  return !found &&
         report.efficiency.measured_share >= knowledge.Number("verdict.healthy_measured") &&
         Attained(report) >= knowledge.Number("verdict.healthy_attained");
}

TimeOfDevices TimeOf(const Report& report) {
  TimeOfDevices time;
  for (const DeviceBudget& device : report.devices) {
    time.compute += static_cast<double>(device.compute_ns);
    time.comm += static_cast<double>(device.comm_exposed_ns);
    time.copy += static_cast<double>(device.copy_exposed_ns);
    time.idle += static_cast<double>(device.idle_ns);
    time.all += static_cast<double>(device.window_ns);
    for (std::size_t c = 0; c < device.idle_causes.size(); ++c) {
      time.causes[c] += static_cast<double>(device.idle_causes[c].second);
    }
  }
  return time;
}

bool RanNoKernel(const Report& report) {
  return !report.devices.empty() && FirstAdvice(report) == nullptr &&
         std::all_of(report.devices.begin(), report.devices.end(), [](const DeviceBudget& device) {
           return device.compute_ns == 0 && device.comm_exposed_ns == 0;
         });
}

bool RunsAsWellAsLibraries(const Report& report, const Knowledge& knowledge) {
  return FactNumber(report, "roofline.well.share").value_or(0) >=
         knowledge.Number("verdict.healthy_measured");
}

bool IsDamaged(const Report& report) {
  return std::any_of(
      report.diagnostics.begin(), report.diagnostics.end(),
      [](const Diagnostic& diagnostic) { return diagnostic.level == Level::kError; });
}

bool LeavesKernelsUnmeasured(const Report& report, const Knowledge& knowledge) {
  const TimeOfDevices time = TimeOf(report);
  double won = 0;
  for (const Finding& finding : report.findings) won += finding.saving_share;
  return FirstAdvice(report) != nullptr && time.all > 0 &&
         time.compute >= knowledge.Number("verdict.busy_compute") * time.all &&
         won < knowledge.Number("verdict.little_won") &&
         report.efficiency.measured_share < knowledge.Number("verdict.healthy_measured") &&
         FactNumber(report, "graph.whole.share").value_or(0) <=
             knowledge.Number("verdict.mostly") &&
         !OnlyPeaksAreMissing(report) && CommandToMeasure(report, knowledge).kernels > 0;
}

bool WaitsForInput(const Report& report) {
  const auto half_is = [&](const char* fact) {
    return 2 * FactNumber(report, fact).value_or(0) >= TimeOf(report).idle;
  };
  return TimeOf(report).idle > 0 &&
         (half_is("host.input.lost") || half_is("serving.no_request.lost"));
}

namespace {

bool IsMostOfIdleTime(const Report& report, const char* fact) {
  const auto gpus = static_cast<double>(report.devices.size());
  const double time = FactNumber(report, fact).value_or(0) * gpus;
  return time > 0 && 2 * time >= TimeOf(report).idle;
}

}  // namespace

bool BeginsAmidWork(const Report& report) {
  return IsMostOfIdleTime(report, "idle.before_capture");
}

bool LosesKernelsOfGraphs(const Report& report) {
  return IsMostOfIdleTime(report, "idle.in_graphs");
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
  if (FactNumber(*report, "graph.whole.share").value_or(0) > knowledge.Number("verdict.mostly")) {
    report->next_records_graphs = true;
    report->next_step = "Record the kernels inside the CUDA graphs.";
    report->next_command = "nsys profile --cuda-graph-trace=node -o run -- COMMAND";
    return;
  }
  if (const Finding* const copies = CopiesThatAreToldOnly(*report); copies != nullptr) {
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
