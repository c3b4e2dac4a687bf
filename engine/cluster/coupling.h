// Whether ranks wait for each other at all.
#pragma once

#include <vector>

#include "engine/cluster/job.h"

namespace advise {

// Whether ranks of which no exchange is recorded wait for each other all the same: then a rank that
// takes longer by itself does not fall behind, because the others wait. Compared is how far ranks
// are apart at the end of each step, as they are and as they would be if none had waited. A
// launcher that counts them, or MPI, makes them one job, which is done when its last rank is.
// `job`: with what each rank waits in each step, as far as that is told. `least`: see
// `cluster.coupled`. O(ranks x steps).
bool AreCoupled(const std::vector<RankSummary>& ranks, const Job& job, double least);

}  // namespace advise
