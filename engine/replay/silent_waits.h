// Waits of the host for GPU work, or for another thread, of which no call was recorded: it polls,
// sleeps below what the profiler keeps, or no calls of the operating system were captured. A
// framework that lets the host run at most a few steps ahead waits so.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timeline/hand_over.h"
#include "engine/timeline/run.h"
#include "engine/timeline/thread_devices.h"

namespace advise {

// By call: the op for whose end the thread waited in the pause before the call; kNone for none. Who
// waits goes on in step with what it waits for, and who computes takes its own time: an op comes
// once a pause, or as many like it lie between each two pauses, and from its end to the next call
// it takes a time far steadier than the pauses are long. Where another thread hands over to it, the
// pause begins when that one has made its last call. O(ops log ops + looks of ops x pauses x log
// ops).
std::vector<std::uint32_t> AwaitedInPauses(const Run& run, const HandOvers& hand_overs);

// By call: the call of another launching thread of the process, for the same GPU, that ended the
// pause before it; kNone for none. It is told as an op is: calls of its name come once a pause, or
// as many calls lie between each two pauses, and the thread goes on far more steadily behind them
// than its pauses are long. O(calls log calls + names x pauses x log calls)
// per pair of threads.
std::vector<std::uint32_t> LetGoInPauses(const Run& run, const ThreadDevices& devices);

}  // namespace advise
