// The ranks of a job that one report holds, profiled together on a node.
#pragma once

#include <vector>

#include "engine/advice/finding.h"
#include "engine/cluster/rank_summary.h"
#include "engine/knowledge/knowledge.h"
#include "engine/trace/part.h"

namespace advise {

// Processes that communicate, each with GPUs to itself, or the GPUs of a process when all of these
// take part in collectives as equals. Where no kernel communicates, processes that do the same.
// Empty when there are fewer than two: the report is one rank's. O(ops).
std::vector<RankPlace> RanksOf(const Trace& trace, const Knowledge& knowledge);

// Who the ranks are, one a GPU: only the whole report says it, a part knows itself as the only one.
HelperLimits HelperLimitsOf(const Knowledge& knowledge);
std::vector<RankSummary> IdentitiesIn(const Trace& trace, const Knowledge& knowledge);

// Gives a rank that was summarized from a part its identity in the whole report.
void Identify(const std::vector<RankSummary>& whole, RankSummary* rank);

// Moves what a verdict claims from one numbering of devices to another: claims on device i go to
// device `device_of[i]`. Remedies are left out: they are of the trace that they were made of.
void MoveClaims(const std::vector<std::uint32_t>& device_of, Verdict* verdict);

}  // namespace advise
