#include "engine/metrics/losses/host/like_pauses.h"

#include <algorithm>

#include "engine/timeline/pause.h"

namespace advise {

void LikePauses::Add(std::uint32_t thread, Nanos time) {
  if (thread == kNone) return;
  const std::uint32_t next = NextCall(basis_.run, thread, time);
  if (next != kNone && next != basis_.run.calls_of_thread[thread].first)
    places_[thread].insert(PlaceOf(next));
}

LikePauses::Place LikePauses::PlaceOf(std::uint32_t call) const {
  const CallTable& calls = basis_.run.trace.calls;
  return {calls.name[call - 1], calls.name[call]};
}

std::vector<Interval> LikePauses::PausesAt(std::uint32_t thread,
                                           const std::set<Place>& places) const {
  std::vector<Interval> pauses;
  if (!basis_.run.steps.known()) return pauses;
  const CallTable& calls = basis_.run.trace.calls;
  const RowRange rows = basis_.run.calls_of_thread[thread];
  for (std::uint32_t c = rows.first + 1; c < rows.last; ++c) {
    const Interval pause{calls.end[c - 1], calls.start[c]};
    if (pause.Length() > 0 && basis_.InLoop(pause.start) && places.contains(PlaceOf(c)))
      pauses.push_back(pause);
  }
  return pauses;
}

void LikePauses::CutCalls(Activity activity, LossBuilder* loss) const {
  ForEach(
      {}, [&](std::uint32_t thread, const std::vector<HostPiece>& pieces, const HostPiece& piece) {
        if (piece.activity != activity || CauseOf(piece) == IdleCause::kDataLoading) return;
        const bool polls = activity == Activity::kSleep &&
                           std::count_if(pieces.begin(), pieces.end(), [](const HostPiece& other) {
                             return other.activity == Activity::kSleep;
                           }) > 1;
        if (!polls) loss->CutHost(thread, piece.start, piece.end);
      });
}

}  // namespace advise
