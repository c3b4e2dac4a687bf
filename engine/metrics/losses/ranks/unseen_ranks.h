// A report of one rank: of how long it waits in collectives for ranks that the report does not
// hold.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

// Like collectives move as much: what some of them take longer than the quick ones, they wait. A
// rank that is late by as much each time shows only where larger collectives take less.
struct UnseenRanks {
  double compared = 0;  // collectives of which like ones were seen
  double longest_ns = 0;
  Loss loss;  // exposed waiting
};

// Nothing where several GPUs of the report communicate. O(collectives x sizes).
UnseenRanks FindUnseenRanks(const Basis& basis);

}  // namespace advise
