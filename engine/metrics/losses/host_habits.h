// What the host does in and around the loop beside loading data: phases that hold the GPU up,
// sleeping, writing, CUDA graphs, launches that wait for their kernel, memory given back in bursts,
// and steps that change over time.
#pragma once

#include <array>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

// Named phases in which the GPU may idle.
inline constexpr std::array<Phase, 5> kStallPhases = {Phase::kCheckpoint, Phase::kEvaluation,
                                                      Phase::kGarbageCollection, Phase::kLogging,
                                                      Phase::kOptimizer};

struct Graphs {
  std::int64_t launches = 0;
  double per_step = 0;
  double call_median_ns = 0;
  double gpu_median_ns = 0;   // from the start of a launch's first op to the end of its last
  double kernels_median = 0;  // traced ops a launch; 0 when graphs were traced as a whole
  Loss gaps;                  // idle before a graph that launching or host code makes
  double miss_share = 0;  // of the steady steps: those without a graph launch, where most have one
  Loss misses;            // idle time of those steps beyond that of the others' median
};

struct HostHabits {
  std::vector<Loss> phases;  // idle time in each of kStallPhases
  Loss sleep, network, file_write, os_wait;
  Loss launch_waits;  // launching calls that return only when their kernel has ended
  double launch_wait_share = 0;
  Loss free_bursts;  // runs of frees of device memory on one thread
  double frees_per_burst = 0;
  Loss optimizer_waits, backward_waits;      // waits of the host inside these phases
  Loss memsets, device_copies, peer_copies;  // exposed time
  double migrated_back_bytes = 0;
  Loss one_way;  // exposed time of the lesser direction where uploads and downloads never overlap
  double duplex_share = 0;  // of the lesser direction's time, beside the other
  double moves_per_s = 0;   // of launching threads from CPU to CPU; -1 unknown
  double step_drift = 0;    // last third over first third of the steady steps, less 1
  double two_kinds_share = 0, two_kinds_ratio = 0;  // of the slower kind of step; 0 none
  double range_coverage = 0;  // share of the ops launched inside a named phase
  Graphs graphs;
};

// O(events).
HostHabits FindHostHabits(const Basis& basis, const Phases& phases);

}  // namespace advise
