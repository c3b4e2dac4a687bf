// The data pipeline as the GPU feels it: gaps in which the launching thread loads data or waits for
// it.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/input/loader_batches.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct Input {
  Loss loss;              // all of it
  double own_ns = 0;      // the launching thread loads by itself (average over devices)
  double waiting_ns = 0;  // it waits for a loader
  std::size_t workers = 0;
  // All that was loaded in the window takes its loaders, side by side, so long; 0 where that is not
  // known: they were not seen to rest.
  Nanos needs_ns = 0;
  double workers_busy = -1;   // share of the time that they were seen; -1 never
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
  std::string loader;       // "own": a loader without workers; "workers": one with; "" not known
  bool background = false;  // somebody beside the launching thread loads
};

// `beside_comm`: of LoadingBesideCommunication.
Input FindInput(const Basis& basis, const std::vector<IntervalSet>& beside_comm);

// By device: when the launching thread loads data or waits for it while the device does nothing but
// communicate. A rank that waits for a later one there would wait for its data otherwise.
// O((launches + host events) log nesting).
std::vector<IntervalSet> LoadingBesideCommunication(const Basis& basis,
                                                    const HandOvers& hand_overs);

}  // namespace advise
