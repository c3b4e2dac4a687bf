// Who enters calls of MPI last. One rank alone takes what a message takes longer than at a usual
// rate for a wait for a late rank; with the reports of all ranks it is known.
#pragma once

#include <vector>

#include "engine/cluster/clocks.h"
#include "engine/cluster/rank_summary.h"

namespace advise {

// By rank, of the time that its messages are late by its own report: the share in which another
// rank had not yet entered its call. The rest they were in transit. A call counts as its report
// says unless all other ranks are in such a call at the same time. 1 where nothing is late, where
// the ranks do not share a host and a clock, or where there is one rank only.
// O(calls x ranks x log calls).
std::vector<double> LateShareOfMessages(const std::vector<RankSummary>& ranks,
                                        const Clocks& clocks);

}  // namespace advise
