// The offset between two clocks from sends and receives. Ranks of a pipeline share only some of
// them, so that the order of events does not tell which are the same; but at the right offset, and
// only there, many of them end together.
#pragma once

#include <optional>
#include <vector>

#include "engine/base/units.h"

namespace advise {

class Knowledge;

struct Coincidence {
  Nanos offset = 0;     // to be added to times of the second clock
  Nanos deviation = 0;  // median, of the events that coincide
};

struct CoincideRules {
  explicit CoincideRules(const Knowledge& knowledge);

  Nanos together;          // events that are one end so close together
  std::size_t least;       // events that must coincide
  double least_share;      // of the events, that must coincide
  double candidate_share;  // of the most events that coincide, at another offset that may be meant
  double distinct;         // times less sharp than the sharpest: another offset
  Nanos resolution;        // of time stamps
  std::optional<Nanos> guess;  // what UTC says
  Nanos stray;  // by how much UTC may be wrong; without a guess all offsets are tried
};

// Ends in ascending order. Nothing when no offset stands out: too few events coincide, or as many
// do at another one that the guess does not tell from it. O(n log n) in the ends of `first`.
std::optional<Coincidence> Coincide(const std::vector<Nanos>& first,
                                    const std::vector<Nanos>& second, const CoincideRules& rules);

// How many ends of `second`, with `offset` added, lie within `together` of one of `first`. Both in
// ascending order. O(n log n).
std::size_t CountTogether(const std::vector<Nanos>& first, const std::vector<Nanos>& second,
                          Nanos offset, Nanos together);

}  // namespace advise
