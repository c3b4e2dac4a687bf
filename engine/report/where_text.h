// Where in the run something happens: ranks, GPUs, steps, phase.
#pragma once

#include <string>

#include "engine/advice/report_model.h"

namespace advise {

// It happens on some of the run's ranks, and not on all of them.
bool IsOfSomeRanks(const Report& report, const Where& where);

// "GPU 1, steps 3–7, forward": said only where it narrows something down, else empty. Of many
// steps, the first: "72 of 239 iterations, such as 0–14, 16–21".
std::string WhereText(const Report& report, const Where& where);

}  // namespace advise
