// Who loads data beside the launching threads: workers, threads that read, threads that feed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/timeline/run.h"
#include "engine/trace/intervals.h"

namespace advise {

// Who loads, in short.
struct WhoLoads {
  std::string loader;        // "own": a loader without workers; "workers": one with; "" not known
  std::size_t workers = 0;   // processes, or threads of one process
  bool background = false;   // somebody beside the launching thread loads
  double workers_busy = -1;  // share of the time that they were seen; -1 never
  // All that was loaded in the window takes its loaders, side by side, so long; 0 where that is not
  // known: they were not seen to rest.
  Nanos needs_ns = 0;
  // The share of the window's steps that take place only behind that: the loaders were ahead.
  double left_share = 0;
};

struct Loaders : WhoLoads {
  std::vector<std::uint32_t> worker_threads;
  IntervalSet busy;             // when any of them is at work
  std::vector<Interval> reads;  // of files
  Nanos working_ns = 0;         // in the window, without waits, summed over them
  // By thread: in the range of a loader that has workers, which is a wait for them.
  std::vector<IntervalSet> waits_for_workers;
};

// O(ranges + OS calls, log of them).
Loaders FindLoaders(const Run& run);

}  // namespace advise
