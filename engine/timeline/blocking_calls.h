// Calls that block the host: which they are, and how long a launching thread suffers from one.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timeline/hand_over.h"
#include "engine/timeline/run.h"

namespace advise {

// For each call that launched an op: the last blocking call of its thread (synchronize, blocking or
// pageable copy, allocation) after which no op has yet been queued behind a busy device; kNone
// otherwise. A thread that waited for another one is blocked as that one was. O(calls).
std::vector<std::uint32_t> UnrecoveredBlocks(const Run& run, const HandOvers& hand_overs);

// True when the call blocks its thread until the GPU has done something: a synchronize or blocking
// call by its class, or an asynchronous copy that its pageable memory makes wait.
bool BlocksHost(const Run& run, std::uint32_t call);

}  // namespace advise
