// Which communication kernels of different devices belong to the same collective.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// Groups of ops (rows of trace.ops), one op a device, in time order. The kernels of a collective
// end together, so those of one group overlap; a kernel that overlaps no kernel of some other
// device (cut off, not captured) is in no group. Empty with less than two devices that communicate.
// O(communication kernels x devices).
std::vector<std::vector<std::uint32_t>> MatchCollectives(const Run& run);

}  // namespace advise
