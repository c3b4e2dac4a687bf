// Who sends to whom, and the order of pipeline stages that follows from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/cluster/joint.h"

namespace advise {

// By rank, those that it sends to or receives from: at least `least_share` of the sends of the
// quieter of two ranks go between them.
std::map<std::uint32_t, std::set<std::uint32_t>> Neighbours(const Joint& joint, double least_share);

struct StageOrder {
  // Each from the end with the smaller index, all of the same length.
  std::vector<std::vector<std::uint32_t>> chains;
  // Sends between the last stage and the first one, over those between neighbours: 0 when
  // micro-batches pass each rank once, (v-1)/v when they pass it v times and go on from the last
  // rank to the first one.
  double around = 0;
};

// Nothing when sends form no chains, or circles in which all neighbours send alike (`alike`: from
// which share on), as parts of a sequence do that go round. O(collectives).
std::optional<StageOrder> OrderStages(const Joint& joint, double least_share, double alike);

}  // namespace advise
