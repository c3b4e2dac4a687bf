// The logs that a monitor's table holds, each with a clock of its own.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

// Times in seconds of the log's clock.
struct LoggedJob {
  std::vector<std::size_t> gpus;                      // of the table
  double first = std::numeric_limits<double>::max();  // of all samples
  double last = -std::numeric_limits<double>::max();
  // From the first to the last sample in which any GPU of the log did something; start > end: none.
  double start = std::numeric_limits<double>::max();
  double end = -std::numeric_limits<double>::max();
  bool known() const { return start <= end; }
  bool Holds(double time) const { return !known() || (time >= start && time <= end); }
};

// How much the GPU does, as a share: nullptr where the log does not say.
const MonitorSeries* ActivityOf(const MonitoredGpu& gpu);

// A GPU that comes again opens the next log. O(samples).
std::vector<LoggedJob> LoggedJobs(const Monitor& monitor, const Knowledge& knowledge);

}  // namespace advise
