// How long collectives take that wait for no rank, judged by the quick ones among like ones.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/base/units.h"

namespace advise {

class Knowledge;

// Collectives of one kind in one communicator. Their size is the bytes that each moves, or, where
// no report says that, its place in the step, counted below zero: -1, -2 …
class CollectiveNeeds {
 public:
  struct Need {
    Nanos time = -1;         // -1: too few like ones
    bool of_places = false;  // sizes are not known, and others in the step are far quicker
  };

  void Add(std::int64_t size, Nanos length) { lengths_[size].push_back(length); }
  // By size, all that were added: no more than the quick ones of it, than larger ones, or than
  // smaller ones in proportion. A place takes as long as its quick ones, unless it stands out of
  // all others of the step: `comm.place_outlier`. O(collectives + sizes^2).
  std::map<std::int64_t, Need> Settle(const Knowledge& knowledge) const;

 private:
  std::map<std::int64_t, std::vector<Nanos>> lengths_;
};

// Beyond its need, a collective waits if that is more than ranks are apart that come together.
bool IsWait(Nanos beyond, Nanos need, const Knowledge& knowledge);

}  // namespace advise
