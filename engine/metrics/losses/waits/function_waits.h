// Streams that wait for functions which they run on the host: no kernel behind one begins before it
// returns.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

Loss FindFunctionWaits(const Basis& basis);  // O(idle pieces)

}  // namespace advise
