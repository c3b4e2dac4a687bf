// One rank of a report that holds several, as a trace of its own: what its own report would hold.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/trace/tables.h"

namespace advise {

// Where a rank of a job runs.
struct RankPlace {
  std::uint32_t process = kNone;
  std::uint32_t device = kNone;  // the one of its process's GPUs that is the rank's; kNone: all
};

// When a process without GPU work is taken to work for another: it rests at the moments at which
// that one goes on.
struct HelperLimits {
  Nanos rest = 0;     // no shorter call is a wait for a batch, or for work
  Nanos at_once = 0;  // waking up takes less
  std::size_t least_times = 0;
  double far_more = 0;  // than for any other process
};

// By device, the process whose work it does (kNone: it does none); empty when one does work of
// several processes, or of one that is not known. O(ops).
std::vector<std::uint32_t> OwnersOfGpus(const Trace& trace);

// What belongs to `place`, one of `all`, with Trace::part_of set. Its GPUs are numbered anew;
// strings, shapes, streams, threads and processes keep their numbers. A thread that launches on
// some of its process's GPUs is in the parts of these, one that launches nothing in all of them: it
// may hold up any GPU. Processes without GPU work (workers that load data) belong to the process
// that goes on at the moment they rest, or else to whoever has the fewest. What has no process (NIC
// metrics, counters, monitors, logs) is in each part. O(rows).
Trace PartOf(const Trace& trace, const std::vector<RankPlace>& all, const RankPlace& place,
             const HelperLimits& limits);

}  // namespace advise
