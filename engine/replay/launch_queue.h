// How full the queues to the GPU were when work was handed over. A launch into a queue with room
// costs microseconds; one into a full queue waits until the GPU has taken an op from it, and its
// length says how long kernels run and nothing of what launching costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

struct LaunchQueues {
  // What a launch costs the host while the queue has room.
  Nanos usual_call = 0;
  // The same of the calls of one name, where enough of them found room. Some kinds of launches cost
  // more than others.
  std::map<StringId, Nanos> usual_of_name;
  // By call: 1 when its process had so much work outstanding that its queue may have been full.
  std::vector<std::uint8_t> deep;
  // By stream: launches that may be outstanding; then the next one waits.
  std::vector<std::size_t> depth;
};

// O(n log n) in the calls and ops of the run.
LaunchQueues MeasureQueues(const Run& run);

}  // namespace advise
