// A report of one rank: of how long it waits in collectives for ranks that the report does not
// hold.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

// Like collectives move as much: what some of them take longer than the quick ones, they wait. A
// rank that is late by as much each time shows where larger collectives take less, or, with sizes
// unknown, where one collective of the step takes many times as long as all others.
struct UnseenRanks {
  double compared = 0;  // collectives of which like ones were seen
  double longest_ns = 0;
  double by_places = 0;  // waits that others in the step tell, see CollectiveNeeds::Need
  Loss loss;             // exposed waiting
};

// Nothing where several GPUs of the report communicate. O(collectives x sizes).
UnseenRanks FindUnseenRanks(const Basis& basis);

}  // namespace advise
