#include "engine/advice/claim_phase.h"

#include <algorithm>
#include <utility>

namespace advise {
namespace {

// The passes that no range of the thread names: one on another thread may, or the operators.
Phase PassAt(const Analysis& analysis, std::uint32_t thread, Nanos time) {
  if (thread == kNone) return Phase::kUnnamed;
  const std::uint32_t process = analysis.run.trace.threads[thread].process;
  if (process == kNone) return Phase::kUnnamed;
  for (const Phase pass : {Phase::kBackward, Phase::kForward}) {
    if (analysis.phases.Of(process, pass).Contains(time)) return pass;
  }
  return Phase::kUnnamed;
}

// The named phase that holds most, where that is more than `least` of all.
template <typename Amounts>
Phase MostOf(const Amounts& amounts, Nanos all, double least) {
  const auto most = std::max_element(amounts.begin() + 1, amounts.end());
  const bool enough = static_cast<double>(*most) > least * static_cast<double>(all);
  return enough ? static_cast<Phase>(most - amounts.begin()) : Phase::kUnnamed;
}

}  // namespace

ClaimPhase::ClaimPhase(const Analysis& analysis) : of_device_(analysis.times.size()) {
  AddIdle(analysis);
  AddWork(analysis);
}

void ClaimPhase::AddIdle(const Analysis& analysis) {
  for (const GapPiece piece : analysis.idle.pieces) {
    Phase phase = piece.phase;
    if (phase == Phase::kUnnamed) {
      const Nanos middle = piece.start + piece.Length() / 2;
      phase = PassAt(analysis, analysis.idle.ThreadOf(piece), middle);
    }
    if (phase == Phase::kUnnamed) continue;
    of_device_[piece.device][static_cast<std::size_t>(phase)].Append(piece.start, piece.end);
  }
}

void ClaimPhase::AddWork(const Analysis& analysis) {
  const OpTable& ops = analysis.run.trace.ops;
  std::array<IntervalCollector, kCount> found;
  for (std::uint32_t d = 0; d < of_device_.size(); ++d) {
    for (const std::uint32_t op : analysis.run.ops_of_device[d]) {
      const Phase phase = analysis.phases.OfOp(analysis.run, op);
      if (phase == Phase::kUnnamed) continue;
      found[static_cast<std::size_t>(phase)].Add(ops.start[op], ops.end[op]);
    }
    for (std::size_t phase = 1; phase < kCount; ++phase) {
      IntervalSet& all = of_device_[d][phase];
      all = all.Union(std::exchange(found[phase], {}).Build());
    }
  }
}

Phase ClaimPhase::OfCalls(const Phases& phases, const std::vector<std::uint32_t>& calls,
                          double least) {
  std::array<Nanos, kCount> counts{};
  for (const std::uint32_t call : calls) ++counts[static_cast<std::size_t>(phases.OfCall(call))];
  return MostOf(counts, static_cast<Nanos>(calls.size()), least);
}

Phase ClaimPhase::Of(const std::vector<IntervalSet>& claim, double least) const {
  Nanos total = 0;
  std::array<Nanos, kCount> times{};
  for (std::size_t d = 0; d < claim.size() && d < of_device_.size(); ++d) {
    total += claim[d].Total();
    for (std::size_t phase = 1; phase < kCount; ++phase)
      times[phase] += claim[d].Intersect(of_device_[d][phase]).Total();
  }
  return MostOf(times, total, least);
}

}  // namespace advise
