// What to read with care, and what a site changed, in the report for people.
#pragma once

#include "engine/advice/report_model.h"
#include "engine/report/layout.h"

namespace advise {

// In at most `most` lines, of which one says how many remarks are left; with `most` 0, it says how
// many there are. The words begin at `column`.
void WriteCare(Page& page, const Report& report, int column, int most);

}  // namespace advise
