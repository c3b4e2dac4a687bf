// One process of a report that holds several, as a trace of its own: what its own report would
// hold.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/trace/tables.h"

namespace advise {

// The processes with GPU work, by index, when each has GPUs to itself; empty when fewer than two
// have, or when a GPU is shared or its work names no process. O(ops).
std::vector<std::uint32_t> ProcessesWithOwnGpus(const Trace& trace);

// What belongs to `process`, one of `all` (of ProcessesWithOwnGpus), with Trace::part_of set. Its
// GPUs are numbered anew; strings, shapes, streams, threads and processes keep their numbers.
// Processes without GPU work (workers that load data) are dealt to `all` in turn: reports do not
// say whose they are. What has no process (NIC metrics, counters, monitors, logs) is in each part.
// O(rows).
Trace PartOf(const Trace& trace, const std::vector<std::uint32_t>& all, std::uint32_t process);

}  // namespace advise
