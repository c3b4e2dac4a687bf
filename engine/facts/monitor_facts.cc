// monitor.*: logs of GPU monitors.
#include "engine/facts/declare.h"
#include "engine/facts/monitor_names.h"

namespace advise::facts {
namespace {

constexpr double kSecondsPerHour = 3600;
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

// Heat or the board itself; where the brake of the power supply is on, the board reports that, too.
double ByHeat(const MonitoredUse& use) {
  return std::max(use.by_heat, use.by_hardware - std::max(0.0, use.by_brake));
}

double Idle(const MonitorSummary& m) {
  double idle = 0;
  for (const MonitoredUse& use : m.gpus) idle += use.at_work ? 0 : 1;
  return idle;
}

Rows GpuRows(const MonitorSummary& m) {
  return RowsOf(m.gpus, [](const MonitoredUse& use) {
    return Row{{"gpu", use.label},
               {"name", use.name},
               {"samples", static_cast<double>(use.samples)},
               {"utilization", use.utilization},
               {"below", use.below},
               {"power", use.power},
               {"clock", use.clock},
               {"by_power", use.by_power},
               {"by_heat", use.at_work ? ByHeat(use) : -1},
               {"limit", use.limit},
               {"own_limit", use.own_limit},
               {"gr_active", use.gr_active},
               {"sm_active", use.sm_active},
               {"memory", use.memory_peak},
               {"at_work", use.at_work ? 1.0 : 0.0}};
  });
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
       "ran, or any engine was active (DCGM).");
  mean("monitor.below", "share", &MonitoredUse::below,
       "Share of the samples below the band of busy GPUs.");
  mean("monitor.power", "share", &MonitoredUse::power,
       "Mean power of the GPUs at work over the power limit.");
  mean("monitor.busy_power", "share", &MonitoredUse::busy_power,
       "Mean power of busy samples over the power limit.");
  mean("monitor.throttled.power", "share", &MonitoredUse::by_power,
       "Share of the busy time in which power kept the clocks low.");
  mean("monitor.throttled.thermal", "share", &MonitoredUse::by_heat,
       "Share of the busy time in which heat kept the clocks low.");
  mean("monitor.throttled.brake", "share", &MonitoredUse::by_brake,
       "Share of the busy time in which a signal of the power supply slowed the clocks.");
  mean("monitor.limit", "num", &MonitoredUse::limit,
       "Mean power limit in watts of the GPUs at work, as the log gives it.");
  mean("monitor.own_limit", "num", &MonitoredUse::own_limit,
       "Mean power limit in watts that the boards at work have by themselves: of the log, else of "
       "GPUs of this name.");
  mean("monitor.throttled.hardware", "share", &MonitoredUse::by_hardware,
       "Share of the busy time in which the board itself slowed the clocks, for heat, power or "
       "the brake.");
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

// Seconds as nanoseconds, the unit of times in facts; -1: none.
double InNanos(double seconds) { return seconds < 0 ? -1 : seconds * kNanosPerSecond; }

// What samples show over time, and of one GPU beside the others.
void DeclarePatterns(Catalog* catalog) {
  auto& patterns = catalog->Of(&Analysis::monitor_patterns);
  patterns.AlsoWithoutTimeline();
  const auto number = [&](const char* name, const char* unit, auto value, const char* definition) {
    patterns.Add(name, unit, definition, UnlessNegative(value, kNoLog, "monitor"));
  };
  const auto name = [&](const char* fact, auto value, const char* definition) {
    patterns.Add(fact, "name", definition, UnlessEmpty(value, kNoLog, "monitor"));
  };
  using P = MonitorPatterns;
  number(
      "monitor.before", "ns", [](const P& p) { return InNanos(p.before); },
      "Time of the monitor's log before any GPU did something.");
  number(
      "monitor.after", "ns", [](const P& p) { return InNanos(p.after); },
      "Time of the monitor's log after the last GPU did something.");
  patterns.Add("monitor.pauses.count", "count",
               "Times in the job at which all GPUs at work did nothing, by the monitor, for longer "
               "than a step waits.",
               [](const P& p) { return p.pauses.count; });
  patterns.Add("monitor.pauses.time", "ns",
               "Time in all in which all GPUs at work did nothing, by the monitor, for longer than "
               "a step waits.",
               [](const P& p) { return InNanos(p.pauses.seconds); });
  patterns.Add("monitor.pauses.longest", "ns",
               "The longest time in which all GPUs at work did nothing, by the monitor.",
               [](const P& p) { return InNanos(p.pauses.longest); });
  patterns.Add("monitor.pauses.share", "share",
               "Time in which all GPUs at work did nothing for long, by the monitor, over the time "
               "of the job.",
               [](const P& p) { return p.pauses.share; });
  number(
      "monitor.pauses.every", "ns", [](const P& p) { return InNanos(p.pauses.every); },
      "Time from the start of one pause of the job to the next; absent unless they come at even "
      "distances.");
  name(
      "monitor.stopped.gpus", [](const P& p) { return NamesOf(p.stop.stopped); },
      "GPUs that did nothing for long while all others were in use at little power.");
  patterns.Add("monitor.stopped.waiting", "count",
               "GPUs in use at little power while others did nothing for long.",
               [](const P& p) { return p.stop.waiting; });
  patterns.Add("monitor.stopped.time", "ns",
               "The longest time in which some GPUs did nothing and all others were in use at "
               "little power.",
               [](const P& p) { return InNanos(p.stop.seconds); });
  patterns.Add("monitor.stopped.power", "share",
               "Power of the GPUs that waited for stopped ones, over their usual power.",
               [](const P& p) { return p.stop.power; });
  patterns.Add("monitor.stopped.to_end", "flag",
               "Whether GPUs stood still up to the end of the monitor's log of the job.",
               [](const P& p) { return p.stop.to_the_end; });
  patterns.Add("monitor.hang.gpus", "count",
               "GPUs of a job that are all in use at little power and without traffic of their "
               "memory up to its end; 0 for none.",
               [](const P& p) { return p.hang.gpus; });
  patterns.Add("monitor.hang.time", "ns",
               "Time up to the end of the job in which all its GPUs are in use at little power and "
               "without traffic of their memory.",
               [](const P& p) { return InNanos(p.hang.seconds); });
  patterns.Add("monitor.hang.power", "share",
               "Power of the GPUs that all wait up to the end of the job, over their power before.",
               [](const P& p) { return p.hang.power; });
  name(
      "monitor.growth.gpu", [](const P& p) { return NameOf(p.growth.label); },
      "The GPU whose memory in use grows all the time, by the monitor.");
  patterns.Add("monitor.growth.per_hour", "bytes",
               "By how much memory in use grows in an hour on the GPU where it grows all the time.",
               [](const P& p) { return p.growth.bytes_per_second * kSecondsPerHour; });
  number(
      "monitor.growth.to_full", "ns", [](const P& p) { return InNanos(p.growth.seconds_to_full); },
      "Time from the end of the monitor's log until growing memory is full, at the rate so "
      "far.");
  name(
      "monitor.link.gpu", [](const P& p) { return NameOf(p.link.label); },
      "The GPU whose PCIe link has fewer lanes in use than it could have, or than others have.");
  patterns.Add("monitor.link.lanes", "count", "PCIe lanes in use of the GPU with a narrow link.",
               [](const P& p) { return p.link.lanes; });
  patterns.Add("monitor.link.possible", "count",
               "PCIe lanes that the GPU with a narrow link could have: its own maximum, or those "
               "of others.",
               [](const P& p) { return p.link.others; });
}

// Boards that are not sound.
void DeclareHealth(Catalog* catalog) {
  using H = MonitorHealth;
  auto& health = catalog->Of(&Analysis::monitor_health);
  health.AlsoWithoutTimeline();
  const auto known = [](const H& h) { return h.known; };
  health.Add("monitor.errors.gpus", "name",
             "GPUs whose memory had errors that could not be corrected, or is to be repaired.",
             UnlessEmpty([](const H& h) { return NamesOf(h.faulty); }, kNoLog, "monitor"));
  health.Add("monitor.errors.uncorrected", "count",
             "Memory errors that could not be corrected since the driver was loaded, of the GPU "
             "with most of them.",
             If(known, &H::uncorrected, kNoLog, "monitor"));
  health.Add("monitor.errors.pending", "flag",
             "Whether a repair of a GPU's memory waits for a reset.",
             If(known, &H::pending, kNoLog, "monitor"));
  health.Add("monitor.errors.failed", "flag", "Whether a GPU's memory can no longer be repaired.",
             If(known, &H::failed, kNoLog, "monitor"));
  health.Add("monitor.errors.remapped", "count",
             "Rows of memory that spare ones replace, since the board was made, of the GPU with "
             "most of them.",
             UnlessNegative(&H::rows_remapped, kNoLog, "monitor"));
  const auto link = [](const H& h) { return h.link_known; };
  health.Add("monitor.generation.gpu", "name",
             "The GPU in use whose link is of an older generation of PCIe than it could be.",
             UnlessEmpty([](const H& h) { return NameOf(h.slow_link); }, kNoLog, "monitor"));
  health.Add("monitor.generation.now", "count",
             "Generation of PCIe of that GPU's link; 0 where all are as new as they can be.",
             If(link, &H::generation, kNoLog, "monitor"));
  health.Add("monitor.generation.possible", "count",
             "Generation of PCIe that the link of that GPU could have; 0 for none.",
             If(link, &H::possible, kNoLog, "monitor"));
}

void DeclareLost(Catalog* catalog) {
  using H = MonitorHealth;
  auto& health = catalog->Of(&Analysis::monitor_health);
  health.AlsoWithoutTimeline();
  health.Add("monitor.lost.count", "count",
             "GPUs that the driver could no longer reach while the log was written.",
             [](const H& h) { return h.lost.size(); });
  health.Add("monitor.lost.gpus", "name",
             "Which GPUs the driver could no longer reach, as the log names them.",
             UnlessEmpty([](const H& h) { return NamesOf(h.lost); }, "no GPU was lost", ""));
  health.Add("monitor.lost.after", "ns",
             "Time from the start of the monitor's log until the driver could not reach a GPU.",
             UnlessNegative([](const H& h) { return InNanos(h.lost_after); },
                            "no GPU was lost, or the log has no clock", ""));
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
  monitor.Add(
      "monitor.rows", "rows",
      "Each monitored GPU: gpu, name, samples, utilization, below, power (over the limit), "
      "clock, by_power and by_heat (share of the busy time with clocks kept low by power or "
      "heat), limit and own_limit (watts: the power limit, and the board's own), "
      "gr_active, sm_active, memory (peak), at_work (0 for a GPU that did nothing); -1 is not in "
      "the log.",
      GpuRows);
  DeclareMeans(catalog);
  DeclarePatterns(catalog);
  DeclareHealth(catalog);
  DeclareLost(catalog);
}

}  // namespace advise::facts
