// The data pipeline as the GPU feels it: gaps in which the launching thread loads data or waits for
// it.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/input/loader_batches.h"
#include "engine/metrics/losses/input/loaders.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct Input : WhoLoads {
  Loss loss;                  // all of it
  double own_ns = 0;          // the launching thread loads by itself (average over devices)
  double waiting_ns = 0;      // it waits for a loader
  double steps_affected = 0;  // beside idle time or communication
  // Of the steps after the first one affected. Batches that were ready when the capture began hold
  // nobody up.
  double steps_affected_later = 0;
  std::int64_t loads = 0;
  double load_median_ns = 0;
  double load_max_ns = 0;
  Loss slow;  // loads of more than three times the median
  double slow_excess_ns = 0;
  LoaderBatches batches;
  double file_share = 0;
  Loss map;  // mapping and unmapping memory
  double on_demand = 0;
};

// `beside_comm`: of LoadingBesideCommunication.
Input FindInput(const Basis& basis, const std::vector<IntervalSet>& beside_comm);

// By device: when the launching thread loads data or waits for it while the device does nothing but
// communicate. A rank that waits for a later one there would wait for its data otherwise.
// O((launches + host events) log nesting).
std::vector<IntervalSet> LoadingBesideCommunication(const Basis& basis,
                                                    const HandOvers& hand_overs);

}  // namespace advise
