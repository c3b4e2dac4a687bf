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

// Marks warm-up and outliers: leading steps outside the robust band (median, MAD) of the rest are
// warm-up.
void SplitWarmup(const Knowledge& knowledge, Steps* steps);

}  // namespace advise
