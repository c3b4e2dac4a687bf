// Uploads that are new each time, since what is computed from them goes back to the host.
#pragma once

#include <cstdint>
#include <set>

#include "engine/timeline/run.h"

namespace advise {

// Sizes of uploads of which nearly each one is answered: what is computed from it, next on its
// stream, goes back to the host before the next ones come there. Frames, tiles, halos of all
// neighbors: of fewer than `copy.repeated_count` in a row each may have its answer, of a longer row
// only the last. Uploads that come many times per step may have small answers, such as what a
// simulator is to do next, but not a single number. `steps`: those of the window, times its
// devices. O(ops).
std::set<std::int64_t> AnsweredSizes(const Run& run, double steps);

// Whether nearly all of these uploads are answered on whatever stream, as in a pipeline of several:
// in the order in which the host asked for the work, results follow what was computed from them,
// and are large enough. A result of the size of another upload, such as a halo that comes and goes,
// belongs to that one. O(ops log ops).
bool AreAnswered(const Run& run, const std::set<std::uint32_t>& uploads);

}  // namespace advise
