#include "engine/advice/unprofiled.h"

#include <algorithm>

namespace advise {

Unprofiled::Unprofiled(const Analysis& analysis) : analysis_(analysis) {
  const auto recorded = static_cast<double>(analysis.run.window.Length());
  const double least = analysis.run.knowledge.Number("care.profiler_cost") * recorded;
  const ProfilerCost& cost = analysis.profiler_cost;
  if (cost.gone.ChangesNothing() || cost.time_ns < least) return;
  won_ = std::max<Nanos>(0, analysis.replay().Gain(cost.gone));
  window_ = recorded - static_cast<double>(won_);
}

Nanos Unprofiled::WonBy(const Remedy& made) const {
  if (!Known()) return 0;
  Remedy together = made;
  together.Join(analysis_.profiler_cost.gone);
  together.reach_ns = 0;  // judged fix by fix
  return std::max<Nanos>(0, analysis_.replay().Gain(together) - won_);
}

void Unprofiled::Take(std::size_t candidate, Nanos won, Nanos own) {
  if (!Known() || Took(candidate)) return;
  shares_[candidate] = Share(own);
  won_ += won;
}

std::optional<double> Unprofiled::ShareOf(std::size_t candidate) const {
  const auto found = shares_.find(candidate);
  return found == shares_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace advise
