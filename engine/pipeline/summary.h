// The sentences at the top of a report: the verdict, what to read with care, what could not be
// checked.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/metrics/analysis.h"

namespace advise {

// What the GPU does meanwhile: "waiting for data".
const char* IdleWords(IdleCause cause);

// A title inside a sentence: "run matrix products …", but "FP32 …".
std::string InSentence(std::string title);
// Why there is no verdict, after "The capture supports no verdict".
std::string NoVerdictSentence(const std::string& start, const std::string& reason);

// Whether GPUs that compute and idle so long of `all` device time work well enough to be called
// healthy, when no rule has anything to fix.
bool GpusWorkWell(Nanos compute, Nanos idle, Nanos all, const Knowledge& knowledge);

// One sentence that says what holds the run back, or that nothing does.
std::string VerdictSentence(const Analysis& analysis, const Report& report);

// What makes figures of this report less certain than they look.
std::vector<std::string> ReadWithCare(const Analysis& analysis);

// Rules that could not tell, with what would let them, and one profiler command for all of them.
void FillNotChecked(const std::vector<Verdict>& verdicts, const Knowledge& knowledge,
                    const std::string& input_kind, Report* report);

}  // namespace advise
