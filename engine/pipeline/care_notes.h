// What makes figures of a report less certain than they look.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/metrics/analysis.h"

namespace advise {

// That the report shows `shown` of the `world` ranks of the job (0: as many as are not known); of a
// run of several reports, the run itself says which are missing.
std::string SomeRanksNote(int world, int shown);

std::vector<CareNote> ReadWithCare(const Analysis& analysis);

}  // namespace advise
