// From the parts of a run to what is said of all of them together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/pipeline/parts.h"

namespace advise {

// What rules say of some ranks: of one by itself, or of several together.
struct Judgment {
  Cluster ranks;
  std::unique_ptr<Facts> facts;
  std::vector<Verdict> verdicts;
  std::vector<Finding> findings;           // ranked
  std::vector<ClaimResult> claim_results;  // of what is ranked by one replay
};

// The ranks of all parts together: rules that compare ranks are asked of them, and what the parts
// found is ranked by what it wins for the job. Of each rule about single ranks, the verdict that
// says most is kept. A part that claims the same rank as one before it is left out, with a note
// (Part::left_out). Fails when the parts are of different runs. Findings, verdicts and summaries
// are moved out of `parts`; RankSummary::report is an index into them.
Result<Judgment> JoinParts(const Session& session, const DiagnoseOptions& options,
                           std::vector<Part>* parts);

// The day of the capture, as the ranks tell it; "" when none does.
std::string DayOfRanks(const std::vector<RankSummary>& ranks);

}  // namespace advise
