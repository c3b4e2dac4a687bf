// Several reports of one run, or facts files: each report is read, judged and reduced to its
// summary, and the run is judged from the summaries.
#pragma once

#include <string>
#include <vector>

#include "engine/pipeline/judge.h"

namespace advise {

// True when the files are no single report: several timelines, or facts files.
bool NeedsReduction(const std::vector<std::string>& files);

// Reads up to `options.jobs` reports side by side; no more traces than that are in memory at a
// time. A report that cannot be read is left out and named, as long as others can be read.
Result<SavedReport> DiagnoseRun(const Session& session, const DiagnoseOptions& options,
                                const WindowRequest& window);

}  // namespace advise
