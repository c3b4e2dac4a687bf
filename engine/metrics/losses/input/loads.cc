#include "engine/metrics/losses/input/loads.h"

#include <algorithm>

#include "engine/metrics/losses/host/like_pauses.h"
#include "engine/timeline/pause.h"

namespace advise {
namespace {

// When the thread began to wait in the OS for what it was waiting for at that time; that time
// where it was not.
Nanos AskedAt(const Run& run, std::uint32_t thread, Nanos time) {
  const OsCallTable& os = run.trace.os_calls;
  const auto first = os.start.begin() + run.os_of_thread[thread].first;
  const auto after =
      std::upper_bound(first, os.start.begin() + run.os_of_thread[thread].last, time);
  if (after == first) return time;
  const auto row = static_cast<std::size_t>(std::prev(after) - os.start.begin());
  return os.end[row] > time && IsWait(run.names.Os(os.name[row])) ? os.start[row] : time;
}

bool IsLoad(const HostPiece& piece) {
  const IdleCause cause = CauseOf(piece);
  return (piece.activity == Activity::kFileIo && cause == IdleCause::kFileIo) ||
         (piece.activity == Activity::kCode && cause == IdleCause::kDataLoading);
}

}  // namespace

double OnDemandShare(const Run& run, const std::vector<Load>& loads,
                     const IntervalSet& loader_busy) {
  if (loads.empty() || loader_busy.empty()) return 0;
  const double at_rest = run.knowledge.Number("input.at_rest");
  std::size_t late = 0;
  std::size_t judged = 0;
  for (std::size_t i = 1; i < loads.size(); ++i) {
    const Nanos from = loads[i - 1].end;
    const std::uint32_t thread = loads[i].thread;
    const Nanos to = thread == kNone ? loads[i].start : AskedAt(run, thread, loads[i].start);
    const Nanos gap_work = loader_busy.OverlapWith(loads[i].start, loads[i].end);
    if (to <= from || 2 * gap_work < loads[i].end - loads[i].start) continue;
    ++judged;
    const auto worked = static_cast<double>(loader_busy.OverlapWith(from, to));
    if (worked < at_rest * static_cast<double>(to - from)) ++late;
  }
  return judged == 0 ? 0 : static_cast<double>(late) / static_cast<double>(judged);
}

std::map<std::uint32_t, std::vector<Interval>> ForEachLateLoad(
    const Basis& basis, const std::function<void(const Delay&)>& visit) {
  const std::vector<Nanos> long_pauses = LongPauses(basis.run);
  LikePauses like(basis);
  const auto is_load = [&](std::uint32_t thread, const HostPiece& piece) {
    return IsLoad(piece) && piece.end - piece.start > long_pauses[thread] &&
           basis.InLoop(piece.start);
  };
  ForEachDelay(basis, is_load, [&](const Delay& delay) {
    if (!delay.upload) return;
    like.Add(delay.thread, delay.piece.start);
    visit(delay);
  });
  std::map<std::uint32_t, std::vector<Interval>> all;
  like.ForEach(long_pauses,
               [&](std::uint32_t thread, const std::vector<HostPiece>&, const HostPiece& piece) {
                 if (IsLoad(piece)) all[thread].push_back({piece.start, piece.end});
               });
  return all;
}

}  // namespace advise
