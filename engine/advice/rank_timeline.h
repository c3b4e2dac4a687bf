// The picture of a finding about several ranks: one row a rank over the step that shows it worst.
// In a row, first where the rank's time went in that step (in sum, not in order of time), below it
// its collectives when they ran, with the part that was waiting for the last rank. Drawn from rank
// summaries alone, so that facts files give the same picture as the reports that they were made of.
#pragma once

#include <optional>
#include <string>

#include "engine/advice/report_model.h"
#include "engine/advice/report_views.h"
#include "engine/cluster/cluster.h"

namespace advise {

// Times are those of the first rank's clock. Of many ranks eight are shown: those that the finding
// names, the one that waits most, and others evenly. Without steps the surroundings of the
// finding's evidence are shown, collectives only. Nothing when the ranks have neither steps nor
// such evidence. O(ranks x steps + collectives).
std::optional<FindingTimeline> RankTimeline(const Cluster& cluster, const Finding& finding);

}  // namespace advise
