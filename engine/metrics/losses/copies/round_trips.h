// Data that a GPU sends to the host, and that goes back to it, or on to another GPU, in the same
// size.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct RoundTrips {
  Loss trip;                   // back to the device that it came from
  Loss through_host;           // to another device
  std::string directive;       // that brings most of it back, where the report has directives
  bool by_directives = false;  // the report has some, or most kernels are loops made from them
  double activations = 0;  // share of `trip` that the backward pass takes back, and no other did
  std::unordered_set<std::uint32_t> ops_through_host;  // both ways
  // The synchronize calls that wait for data which the host then sends to another rank.
  std::unordered_set<std::uint32_t> calls_to_exchange;
};

// `copies`: ops of the window, by start. `sync_of_copy`: by the call of a copy, the synchronize
// call that waits for it. O(calls + copies log copies), and a walk over the waiting downloads of
// one size for each upload of it.
RoundTrips FindRoundTrips(const Basis& basis, const Phases& phases,
                          const std::vector<std::uint32_t>& copies,
                          const std::unordered_map<std::uint32_t, std::uint32_t>& sync_of_copy);

}  // namespace advise
