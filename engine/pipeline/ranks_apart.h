// A report that holds several ranks of a job (profiled together on a node) is judged as the
// reports of these ranks would be: each rank by itself, then all of them together.
#pragma once

#include <optional>
#include <vector>

#include "engine/pipeline/judge.h"

namespace advise {

// Findings, verdicts, summaries and the sentence of the run, as JudgeRun makes them of a report a
// rank; claims of verdicts are by device of the whole trace, remedies are left out.
//
// Nothing when the trace is not of that kind: its ranks are processes that each have GPUs to
// themselves and run communication kernels, or the GPUs of a process that all take part in
// collectives as equals; nor when one of them cannot be judged by itself (it has no GPU work in the
// window). One rank at a time is in memory beside the whole.
std::optional<SavedReport> JudgeRanksApart(const Session& session, const DiagnoseOptions& options,
                                           const WindowRequest& window, const Trace& trace,
                                           const std::vector<InputFile>& inputs);

}  // namespace advise
