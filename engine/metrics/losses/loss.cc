#include "engine/metrics/losses/loss.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace advise {

void StepCounter::Count(Nanos when) {
  const std::vector<Step>& steps = run_.steps.all;
  if (++all_ == 1) counts_.resize(steps.size());
  const auto holds = [&](std::size_t i) {
    return i < steps.size() && when >= steps[i].start && when < steps[i].end;
  };
  if (!holds(last_) && !holds(++last_)) {
    const std::uint32_t at = run_.steps.At(when);
    last_ = at == kNone ? 0 : at;
    if (at == kNone) return;
  }
  ++counts_[last_];
}

double StepCounter::PerStep() const {
  if (all_ == 0) return 0;  // as most counters are left
  std::vector<std::uint32_t> steady;
  for (std::size_t i = run_.steps.first_steady; i < counts_.size(); ++i) {
    const Step& step = run_.steps.all[i];
    if (step.end > run_.window.start && step.start < run_.window.end) steady.push_back(counts_[i]);
  }
  if (steady.empty()) return static_cast<double>(all_);
  const auto count = static_cast<double>(steady.size());
  const double sum = std::accumulate(steady.begin(), steady.end(), 0.0);
  const auto median = static_cast<double>(Median(std::move(steady)));
  return median > 0 ? median : sum / count;
}

double PerStep(const Run& run, const std::vector<Nanos>& whens) {
  StepCounter counter(run);
  for (const Nanos when : whens) counter.Count(when);
  return counter.PerStep();
}

std::uint32_t StepOf(const Run& run, std::uint32_t op) {
  const Steps& steps = run.steps;
  const std::uint32_t call = run.trace.ops.call[op];
  const bool by_launch = !steps.of_device && call != kNone;
  return steps.At(by_launch ? run.trace.calls.start[call] : run.trace.ops.start[op]);
}

HostTime Joined(std::map<std::uint32_t, std::vector<Interval>> spans_of_thread) {
  HostTime joined;
  for (auto& [thread, spans] : spans_of_thread) joined[thread] = IntervalSet::Of(std::move(spans));
  return joined;
}

void LossBuilder::Count(Nanos when, double bytes, Nanos time_ns) {
  ++loss_.count;
  counter_.Count(when);
  AddToCounted(bytes, time_ns);
}

void LossBuilder::CountOp(std::uint32_t op, double bytes) {
  const OpTable& ops = basis_.run.trace.ops;
  Count(ops.start[op], bytes, ops.Length(op));
}

void LossBuilder::AddToCounted(double bytes, Nanos time_ns) {
  loss_.bytes += bytes;
  loss_.time_ns += static_cast<double>(time_ns);
}

void LossBuilder::AddSpans(std::uint32_t device, const IntervalSet& spans) {
  for (const Interval& i : spans.intervals()) AddSpan(device, i.start, i.end);
}

void LossBuilder::AddOp(std::uint32_t op) {
  const OpTable& ops = basis_.run.trace.ops;
  AddSpan(ops.device[op], std::max(ops.start[op], basis_.run.window.start),
          std::min(ops.end[op], basis_.run.window.end));
}

void LossBuilder::AddOpBeyond(std::uint32_t op, Nanos kept) {
  const OpTable& ops = basis_.run.trace.ops;
  AddSpan(ops.device[op], ops.start[op] + kept, ops.end[op]);
}

void LossBuilder::AddExposed(std::uint32_t op) {
  const OpTable& ops = basis_.run.trace.ops;
  const DeviceTime& time = basis_.times[ops.device[op]];
  const IntervalSet& exposed = ops.kind[op] == OpKind::kCopy     ? time.copy_exposed
                               : ops.kind[op] == OpKind::kMemset ? time.memset_exposed
                                                                 : time.comm_exposed;
  AddSpans(ops.device[op], exposed.Clip(ops.start[op], ops.end[op]));
}

void LossBuilder::RemoveCallOf(std::uint32_t op) {
  const std::uint32_t call = basis_.run.trace.ops.call[op];
  if (call != kNone) remedy().vanished_calls.push_back(call);
}

void LossBuilder::AddIdleInside(const HostTime& spans_of_thread) {
  if (spans_of_thread.empty()) return;
  for (const GapPiece piece : basis_.idle.pieces) {
    const auto at = spans_of_thread.find(basis_.idle.ThreadOf(piece));
    if (at == spans_of_thread.end()) continue;
    AddSpans(piece.device, at->second.Clip(piece.start, piece.end));
  }
}

void LossBuilder::RemoveFromHost(const HostTime& spans_of_thread) {
  for (const auto& [thread, spans] : spans_of_thread) {
    for (const std::uint32_t c : basis_.run.calls_of_thread[thread]) {
      if (!spans.Contains(basis_.run.trace.calls.start[c])) continue;
      remedy().unblocked_calls.push_back(c);
      remedy().vanished_calls.push_back(c);
    }
    remedy().host_cuts.push_back({thread, spans});
  }
  AddIdleInside(spans_of_thread);
}

void LossBuilder::AddBlamed(const std::vector<std::uint8_t>& calls) {
  if (std::find(calls.begin(), calls.end(), 1) == calls.end()) return;
  const Steps& steps = basis_.run.steps;
  const auto for_each = [&](auto visit) {
    for (const GapPiece piece : basis_.idle.pieces) {
      const std::uint32_t by = basis_.idle.gaps[piece.gap].blocked_by;
      if (by == kNone || calls[by] == 0) continue;
      if (piece.cause == IdleCause::kDataLoading || piece.cause == IdleCause::kFileIo ||
          piece.cause == IdleCause::kJitOrModuleLoad || piece.cause == IdleCause::kAllocation ||
          piece.cause == IdleCause::kProfilerOverhead || piece.cause == IdleCause::kHostFunction ||
          piece.activity == Activity::kMpi || piece.activity == Activity::kNetwork ||
          piece.activity == Activity::kSleep || piece.activity == Activity::kOsWait) {
        continue;
      }
      const std::uint32_t step = steps.outliers.empty() ? kNone : steps.At(piece.start);
      visit(piece, step != kNone && steps.IsOutlier(step));
    }
  };
  // In a step that stands out, more of the same than any other step has is not the call's doing.
  Nanos usual = std::numeric_limits<Nanos>::max();
  if (!steps.outliers.empty()) {
    usual = 0;
    for_each([&](const GapPiece& piece, bool stands_out) {
      if (!stands_out) usual = std::max(usual, piece.Length());
    });
    if (usual == 0) usual = std::numeric_limits<Nanos>::max();  // only such steps have it
  }
  for_each([&](const GapPiece& piece, bool stands_out) {
    const Nanos length = stands_out ? std::min(usual, piece.Length()) : piece.Length();
    AddSpan(piece.device, piece.start, piece.start + length);
  });
  for (const LateCopy& late : basis_.idle.late_copies) {
    if (calls[late.blocked_by] != 0) AddExposed(late.op);
  }
}

Loss LossBuilder::Build() {
  loss_.per_step = counter_.PerStep();
  for (IntervalCollector& spans : spans_) loss_.lost->by_device.push_back(std::move(spans).Build());
  for (auto& [thread, cuts] : host_cuts_)
    remedy().host_cuts.push_back({thread, std::move(cuts).Build()});
  return std::move(loss_);
}

}  // namespace advise
