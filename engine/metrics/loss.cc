#include "engine/metrics/loss.h"

#include <algorithm>

namespace advise {

double PerStep(const Run& run, std::vector<Nanos> whens) {
  if (!run.steps.known()) return static_cast<double>(whens.size());
  std::sort(whens.begin(), whens.end());
  std::vector<double> counts;
  for (std::size_t i = run.steps.first_steady; i < run.steps.all.size(); ++i) {
    const Step& step = run.steps.all[i];
    if (step.end <= run.window.start || step.start >= run.window.end) continue;
    counts.push_back(static_cast<double>(std::lower_bound(whens.begin(), whens.end(), step.end) -
                                         std::lower_bound(whens.begin(), whens.end(), step.start)));
  }
  return counts.empty() ? static_cast<double>(whens.size()) : Median(counts);
}

void LossBuilder::Count(Nanos when, double bytes, Nanos time_ns) {
  ++loss_.count;
  loss_.bytes += bytes;
  loss_.time_ns += static_cast<double>(time_ns);
  whens_.push_back(when);
}

void LossBuilder::AddOp(std::uint32_t op) {
  const OpTable& ops = basis_.run.trace.ops;
  AddSpan(ops.device[op], std::max(ops.start[op], basis_.run.window.start),
          std::min(ops.end[op], basis_.run.window.end));
}

void LossBuilder::AddExposed(std::uint32_t op) {
  const OpTable& ops = basis_.run.trace.ops;
  const DeviceTime& time = basis_.times[ops.device[op]];
  const IntervalSet& exposed = ops.kind[op] == OpKind::kCopy     ? time.copy_exposed
                               : ops.kind[op] == OpKind::kMemset ? time.memset_exposed
                                                                 : time.comm_exposed;
  const IntervalSet part = exposed.Clip(ops.start[op], ops.end[op]);
  for (const Interval& i : part.intervals()) AddSpan(ops.device[op], i.start, i.end);
}

void LossBuilder::AddBlamed(const std::vector<std::uint8_t>& calls) {
  for (const GapPiece& piece : basis_.idle.pieces) {
    const std::uint32_t by = basis_.idle.gaps[piece.gap].blocked_by;
    if (by == kNone || calls[by] == 0) continue;
    if (piece.cause == IdleCause::kDataLoading || piece.cause == IdleCause::kFileIo ||
        piece.cause == IdleCause::kJitOrModuleLoad || piece.cause == IdleCause::kProfilerOverhead) {
      continue;
    }
    AddSpan(piece.device, piece.start, piece.end);
  }
}

Loss LossBuilder::Build() {
  loss_.per_step = PerStep(basis_.run, std::move(whens_));
  for (auto& intervals : spans_)
    loss_.lost->by_device.push_back(IntervalSet::Of(std::move(intervals)));
  return std::move(loss_);
}

}  // namespace advise
