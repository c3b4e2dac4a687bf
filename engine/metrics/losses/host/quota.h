// A limit on the CPU time of the process: its threads stand still until the next period begins.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

// Pauses in which no thread of a launching process begins or ends anything, and whose ends lie on
// the grid of the scheduler's quota periods, wherever the program is in its step, or in what no
// call of the operating system tells of. A loop that keeps that pace itself waits in such a call,
// at the same place each time, and is none. Needs steps. O(host events log host events).
Loss FindQuotaPauses(const Basis& basis);

}  // namespace advise
