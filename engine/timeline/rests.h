// When a thread rests, as far as its calls in the OS show.
#pragma once

#include <cstddef>

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

// Whether a rest of the thread would show, of one that makes so many `batches` in the capture: its
// waits are recorded, or its longest pause between two calls in the window is hardly longer than
// those that come several times a batch. Profilers miss waits; a rest between two batches is a
// pause that comes once for each. O(n log n) in the thread's calls.
bool WouldShowRests(const Run& run, std::uint32_t thread, std::size_t batches);

// Whether the thread began in the capture: its first call comes longer after the first of all than
// its calls in the window are apart. A capture that starts in the middle finds it at work.
// O(threads + calls of the thread).
bool SeenToBegin(const Run& run, std::uint32_t thread);

}  // namespace advise
