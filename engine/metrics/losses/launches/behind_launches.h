// What launching kernel by kernel costs a host that never waits for the GPU: its launches come in
// time, but whatever it does behind them comes later by what they took.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

// Adds to `loss` the part of each gap that its thread's code, files, allocation or compilation
// makes, and that would not be there had `launches` (calls) and the code before each taken no time
// since the thread last waited for the GPU or made it wait like this. In steps that stand out, no
// more of a gap than the longest such part in the others. O(calls + gaps log calls).
void AddBehindLaunches(const Basis& basis, const std::vector<std::uint32_t>& launches,
                       LossBuilder* loss);

}  // namespace advise
