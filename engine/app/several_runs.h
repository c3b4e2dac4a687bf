// Diagnoses of several runs under one session: what commands that hold runs against each other
// start from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/app/options.h"

namespace advise {

struct SeveralRuns {
  Session session;
  std::vector<Report> reports;  // one a run, in order
};

// Each of `runs` is a report, or a directory with the reports of one run. The exit code on failure,
// the complaint being printed already.
tl::expected<std::unique_ptr<SeveralRuns>, int> DiagnoseRuns(const RunOptions& options,
                                                             const std::vector<std::string>& runs);

}  // namespace advise
