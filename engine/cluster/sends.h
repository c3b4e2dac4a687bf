// Sends and receives of different ranks that are one operation. Kernels say neither the direction
// nor the other side, so that it is inferred from who ends together with whom, again and again:
// pairs (stages of a pipeline, neighbors in a ring), or all ranks of an exchange (all-to-all by
// sends).
#pragma once

#include <vector>

#include "engine/cluster/rank_summary.h"

namespace advise {

struct SendKernel {
  Nanos start = 0;  // on the first clock
  Nanos end = 0;
  std::uint32_t rank = 0;
  std::int32_t peer = -1;   // index of the rank on the other side; -1 unknown
  std::uint32_t group = 0;  // communicator; 0 unknown
};

struct SendMatches {
  std::vector<std::vector<std::size_t>> exchanges;  // of three and more ranks: indices of kernels
  std::vector<std::vector<std::size_t>> pairs;
};

struct SendRules {
  Nanos tolerance = 0;        // kernels of one operation end so close together …
  double together_share = 0;  // … or within this share of their length
  double edge_share = 0;      // of the sends of the quieter of two ranks, that these two talk
  double exchange_share = 0;  // of the sends of each member of an exchange, that all end together
};

// `kernels` by end. O(n log n + n x kernels that end within the tolerance). With two ranks an
// exchange and a pair are the same thing, and are called a pair.
SendMatches MatchSends(const std::vector<SendKernel>& kernels, const SendRules& rules);

}  // namespace advise
