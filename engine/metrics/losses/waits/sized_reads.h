// Reads of sizes: tiny copies to the host that tell how large a result became (nonzero, masked
// selection, unique), so that the host can allocate it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

// How many of these copies stand beside a kernel whose result has a size that depends on the data:
// `sync.sized_near` ops of the same stream away at most. Such a kernel that never asks the host
// reads no size. `copies`: ops, ascending. O(ops); each kernel's name is matched once.
std::int64_t CountSizedReads(const Basis& basis, const std::vector<std::uint32_t>& copies);

}  // namespace advise
