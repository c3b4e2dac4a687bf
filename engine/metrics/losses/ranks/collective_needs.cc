#include "engine/metrics/losses/ranks/collective_needs.h"

#include <algorithm>
#include <limits>

#include "engine/base/median.h"
#include "engine/knowledge/knowledge.h"

namespace advise {
namespace {

// A place of the step that takes many times as long as each of several others, which move a lot
// themselves, more likely waits for a rank than moves as many times more. Moved into what the
// slowest of the others needs.
void LowerOutlier(const Knowledge& knowledge,
                  std::map<std::int64_t, CollectiveNeeds::Need>* needs) {
  std::vector<std::pair<Nanos, std::int64_t>> places;
  for (const auto& [size, need] : *needs) {
    if (size < 0 && need.time >= 0) places.emplace_back(need.time, size);
  }
  if (places.size() <= knowledge.CountOf("comm.places_least")) return;
  std::sort(places.begin(), places.end());
  const Nanos others = places[places.size() - 2].first;
  if (places.front().first < knowledge.Time("comm.place_moves")) return;
  const auto outlier =
      static_cast<Nanos>(knowledge.Number("comm.place_outlier") * static_cast<double>(others));
  if (places.back().first < outlier) return;
  (*needs)[places.back().second] = {others, true};
}

}  // namespace

std::map<std::int64_t, CollectiveNeeds::Need> CollectiveNeeds::Settle(
    const Knowledge& knowledge) const {
  const auto least = knowledge.CountOf("comm.like_least");
  const double quantile = knowledge.Number("comm.quick_call");
  std::map<std::int64_t, Nanos> quick;
  for (const auto& [size, lengths] : lengths_) {
    if (lengths.size() >= least) quick[size] = Quantile(lengths, quantile);
  }
  std::map<std::int64_t, Need> needs;
  for (const auto& [size, lengths] : lengths_) {
    Nanos time = std::numeric_limits<Nanos>::max();
    for (const auto& [other, of_other] : quick) {
      if (size < 0 ? other != size : other <= 0) continue;
      const double larger =
          size > other && other > 0 ? static_cast<double>(size) / static_cast<double>(other) : 1;
      time = std::min(time, static_cast<Nanos>(larger * static_cast<double>(of_other)));
    }
    needs[size].time = time == std::numeric_limits<Nanos>::max() ? -1 : time;
  }
  LowerOutlier(knowledge, &needs);
  return needs;
}

bool IsWait(Nanos beyond, Nanos need, const Knowledge& knowledge) {
  const double together = knowledge.Number("comm.together_share");
  return beyond > std::max(static_cast<Nanos>(knowledge.Time("cluster.late_least")),
                           static_cast<Nanos>(together * static_cast<double>(need)));
}

}  // namespace advise
