#include "engine/advice/unprofiled.h"

#include <algorithm>

namespace advise {

Unprofiled::Unprofiled(const Analysis& analysis) : analysis_(analysis) {
  const auto recorded = static_cast<double>(analysis.run.window.Length());
  const double least = analysis.run.knowledge.Number("care.profiler_cost") * recorded;
  const ProfilerCost& cost = analysis.profiler_cost;
  if (cost.gone.ChangesNothing() || cost.time_ns < least) return;
  won_ = analysis.replay().Gain(cost.gone);
  if (static_cast<double>(won_) >= least) window_ = recorded - static_cast<double>(won_);
}

void Unprofiled::Take(std::size_t candidate, const Remedy& made) {
  if (window_ <= 0 || shares_.contains(candidate)) return;
  Remedy together = made;
  together.Join(analysis_.profiler_cost.gone);
  together.reach_ns = 0;
  const Nanos won = std::max(won_, analysis_.replay().Gain(together));
  shares_[candidate] = static_cast<double>(won - won_) / window_;
  won_ = won;
}

std::optional<double> Unprofiled::ShareOf(std::size_t candidate) const {
  const auto found = shares_.find(candidate);
  return found == shares_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace advise
