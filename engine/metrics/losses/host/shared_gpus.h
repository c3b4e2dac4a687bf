// GPUs that several processes share. Without MPS, one process computes at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct SharedGpus {
  std::size_t processes = 0;  // most processes with work on one device
  // A kernel that is ready waits for its turn, or stands still in the middle, while the GPU idles
  // or has room beside the kernels of other processes. What wide kernels take from each other stays
  // as it is: the fix wins no more than the SMs have room for.
  Loss turns;
  // Where the node has GPUs without work: a part of the time in which kernels wait for those of
  // other processes, as much as it takes longer than if each process had a GPU, as far as there are
  // some.
  std::vector<IntervalSet> one_for_all;  // by device
};

SharedGpus FindSharedGpus(const Basis& basis);  // O(ops log ops * processes of a device)

}  // namespace advise
