#include "engine/metrics/losses/host/process_starts.h"

#include <algorithm>
#include <utility>

#include "engine/timeline/restarts.h"

namespace advise {

ProcessStarts FindProcessStarts(const Basis& basis) {
  ProcessStarts found;
  const Run& run = basis.run;
  found.lost.resize(run.trace.devices.size());
  for (const std::uint32_t d : run.active_devices) {
    const std::vector<Stay> stays = StaysOn(run, d);
    std::vector<Interval> lost;
    std::size_t follow = 0;
    for (std::size_t i = 1; i < stays.size(); ++i) {
      if (!Follows(stays[i - 1], stays[i])) continue;
      const Interval between{stays[i - 1].when.end, stays[i].when.start};
      const IntervalSet idle = basis.times[d].idle.Clip(between.start, between.end);
      lost.insert(lost.end(), idle.intervals().begin(), idle.intervals().end());
      ++follow;
    }
    if (follow == 0) continue;
    found.lost[d] = IntervalSet::Of(std::move(lost));
    found.processes = std::max(found.processes, follow + 1);
  }
  return found;
}

}  // namespace advise
