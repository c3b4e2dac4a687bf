// What a kernel takes that has the GPU for itself, told from others of its shape.
#pragma once

#include <vector>

#include "engine/base/units.h"

namespace advise {

// What a kernel that took `length` beside other work takes alone, if it is one of those that were
// seen alone (in ascending order): a name with one grid and block may stand for several amounts of
// work, and the longest that is not longer is the one that says least against what runs beside it.
// The longest of these, a share of `stragglers`, say nothing. O(log n).
Nanos TimeAlone(const std::vector<Nanos>& alone, Nanos length, double stragglers);

// So much of `count`, rounded down.
std::size_t PartOf(double share, std::size_t count);

}  // namespace advise
