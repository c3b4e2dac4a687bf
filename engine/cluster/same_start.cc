#include "engine/cluster/same_start.h"

#include <algorithm>

#include "engine/base/median.h"
#include "engine/cluster/clocks.h"

namespace advise {
namespace {

Nanos UsualStep(const RankSummary& rank) {
  std::vector<Nanos> lengths;
  for (const RankStep& step : rank.steps) lengths.push_back(step.end - step.start);
  return Median(std::move(lengths));
}

}  // namespace

std::vector<std::optional<Nanos>> SteadySince(const std::vector<RankSummary>& ranks,
                                              const Knowledge& knowledge) {
  std::vector<std::optional<Nanos>> since(ranks.size());
  if (std::none_of(ranks.begin(), ranks.end(), [](const auto& rank) { return rank.keeps_waits; }))
    return since;
  const Clocks clocks = AlignClocks(ranks, knowledge);
  const auto is_known = [&](const RankSummary& rank) {
    return !rank.steps.empty() && clocks.Known(rank.clock);
  };
  const auto begin = [&](const RankSummary& rank) {
    return clocks.offset[rank.clock] + rank.steps.front().start;
  };
  std::optional<Nanos> earliest;
  for (const RankSummary& rank : ranks) {
    if (rank.keeps_waits && is_known(rank))
      earliest = std::min(begin(rank), earliest.value_or(begin(rank)));
  }
  if (!earliest) return since;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const RankSummary& rank = ranks[r];
    if (is_known(rank) && begin(rank) - *earliest > UsualStep(rank) / 2)
      since[r] = *earliest - clocks.offset[rank.clock];
  }
  return since;
}

}  // namespace advise
