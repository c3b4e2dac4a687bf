// Host-side work that stops the GPU: allocation, compilation, locks, lost CPU time, other
// processes.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/host/process_starts.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct Host {
  Loss alloc;
  std::string alloc_name;
  double alloc_late_share = 0;  // of these calls, in the second half of the window
  Loss jit;
  Loss lock;
  double preempted_ns = -1;  // -1: no scheduling events
  Loss preempted;
  std::size_t gpu_processes = 0;  // most processes with work on one device
  Loss gpu_switch;
  std::vector<IntervalSet> one_gpu;  // see SharedGpus::one_for_all
  ProcessStarts starts;
  Loss free_bursts;             // runs of frees of device memory on one thread
  double retried_bursts = 0;    // of these, the share inside a request for memory
  Loss kept;                    // allocations of device memory that nothing frees again
  double cpu_moves_per_s = -1;  // of launching threads from CPU to CPU; -1: no scheduling events
  double memory_peak = -1;      // -1: no memory events
  double memory_reserved_peak = 0;   // of a caching allocator, on one device; 0 unknown
  double memory_allocated_peak = 0;  // of its tensors; 0 unknown
  double growth_per_step = 0;
  double growth_steps = 0;
};

Host FindHost(const Basis& basis);

}  // namespace advise
