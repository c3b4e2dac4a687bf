// Sources that pace a loop: a camera, a sensor, a live stream, a display, the clock itself. They
// keep a clock of their own, and the thread waits until the next piece is due, whatever its work
// took.
#pragma once

#include <vector>

#include "engine/timeline/hand_over.h"
#include "engine/timeline/run.h"

namespace advise {

// When a thread waits for its source, and how long after one piece the next one comes.
struct PacedWaits {
  IntervalSet waits;
  Nanos period = 0;     // 0: nothing paces the thread
  bool silent = false;  // no call shows the waits: they are pauses
};

// By thread, for those that launch: its sleeps, where a timer ends them, as in renderers and
// simulations in real time; else the blocking calls of one function (read, poll, ioctl …) that end
// on the grid of a clock, or else pauses between calls that do, as where the thread spins. Who
// waits for work that takes equally long each time, or computes, drifts off any grid; who is let go
// by another launching thread waits for that one. O(calls log of them).
std::vector<PacedWaits> WaitsForSources(const Run& run, const HandOvers& hand_overs);

}  // namespace advise
