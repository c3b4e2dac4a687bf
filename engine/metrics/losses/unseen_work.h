// Idle time in which a GPU probably worked on what the capture does not show: what began before it,
// and kernels of graphs that the profiler lost.
#pragma once

#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/metrics/losses/unseen_time.h"

namespace advise {

struct UnseenWork {
  std::vector<UnseenTime> by_device;
  Nanos Sum(Nanos UnseenTime::*part) const;
};

UnseenWork FindUnseenWork(const Basis& basis);  // O(ops + gaps)

}  // namespace advise
