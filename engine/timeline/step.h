// Iterations of the run: from annotations, from ranges that look like steps, or from the
// periodicity of the GPU work.
#pragma once

#include "engine/timeline/run.h"

namespace advise {

// Finds the steps and their warm-up and outliers (docs/design/steps.md).
// Less than `step.min_count` like steps are no steps: `Steps::source` is empty then.
// O(ops + ranges).
Steps FindSteps(const Run& run);

// Steps from ranges alone, or from periodicity alone: exposed for tests.
Steps StepsFromRanges(const Run& run);
Steps StepsFromPeriod(const Run& run);

// Marks warm-up and outliers. Warm-up are the leading steps that are unusually long (median and
// MAD), or that load code or allocate where later ones do not.
void SplitWarmup(const Run& run, Steps* steps);

// Whether the device usually waits, or copies a batch, in these gaps between the computing of one
// step and that of the next. Nothing tells how long it would have waited behind the last step:
// without that, the step looks busier than the others. Communication is no waiting here.
bool StepsEndWithWait(const Run& run, const std::vector<Interval>& gaps, Nanos usual_length);

}  // namespace advise
