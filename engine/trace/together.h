// Reports of processes that share a GPU, as the one report that a profiler of all of them would
// have written: the inverse of PartOf (part.h).
#pragma once

#include <vector>

#include "engine/trace/tables.h"

namespace advise {

// All of `reports`, of one host, on the clock of the first, whose environment, capture options and
// files beside it (counters, monitors, topology, logs) are kept. UTC says how far clocks are apart,
// so that of each must be known. GPUs are told by their UUID. Trace::joined names the reports, and
// Process::report the one that each process is of. O(rows log rows) of the tables sorted by time.
Trace Together(std::vector<Trace> reports);

}  // namespace advise
