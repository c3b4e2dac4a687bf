#include "engine/timeline/handed_memory.h"

#include <algorithm>

namespace advise {
namespace {

// What one thread was handed. `behind_share`: of a wait, what may lie between its end and what
// ended it.
std::vector<Interval> HandedTo(const Run& run, RowRange rows, double behind_share) {
  const OsCallTable& os = run.trace.os_calls;
  // Who opens a socket and maps memory, as CUDA does when it starts, was handed nothing.
  const auto receives = [&](std::uint32_t i) {
    return run.knowledge.IsOfFamily(FamilyKind::kOs, "receives", run.trace.strings[os.name[i]]);
  };
  std::vector<Interval> handed;
  Interval waited;
  Nanos received = -1;  // start of the call; -1: nothing since the last wait
  bool mapped = false;
  for (const std::uint32_t i : rows) {
    switch (run.names.Os(os.name[i])) {
      case OsClass::kWait:
        waited = {os.start[i], os.end[i]};
        received = -1;
        break;
      case OsClass::kNetwork:
        if (!receives(i)) break;
        received = os.start[i];
        mapped = false;
        break;
      case OsClass::kMemoryMap: {
        if (received < 0) break;
        if (mapped) {  // the copy out of it is done
          handed.back().end = os.end[i];
          break;
        }
        const bool ended_wait = static_cast<double>(received - waited.end) <=
                                behind_share * static_cast<double>(waited.Length());
        handed.push_back({ended_wait ? waited.start : received, os.end[i]});
        mapped = true;
        break;
      }
      default:
        break;
    }
  }
  return handed;
}

}  // namespace

std::vector<std::vector<Interval>> HandedMemory(const Run& run) {
  const double behind_share = run.knowledge.Number("replay.hand_over.behind_share");
  std::vector<std::vector<Interval>> handed(run.trace.threads.size());
  std::vector<std::uint8_t> launches(run.trace.processes.size(), 0);
  for (const std::uint32_t t : run.launching_threads) {
    if (run.trace.threads[t].process != kNone) launches[run.trace.threads[t].process] = 1;
  }
  for (std::uint32_t t = 0; t < handed.size(); ++t) {
    const std::uint32_t process = run.trace.threads[t].process;
    if (process == kNone || launches[process] == 0) continue;
    if (run.names.ThreadRole(t) != Role::kCommunication)
      handed[t] = HandedTo(run, run.os_of_thread[t], behind_share);
  }
  return handed;
}

}  // namespace advise
