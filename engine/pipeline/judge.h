// The pieces of a diagnosis that a run of one report and a run of several share.
#pragma once

#include <string>
#include <vector>

#include "engine/facts/facts.h"
#include "engine/pipeline/diagnose.h"
#include "engine/pipeline/run_inputs.h"
#include "engine/store/saved_report.h"
#include "engine/timeline/run.h"

namespace advise {

// One report, from the trace to the finished report and the summaries of its ranks. The trace may
// go afterwards.
Result<SavedReport> JudgeTrace(const Session& session, const DiagnoseOptions& options,
                               const WindowRequest& window, const Trace& trace,
                               const std::vector<InputFile>& inputs);

// Verdicts of the rules that the options choose, by rule id. `day`: "2026-11-20", for rules that
// the site switched off up to a date.
std::vector<Verdict> JudgeRules(const Session& session, const DiagnoseOptions& options,
                                const Facts& facts, const std::string& day);

// Whether --only and --skip leave a rule in.
bool Chosen(const RuleInfo& rule, const DiagnoseOptions& options);

// As Diagnose, with what a facts file keeps beside the report.
Result<SavedReport> DiagnoseSaved(const Session& session, const DiagnoseOptions& options);

}  // namespace advise
