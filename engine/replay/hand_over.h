// Waits that nobody recorded. A thread that waits for another one of its process often leaves no
// trace of it: it spins, its wait is shorter than what the profiler keeps, or no calls of the
// operating system were captured. Its pause then looks like code of its own. Here such pauses are
// inferred from what repeats: a pause that ends, time after time, just after the same call of
// another thread was a wait for that thread.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// A thread between two of its outermost calls.
struct Pause {
  Nanos start = 0;             // end of the call before
  Nanos end = 0;               // start of the call that follows
  std::uint32_t call = 0;      // trace row of the call that follows
  std::uint32_t peer = kNone;  // trace row of the last call of another thread of the process that
                               // ended in the pause; kNone: no such call
  Nanos Length() const { return end - start; }
};

// By pause: 1 when it was a wait for `peer`. A pause counts when it belongs to a pattern: of the
// pauses before the same kind of call most end just after the same kind of call of the same other
// thread, too close behind it and too often to be chance, and the thread shows no work of its own
// meanwhile (named ranges, file calls). O(n log n).
std::vector<std::uint8_t> InferHandOvers(const Run& run, const std::vector<Pause>& pauses);

}  // namespace advise
