#include "engine/metrics/losses/kernels/kernel_updates.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/timeline/blocking_calls.h"
#include "engine/timeline/pause.h"

namespace advise {
namespace {

// Where a table by stream has the op's row; damaged reports have kernels of no stream.
std::size_t SlotOf(const Trace& trace, std::uint32_t op) {
  return std::min<std::size_t>(trace.ops.stream[op], trace.streams.size());
}

class CostFinder : Finder {
 public:
  CostFinder(const Basis& basis, const std::vector<std::uint32_t>& kernels,
             const std::vector<std::uint8_t>& in_update, InUpdate part)
      : Finder(basis), kernels_(kernels), in_update_(in_update), part_(part), loss_(basis) {}

  Loss Find() {
    // By stream: the op of the update before.
    std::vector<std::uint32_t> previous(trace_.streams.size() + 1, kNone);
    std::vector<bool> seen_linked(trace_.streams.size() + 1, false);
    const bool any_linked = std::any_of(kernels_.begin(), kernels_.end(), [&](std::uint32_t op) {
      return trace_.ops.call[op] != kNone;
    });
    for (const std::uint32_t op : kernels_) {
      if (part_ == kZeroing && in_update_[op] == kAdding) {
        loss_.RemoveOp(op);
        loss_.RemoveCallOf(op);
      }
      std::uint32_t& last = previous[SlotOf(trace_, op)];
      const bool linked = trace_.ops.call[op] != kNone;
      if (linked) seen_linked[SlotOf(trace_, op)] = true;
      // Launched before the recording: of a step that is not in it.
      const bool earlier = any_linked && !seen_linked[SlotOf(trace_, op)];
      if (in_update_[op] != part_ || earlier) {
        if (last != kNone) CutCode();
        last = kNone;
        continue;
      }
      loss_.CountWhole(op);
      if (last != kNone) {
        AddGap(basis_.times[trace_.ops.device[op]].idle, trace_.ops.device[op],
               trace_.ops.end[last], trace_.ops.start[op]);
        AddPause(trace_.ops.call[last], trace_.ops.call[op]);
      }
      MendOp(op, last == kNone);
      last = op;
    }
    CutCode();
    Lag();
    return loss_.Build();
  }

 private:
  // What zeroes is gone. One kernel of an update, the first, does the work of all.
  void MendOp(std::uint32_t op, bool first) {
    if (part_ == kUpdate && first) return;
    loss_.RemoveCallOf(op);
    const double share_of_work =
        1 - Number("kernel.empty") / std::max(1.0, static_cast<double>(Length(op)));
    loss_.ScaleOp(op, part_ == kZeroing
                          ? 0
                          : std::clamp(share_of_work, 0.0, Number("kernel.multi_tensor_residual")));
  }

  // Code between two launches of an update, one right after the other on a thread.
  void AddPause(std::uint32_t before, std::uint32_t after) {
    if (before == kNone || after != before + 1) return;
    const CallTable& calls = trace_.calls;
    const std::uint32_t thread = calls.thread[after];
    if (calls.thread[before] != thread) return;
    if (long_pauses_.empty()) long_pauses_ = LongPauses(run_);
    if (calls.start[after] - calls.end[before] > long_pauses_[thread])
      pauses_.push_back({thread, {calls.end[before], calls.start[after]}});
  }

  // What the thread does again and again between the launches of one update is the loop over the
  // tensors, and goes with it, however long it takes. What it does there now and then is something
  // else.
  void CutCode() {
    if (pauses_.size() >= CountOf("kernel.update_pauses")) {
      for (const auto& [thread, pause] : pauses_) loss_.CutHost(thread, pause.start, pause.end);
    }
    pauses_.clear();
  }

  // The first `most` of the idle time between; returns how much that is.
  Nanos AddGap(const IntervalSet& idle, std::uint32_t device, Nanos start, Nanos end,
               Nanos most = std::numeric_limits<Nanos>::max()) {
    const IntervalSet gap = idle.Clip(start, end);
    Nanos added = 0;
    for (const Interval& g : gap.intervals()) {
      const Nanos length = std::min(g.Length(), most - added);
      if (length <= 0) break;
      loss_.AddSpan(device, g.start, g.start + length);
      added += length;
    }
    return added;
  }

  // Launching an update takes longer than running it, so that the thread has lost its lead when the
  // update is through. Until it has one again, what the GPU waits for launches is due to the
  // update, up to the time that launching it took, unless the thread waits for something in
  // between.
  void Lag() {
    const auto ahead = Time("idle.host_ahead");
    const std::vector<IntervalSet> launching =
        basis_.idle.Select(trace_.devices.size(), [](const GapPiece& piece) {
          return piece.cause == IdleCause::kLaunch || piece.cause == IdleCause::kHostCompute;
        });
    for (const std::uint32_t device : run_.active_devices) {
      std::uint32_t from = kNone;  // the call that the lag is counted from
      Nanos left = 0;              // of the time that launching the update took
      bool inside = false;
      Nanos began = 0;
      Nanos until = run_.window.start;
      for (const std::uint32_t op : run_.ops_of_device[device]) {
        const std::uint32_t call = trace_.ops.call[op];
        if (in_update_[op] == part_ && call != kNone) {
          if (!inside) began = trace_.calls.start[call];
          inside = true;
          from = call;
          left = trace_.calls.end[call] - began;
        } else if (in_update_[op] != part_ && from != kNone && call != kNone) {
          inside = false;
          if (left <= 0 || trace_.calls.end[call] + ahead < until || Waited(&from, call)) {
            from = kNone;
          } else {
            left -= AddGap(launching[device], device, until, trace_.ops.start[op], left);
          }
        }
        until = std::max(until, trace_.ops.end[op]);
      }
    }
  }

  // Whether a call of the thread between these two blocked it. Goes on from `*from`.
  bool Waited(std::uint32_t* from, std::uint32_t to) const {
    if (trace_.calls.thread[*from] != trace_.calls.thread[to]) return false;
    for (std::uint32_t c = *from + 1; c < to; ++c) {
      if (BlocksHost(run_, c)) return true;
    }
    *from = std::max(*from, to);
    return false;
  }

  const std::vector<std::uint32_t>& kernels_;
  const std::vector<std::uint8_t>& in_update_;  // by op
  InUpdate part_;
  LossBuilder loss_;
  std::vector<Nanos> long_pauses_;                          // by thread; asked for once
  std::vector<std::pair<std::uint32_t, Interval>> pauses_;  // of the open update: thread, when
};

// By op: kZeroing in rows of kernels that only fill, with no other kernel between on their stream.
std::vector<std::uint8_t> RowsOfFills(const Run& run, const std::vector<std::uint32_t>& kernels) {
  const Trace& trace = run.trace;
  std::vector<std::uint8_t> part(trace.ops.size(), kNoUpdate);
  const auto row = run.knowledge.CountOf("kernel.zeroing_row");
  const ShapeSet fills = run.names.Shapes([](const KernelClass& c) { return c.HasTrait("fill"); });
  if (fills.empty()) return part;
  std::vector<std::vector<std::uint32_t>> open(trace.streams.size() + 1);
  const auto close = [&](std::vector<std::uint32_t>* fill_row) {
    if (fill_row->size() >= row) {
      for (const std::uint32_t op : *fill_row) part[op] = kZeroing;
    }
    fill_row->clear();
  };
  for (const std::uint32_t op : kernels) {
    std::vector<std::uint32_t>& fill_row = open[SlotOf(trace, op)];
    if (fills.Has(trace.ops.detail[op]) && trace.ops.in_graph[op] == 0) {
      fill_row.push_back(op);
    } else {
      close(&fill_row);
    }
  }
  for (auto& fill_row : open) close(&fill_row);
  return part;
}

// Gradients that are zeroed stay allocated, so that the backward pass computes each somewhere else
// and adds it: in a kernel of its own for each tensor, before the next row zeroes them. Joins of
// branches add activations, which are larger.
class AddFinder {
 public:
  AddFinder(const Run& run, const Phases& phases, std::vector<std::uint8_t>* part)
      : run_(run),
        phases_(phases),
        part_(*part),
        least_(run.knowledge.Number("kernel.zeroing_added")),
        adds_(run.names.Shapes([](const KernelClass& c) { return c.HasTrait("adds"); })) {}

  void Mark(const std::vector<std::uint32_t>& kernels) {
    if (adds_.empty()) return;
    std::vector<Open> open(run_.trace.devices.size() + 1);
    for (const std::uint32_t op : kernels) {
      Open& of = open[std::min<std::size_t>(run_.trace.ops.device[op], open.size() - 1)];
      if (part_[op] == kZeroing) {
        if (!of.adds.empty()) Close(&of);
        ++of.zeroed;
      } else if (of.zeroed > 0 && adds_.Has(run_.trace.ops.detail[op]) &&
                 phases_.OfOp(run_, op) == Phase::kBackward) {
        of.adds.push_back(op);
      }
    }
    for (Open& of : open) Close(&of);
  }

 private:
  struct Open {
    std::size_t zeroed = 0;
    std::vector<std::uint32_t> adds;
  };

  void Close(Open* of) {
    if (static_cast<double>(of->adds.size()) >= least_ * static_cast<double>(of->zeroed)) {
      const OpTable& ops = run_.trace.ops;
      std::stable_sort(of->adds.begin(), of->adds.end(), [&](std::uint32_t a, std::uint32_t b) {
        return ops.end[a] - ops.start[a] < ops.end[b] - ops.start[b];
      });
      of->adds.resize(std::min(of->adds.size(), of->zeroed));
      for (const std::uint32_t op : of->adds) part_[op] = kAdding;
    }
    *of = {};
  }

  const Run& run_;
  const Phases& phases_;
  std::vector<std::uint8_t>& part_;
  double least_;
  ShapeSet adds_;
};

}  // namespace

std::vector<std::uint8_t> UpdateKernels(const Run& run, const Phases& phases,
                                        const std::vector<std::uint32_t>& kernels,
                                        double memory_bytes_per_s) {
  const Trace& trace = run.trace;
  std::vector<std::uint8_t> in_update = RowsOfFills(run, kernels);
  AddFinder(run, phases, &in_update).Mark(kernels);
  const auto slot = [&](std::uint32_t op) { return SlotOf(trace, op); };
  // Slower memory takes longer for as much data.
  const double moves_ns = memory_bytes_per_s <= 0
                              ? 0
                              : run.knowledge.Number("kernel.optimizer_small_bytes") /
                                    memory_bytes_per_s * kNanosPerSecond;
  const double small_ns = std::max(run.knowledge.Number("kernel.optimizer_small"), moves_ns);
  const auto row = run.knowledge.CountOf("kernel.optimizer_row");
  const ShapeSet elementwise = run.names.Shapes(
      [](const KernelClass& c) { return c.name == "elementwise" || c.HasTrait("tensor-norm"); });
  const ShapeSet updates = run.names.Shapes([](const KernelClass& c) {
    return c.name == "elementwise" || c.name == "optimizer" || c.name == "copy";
  });
  const ShapeSet tiny =
      run.names.Shapes([](const KernelClass& c) { return c.HasTrait("tiny-optimizer"); });
  const ShapeSet grouped =
      run.names.Shapes([](const KernelClass& c) { return c.HasTrait("multi-tensor"); });
  std::vector<std::vector<std::uint32_t>> open(trace.streams.size() + 1);
  const auto close = [&](std::vector<std::uint32_t>* train) {
    if (train->size() >= row) {
      for (const std::uint32_t op : *train) in_update[op] = kUpdate;
    }
    train->clear();
  };
  for (const std::uint32_t op : kernels) {
    const std::uint32_t shape = trace.ops.detail[op];
    const bool small = in_update[op] == kNoUpdate && !grouped.Has(shape) &&
                       trace.ops.in_graph[op] == 0 &&
                       static_cast<double>(trace.ops.end[op] - trace.ops.start[op]) <= small_ns;
    const bool by_phase = updates.Has(shape) && phases.OfOp(run, op) == Phase::kOptimizer;
    if (small && (by_phase || tiny.Has(shape))) in_update[op] = kUpdate;
    if (small && elementwise.Has(shape)) {
      open[slot(op)].push_back(op);
    } else {
      close(&open[slot(op)]);
    }
  }
  for (auto& train : open) close(&train);
  return in_update;
}

Loss CostOfUpdates(const Basis& basis, const std::vector<std::uint32_t>& kernels,
                   const std::vector<std::uint8_t>& in_update, InUpdate part) {
  return CostFinder(basis, kernels, in_update, part).Find();
}

}  // namespace advise
