// window.*, run.*, budget.*, idle.*, steps.*, hw.*
#include <algorithm>

#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {

void WriteRunFacts(const Analysis& a, FactWriter* w) {
  const Run& run = a.run;
  const auto devices = static_cast<double>(run.active_devices.size());
  const auto per_device = [devices](double sum) { return devices > 0 ? sum / devices : 0; };
  w->Number("window.time", static_cast<double>(run.window.Length()));
  w->Number("window.device_time", static_cast<double>(a.basis().Device()));
  w->Flag("window.supports_verdict", a.support.verdict);
  if (a.support.verdict) {
    w->Missing("window.reason", "the capture supports a verdict", "");
  } else {
    w->Text("window.reason", a.support.reason);
  }
  w->Number("run.devices", devices);
  w->Number("run.devices_listed", static_cast<double>(run.trace.devices.size()));
  std::vector<std::uint32_t> processes;
  for (const std::uint32_t t : run.launching_threads)
    processes.push_back(run.trace.threads[t].process);
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  w->Number("run.processes", static_cast<double>(processes.size()));
  double ops = 0;
  for (const Nanos start : run.trace.ops.start) ops += a.basis().InWindow(start) ? 1 : 0;
  w->Number("run.ops", ops);
  w->KnownNumber("run.cpu_cores", run.trace.cpu_cores,
                 "the report does not say how many CPUs the host has", "");

  double compute = 0, comm = 0, copy = 0, memset = 0, idle = 0;
  for (const std::uint32_t d : run.active_devices) {
    compute += static_cast<double>(a.times[d].ComputeNs());
    comm += static_cast<double>(a.times[d].comm_exposed.Total());
    copy += static_cast<double>(a.times[d].copy_exposed.Total());
    memset += static_cast<double>(a.times[d].memset_exposed.Total());
    idle += static_cast<double>(a.times[d].idle.Total());
  }
  w->Number("budget.compute", per_device(compute));
  w->Number("budget.comm_exposed", per_device(comm));
  w->Number("budget.copy_exposed", per_device(copy));
  w->Number("budget.memset_exposed", per_device(memset));
  w->Number("budget.idle", per_device(idle));
  for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
    double sum = 0;
    for (const std::uint32_t d : run.active_devices)
      sum += static_cast<double>(a.idle.by_device[d][c]);
    w->Number(std::string("idle.") + IdleCauseName(static_cast<IdleCause>(c)), per_device(sum));
  }

  const Hardware& hw = a.hardware;
  const char* const kUnknown =
      "the device is not in the knowledge base, or the report does not name it (see --gpu)";
  if (hw.name.empty()) {
    w->Missing("hw.name", "the report does not name the device (see --gpu)", "hardware");
  } else {
    w->Text("hw.name", hw.name);
  }
  w->Flag("hw.known", hw.known);
  w->KnownNumber("hw.sm_count", hw.sm_count, kUnknown, "hardware");
  w->KnownNumber("hw.memory_bytes", hw.memory_bytes, kUnknown, "hardware");
  w->KnownNumber("hw.memory_bytes_per_s", hw.memory_bytes_per_s, kUnknown, "hardware");
  w->KnownNumber("hw.host_link_bytes_per_s", hw.host_link_bytes_per_s, kUnknown, "hardware");
  w->KnownNumber("hw.nvlink", hw.nvlink_bytes_per_s, kUnknown, "");
  w->KnownNumber("hw.peak_fp32_flops", hw.peak_fp32_flops, kUnknown, "hardware");
  w->KnownNumber("hw.peak_tensor_flops", hw.peak_tensor_flops, kUnknown, "hardware");
}

void WriteStepFacts(const Analysis& a, FactWriter* w) {
  const Steps& steps = a.run.steps;
  const StepStats& stats = a.step_stats;
  const auto absent = [&](const char* name) { w->Missing(name, "no steps were found", "steps"); };
  if (!steps.known()) {
    for (const char* name : {"steps.count",
                             "steps.median",
                             "steps.source",
                             "steps.warmup.count",
                             "steps.warmup.excess",
                             "steps.warmup.cause",
                             "steps.jitter",
                             "steps.outliers.count",
                             "steps.outliers.excess",
                             "steps.outliers.rows",
                             "steps.outliers.lost",
                             "steps.outliers.remedy",
                             "steps.stall.every",
                             "steps.stall.excess",
                             "steps.stall.what",
                             "steps.stall.lost",
                             "steps.stall.remedy",
                             "steps.forward.time",
                             "steps.backward.time",
                             "steps.forward.host_time",
                             "steps.backward.host_time"}) {
      absent(name);
    }
    return;
  }
  w->Number("steps.count", static_cast<double>(steps.steady_count()));
  w->Number("steps.median", static_cast<double>(steps.Median()));
  w->Text("steps.source", steps.source);
  w->Number("steps.warmup.count", static_cast<double>(steps.first_steady));
  w->Number("steps.warmup.excess", stats.warmup_excess_ns);
  if (stats.warmup_cause.empty()) {
    w->Missing("steps.warmup.cause", "there are no warm-up steps in the capture", "");
  } else {
    w->Text("steps.warmup.cause", stats.warmup_cause);
  }
  w->Number("steps.jitter", stats.jitter);
  w->Number("steps.outliers.count", static_cast<double>(stats.outliers.size()));
  w->Number("steps.outliers.excess", stats.outlier_excess_ns);
  Rows rows;
  for (std::size_t i = 0; i < std::min<std::size_t>(stats.outliers.size(), 20); ++i) {
    const OutlierRow& o = stats.outliers[i];
    rows.push_back({{"index", static_cast<double>(o.index)},
                    {"time", o.time_ns},
                    {"median", o.median_ns},
                    {"what", o.what}});
  }
  w->Table("steps.outliers.rows", std::move(rows));
  w->Lost("steps.outliers", stats.outlier);
  if (stats.stall_every == 0) {
    for (const char* name : {"steps.stall.every", "steps.stall.excess", "steps.stall.what",
                             "steps.stall.lost", "steps.stall.remedy"}) {
      w->Missing(name, "slow steps do not come at even distances", "");
    }
  } else {
    w->Number("steps.stall.every", static_cast<double>(stats.stall_every));
    w->Number("steps.stall.excess", stats.stall_excess_ns);
    w->Text("steps.stall.what", stats.stall_what);
    w->Lost("steps.stall", stats.stall);
  }
  const bool phases = a.phases.known(Phase::kForward) && a.phases.known(Phase::kBackward);
  const auto phase = [&](const char* name, double value) {
    if (phases) {
      w->Number(name, value);
    } else {
      w->Missing(name, "no ranges name the forward and backward pass", "nvtx");
    }
  };
  phase("steps.forward.time", stats.forward_gpu_ns);
  phase("steps.backward.time", stats.backward_gpu_ns);
  phase("steps.forward.host_time", stats.forward_host_ns);
  phase("steps.backward.host_time", stats.backward_host_ns);
}

}  // namespace advise::facts
