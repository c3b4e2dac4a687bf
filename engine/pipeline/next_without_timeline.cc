#include "engine/pipeline/next_without_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "engine/facts/rows.h"
#include "engine/pipeline/answer.h"
#include "engine/pipeline/measure_command.h"

namespace advise {
namespace {

// A trace of work that no capture lets anybody judge here.
bool IsOfOtherAccelerator(const Report& report) {
  return std::any_of(
      report.diagnostics.begin(), report.diagnostics.end(),
      [](const Diagnostic& diagnostic) { return diagnostic.text == kOtherAccelerator; });
}

}  // namespace

bool IsForTorch(const Knowledge& knowledge, const Report& report) {
  return !report.inputs.empty() && report.inputs.front().kind == "kineto" &&
         (IsAmd(report) || !knowledge.IsRecordedByNsys(report.run.framework));
}

std::string TorchCommand(const Knowledge& knowledge, const Report& report, const char* options) {
  std::string server = knowledge.HowToRecord(report.run.framework);
  if (!server.empty()) return server;
  return fmt::format("profile(schedule=torch.profiler.schedule(wait=5, warmup=3, active=10){})",
                     options);
}

bool IsOfAmdTool(const Report& report) {
  return !report.inputs.empty() && WroteAmdTool(report.inputs.front());
}

std::string TimelineCommand(const Knowledge& knowledge, const Report& report,
                            const char* torch_options, const std::string& nsys_options) {
  if (IsForTorch(knowledge, report)) return TorchCommand(knowledge, report, torch_options);
  if (IsOfAmdTool(report)) return kRocprofCommand;
  return fmt::format("nsys profile {} -o run -- COMMAND", nsys_options);
}

void FillNextStepOfNothing(Report* report) {
  if (report->devices.empty() && IsOfOtherAccelerator(*report)) {
    report->capture_command.clear();
    return;
  }
  const bool torch = report->inputs.front().kind == "kineto";
  if (IsDamaged(*report)) {
    report->next_step = torch ? "Copy the file again, or write it again."
                              : "Copy the file again, or export the report again.";
    report->next_command = torch ? "" : "nsys export --type sqlite -o run.sqlite run.nsys-rep";
    report->capture_command.clear();
    return;
  }
  const auto told = [report](std::string_view text) {
    return std::any_of(report->diagnostics.begin(), report->diagnostics.end(),
                       [text](const Diagnostic& diagnostic) { return diagnostic.text == text; });
  };
  if (told(kCountersOfRanges)) {
    report->next_step =
        "Record a timeline: leave out the profiler_metrics of experimental_config, which count.";
    report->next_command = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])";
    return;
  }
  if (!FactWord(*report, "op.of_cpu", "").empty()) {
    report->next_step = "Move the model and its inputs to the GPU, and record it there.";
    report->next_command =
        "model.to(\"cuda\"); x = x.to(\"cuda\")   # then: "
        "profile(activities=[ProfilerActivity.CPU, "
        "ProfilerActivity.CUDA])";
    return;
  }
  const bool launched = FactNumber(*report, "capture.launches").value_or(0) > 0;
  const bool timeless = FactNumber(*report, "kernel.count").value_or(0) > 0;
  report->next_step =
      timeless ? "Capture again, with a profiler that fits the driver: no kernel has a length."
      : launched
          ? "Stop other profilers, check that the profiler may use the GPU and fits the driver, "
            "and capture again."
          : "Capture the program while it works on the GPU. If it did, check that the profiler may "
            "use the GPU.";
  report->next_command = torch ? "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"
                               : "nsys profile --trace=cuda,nvtx,osrt -o run -- COMMAND";
}

void FillNextStepOfCounters(Report* report) {
  const Rows* const rows = FactRows(*report, "counter.rows");
  if (rows == nullptr || rows->empty() || report->inputs.empty()) return;
  const bool timed = std::any_of(rows->begin(), rows->end(),
                                 [](const Row& row) { return NumberIn(row, "time") > 0; });
  if (timed) return;
  report->next_step = "Capture a timeline, and give it together with these counters.";
  report->next_command = fmt::format(
      "nsys profile --trace=cuda,nvtx,osrt -o run -- COMMAND\n"
      "advise run.nsys-rep {}   # new counters: with gpu__time_duration.sum, as of ncu --set full",
      report->inputs.front().path);
}

void FillNextStepOfLogs(const Knowledge& knowledge, Report* report) {
  if (const Finding* const first = FirstAdvice(*report); first != nullptr) {
    report->next_step = first->Title() + ".";
    return;
  }
  if (report->run.kind != "server") return;
  report->next_step =
      "Record a timeline of the server under load, which shows what its GPU waits for.";
  report->next_command = TorchCommand(knowledge, *report, "");
}

}  // namespace advise
