#include "engine/metrics/losses/ranks/queued_sums.h"

#include <algorithm>
#include <vector>

#include "engine/timeline/collective_kind.h"

namespace advise {
namespace {

class QueuedSumsFinder : Finder {
 public:
  QueuedSumsFinder(const Basis& basis, const Phases& phases, const Passes& passes)
      : Finder(basis), phases_(phases), passes_(passes) {}

  Loss Find() {
    LossBuilder loss(basis_);
    for (const std::uint32_t d : run_.active_devices) {
      std::vector<std::uint32_t> row;
      Nanos before = run_.window.start;  // end of the row before
      const auto close = [&] {
        if (row.empty()) return;
        AddQueued(d, row, before, &loss);
        before = trace_.ops.end[row.back()];
        row.clear();
      };
      for (const std::uint32_t op : run_.ops_of_device[d]) {
        if (!run_.IsComm(op) || !basis_.InWindow(trace_.ops.start[op])) continue;
        if (!row.empty() && !Adjoins(row.back(), op)) close();
        if (ReducesGradients(run_, op))
          row.push_back(op);
        else
          close();
      }
      close();
    }
    return loss.Build();
  }

 private:
  // Begins when the one before ends, as far as the length of both can tell.
  bool Adjoins(std::uint32_t earlier, std::uint32_t later) const {
    const Nanos gap = trace_.ops.start[later] - trace_.ops.end[earlier];
    return static_cast<double>(gap) <=
           Number("comm.queue_gap") * static_cast<double>(Length(earlier) + Length(later));
  }

  void AddQueued(std::uint32_t device, const std::vector<std::uint32_t>& row, Nanos before,
                 LossBuilder* loss) {
    const std::uint32_t first = row.front();
    const bool beside = static_cast<double>(Length(first) - Exposed(first)) >
                        Number("comm.hidden_share") * static_cast<double>(Length(first));
    // Sums inside the layers of a forward pass carry no gradients.
    if (row.size() < 2 || !beside || phases_.OfOp(run_, first) == Phase::kForward) return;
    // The first one had to wait for its own gradients.
    const Nanos since = basis_.times[device].compute.OverlapWith(trace_.ops.start[first],
                                                                 trace_.ops.end[row.back()]);
    const Nanos backward = BackwardBefore(device, before, row.front(), since);
    const Nanos own = (backward + since) / static_cast<Nanos>(row.size());
    Nanos earlier = std::max<Nanos>(0, backward - own);
    for (const std::uint32_t op : row) {
      const IntervalSet exposed =
          basis_.times[device].comm_exposed.Clip(trace_.ops.start[op], trace_.ops.end[op]);
      for (Interval span : exposed.intervals()) {
        const Nanos hidden = std::min(earlier, span.Length());
        earlier -= hidden;
        if (span.start + hidden < span.end) loss->AddSpan(device, span.start + hidden, span.end);
      }
    }
    if (earlier > 0) return;  // all of it could have begun earlier
    for (const std::uint32_t op : row) {
      loss->CountOp(op);
      loss->ScaleOp(op, Number("comm.halved"));
    }
  }

  // Of the backward pass, what was computed before its first sum began; `since`: what was computed
  // from then on. `before`: the end of the sums of the pass before.
  Nanos BackwardBefore(std::uint32_t device, Nanos before, std::uint32_t sum, Nanos since) {
    const Nanos start = trace_.ops.start[sum];
    const IntervalSet& compute = basis_.times[device].compute;
    if (phases_.known(Phase::kBackward))
      return compute.OverlapWith(passes_.BackwardSince(device, start), start);
    const Nanos all = compute.OverlapWith(before, start) + since;
    const double backward = Number("comm.backward_share") * static_cast<double>(all);
    return std::max<Nanos>(0, static_cast<Nanos>(backward) - since);
  }

  Nanos Exposed(std::uint32_t op) const {
    return basis_.times[trace_.ops.device[op]].comm_exposed.OverlapWith(trace_.ops.start[op],
                                                                        trace_.ops.end[op]);
  }

  const Phases& phases_;
  const Passes& passes_;
};

}  // namespace

Loss FindQueuedSums(const Basis& basis, const Phases& phases, const Passes& passes) {
  return QueuedSumsFinder(basis, phases, passes).Find();
}

}  // namespace advise
