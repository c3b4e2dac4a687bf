// Functions that a stream runs on the host (cudaLaunchHostFunc, cudaStreamAddCallback). Profilers
// record the call that queues one, but neither its stream nor when it runs: what shows it is a
// stream that waits although the work behind it is queued.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

class HostFunctions {
 public:
  explicit HostFunctions(const Run& run);  // O(calls + ops + functions log functions)

  // Whether a function was queued between the launch of the op before it in its stream and its own:
  // if it was queued into the same stream, the op starts only when the function has returned.
  bool Precedes(std::uint32_t op) const { return !precedes_.empty() && precedes_[op] != 0; }

  // Whether a function was queued between the launch of this op and the beginning of a later call
  // of the process: the call may wait for it.
  bool Follows(std::uint32_t op, Nanos call_start) const;

 private:
  bool QueuedBetween(std::uint32_t process, Nanos from, Nanos to) const;

  const Run& run_;
  std::vector<std::vector<Nanos>> queued_;  // by process: starts of the calls, ascending
  std::vector<std::uint8_t> precedes_;      // by op; empty where no function was queued
};

}  // namespace advise
