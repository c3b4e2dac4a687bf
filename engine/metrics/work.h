// How much work a run did, and what a person would count in it: the length of each step, kernels by
// name and size, sizes of uploads, collectives by kind, the time of each phase. What two runs are
// compared by, and what questions about a run are answered from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct StepLength {
  std::size_t index = 0;  // in Steps::all
  Nanos length_ns = 0;
  bool outlier = false;
};

// Kernels of one name and size: launches of "the same work".
struct KernelWork {
  std::string name;
  std::string kernel_class;
  std::string precision;  // "" unknown
  int tensor_core = -1;   // 1 yes, 0 no, -1 unknown
  double blocks = 0;
  double threads = 0;  // a block
  std::int64_t count = 0;
  double time_ns = 0;
};

struct UploadWork {
  double bytes = 0;  // of one copy
  std::int64_t count = 0;
};

// Communication kernels of one kind ("allreduce", …), summed over devices.
struct CollectiveWork {
  std::string kind;
  std::int64_t count = 0;
  double time_ns = 0;
  double hidden_ns = 0;  // part with compute beside it on the device
};

// Of one phase of the program, in the window; host time of the processes that launch GPU work.
struct PhaseWork {
  Phase phase = Phase::kUnnamed;
  std::int64_t count = 0;  // times the phase was entered, all processes
  double host_ns = 0;      // average over those processes
  double gpu_ns = 0;       // time of the ops launched in it, average over devices
  double idle_ns = 0;      // idle time under it, average over devices
};

struct Work {
  std::vector<StepLength> steps;    // steady steps of the window, in time order
  std::vector<KernelWork> kernels;  // most time first; ties by name and size
  std::vector<UploadWork> uploads;  // most bytes first
  double uploaded_bytes = 0;
  double pageable_bytes = 0;  // of them, from pageable memory
  std::vector<CollectiveWork> collectives;
  std::vector<PhaseWork> phases;           // those that were named by ranges, and kUnnamed
  double range_coverage = 0;               // share of the op time launched inside a named phase
  std::uint32_t launching_thread = kNone;  // the thread that launches most ops
  double nic_bytes_per_s = -1;             // received and sent, all cards; -1 not sampled
  double nvlink_percent = -1;              // mean over samples during communication; -1 not sampled
  double pcie_percent = -1;
};

// O(ops + copies + ranges + samples).
Work FindWork(const Basis& basis, const Phases& phases);

}  // namespace advise
