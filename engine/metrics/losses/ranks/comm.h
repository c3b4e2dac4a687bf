// Communication kernels: how much of them compute hides, and why not more.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct CollectiveRow {
  std::string kind;
  std::int64_t count = 0;
  double time_ns = 0;
  double exposed_ns = 0;
};

struct Comm {
  std::int64_t count = 0;
  double per_step = 0;  // on a device
  double time_ns = 0;   // average over devices
  double overlap = 0;
  double median_ns = 0;
  std::vector<CollectiveRow> kinds;
  Loss serial;
  double serial_share = 0;
  Loss no_overlap;
  Loss queued;  // FindQueuedSums, in a run that may train
  bool same_stream = false;
  double forward_sums = 0;  // of the exposed time of all-reduces: in the forward pass
  Loss small;
  double small_share = 0;
  // By device: exposed gathers of weights that follow the update of the weights with no other
  // compute in between. Nothing is there yet that could run beside them.
  std::vector<IntervalSet> opening;
};

// may_train: false where the run is known to send no gradients. O(ops log ops).
Comm FindComm(const Basis& basis, const Phases& phases, bool may_train);

}  // namespace advise
