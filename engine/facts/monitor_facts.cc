// Facts of monitor logs: the list and the values.
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {
namespace {

constexpr const char* kNoLog = "no log of a monitor was given, or it does not hold this";

struct MeanFact {
  const char* name;
  double MonitoredUse::*value;
  const char* definition;
};
// All are means over the GPUs at work, of the time of the job.
constexpr MeanFact kMeanFacts[] = {
    {"monitor.utilization", &MonitoredUse::utilization,
     "Mean utilisation of the GPUs at work, as the monitor counts it: time in which any kernel "
     "ran."},
    {"monitor.below", &MonitoredUse::below, "Share of the samples below the band of busy GPUs."},
    {"monitor.power", &MonitoredUse::power, "Mean power over the limit."},
    {"monitor.busy_power", &MonitoredUse::busy_power, "The same, of samples of busy GPUs."},
    {"monitor.throttled.power", &MonitoredUse::by_power,
     "Share of the busy samples in which power held the clocks back."},
    {"monitor.throttled.thermal", &MonitoredUse::by_heat, "… in which heat did."},
    {"monitor.throttled.hardware", &MonitoredUse::by_hardware,
     "… in which the board itself slowed the clocks, for either reason."},
    {"monitor.clock", &MonitoredUse::clock,
     "Mean SM clock of busy samples over the highest clock known of the GPU."},
    {"monitor.gr_active", &MonitoredUse::gr_active, "Mean activity of any engine (DCGM)."},
    {"monitor.sm_active", &MonitoredUse::sm_active, "Mean share of SMs with work (DCGM)."},
    {"monitor.tensor_active", &MonitoredUse::tensor_active,
     "Mean activity of the tensor pipes (DCGM)."},
    {"monitor.dram_active", &MonitoredUse::dram_active, "Mean activity of device memory (DCGM)."}};

}  // namespace

std::vector<FactInfo> MonitorFactList() {
  std::vector<FactInfo> list = {
      {"monitor.gpus", "count", "GPUs in logs of monitors; 0 without such a log."},
      {"monitor.gpus_idle", "count", "Of these, GPUs that did nothing."},
      {"monitor.samples", "count",
       "Samples of a GPU in the time of the job: from the first to the last one with activity."},
      {"monitor.seconds", "num",
       "Length of that time in seconds; absent when the log has no clock."},
      {"monitor.worst.gpu", "name", "The GPU at work with the lowest mean utilisation."},
      {"monitor.worst.utilization", "share", "Its mean utilisation."},
      {"monitor.memory.peak", "bytes", "Most memory in use on a GPU."},
      {"monitor.memory.capacity", "bytes", "Memory of that GPU."},
      {"monitor.watts", "num", "Mean power of a GPU at work in watts."},
      {"monitor.rows", "rows",
       "Each GPU: gpu, name, samples, utilization, below, power (over the limit), clock, "
       "sm_active, "
       "memory (peak); -1 is not in the log."},
  };
  for (const MeanFact& fact : kMeanFacts) list.push_back({fact.name, "share", fact.definition});
  return list;
}

void WriteMonitorFacts(const Analysis& a, FactWriter* w) {
  const MonitorSummary& m = a.monitor;
  const auto known = [&](const std::string& name, double value) {
    if (value >= 0) {
      w->Number(name, value);
    } else {
      w->Missing(name, kNoLog, "monitor");
    }
  };
  w->Number("monitor.gpus", static_cast<double>(m.gpus.size()));
  double idle = 0;
  const MonitoredUse* worst = nullptr;
  const MonitoredUse* fullest = nullptr;
  Rows rows;
  for (const MonitoredUse& use : m.gpus) {
    idle += use.at_work ? 0 : 1;
    if (use.at_work && use.utilization >= 0 &&
        (worst == nullptr || use.utilization < worst->utilization)) {
      worst = &use;
    }
    if (use.memory_peak >= 0 && (fullest == nullptr || use.memory_peak > fullest->memory_peak)) {
      fullest = &use;
    }
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
  w->Number("monitor.gpus_idle", idle);
  w->Number("monitor.samples", static_cast<double>(m.samples));
  known("monitor.seconds", m.seconds);
  known("monitor.watts", m.Mean(&MonitoredUse::watts));
  for (const MeanFact& fact : kMeanFacts) known(fact.name, m.Mean(fact.value));
  known("monitor.worst.utilization", worst == nullptr ? -1 : worst->utilization);
  if (worst == nullptr) {
    w->Missing("monitor.worst.gpu", kNoLog, "monitor");
  } else {
    w->Text("monitor.worst.gpu", "GPU " + worst->label);
  }
  known("monitor.memory.peak", fullest == nullptr ? -1 : fullest->memory_peak);
  known("monitor.memory.capacity", fullest == nullptr ? -1 : fullest->memory_total);
  w->Table("monitor.rows", std::move(rows));
}

}  // namespace advise::facts
