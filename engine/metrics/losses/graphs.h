// How CUDA graphs are used: how many a step, how long their launches take, and what the GPU does
// between them.
#pragma once

#include "engine/metrics/losses/host_habits.h"

namespace advise {

Graphs FindGraphs(const Basis& basis);  // O(ops + calls)

}  // namespace advise
