// Collectives of different communicators that were taken for one because they ended together.
#pragma once

#include <vector>

#include "engine/cluster/rank_summary.h"

namespace advise {

// A kernel that takes part: which rank's, on which of its streams, and when it ended.
struct Participant {
  std::uint32_t rank = 0;
  std::uint16_t lane = 0;
  Nanos end = 0;
};

// Reports of nsys often do not name communicators. Where ranks have several groups of the same kind
// (tensor parallelism on four of eight ranks, twice), two groups often end nearly together. The
// habit tells them apart: whoever ends within `apart` of a rank nearly always is of its group.
//
// `collectives`: the participants of each; of one kind. Returns for each the parts into which it
// falls (indices into its participants), one part with all for most. A collective is divided only
// when every part is a habitual group and two parts end further apart than `apart` and than the
// members of a part do. Groups that always end together cannot be told apart by times, and are left
// as one. O(participants x ranks) for the few dozen collectives a group that are looked at.
std::vector<std::vector<std::vector<std::size_t>>> SplitMerged(
    const std::vector<std::vector<Participant>>& collectives, double habit_share, Nanos apart);

}  // namespace advise
