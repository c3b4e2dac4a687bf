// What threads do in the pauses at some places of their loop: a fix removes it wherever it comes
// again, also where the GPU has enough to do meanwhile.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/host_activity.h"

namespace advise {

class LikePauses {
 public:
  explicit LikePauses(const Basis& basis) : basis_(basis) {}

  // The place of the pause around that time: the names of the call before it and of the next.
  void Add(std::uint32_t thread, Nanos time);

  // Visits what the thread does in the loop's pauses at these places, where they are longer than
  // `shortest` of the thread (empty: in all): visit(thread, pieces of the pause, piece). None where
  // steps are unknown, since no place is known to come again then. O(calls log nesting).
  template <typename Visit>
  void ForEach(const std::vector<Nanos>& shortest, Visit visit) const {
    for (const auto& [thread, places] : places_) {
      HostActivity activity(basis_.run, thread);
      for (const Interval& pause : PausesAt(thread, places)) {
        if (!shortest.empty() && pause.Length() <= shortest[thread]) continue;
        const std::vector<HostPiece> pieces = activity.Pieces(pause.start, pause.end);
        for (const HostPiece& piece : pieces) visit(thread, pieces, piece);
      }
    }
  }

  // Cuts the calls of that kind from all pauses at these places, other than those around loading. A
  // thread that sleeps several times in one pause polls: it waits as long without these calls.
  void CutCalls(Activity activity, LossBuilder* loss) const;

 private:
  using Place = std::pair<StringId, StringId>;
  Place PlaceOf(std::uint32_t call) const;
  std::vector<Interval> PausesAt(std::uint32_t thread, const std::set<Place>& places) const;

  const Basis& basis_;
  std::map<std::uint32_t, std::set<Place>> places_;
};

}  // namespace advise
