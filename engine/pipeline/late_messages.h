// What single ranks take for waits for a late rank, and all of them together show to be messages in
// transit.
#pragma once

#include <vector>

#include "engine/advice/rank_run.h"
#include "engine/pipeline/parts.h"

namespace advise {

// Moves that share of what reports found of late messages (Topic::kLateMessages) to what they found
// of messages in transit (Topic::kMessages), where both were found and no rank is without a report.
// What is left of the first and is not worth telling is left out. `parts`: their verdicts have the
// words. O(findings x verdicts + calls of MPI x ranks).
void TellTransit(const Cluster& cluster, const Knowledge& knowledge, const std::vector<Part>& parts,
                 std::vector<ReportFindings>* findings);

}  // namespace advise
