// In which phase of the program the time lies that a finding claims.
#pragma once

#include <array>
#include <vector>

#include "engine/metrics/analysis.h"

namespace advise {

class ClaimPhase {
 public:
  // `analysis` must outlive this. O((idle pieces + ops) log phases).
  explicit ClaimPhase(const Analysis& analysis);

  // The phase that holds more than `least` (a share) of a claim, by device: of idle time what its
  // thread was in, of GPU work what its launching call was in. kUnnamed where none does.
  Phase Of(const std::vector<IntervalSet>& claim, double least) const;

  // The phase in which more than `least` of these calls are made: who looks for a wait finds it
  // there, wherever the GPU is idle because of it. O(calls).
  static Phase OfCalls(const Phases& phases, const std::vector<std::uint32_t>& calls, double least);

 private:
  static constexpr std::size_t kCount = static_cast<std::size_t>(Phase::kDataLoading) + 1;
  void AddIdle(const Analysis& analysis);
  void AddWork(const Analysis& analysis);

  std::vector<std::array<IntervalSet, kCount>> of_device_;
};

}  // namespace advise
