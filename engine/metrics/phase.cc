#include "engine/metrics/phase.h"

namespace advise {

Phases::Phases(const Run& run) : sets_(run.trace.processes.size()) {
  const RangeTable& ranges = run.trace.ranges;
  std::vector<std::array<std::vector<Interval>, kCount>> collected(sets_.size());
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const auto phase = static_cast<std::size_t>(run.names.RangePhase(ranges.name[i]));
    if (phase == 0 || ranges.thread[i] == kNone) continue;
    const std::uint32_t process = run.trace.threads[ranges.thread[i]].process;
    if (process == kNone) continue;
    collected[process][phase].push_back({ranges.start[i], ranges.end[i]});
    known_[phase] = true;
  }
  for (std::size_t p = 0; p < sets_.size(); ++p) {
    for (std::size_t phase = 1; phase < kCount; ++phase) {
      sets_[p][phase] = IntervalSet::Of(std::move(collected[p][phase]));
    }
  }
}

Phase Phases::At(std::uint32_t process, Nanos time) const {
  if (process == kNone) return Phase::kUnnamed;
  for (std::size_t phase = kCount; phase > 1; --phase) {
    if (sets_[process][phase - 1].Contains(time)) return static_cast<Phase>(phase - 1);
  }
  return Phase::kUnnamed;
}

Phase Phases::OfOp(const Run& run, std::uint32_t op) const {
  const std::uint32_t call = run.trace.ops.call[op];
  return call == kNone ? Phase::kUnnamed : At(run.ProcessOfCall(call), run.trace.calls.start[call]);
}

}  // namespace advise
