// What the fixes of the plan win of a run that nobody profiles.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "engine/metrics/analysis.h"

namespace advise {

// The profiler slows the host, so that a program that it limits shows more idle time than it has,
// and a fix seems to win more. The plan is replayed beside the recorded run without that cost.
class Unprofiled {
 public:
  // Knows nothing where the profiler takes less than `care.profiler_cost` of the window on the
  // host. What it takes may add little to the window, and more once a fix has let the host run
  // ahead.
  explicit Unprofiled(const Analysis& analysis);

  bool Known() const { return window_ > 0; }

  // What a fix wins as the next of the plan, `made` being the changes of all fixes so far and its
  // own. One replay.
  Nanos WonBy(const Remedy& made) const;
  // It is the next, and wins so much, of which `own` is no more than the fix itself can. Of one
  // that was taken before, nothing changes.
  void Take(std::size_t candidate, Nanos won, Nanos own);
  bool Took(std::size_t candidate) const { return shares_.contains(candidate); }

  // As a share of the window without the profiler's cost.
  double Share(Nanos won) const { return Known() ? static_cast<double>(won) / window_ : 0; }
  // What the fix wins in its turn.
  std::optional<double> ShareOf(std::size_t candidate) const;

 private:
  const Analysis& analysis_;
  double window_ = 0;  // without it; 0: it does not matter
  Nanos won_ = 0;      // by the profiler's cost and the fixes so far
  std::map<std::size_t, double> shares_;
};

}  // namespace advise
