// The parts of a run: its reports and facts files, read and judged one by one.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/pipeline/diagnose.h"

namespace advise {

// A report, a facts file, or a rank of a report: what was found in it, or why it could not be read.
struct Part {
  std::string path;
  bool is_facts = false;
  std::optional<SavedReport> saved;
  std::optional<Error> error;
  std::set<std::string> took;         // see SideInputs::Join
  std::vector<std::string> left_out;  // why the run is judged without it; else empty
};

// Whether the files make one trace that can be analyzed: no facts files, no second timeline.
bool AreOneTrace(const std::vector<std::string>& files);

using JudgeTrace = std::function<Result<SavedReport>(
    const DiagnoseOptions& options, const Trace& trace, const std::vector<InputInfo>& inputs)>;

// Reads all parts of the run that `options.reports` name, several at a time (no more traces than
// `options.jobs` are in memory), and in a parallel run each process its own. Files without a
// timeline are joined to the reports that they are about (see side_inputs.h); where there are only
// such files, the first is the part. Reports of processes that share a GPU are read a second time,
// together, and are one part. The error is that of a side file; those of parts stay with
// them. In a parallel run only process 0 returns: the others hand in what they have, and
// PartHandedIn is thrown.
Result<std::vector<Part>> ReadParts(const Session& session, const DiagnoseOptions& options,
                                    const JudgeTrace& judge);

}  // namespace advise
