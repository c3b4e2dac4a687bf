// Threads that could run, and have no CPU: the operating system gave it to something else.
#pragma once

#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

// By thread, when a launching thread is off its CPU for no longer than a scheduler keeps a ready
// thread waiting. Empty where scheduling was not recorded, or OS calls, which tell who waits for
// something instead. O(scheduling events).
std::vector<IntervalSet> AwayFromCpu(const Basis& basis);

// Whether most of [start, end) of the thread is such time: no code of the program runs then.
bool IsMostlyAway(const std::vector<IntervalSet>& away, std::uint32_t thread, Nanos start,
                  Nanos end);

struct Preemption {
  double per_device_ns = -1;  // idle meanwhile; -1: no scheduling events
  Loss loss;
};

// Idle time in which the launching thread ran no call and waited for nothing, yet had no CPU, and
// what it was late for afterwards.
Preemption FindPreemption(const Basis& basis);

}  // namespace advise
