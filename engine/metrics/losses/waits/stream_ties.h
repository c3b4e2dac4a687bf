// Streams that wait for each other though nothing needs it: for the legacy default stream, or in a
// chain of events.
#pragma once

#include <cstddef>

#include "engine/metrics/basis.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct StreamTies {
  Loss default_stream;
  Loss event_chain;
  double default_share = 0;  // of the compute time
  std::size_t other_streams = 0;
  std::size_t chain_streams = 0;
};

// O(ops x streams of a process and device).
StreamTies FindStreamTies(const Basis& basis);

}  // namespace advise
