// A model that one process copies to all of its GPUs in each step.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

struct Replication {
  std::size_t devices = 0;  // most devices that one process launches work on
  double broadcasts = 0;    // broadcast kernels per step and device
  double reduces = 0;       // reduce kernels per step and device
  Loss loss;                // broadcasts, reduces and copies between the GPUs
};

Replication FindReplication(const Basis& basis);  // O(ops)

}  // namespace advise
