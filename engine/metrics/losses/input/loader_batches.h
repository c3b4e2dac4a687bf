// How long loader workers take for one batch, and for an odd one.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timeline/run.h"
#include "engine/trace/spans.h"

namespace advise {

struct LoaderBatches {
  bool known = false;
  double median_ns = 0;
  std::size_t count = 0;       // in the capture
  std::size_t slow_count = 0;  // of these, more than three times the median
  double slow_part = 0;        // of the time lost to loading: a worker was at a slow one meanwhile
  // At work in the window, on average over the workers, had the slow ones taken as long as the
  // median.
  double usual_ns = 0;
};

// Nothing in a capture says where a worker's batch begins. As many calls to files as there are of
// all workers for each step are the work of one batch, wherever they are counted from. Not known
// where the workers call less often, or load too little for a median. O(calls of the workers).
LoaderBatches FindLoaderBatches(const Run& run, const std::vector<std::uint32_t>& workers,
                                const Spans& lost);

}  // namespace advise
