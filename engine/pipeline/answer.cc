#include "engine/pipeline/answer.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "engine/facts/rows.h"
#include "engine/pipeline/measure_command.h"

namespace advise {
namespace {

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

bool OnlyPeaksAreMissing(const Report& report) {
  const bool unnamed = std::all_of(report.devices.begin(), report.devices.end(),
                                   [](const DeviceBudget& device) { return device.name.empty(); });
  const Rows* rows = FactRows(report, "roofline.shapes.rows");
  return unnamed && rows != nullptr && !rows->empty() &&
         FactNumber(report, "roofline.rated.time").value_or(0) <= 0;
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

const Finding* NoteOf(const Report& report, Topic topic) {
  for (const Finding& finding : report.findings) {
    if (finding.rule != nullptr && finding.rule->topic == topic &&
        finding.severity == Severity::kInfo && !finding.UnderCause())
      return &finding;
  }
  return nullptr;
}

bool IsMostOfIdleTime(const Report& report, const char* fact) {
  const auto gpus = static_cast<double>(report.devices.size());
  const double time = FactNumber(report, fact).value_or(0) * gpus;
  return time > 0 && 2 * time >= TimeOf(report).idle;
}

bool BeginsAmidWork(const Report& report) {
  return IsMostOfIdleTime(report, "idle.before_capture");
}

bool LosesKernelsOfGraphs(const Report& report) {
  return IsMostOfIdleTime(report, "idle.in_graphs");
}

}  // namespace advise
