// What some fixes would win together: the end of the plan that holds them alone. Not the sum of
// what each wins by itself: fixes share time, and the next bound stops them.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/metrics/analysis.h"

namespace advise {

struct WhatIf {
  Nanos window_ns = 0;
  Nanos gain_ns = 0;       // of all fixes together
  std::string next_bound;  // what limits the run then
  std::size_t steps = 0;   // in the window, 0 unknown
  struct Part {
    std::string rule;
    std::string title;
    Nanos alone_ns = 0;     // gain of this fix by itself
    bool replayed = false;  // else a part of the time it claims
  };
  std::vector<Part> parts;  // in the order of `verdicts`
};

// `verdicts`: fired ones. One that claims no time wins nothing. As Rank(), once for all and once
// for each.
WhatIf ReplayFixes(const std::vector<const Verdict*>& verdicts, const Analysis& analysis);

}  // namespace advise
