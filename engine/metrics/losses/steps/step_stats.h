// How even the steps are: outliers, periodic stalls, warm-up, and the time of the phases.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct OutlierRow {
  std::size_t index = 0;
  double time_ns = 0;
  double median_ns = 0;
  std::string what;
};

struct StepStats {
  double jitter = 0;           // interquartile range over median
  double drift = 0;            // last third over first third of the steady steps, less 1
  double drift_by_chance = 0;  // standard error of the drift of steps that vary like these
  double two_kinds_share = 0, two_kinds_ratio = 0;  // of the slower kind of step; 0 none
  double warmup_excess_ns = 0;
  std::string warmup_cause;
  std::vector<OutlierRow> outliers;
  double outlier_excess_ns = 0;
  double outlier_gpu_share = 0;  // of the excess: more work on the GPU
  std::string outlier_what;      // fills most of the excess
  Loss outlier;
  std::size_t stall_every = 0;  // 0: slow steps are not periodic
  double stall_excess_ns = 0;
  std::string stall_what;
  double stall_gpu_share = 0;     // of their excess, in which the GPU has more work
  double stall_work = 0;          // kernels of such a step over those of a usual one; 0 unknown
  std::string stall_work_phase;   // that most of the extra work is of; empty unknown
  double stall_bytes = 0;         // a slow step copies to the host so many that other steps do not
  double stall_upload_bytes = 0;  // the same to the GPU
  bool stall_may_wait = false;    // for requests: nothing that was recorded tells that from code
  bool stall_of_pieces = false;   // a lone kernel was taken for a step: the loop may be around many
  Loss stall;
  double forward_gpu_ns = 0, backward_gpu_ns = 0;    // a step, 0 unknown
  double forward_host_ns = 0, backward_host_ns = 0;  // a step, 0 unknown
};

// `link_bytes_per_s`: what pinned copies reach on this host, 0 unknown.
StepStats FindStepStats(const Basis& basis, const Phases& phases, double link_bytes_per_s);

}  // namespace advise
