// The sentences at the top of a report: the verdict, what to read with care, what could not be
// checked.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/metrics/analysis.h"

namespace advise {

// One sentence that says what holds the run back, or that nothing does.
std::string VerdictSentence(const Analysis& analysis, const Report& report);

// What makes figures of this report less certain than they look.
std::vector<std::string> ReadWithCare(const Analysis& analysis);

// Rules that could not tell, with what would let them, and one profiler command for all of them.
void FillNotChecked(const std::vector<Verdict>& verdicts, const Knowledge& knowledge,
                    const std::string& input_kind, Report* report);

}  // namespace advise
