// When which phase of the program was open, per process, from its named ranges; exchanges also from
// kernels that pack messages, the passes of training from the framework's operators, or from the
// threads that launch them.
#pragma once

#include <array>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

class Phases {
 public:
  Phases() = default;
  explicit Phases(const Run& run);  // asks for run.steps; O(ranges + calls log calls)
  // The most specific phase open in the process at that time.
  Phase At(std::uint32_t process, Nanos time) const;
  const IntervalSet& Of(std::uint32_t process, Phase phase) const {
    return sets_[process][static_cast<std::size_t>(phase)];
  }
  // Phase of a call, and of an op: that of its launching call.
  Phase OfCall(std::uint32_t call) const {
    return of_call_.empty() ? Phase::kUnnamed : of_call_[call];
  }
  Phase OfOp(const Run& run, std::uint32_t op) const {
    const std::uint32_t call = run.trace.ops.call[op];
    return call == kNone ? Phase::kUnnamed : OfCall(call);
  }
  bool known(Phase phase) const { return known_[static_cast<std::size_t>(phase)]; }

 private:
  void LabelCalls(const Run& run);
  void FromOperators(const Run& run);  // phase_operators.cc: where no range names the two passes
  void FromThreads(const Run& run);    // phase_threads.cc: and no operator
  static constexpr std::size_t kCount = static_cast<std::size_t>(Phase::kDataLoading) + 1;
  std::vector<std::array<IntervalSet, kCount>> sets_;
  std::array<bool, kCount> known_{};
  std::vector<Phase> of_call_;  // empty when no range names a phase
};

// Whether the backward pass launched the op: its threads copy behind its last kernel as well.
inline bool IsOfBackward(const Run& run, const Phases& phases, std::uint32_t op) {
  const std::uint32_t call = run.trace.ops.call[op];
  return call != kNone && (phases.OfCall(call) == Phase::kBackward ||
                           run.names.ThreadRole(run.trace.calls.thread[call]) == Role::kAutograd);
}

}  // namespace advise
