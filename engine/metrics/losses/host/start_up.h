// What a run pays once: loading and compiling code, first allocations, weights on their way to the
// GPU. Separated from the work proper only where no loop was recorded; the warm-up of a loop lies
// before its window (step_stats.h).
#pragma once

#include <string>

#include "engine/metrics/losses/loss.h"
#include "engine/metrics/system/run_kind.h"

namespace advise {

// A call and its time; no name: there is none.
struct LongCall {
  std::string name;
  double time_ns = 0;
};

struct StartUp {
  bool known = false;        // a timeline without a loop: what is lost is in the window
  Loss loss;                 // of all of it, in the window
  double code_ns = 0;        // idle while code was loaded or compiled; these four: device time
  double compile_ns = 0;     // of it: compilation, not loading
  double allocation_ns = 0;  // idle while memory was allocated
  // Only copies ran, before the first kernel of a framework: weights. What other programs copy
  // first is their work.
  double upload_ns = 0;
  double before_ns = 0;  // from the first CUDA call to the first GPU operation: before the window
  LongCall before_call;  // the longest call of that time
};

// The longest call of launching threads that began before `first_op`, up to there. O(calls).
LongCall LongestCallBefore(const Run& run, Nanos first_op);

// O(ops + pieces of idle time).
StartUp FindStartUp(const Basis& basis, const Support& support, const RunKind& kind);

}  // namespace advise
