// When launching threads got the batches that they had waited for.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/timeline/idle.h"
#include "engine/timeline/run.h"

namespace advise {

// By thread, in the order of their ends: waits for data. Of a thread that was seen to wait for data
// while a GPU was idle, the waits in the same call of the operating system, before the same call of
// CUDA, count as well where somebody loads meanwhile, whether a GPU idled or not. Of other threads
// the ranges around waits for worker processes, where the batches come at the pace of these. And
// other ranges of data loading without calls of CUDA or the OS, where their ends are far more even
// (input.far_more_even) than their lengths.
// `waits_of`: when each thread was blocked in the OS. O((idle pieces + OS calls + ranges) log n).
std::map<std::uint32_t, std::vector<Interval>> BatchWaits(const Run& run, const Idle& idle,
                                                          const std::vector<IntervalSet>& waits_of);

}  // namespace advise
