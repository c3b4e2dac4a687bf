// Calls of MPI on launching threads: GPUs that idle while the host waits in them, for whom, and
// data that takes the way through the host because MPI is not given GPU memory.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct MpiFunction {
  std::string name;
  std::int64_t count = 0;
  double time_ns = 0;
  double bytes = 0;    // sent and received; 0 where the report does not say
  double idle_ns = 0;  // of GPUs, while a launching thread was inside
};

// A call takes as long as its messages need, by the rate and the latency of the network; what it
// takes beyond that it waits for a rank that is late.
struct Mpi {
  std::int64_t count = 0;  // calls in the window, of launching threads
  Loss late;               // idle in sends, receives and waits beyond what the messages need
  Loss uneven;             // idle in collectives beyond what they need
  Loss transfer;           // idle in all of them for as long as they need
  Loss small;              // idle in small messages that could travel with another one
  Loss staged;             // copies to the host for MPI, and back from it
  Loss file;               // idle in calls that read and write files
  double messages_per_step = 0;
  double message_median_bytes = -1;    // of all that were sent; -1: sizes were not recorded
  double small_per_step = 0;           // messages below mpi.small_message
  std::vector<MpiFunction> functions;  // most idle time first, then most time
};

Mpi FindMpi(const Basis& basis);  // O((gaps + calls of MPI) log calls)

// Whether the thread moves data by MPI or waits for it at some time of [from, to).
bool UsesMpi(const Run& run, std::uint32_t thread, Nanos from, Nanos to);

// The copies that only carry what MPI sends or has received, in pairs of lists: down, then up.
struct StagedCopies {
  std::vector<std::uint32_t> down, up;  // ops
};
StagedCopies FindStagedCopies(const Basis& basis);  // O(calls)

}  // namespace advise
