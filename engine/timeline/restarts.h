// Programs that are started again and again, one after the other, and use one device.
#pragma once

#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// What one process does on a device.
struct Stay {
  Interval when;
  StringId kernel = 0;  // its first one
  bool computes = false;
};

// Those with a kernel, by when they begin. O(ops of the device log processes).
std::vector<Stay> StaysOn(const Run& run, std::uint32_t device);

// Whether `next` is the same program as the one before it, begun after that ended.
bool Follows(const Stay& before, const Stay& next);

// Whether a device spends a good part of the capture between the processes of a program that is
// started many times: then what one of them repeats is no picture of the run. O(ops log processes).
bool StartsAgainAndAgain(const Run& run);

}  // namespace advise
