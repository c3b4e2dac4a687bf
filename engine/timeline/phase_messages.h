// Exchanges with other ranks that nobody named or recorded.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// A kernel packs what a neighbor gets, a copy brings it to the host, and soon a copy brings up what
// came, which a kernel unpacks. What the thread does between the two copies is the exchange: MPI,
// as a rule. By thread; none for processes with calls of MPI, or ranges that name communication.
// O(ops + ranges + calls of launching threads) where kernels pack messages, else O(names).
std::vector<IntervalSet> ExchangesOfMessages(const Run& run);

}  // namespace advise
