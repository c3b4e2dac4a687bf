// monitor.*: logs of GPU monitors.
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

constexpr const char* kNoLog = "no monitor log was given, or it does not hold this";

// The GPU at work with the lowest mean utilization; nullptr when no log says.
const MonitoredUse* Worst(const MonitorSummary& m) {
  const MonitoredUse* worst = nullptr;
  for (const MonitoredUse& use : m.gpus) {
    if (!use.at_work || use.utilization < 0) continue;
    if (worst == nullptr || use.utilization < worst->utilization) worst = &use;
  }
  return worst;
}

// The GPU with most memory in use; nullptr when no log says.
const MonitoredUse* Fullest(const MonitorSummary& m) {
  const MonitoredUse* fullest = nullptr;
  for (const MonitoredUse& use : m.gpus) {
    if (use.memory_peak < 0) continue;
    if (fullest == nullptr || use.memory_peak > fullest->memory_peak) fullest = &use;
  }
  return fullest;
}

double Idle(const MonitorSummary& m) {
  double idle = 0;
  for (const MonitoredUse& use : m.gpus) idle += use.at_work ? 0 : 1;
  return idle;
}

Rows GpuRows(const MonitorSummary& m) {
  Rows rows;
  for (const MonitoredUse& use : m.gpus) {
    rows.push_back({{"gpu", use.label},
                    {"name", use.name},
                    {"samples", static_cast<double>(use.samples)},
                    {"utilization", use.utilization},
                    {"below", use.below},
                    {"power", use.power},
                    {"clock", use.clock},
                    {"sm_active", use.sm_active},
                    {"memory", use.memory_peak}});
  }
  return rows;
}

// Means over the GPUs at work, of the time of the job.
void DeclareMeans(Catalog* catalog) {
  auto& monitor = catalog->Of(&Analysis::monitor);
  monitor.AlsoWithoutTimeline();
  const auto mean = [&](const char* name, const char* unit, double MonitoredUse::*value,
                        const char* definition) {
    monitor.Add(name, unit, definition,
                UnlessNegative([value](const MonitorSummary& m) { return m.Mean(value); }, kNoLog,
                               "monitor"));
  };
  mean("monitor.watts", "num", &MonitoredUse::watts, "Mean power of a GPU at work in watts.");
  mean("monitor.utilization", "share", &MonitoredUse::utilization,
       "Mean utilization of the GPUs at work, as the monitor counts it: time in which any kernel "
       "ran.");
  mean("monitor.below", "share", &MonitoredUse::below,
       "Share of the samples below the band of busy GPUs.");
  mean("monitor.power", "share", &MonitoredUse::power,
       "Mean power of the GPUs at work over the power limit.");
  mean("monitor.busy_power", "share", &MonitoredUse::busy_power,
       "Mean power of busy samples over the power limit.");
  mean("monitor.throttled.power", "share", &MonitoredUse::by_power,
       "Share of the busy samples in which power kept the clocks low.");
  mean("monitor.throttled.thermal", "share", &MonitoredUse::by_heat,
       "Share of the busy samples in which heat kept the clocks low.");
  mean("monitor.throttled.hardware", "share", &MonitoredUse::by_hardware,
       "Share of the busy samples in which the board itself slowed the clocks, for either reason.");
  mean("monitor.clock", "share", &MonitoredUse::clock,
       "Mean SM clock of busy samples over the highest clock known of the GPU.");
  mean("monitor.gr_active", "share", &MonitoredUse::gr_active,
       "Mean activity of any engine (DCGM).");
  mean("monitor.sm_active", "share", &MonitoredUse::sm_active,
       "Mean share of SMs with work (DCGM).");
  mean("monitor.tensor_active", "share", &MonitoredUse::tensor_active,
       "Mean activity of the tensor pipes (DCGM).");
  mean("monitor.dram_active", "share", &MonitoredUse::dram_active,
       "Mean activity of device memory (DCGM).");
}

}  // namespace

void DeclareMonitorFacts(Catalog* catalog) {
  auto& monitor = catalog->Of(&Analysis::monitor);
  monitor.AlsoWithoutTimeline();
  monitor.Add("monitor.gpus", "count", "GPUs in monitor logs; 0 without such a log.",
              [](const MonitorSummary& m) { return m.gpus.size(); });
  monitor.Add("monitor.gpus_idle", "count", "GPUs in monitor logs that did nothing.", Idle);
  monitor.Add("monitor.samples", "count",
              "Samples of a GPU in the time of the job: from the first to the last one with "
              "activity.",
              &MonitorSummary::samples);
  monitor.Add("monitor.seconds", "num",
              "Length in seconds of the time of the job in logs of monitors; absent when the log "
              "has no clock.",
              UnlessNegative(&MonitorSummary::seconds, kNoLog, "monitor"));
  monitor.Add("monitor.worst.gpu", "name", "The GPU at work with the lowest mean utilization.",
              UnlessEmpty(
                  [](const MonitorSummary& m) {
                    const MonitoredUse* worst = Worst(m);
                    return worst == nullptr ? std::string() : "GPU " + worst->label;
                  },
                  kNoLog, "monitor"));
  monitor.Add("monitor.worst.utilization", "share",
              "Mean utilization of the GPU at work with the lowest one.",
              UnlessNegative(
                  [](const MonitorSummary& m) {
                    const MonitoredUse* worst = Worst(m);
                    return worst == nullptr ? -1 : worst->utilization;
                  },
                  kNoLog, "monitor"));
  const auto of_fullest = [](double MonitoredUse::*value) {
    return UnlessNegative(
        [value](const MonitorSummary& m) {
          const MonitoredUse* fullest = Fullest(m);
          return fullest == nullptr ? -1 : fullest->*value;
        },
        kNoLog, "monitor");
  };
  monitor.Add("monitor.memory.peak", "bytes", "Most memory in use on a monitored GPU.",
              of_fullest(&MonitoredUse::memory_peak));
  monitor.Add("monitor.memory.capacity", "bytes",
              "Memory of the monitored GPU with most memory in use.",
              of_fullest(&MonitoredUse::memory_total));
  monitor.Add("monitor.rows", "rows",
              "Each monitored GPU: gpu, name, samples, utilization, below, power (over the limit), "
              "clock, sm_active, memory (peak); -1 is not in the log.",
              GpuRows);
  DeclareMeans(catalog);
}

}  // namespace advise::facts
