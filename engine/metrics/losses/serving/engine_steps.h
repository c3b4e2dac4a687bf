// What the steps of a model server work on, where the names of their ranges say so, and how long
// they take: prompts that are read delay the tokens of the sequences that are being generated.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

struct EngineSteps {
  std::size_t count = 0;         // in the window, whose names say what they work on
  std::size_t with_prompts = 0;  // of these
  double sequences = 0;          // that get a token, median of the steps that generate
  double tokens = 0;             // of prompts, median of the steps that read some
  // Medians; 0 unknown. From when the GPU was done with the step before until it was done with this
  // one; from start to start where steps launch nothing.
  Nanos generating = 0;      // steps that read no prompts
  Nanos reading = 0;         // steps that do
  double reading_share = 0;  // of the time of all steps
  double waiting = 0;        // sequences that were being generated when prompts were read, median
};

// O(ranges of launching threads).
EngineSteps FindEngineSteps(const Basis& basis);

}  // namespace advise
