// How much of a program was recorded: whether findings speak of a loop, or of a part of a run.
#pragma once

#include <string>

#include "engine/metrics/losses/loss.h"

namespace advise {

// Whether the capture holds enough like work to speak of a loop, and if not, why.
struct Support {
  bool verdict = true;
  bool start_up = false;  // most of its idle time loads code or allocates memory
  std::string reason;     // "one pass was recorded"
  // Device memory is freed about as often as it is allocated, to the end: that is no start.
  bool recycles = false;
};

// Whether the kernels are not there: memory was only cleared, or copies stand beside launches of
// what was not recorded. What repeats of that is no loop. O(ops + calls).
bool LacksKernels(const Run& run);

// O(ops + calls + idle pieces).
Support JudgeSupport(const Basis& basis);

}  // namespace advise
