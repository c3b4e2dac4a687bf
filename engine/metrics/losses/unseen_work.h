// Idle time in which a GPU probably worked on what the capture does not show: what began before it,
// and kernels of graphs that the profiler lost.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

// Sums over the devices; only time without another cause.
struct UnseenWork {
  // Before the first work of a stream that was launched long before: it waits for something from
  // before the capture.
  Nanos before_capture = 0;
  // Before a node of a graph that was launched long before: no host is between the two.
  Nanos in_graphs = 0;
};

UnseenWork FindUnseenWork(const Basis& basis);  // O(ops + gaps)

}  // namespace advise
