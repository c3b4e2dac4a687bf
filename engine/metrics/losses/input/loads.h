// Single loads of data, by launching threads or for them.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "engine/metrics/losses/host/delays.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct Load {
  std::uint16_t device = 0;
  std::uint32_t thread = kNone;  // whose doing it is
  Nanos start = 0;
  Nanos end = 0;
  Nanos own = 0;
  Nanos waiting = 0;
  Nanos file = 0;
  Nanos lost = 0;
};

// The share of `loads`, in order of time, before which the loaders rested and began only when they
// were asked. `loader_busy`: when any of them is at work.
double OnDemandShare(const Run& run, const std::vector<Load>& loads,
                     const IntervalSet& loader_busy);

// Visits what launching threads load by themselves while the GPU still has work, and for which it
// does nothing but upload later: files that they read, and code in ranges that say so. Only longer
// pieces than launching needs. Gives by thread all that is loaded at these places of the loop, also
// where the GPU has enough to do. Costs as ForEachDelay.
std::map<std::uint32_t, std::vector<Interval>> ForEachLateLoad(
    const Basis& basis, const std::function<void(const Delay&)>& visit);

}  // namespace advise
