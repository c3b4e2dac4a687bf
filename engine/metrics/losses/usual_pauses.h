// Pauses of the host that come in most steps, whether the GPU waits for them or not.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// A host that ran ahead hides its pauses until something empties the GPU's queue. The GPU then
// waits for what the host does in every step, and the step with that wait is not the one with the
// cause.
class UsualPauses {
 public:
  explicit UsualPauses(const Run& run);  // O(calls log calls)

  // True when the thread pauses about as long before the same call in most steps: less than half of
  // `idle`, a part of the pause around `time` in which the GPU waits, is beyond it. Where a wait
  // for the GPU that most steps do not make opens the pause, what the host adds to it is the reason
  // of both: then the usual pause must be most of this one.
  bool Holds(std::uint32_t thread, Nanos time, Nanos idle) const;

  // The wait for the GPU, of a kind that most steps do not make, behind which the thread pauses at
  // that time; kNone for none.
  std::uint32_t RareSyncBefore(std::uint32_t thread, Nanos time) const;

 private:
  using Kind = std::pair<StringId, std::uint32_t>;  // of a call: its name, the kernel it launches
  Kind KindOf(std::uint32_t call) const;

  const Run& run_;
  double most_;    // so many pauses are most steps
  double beyond_;  // part of a pause behind a rare wait that the usual one must be
  std::vector<std::map<Kind, std::vector<Nanos>>> of_thread_;  // lengths before a call, sorted
  std::vector<std::map<Kind, std::size_t>> syncs_;             // by thread: waits for the GPU
};

}  // namespace advise
