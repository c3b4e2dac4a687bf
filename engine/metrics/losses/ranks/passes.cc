#include "engine/metrics/losses/ranks/passes.h"

#include <algorithm>
#include <iterator>

namespace advise {
namespace {

using Marks = std::vector<std::pair<Nanos, bool>>;

Marks::const_iterator From(const Marks& marks, Nanos at) {
  return std::lower_bound(marks.begin(), marks.end(), std::pair{at, false});
}

}  // namespace

Passes::Passes(const Run& run, const Phases& phases) : marks_(run.trace.devices.size()) {
  if (!phases.known(Phase::kBackward)) return;
  const OpTable& ops = run.trace.ops;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.kind[op] != OpKind::kKernel || run.IsComm(op)) continue;
    const Phase phase = phases.OfOp(run, op);
    if (phase == Phase::kBackward || phase == Phase::kForward)
      marks_[ops.device[op]].emplace_back(ops.start[op], phase == Phase::kBackward);
  }
}

bool Passes::BetweenPasses(std::uint32_t device, Nanos at) const {
  const Marks& marks = marks_[device];
  const auto next = From(marks, at);
  if (next == marks.begin() || !std::prev(next)->second) return false;
  return next == marks.end() || !next->second;
}

Nanos Passes::BackwardSince(std::uint32_t device, Nanos at) const {
  const Marks& marks = marks_[device];
  Nanos since = at;
  for (auto mark = From(marks, at); mark != marks.begin() && (--mark)->second;) since = mark->first;
  return since;
}

}  // namespace advise
