#include "engine/timeline/rests.h"

#include <algorithm>

namespace advise {

Rests RestsOf(const Run& run, std::uint32_t thread, bool receives) {
  const OsCallTable& os = run.trace.os_calls;
  const RowRange rows = run.os_of_thread[thread];
  Rests rests;
  if (rows.empty()) return rests;
  rests.first = os.start[rows.first];
  std::vector<Interval> waits;
  for (const std::uint32_t i : rows) {
    rests.last = std::max(rests.last, os.end[i]);
    const OsClass what = run.names.Os(os.name[i]);
    if (IsWait(what) && !(receives && what == OsClass::kNetwork))
      waits.push_back({os.start[i], os.end[i]});
  }
  rests.waits = IntervalSet::Of(std::move(waits));
  return rests;
}

}  // namespace advise
