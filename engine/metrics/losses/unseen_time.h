// Idle time of one GPU in which it probably worked on what the capture does not show.
#pragma once

#include "engine/base/units.h"

namespace advise {

// In the window; only time without another cause.
struct UnseenTime {
  // Before the first work of a stream that was launched long before: it waits for something from
  // before the capture.
  Nanos before_capture = 0;
  // Before a node of a graph that was launched long before: no host is between the two.
  Nanos in_graphs = 0;
  // Before other work that was launched long before, behind work of its stream that had ended: what
  // it waits for (another stream's event, another rank, a lost kernel) is not in the capture.
  Nanos queued = 0;
};

}  // namespace advise
