// A finished report made by hand: two GPUs that wait for uploads, one symptom folded under the
// cause, one finding of low weight, one to know, two rules that could not run.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "engine/advice/report_model.h"
#include "tests/support/fact_infos.h"

namespace advise {

// Owns the rules that the report's findings point to.
struct SampleReport {
  std::deque<RuleInfo> rules;
  Report report;

  const RuleInfo* Rule(const std::string& id, const std::string& title, RuleKind kind) {
    RuleInfo rule;
    rule.id = id;
    rule.title = title;
    rule.kind = kind;
    rule.status = "stable";
    rule.since = "0.1";
    rule.effort = "code";
    rule.symptom = "{copies:count} copies, {share:pct} of the time";
    rule.path = "rules/" + id + ".lua";
    return &rules.emplace_back(std::move(rule));
  }
};

inline DeviceBudget SampleBudget(int device) {
  DeviceBudget budget;
  budget.device = device;
  budget.name = "NVIDIA H100 80GB HBM3";
  budget.compute_ns = 20'000'000;
  budget.copy_exposed_ns = 900'000'000;
  budget.idle_ns = 50'000'000;
  budget.window_ns = 970'000'000;
  budget.idle_causes = {{"data_loading", 0}, {"launch", 40'000'000}, {"unknown", 10'000'000}};
  return budget;
}

inline std::vector<Verdict> SampleVerdicts(const RuleInfo* fires, const RuleInfo* folds) {
  Verdict fired;
  fired.rule = fires;
  fired.outcome = Outcome::kFired;
  fired.evidence = {{"share", 0.93}, {"copies", 223.0}};
  fired.reads = {{"copy.repeated.bytes", "25.5 GB"}};
  fired.comparisons = {{"at_least", 0.93, 0.02, 0, "min_share", "share", true}};
  Verdict folded;
  folded.rule = folds;
  folded.outcome = Outcome::kFired;
  return {fired, folded};
}

inline std::unique_ptr<SampleReport> MakeSampleReport() {
  auto sample = std::make_unique<SampleReport>();
  Report& report = sample->report;
  report.tool_version = "0.1.0";
  report.inputs = {{"run.sqlite", "nsys-sqlite", "nsys 2026.2", 0, "node1"}};
  report.window = {"steady", 1'000, 970'001'000};
  report.devices = {SampleBudget(0), SampleBudget(1)};
  report.run = {"training", "step", 3, 0, "PyTorch", {"Python"}, "nvidia"};
  report.plan = {{"transfer/repeated-upload", 0.07, {}, {"sync/host-busy-wait"}, ""}};
  report.verdict = "The GPUs wait for host-to-device copies 93 % of the time.";
  report.read_with_care = {
      {Care::kOther, "GPU table missing in the report: peaks assumed unknown"}};
  report.step_count = 3;
  report.step_median_ns = 323'000'000;
  report.steps_source = "period";
  report.checked = 40;

  Finding upload;
  upload.rule = sample->Rule("transfer/repeated-upload",
                             "Weights are uploaded from the host in every step", RuleKind::kRoot);
  upload.rank = 1;
  upload.severity = Severity::kCritical;
  upload.confidence = 0.9;
  upload.saving_s = 0.9;
  upload.saving_share = upload.alone_share = 0.9 / 0.97;
  upload.basis = "exposed copies of bytes that were uploaded before";
  upload.where.devices = {0, 1};
  upload.where.steps = {0, 1, 2};
  upload.symptom =
      "223 copies, 25.5 GB, pinned, 27.7 GB/s, on the stream of the kernels; the GPU runs nothing "
      "else meanwhile";
  upload.cause = "The same bytes are sent again in each step although they did not change.";
  upload.fixes = {{"Keep the weights on the GPU and upload them once, before the loop",
                   "model = model.to(\"cuda\")\nfor batch in loader:\n    step(model, batch)",
                   "python",
                   {{"https://docs.example.org/a/rather/long/address/that/must/stay/whole.html"}}},
                  {"Prefetch the next layer on a stream of its own", "", "", {}}};
  Evidence evidence;
  evidence.what = "bytes uploaded again";
  evidence.value = 25.5e9;
  evidence.unit = "bytes";
  evidence.threshold = 1e9;
  evidence.table = "CUPTI_ACTIVITY_KIND_MEMCPY";
  evidence.rows = {4, 9};
  evidence.sql = "select sum(bytes) from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind = 1";
  evidence.source = "run.sqlite";
  upload.evidence = {evidence};
  upload.explains = {"sync/host-busy-wait"};

  Finding wait;
  wait.rule = sample->Rule("sync/host-busy-wait", "The host waits in synchronising calls",
                           RuleKind::kSymptom);
  wait.rank = 2;
  wait.severity = Severity::kLow;
  wait.symptom = "428 ms in cudaStreamSynchronize";
  wait.explained_by = {"transfer/repeated-upload"};

  Finding launch;
  launch.rule = sample->Rule("launch/gaps", "Capture the step as a CUDA graph", RuleKind::kRoot);
  launch.rank = 2;
  launch.severity = Severity::kMedium;
  launch.confidence = 0.6;
  launch.saving_s = 0.02;
  launch.saving_share = launch.alone_share = 0.02 / 0.97;
  launch.basis = "idle between kernels";
  launch.where.devices = {1};
  launch.symptom = "800 short gaps between kernels.";
  launch.cause = "Each kernel is launched by itself.";
  launch.fixes = {{"Capture the step as a graph", "", "", {}}};

  Finding note;
  note.rule = sample->Rule("capture/short", "The capture is short", RuleKind::kInfo);
  note.rank = 3;
  note.symptom = "Only three steps were captured.";

  report.findings = {upload, launch, wait, note};
  report.not_checked = {
      {"kernel/low-issue", {"gpu-metrics"}, "no GPU metrics were sampled", "add the option"},
      {"host/blocked", {"osrt"}, "no OS-runtime calls were recorded", "trace osrt"}};
  report.capture_command =
      "nsys profile --trace=cuda,nvtx,osrt --gpu-metrics-devices=all --output=run python train.py";
  report.facts = {
      {InfoOf("copy.pageable.bytes", "bytes", "Bytes copied from pageable memory."), {1.5e9}},
      {InfoOf("steps.source", "name", "How steps were found."), {"period"}},
      {InfoOf("gpu.sm.active", "share", "Share of time with a warp on an SM."),
       {Absent{"no GPU metrics were sampled", "gpu-metrics"}}},
      {InfoOf("copy.groups", "rows", "Copies by kind."),
       {Rows{{{"name", std::string("HtoD")}, {"bytes", 25.5e9}}}}}};
  report.diagnostics = {{Level::kWarning, "rows end before they start", "KERNEL", 3},
                        {Level::kInfo, "no NIC was recorded", "", 1}};

  report.verdicts = SampleVerdicts(upload.rule, wait.rule);
  return sample;
}

}  // namespace advise
