// Of the devices in one report, the one for which the others wait in collectives, and why it is
// late.
#pragma once

#include <string>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct LateDevice {
  // The one that comes last again and again; kNone when there is none or collectives could not be
  // matched.
  std::uint32_t device = kNone;
  double share = 0;        // of the exposed waiting for any late device
  double lateness_ns = 0;  // mean, after the median device
  std::string cause;       // what it does more than the median device, in words
  Loss loss;               // what the others wait for it
};

// O(collectives x devices log devices + ops + idle pieces).
LateDevice FindLateDevice(const Basis& basis);

}  // namespace advise
