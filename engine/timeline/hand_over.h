// Which thread a launching thread waits for. A framework launches from several threads of a process
// that take turns: the program's own and one for the backward pass, or one that reads results and
// one that launches what it is given. Where one of them waits for another, what the other does
// keeps the GPU idle, and not the wait. No capture says who wakes whom, and often not even that a
// thread waits: it spins, its wait is shorter than what the profiler keeps, or no calls of the
// operating system were captured. Both are inferred from what repeats.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// A pause of a thread between two of its outermost calls, in which it waited for another thread.
struct HandOver {
  Nanos start = 0;             // end of the call before
  Nanos end = 0;               // start of the call that follows
  std::uint32_t from = kNone;  // the thread that it waited for
};

// A pause counts when it belongs to a pattern: most pauses before the same kind of call, or most of
// those that no likelier thread explains, end just behind something that the same other launching
// thread of the process did, too close and too often to be chance. Neither does the waiting thread
// show work of its own meanwhile (named ranges, file calls), nor is the other one blocked itself
// until the pause ends.
class HandOvers {
 public:
  HandOvers() = default;               // of nothing
  explicit HandOvers(const Run& run);  // O(n log n) in the calls and OS calls; reads no steps

  bool empty() const { return of_thread_.empty(); }
  // Those of a thread, in time order.
  const std::vector<HandOver>& Of(std::uint32_t thread) const;
  // The thread that `thread` was waiting for at that time; kNone when it was not. O(log n).
  std::uint32_t AwaitedAt(std::uint32_t thread, Nanos time) const;

 private:
  std::vector<std::vector<HandOver>> of_thread_;  // empty when there are none at all
};

}  // namespace advise
