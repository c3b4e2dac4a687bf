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
  double highest = -1;       // of any sample, whether the job ran or not
  double below = -1;         // samples below monitor.busy
  double watts = -1;         // mean power
  double power = -1;         // mean power over the limit
  double busy_power = -1;    // the same, of the samples at or above monitor.busy
  double by_power = -1;      // busy samples in which power held the clocks back
  double by_heat = -1;       // … heat
  double by_brake = -1;      // … a signal of the power supply
  double by_hardware = -1;   // … the board itself, for any of these reasons
  double limit = -1;         // power limit in watts, as the log gives it
  double own_limit = -1;     // the board's own, in watts: of the log, else of a GPU of this name
  double clock = -1;         // mean SM clock of busy samples over the highest known
  double hz = -1;            // mean SM clock of busy samples
  double celsius = -1;       // mean temperature of busy samples
  double memory_peak = -1;   // bytes
  double memory_total = -1;  // bytes
  double gr_active = -1, sm_active = -1, tensor_active = -1, dram_active = -1;
};

// GPUs at work in two groups, of which one is used by far less than the other.
struct MonitorSplit {
  std::vector<std::string> low, high;  // labels; empty: all are used about alike
  double low_use = 0, high_use = 0;    // mean utilization
};

// A busy GPU whose clock is far below that of most others.
struct SlowGpu {
  std::string label;  // "": none
  double hz = 0, others_hz = 0;
  double celsius = -1, others_celsius = -1;
};

// A busy GPU whose clock falls while it gets hot: the last quarter of its samples and the first.
struct FallingClock {
  std::string label;  // "": none
  double clock = 0;   // the last over the first
  double celsius_before = -1, celsius_after = -1;
};

// A link to the host that is full all the time, of a GPU at work.
struct FullLink {
  std::string label;     // "": none
  bool upload = true;    // from the host to the GPU
  double rate = 0;       // mean bytes per second of that direction
  double link_rate = 0;  // what such a link moves in practice
  std::string link;      // "PCIe 4.0 x16"
  bool logged = false;   // the log says so; else the rate is near to that of such a link
};

struct MonitorSummary {
  std::vector<MonitoredUse> gpus;  // an entry a GPU and log
  double seconds = -1;             // length of the job's time; -1 without a clock
  SlowGpu slow;                    // of all logs the slowest
  FallingClock falls;              // of all GPUs the one whose clock falls most
  FullLink full;                   // of all GPUs the link with most traffic
  MonitorSplit split;              // of the log with most GPUs in two groups
  std::size_t samples = 0;         // of the GPU with most
  std::size_t logged = 0;          // the same, of the whole log and not of the job alone
  // Of GPUs at work: the mean of a quantity; -1 when no log has it.
  double Mean(double MonitoredUse::*quantity) const;
};

// O(samples).
MonitorSummary SummarizeMonitor(const Trace& trace, const Knowledge& knowledge);

}  // namespace advise
