// Judging a run of several reports: the ranks together, and what single reports found.
#pragma once

#include <vector>

#include "engine/pipeline/run_parts.h"

namespace advise {

// Parts that could not be read are named in the report. Reports of different runs are an error.
// Findings and summaries are moved out of `parts`.
Result<SavedReport> JudgeRun(const Session& session, const DiagnoseOptions& options,
                             std::vector<Part>* parts);

}  // namespace advise
