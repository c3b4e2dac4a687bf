// Waits for ranks that have no report: collectives in which all ranks that have one wait.
#pragma once

#include "engine/cluster/rank_loss.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct AbsentRanks {
  double count = 0;       // collectives in which all wait
  double by_places = 0;   // of them: sizes are not known, others in the step tell
  double longest_ns = 0;  // exposed or not
  RankLoss loss;          // exposed waiting
};

// Notes in each collective whose communicator has ranks without a report how long all of its
// members wait, judged by quick ones. `some_missing`: so has the job, where the report does not
// say how large communicators are. O(collectives x log of steps).
void NoteWaitsForAbsent(const std::vector<RankSummary>& ranks, bool some_missing,
                        const Knowledge& knowledge, Joint* joint);

// After these notes. If the rank came in time, the wait were gone, and collectives that follow at
// once would run beside what the others compute during the wait: so much of these is lost, too.
AbsentRanks FindAbsent(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                       const Knowledge& knowledge);

}  // namespace advise
