// Which of the slow steps of a loop come at a regular distance: every tenth, for a checkpoint.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/base/units.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct SlowStep {
  std::size_t step = 0;
  Nanos beyond = 0;  // what it takes longer than the others
};

Nanos LostIn(const std::vector<SlowStep>& slow);  // none of it where a step is quicker

struct Rhythm {
  std::size_t every = 0;           // steps apart; 0: none
  std::vector<std::size_t> steps;  // those that keep it
};

// `slow`: ascending, of the steps from `first` on and before `end`. Single ones that lose far more
// or far less than the others, or come out of turn, do not break a rhythm. Of two, the one in which
// more time is lost. O(n), and at most a thousand times that where distances tell little.
Rhythm FindRhythm(const std::vector<SlowStep>& slow, std::size_t first, std::size_t end,
                  const Knowledge& knowledge);

}  // namespace advise
