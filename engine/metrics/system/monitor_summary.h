// What monitor logs say of a job: how busy each GPU was by the monitor's coarse count, what held
// its clocks, how much of its memory was used. Of the time in which the job ran, not of the whole
// log.
#pragma once

#include <string>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

// Means over the samples of the job. -1: not in the log. All but bytes and counts are shares.
struct MonitoredUse {
  std::string label;
  std::string name;
  bool at_work = false;  // reached monitor.at_work at least once; true when the log cannot tell
  std::size_t samples = 0;
  double utilization = -1;   // time in which any kernel ran; DCGM counts that of any engine
  double below = -1;         // samples below monitor.busy
  double watts = -1;         // mean power
  double power = -1;         // mean power over the limit
  double busy_power = -1;    // the same, of the samples at or above monitor.busy
  double by_power = -1;      // busy samples in which power held the clocks back
  double by_heat = -1;       // … heat
  double by_hardware = -1;   // … the board itself, for either reason
  double clock = -1;         // mean SM clock of busy samples over the highest known
  double memory_peak = -1;   // bytes
  double memory_total = -1;  // bytes
  double gr_active = -1, sm_active = -1, tensor_active = -1, dram_active = -1;
};

struct MonitorSummary {
  std::vector<MonitoredUse> gpus;  // an entry a GPU and log
  double seconds = -1;             // length of the job's time; -1 without a clock
  std::size_t samples = 0;         // of the GPU with most
  std::size_t logged = 0;          // the same, of the whole log and not of the job alone
  // Of GPUs at work: the mean of a quantity; -1 when no log has it.
  double Mean(double MonitoredUse::*quantity) const;
};

// O(samples).
MonitorSummary SummarizeMonitor(const Trace& trace, const Knowledge& knowledge);

}  // namespace advise
