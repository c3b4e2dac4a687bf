// Launching calls that return only when their kernel has ended, apart from those that are only
// slow.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

// A kernel of the window that a launching call started.
bool IsLaunchOfKernel(const Basis& basis, std::uint32_t op);

// By thread, whether its launching calls that end behind their kernels wait for them. Who waits
// goes on steadily behind the end, so that the call is as long as the kernel makes it. A call that
// is only slow takes as long whatever the kernel takes. O(ops).
std::vector<std::uint8_t> ThreadsThatAwaitKernels(const Basis& basis);

}  // namespace advise
