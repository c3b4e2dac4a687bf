// The pauses of a thread between its recorded calls.
#pragma once

#include "engine/timeline/run.h"

namespace advise {

// The stretch around `time` in which the thread made no recorded call, neither of CUDA nor of the
// operating system; within the window. Empty when it was inside a call. O(log n).
Interval PauseAround(const Run& run, std::uint32_t thread, Nanos time);

// The first call of the thread that starts after `time`; kNone if none, or of no thread. O(log n).
std::uint32_t NextCall(const Run& run, std::uint32_t thread, Nanos time);

// The innermost named range of a thread that is open at that time; 0 where there is none. O(log n).
StringId InnermostRange(const Run& run, std::uint32_t thread, Nanos time);

// By thread: pauses longer than this are no code between two launches, since they stand out against
// the pauses before the thread's launches in the window. Before a launch the longest pause counts:
// a framework asks the driver a few things right before it launches, and the code of its operator
// lies before that. Of the launches of one operator the first counts. Never longer than
// `launch.long_gap`; shorter than `launch.long_pause` only where launches follow each other so fast
// that no framework makes them. `launch.long_pause` where nearly all launches follow a wait for the
// GPU. O(calls).
std::vector<Nanos> LongPauses(const Run& run);

}  // namespace advise
