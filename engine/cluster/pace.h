// How fast ranks are by themselves: what a GPU waits for late ranks may be time in which its own
// host would not have given it work either.
#pragma once

#include <vector>

#include "engine/cluster/job.h"

namespace advise {

// By rank and step, what its host works for it: launches, computes, waits for data, but does not
// wait for the GPU or for other ranks. Hosts that run ahead work in some steps for others: no step
// counts more than the mean, or the median where few steps without work lower the mean, as at the
// end of a program. 0 where it is not known. O(ranks x steps).
std::vector<std::vector<Nanos>> HostPace(const std::vector<RankSummary>& ranks, const Job& job);

// By rank, the same in the median step: at the end of a program, hosts that have run ahead have
// nothing left to do. 0 where it is not known. O(ranks x steps).
std::vector<Nanos> UsualHostWork(const std::vector<RankSummary>& ranks, const Job& job);

}  // namespace advise
