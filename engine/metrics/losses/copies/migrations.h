// Unified memory that moves because somebody touched it where it was not.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

// Counts page faults: what the driver moves around a faulting page adds bytes and time. What the
// program prefetched itself is left out. A kernel waits for the pages that move while it runs, and
// from one to the next for up to `copy.gpu_fault`. Host code waits for those that it touched, and
// from one to the next for up to `copy.host_fault`. Where host and GPU use pages in turn, what a
// prefetch takes on the link, of so many bytes per second (0 unknown), stays. O((ops + calls) log
// ops).
Loss FindMigrations(const Basis& basis, double link);

}  // namespace advise
