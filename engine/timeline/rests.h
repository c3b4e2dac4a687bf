// When a thread rests, as far as its calls in the OS show.
#pragma once

#include "engine/timeline/run.h"

namespace advise {

struct Rests {
  Nanos first = 0;    // when its first call begins
  Nanos last = 0;     // when its last one ends
  IntervalSet waits;  // in between

  bool Recorded() const { return last > first; }
  // From its first call until then; what it does behind its last call was not seen.
  IntervalSet AtWork(Nanos until) const { return waits.GapsWithin(first, until); }
};

// O(n log n) in the thread's calls. `receives`: what comes from the network is its work, as what it
// reads from files is; otherwise it waits for it.
Rests RestsOf(const Run& run, std::uint32_t thread, bool receives = false);

}  // namespace advise
