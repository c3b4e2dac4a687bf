// What is said of the run after one fix, beside a plan that makes other fixes first.
#pragma once

#include "engine/advice/finding.h"

namespace advise {

// Whether `bound_alone` limits the run only where nothing else is fixed: behind the fixes that the
// plan makes first, something else does.
bool LimitsOnlyAlone(const Finding& finding);

}  // namespace advise
