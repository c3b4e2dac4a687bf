// The findings of a report as a plan: one fix after the other, and what is left of the window then.
#pragma once

#include "engine/advice/report_model.h"

namespace advise {

// Fills Report::plan with the findings above info that win time, in their order: their savings do
// not overlap.
void FillPlan(Report* report);

}  // namespace advise
