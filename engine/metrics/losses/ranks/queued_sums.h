// Sums of gradients that fill the link from the backward pass on.
#pragma once

#include "engine/metrics/losses/loss.h"
#include "engine/metrics/losses/ranks/passes.h"
#include "engine/timeline/phase.h"

namespace advise {

// Sums of gradients that follow each other without a pause and begin beside the backward pass. The
// last of them ends when all have been sent: it could end earlier only if the first one began
// earlier, by what the backward pass had computed until then. What else they show is a matter of
// bytes. Lost: their exposed time, less what could have begun earlier. Remedy: `comm.halved` of
// their time. O(ops log ops).
Loss FindQueuedSums(const Basis& basis, const Phases& phases, const Passes& passes);

}  // namespace advise
