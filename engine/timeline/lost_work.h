// Work that the profiler lost: the calls that launched it were recorded, and nothing that ran.
#pragma once

#include "engine/timeline/run.h"

namespace advise {

struct LostWork {
  std::size_t calls = 0;  // that launch a kernel or copy, up to the last whose work is there
  std::size_t lost = 0;   // those of them without any
  std::vector<std::uint32_t> without;  // these calls, by thread in time order
  bool much = false;                   // so much that idle time may be no idle time
  double Share() const {
    return calls > 0 ? static_cast<double>(lost) / static_cast<double>(calls) : 0;
  }
  // Where much was lost: whether some of it was launched between these calls of one thread. Then
  // nobody knows how long the GPU was idle between what they launched. O(log calls).
  bool IsBetween(const Run& run, std::uint32_t before, std::uint32_t call) const;
};

// What is captured into a graph does not run, and what was launched last may not have run before
// the recording ended: neither counts. A copy may stay on the host, so copies count where none was
// recorded. Kernels whose call is not known stand for calls whose kernel is not known. None in the
// part of one of a process's GPUs: its calls without work there may have launched on the others.
// O(calls + ops).
LostWork FindLostWork(const Run& run);

}  // namespace advise
