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
  // Knows nothing where the profiler's cost adds less than `care.profiler_cost` to the window.
  explicit Unprofiled(const Analysis& analysis);

  // After the next fix of the plan, `made` being the changes of all fixes so far. Of a fix that was
  // taken before, nothing changes. One replay.
  void Take(std::size_t candidate, const Remedy& made);

  // What the fix wins in its turn, as a share of the window without the profiler's cost.
  std::optional<double> ShareOf(std::size_t candidate) const;

 private:
  const Analysis& analysis_;
  double window_ = 0;  // without it; 0: it does not matter
  Nanos won_ = 0;      // by the profiler's cost and the fixes so far
  std::map<std::size_t, double> shares_;
};

}  // namespace advise
