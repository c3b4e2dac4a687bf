// Code on launching threads that the report does not show, while the GPU waits.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/host/operators_in_code.h"
#include "engine/metrics/losses/host/sampled_functions.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct HostCode {
  Loss time;                    // long gaps of the loop
  Nanos code_ns = 0;            // what launching threads spend in it, the GPU waiting or not
  Nanos before_uploads_ns = 0;  // of the loss: the thread's next call copies data to the GPU
  Nanos between_turns_ns = 0;  // of it: the GPU's last answer came first, for inputs without update
  Nanos late_uploads_ns = 0;   // of the loss: the GPU does nothing but uploads that came late
  Nanos longest_ns = 0;        // of the loss: in one go, on one device
  std::size_t steps = 0;       // the fewest steps that hold most of the loss; 0: no steps are known
  std::vector<NamedTime> ranges;  // the innermost around it, or lines of the program; longest first
  bool sampled = false;           // whether the CPU was
  std::vector<SampledFunction> functions;  // that samples saw in it, most often seen first
  std::vector<NamedTime> operators;        // of a framework that ran in it, longest first
};

// Code that no recorded call and no range of a known purpose explains. Without its remedy, all of
// such code at the same places of the loop is gone. `doubtful`: by device, times that may be no
// code at all; none or all devices. O((idle pieces + calls) log calls).
HostCode FindHostCode(const Basis& basis, const std::vector<IntervalSet>& doubtful = {});

}  // namespace advise
