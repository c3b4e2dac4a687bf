// What the samples of a monitor show over time, and of one GPU beside the others: pauses of the
// whole job, GPUs that stop while the others wait, memory that grows, links that are too narrow.
#pragma once

#include <string>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

// All GPUs at work do nothing at the same time: times of at least monitor.pause, and with them
// those that are nearly as long.
struct MonitorPauses {
  std::size_t count = 0;
  double seconds = 0;  // in all
  double longest = 0;  // seconds
  double share = 0;    // of the job's time
  double every = -1;   // seconds from start to start, where they come at even distances
};

// Some GPUs do nothing while all others are in use at far less than their usual power.
struct MonitorStop {
  std::vector<std::string> stopped;  // labels
  std::size_t waiting = 0;           // GPUs
  double seconds = 0;                // the longest such time
  double power = 0;                  // of those that wait, over their usual power
  bool to_the_end = false;           // of the job's time
};

// All GPUs of a job are in use up to its end, at far less power than before and without traffic of
// their memory: kernels of a collective that never ends.
struct MonitorHang {
  std::size_t gpus = 0;  // 0: none
  double seconds = 0;
  double power = 0;  // over the usual power before
};

// The GPU whose memory in use grows all the time and is full first.
struct MonitorGrowth {
  std::string label;  // "": none
  double bytes_per_second = 0;
  double seconds_to_full = -1;  // from the last sample; -1 where the capacity is not known
};

// The GPU whose link to the host has fewer lanes in use than it could have; where the
// log does not say, than others of its name have.
struct NarrowLink {
  std::string label;  // "": none
  double lanes = 0;
  double others = 0;  // what it could have
};

struct MonitorPatterns {
  // Seconds of the log with no GPU in use before the job's time and after it; -1 without a clock.
  double before = -1;
  double after = -1;
  MonitorPauses pauses;
  MonitorStop stop;
  MonitorHang hang;
  MonitorGrowth growth;
  NarrowLink link;
};

// Of the log with the longest time of a job. All but `link` needs a clock. O(samples log samples).
MonitorPatterns FindMonitorPatterns(const Monitor& monitor, const Knowledge& knowledge);

}  // namespace advise
