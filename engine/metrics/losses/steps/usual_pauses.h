// Pauses of the host that come in most steps, whether the GPU waits for them or not.
#pragma once

#include <map>
#include <tuple>
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
  // of both: then the usual pause must be most of this one, and all of it but for what pauses that
  // no such wait opens vary by.
  bool Holds(std::uint32_t thread, Nanos time, Nanos idle) const;

  // The wait for the GPU, of a kind that most steps do not make, behind which the thread pauses at
  // that time; kNone for none.
  std::uint32_t RareSyncBefore(std::uint32_t thread, Nanos time) const;

  // What the pause at that time, opened by such a wait, holds beyond what the thread does there in
  // other steps.
  Nanos BeyondUsual(std::uint32_t thread, Nanos time) const;

 private:
  // Of a call: its name, and the kernel that it launches, or the direction and size of its copy.
  using Kind = std::tuple<StringId, std::uint32_t, int>;
  Kind KindOf(std::uint32_t call) const;
  using Lengths = std::map<Kind, std::vector<Nanos>>;  // sorted
  struct PauseOfStep {
    std::uint32_t step = 0;
    Nanos length = 0;
    Nanos second = 0;  // the next longest of the step; 0 for none
  };
  static void KeepLongest(const PauseOfStep& one, std::vector<PauseOfStep>* all);
  // The longest of each step. What a host that is ahead launches for the next step may begin before
  // that step does: the second one of a step is that of a later step without any.
  static Lengths Sorted(std::map<Kind, std::vector<PauseOfStep>> pauses_of);
  bool IsRareSync(std::uint32_t call) const;
  // The code of the thread before a call, without a rare wait in it.
  Nanos CodeBefore(std::uint32_t call) const;
  // How long pauses before such a call last at most that no rare wait opens; of those that last at
  // least so long.
  Nanos LongestUsual(std::uint32_t thread, const Kind& kind, Nanos least) const;

  const Run& run_;
  std::size_t half_;  // of the steps
  double most_;       // so many steps are most of them
  double beyond_;     // part of a pause behind a rare wait that the usual one must be
  double nearly_;     // part of a pause that is all of it
  double spread_;     // pauses differ by so many times the distance of their deciles
  // By thread, the longest pause of each step before such a call.
  std::vector<Lengths> of_thread_;
  std::vector<Lengths> plain_;                      // … of those that no rare wait opens
  std::vector<std::map<Kind, std::size_t>> syncs_;  // by thread: steps with such a wait for the GPU
};

}  // namespace advise
