// When a device began the forward and backward passes of its steps.
#pragma once

#include <utility>
#include <vector>

#include "engine/metrics/basis.h"
#include "engine/timeline/phase.h"

namespace advise {

class Passes {
 public:
  // Of a run that names no backward pass, none are known. O(ops).
  Passes(const Run& run, const Phases& phases);

  // Whether all kernels of a backward pass had started before then, and none of the next forward
  // pass.
  bool BetweenPasses(std::uint32_t device, Nanos at) const;

  // Start of the first kernel of the backward pass that was under way then; `at` where none was.
  Nanos BackwardSince(std::uint32_t device, Nanos at) const;

 private:
  // Starts of the kernels of forward (false) and backward passes (true), by device, in time order.
  std::vector<std::vector<std::pair<Nanos, bool>>> marks_;
};

}  // namespace advise
