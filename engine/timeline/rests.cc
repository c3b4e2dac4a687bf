#include "engine/timeline/rests.h"

#include <algorithm>

namespace advise {

Rests RestsOf(const Run& run, std::uint32_t thread) {
  const OsCallTable& os = run.trace.os_calls;
  const RowRange rows = run.os_of_thread[thread];
  Rests rests;
  if (rows.empty()) return rests;
  rests.first = os.start[rows.first];
  std::vector<Interval> waits;
  for (const std::uint32_t i : rows) {
    rests.last = std::max(rests.last, os.end[i]);
    if (IsWait(run.names.Os(os.name[i]))) waits.push_back({os.start[i], os.end[i]});
  }
  rests.waits = IntervalSet::Of(std::move(waits));
  return rests;
}

}  // namespace advise
