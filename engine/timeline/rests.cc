#include "engine/timeline/rests.h"

#include <algorithm>
#include <functional>

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

namespace {

// Between calls of the thread in the window.
std::vector<Nanos> Pauses(const Run& run, std::uint32_t thread) {
  const OsCallTable& os = run.trace.os_calls;
  std::vector<Nanos> pauses;
  Nanos since = run.window.end;
  for (const std::uint32_t i : run.os_of_thread[thread]) {
    if (run.InWindow(os.start[i]) && os.start[i] > since) pauses.push_back(os.start[i] - since);
    since = os.end[i];
  }
  return pauses;
}

}  // namespace

bool WouldShowRests(const Run& run, std::uint32_t thread, std::size_t batches) {
  const OsCallTable& os = run.trace.os_calls;
  for (const std::uint32_t i : run.os_of_thread[thread])
    if (run.names.Os(os.name[i]) == OsClass::kWait) return true;
  std::vector<Nanos> pauses = Pauses(run, thread);
  const std::size_t several = 2 * batches;
  if (pauses.size() <= several) return false;
  std::sort(pauses.begin(), pauses.end(), std::greater<>());
  const double steady = run.knowledge.Number("replay.loader_steady");
  return static_cast<double>(pauses.front()) <= steady * static_cast<double>(pauses[several]);
}

bool SeenToBegin(const Run& run, std::uint32_t thread) {
  const OsCallTable& os = run.trace.os_calls;
  const RowRange rows = run.os_of_thread[thread];
  const std::vector<Nanos> pauses = Pauses(run, thread);
  if (rows.empty() || pauses.empty()) return false;
  Nanos first = os.start[rows.first];
  for (const RowRange other : run.os_of_thread)
    if (!other.empty()) first = std::min(first, os.start[other.first]);
  return os.start[rows.first] - first > *std::max_element(pauses.begin(), pauses.end());
}

}  // namespace advise
