// Fills the report of a run, beside its findings: from the analysis of its only trace, or from its
// parts.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/analysis.h"
#include "engine/pipeline/join_parts.h"
#include "engine/pipeline/parts.h"

namespace advise {

// Inputs, window, budget, steps, facts (those in `list`), notes: what one trace shows.
Report ReportOfTrace(const Analysis& analysis, const std::vector<FactInfo>& list,
                     const Facts& facts, const std::vector<InputInfo>& inputs);

// The same of several parts: times are those of their ranks, notes are those of the run first, then
// those of single parts, each once. Parts that could not be read are left to AddUnreadable.
Report ReportOfParts(const std::vector<Part>& parts, const Cluster& ranks,
                     const std::vector<FactInfo>& list, const Facts& facts);

// Names the parts that could not be read.
void AddUnreadable(const std::vector<Part>& parts, Report* report);

// What follows from the rest of a report with verdicts and findings: whether the run is healthy,
// the first sentence (unless there is one), and what could not be checked. `ranks`: see
// VerdictSentence.
void Conclude(const Knowledge& knowledge, const std::string& day, const Cluster* ranks,
              Report* report);

}  // namespace advise
