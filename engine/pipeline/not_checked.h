// Rules that could not tell, with what would let them, and one profiler command for all of them.
#pragma once

#include "engine/advice/report_model.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// Fills Report::checked, not_checked and capture_command from its verdicts; rules that broke become
// diagnostics. The profiler is that of the first input.
void FillNotChecked(const Knowledge& knowledge, Report* report);

}  // namespace advise
