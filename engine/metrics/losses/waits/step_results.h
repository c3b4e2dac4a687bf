// Results that the host fetches before it queues the next step, though that does not depend on
// them: it could read them while the GPU computes.
#pragma once

#include "engine/metrics/losses/copies/copy.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct StepResults {
  Loss loss;
};

// Downloads behind which a launching thread waits and next uploads far more than it got: that is
// new input and no answer, where others load it (`fed`). Most steps have such. What is lost is the
// idle time until the host is ahead again. Nothing without steps. O(calls).
StepResults FindStepResults(const Basis& basis, const Copies& copies, bool fed);

}  // namespace advise
