// Is the host fast enough at launching, and if not, why?
#pragma once

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct Launches {
  std::int64_t count = 0;
  double kernels_per_step = 0;
  double queue_empty = 0;     // share of launches that found the device with nothing left to do
  double call_median_ns = 0;  // of calls that were not held back
  double kernel_median_ns = 0;
  double gap_median_ns = 0;  // of short gaps
  double tiny_share = 0;
  double tiny_ns = 0;
  Loss bound;      // short gaps that launching makes; fix: launches that come in time
  Loss graph;      // the same gaps; fix: one launch for all kernels
  Loss nodes;      // these, and what less the device needs between nodes; fix: the same
  Loss framework;  // long unseen host code between launches
  double sequence_length = 0;
  double sequence_same = 0;
  double sequence_breaks = 0;
  std::size_t threads = 0;
  Loss slow;
  double slow_median_ns = 0;
  double slow_contended = 0;
  Loss trains;
  double trains_ops_per_step = 0;
  Loss waiting;  // launching calls that return only when their kernel has ended
  double waiting_share = 0;
  double waiting_alone_ns = 0;  // small kernels by themselves: the next is for another stream
};

Launches FindLaunches(const Basis& basis);

}  // namespace advise
