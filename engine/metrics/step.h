// Iterations of the run: from annotations, from ranges that look like steps, or from the
// periodicity of the GPU work.
#pragma once

#include "engine/metrics/run.h"

namespace advise {

// Finds the steps and their warm-up and outliers (docs/architecture.md, "Steps and the steady
// window"). Less than `step.min_count` like steps are no steps: `Steps::source` is empty then.
// O(ops + ranges).
Steps FindSteps(const Run& run);

// Steps from ranges alone, or from periodicity alone: exposed for tests.
Steps StepsFromRanges(const Run& run);
Steps StepsFromPeriod(const Run& run);

// Marks warm-up and outliers. Warm-up are the leading steps that are unusually long (median and
// MAD), or that load code or allocate where later ones do not.
void SplitWarmup(const Run& run, Steps* steps);

}  // namespace advise
