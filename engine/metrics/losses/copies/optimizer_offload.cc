#include "engine/metrics/losses/copies/optimizer_offload.h"

#include <algorithm>
#include <map>
#include <vector>

#include "engine/metrics/losses/copies/copy.h"
#include "engine/timeline/blocking_calls.h"

namespace advise {
namespace {

// What a device sends in a backward pass or for an update, and gets before the next pass.
struct Update {
  std::vector<std::uint32_t> down, up;  // ops
  double down_bytes = 0;
  double up_bytes = 0;
  bool named = false;  // ranges say that it sends for an update: what comes later is the next batch
};

class OffloadFinder : Finder {
 public:
  OffloadFinder(const Basis& basis, const Phases& phases, const std::vector<std::uint32_t>& copies)
      : Finder(basis),
        phases_(phases),
        copies_(copies),
        least_bytes_(Number("copy.large_bytes")),
        most_apart_(Number("copy.offload_ratio")),
        gpu_updates_(GpuUpdatesWeights()) {}

  OptimizerOffload Find() {
    LossBuilder loss(basis_);
    if (phases_.known(Phase::kBackward)) {
      for (const auto& [device, updates] : Updates())
        for (const Update& update : updates)
          if (IsOfOptimizer(update)) Tell(device, update, &loss);
    }
    result_.loss = loss.Build();
    return std::move(result_);
  }

 private:
  bool GpuUpdatesWeights() const {
    const ShapeSet updates =
        run_.names.Shapes([](const KernelClass& c) { return c.name == "optimizer"; });
    return !updates.empty();
  }

  bool IsOfUpdate(std::uint32_t op) const { return phases_.OfOp(run_, op) == Phase::kOptimizer; }

  // Weights that a backward pass itself uploads, for layers that are kept on the host, are none
  // that come back from an update. Where the GPU updates weights as well, only what comes up in an
  // update may be a part that the host keeps; the rest is the next batch.
  std::map<std::uint32_t, std::vector<Update>> Updates() const {
    std::map<std::uint32_t, std::vector<Update>> of_device;
    for (const std::uint32_t op : copies_) {
      const CopyDirection direction = trace_.DirectionOfCopy(op);
      if (!IsHostDevice(direction) || Bytes(op) < least_bytes_) continue;
      const bool down = direction == CopyDirection::kDeviceToHost;
      const bool backward = IsOfBackward(run_, phases_, op);
      if (down ? !backward && !IsOfUpdate(op) : backward) continue;
      std::vector<Update>& updates = of_device[trace_.ops.device[op]];
      if (updates.empty() || (down && !updates.back().up.empty())) updates.emplace_back();
      Update& update = updates.back();
      if (down) update.named = !backward;
      if (!down && (update.named || gpu_updates_) && !IsOfUpdate(op)) continue;
      (down ? update.down : update.up).push_back(op);
      (down ? update.down_bytes : update.up_bytes) += Bytes(op);
    }
    for (auto& [device, updates] : of_device)
      for (Update& update : updates) KeepNamed(&update);
    return of_device;
  }

  // Where ranges name the update that uploads weights, what comes up behind it is something else:
  // the next batch, tables that are sent each time.
  void KeepNamed(Update* update) const {
    const auto named = [this](std::uint32_t op) { return IsOfUpdate(op); };
    if (std::none_of(update->up.begin(), update->up.end(), named)) return;
    std::erase_if(update->up, [&](std::uint32_t op) { return !named(op); });
    update->up_bytes = 0;
    for (const std::uint32_t op : update->up) update->up_bytes += Bytes(op);
  }

  // Gradients and weights have as many elements, of 16 or 32 bits each.
  bool IsOfOptimizer(const Update& update) const {
    return !update.down.empty() && !update.up.empty() &&
           update.up_bytes <= most_apart_ * update.down_bytes &&
           update.down_bytes <= most_apart_ * update.up_bytes;
  }

  void Tell(std::uint32_t device, const Update& update, LossBuilder* loss) {
    const Nanos from = trace_.ops.end[update.down.back()];
    const Nanos to = trace_.ops.start[update.up.front()];
    loss->Count(from, update.down_bytes, 0);
    for (const auto& ops : {update.down, update.up}) {
      for (const std::uint32_t op : ops) {
        loss->AddToCounted(0, Length(op));
        loss->RemoveExposed(op);
      }
    }
    result_.up_bytes += update.up_bytes;
    if (to <= from) return;
    result_.host_time += static_cast<double>(to - from);
    const IntervalSet idle = basis_.times[device].idle.Clip(from, to);
    loss->AddSpans(device, idle);
    const std::uint32_t call = trace_.ops.call[update.up.front()];
    if (call == kNone) return;
    const std::uint32_t thread = trace_.calls.thread[call];
    const IntervalSet code = idle.Clip(from, trace_.calls.start[call]);
    for (const Interval& span : code.intervals()) loss->CutHost(thread, span.start, span.end);
    Unblock(thread, trace_.ops.start[update.down.front()], trace_.ops.end[update.up.back()], loss);
  }

  // The thread waits for gradients, and for the weights on the GPU.
  void Unblock(std::uint32_t thread, Nanos from, Nanos to, LossBuilder* loss) const {
    for (const std::uint32_t call : run_.calls_of_thread[thread]) {
      if (trace_.calls.end[call] < from) continue;
      if (trace_.calls.start[call] > to) break;
      if (BlocksHost(run_, call) || IsSync(run_.ClassOfCall(call)))
        loss->remedy().unblocked_calls.push_back(call);
    }
  }

  const Phases& phases_;
  const std::vector<std::uint32_t>& copies_;
  double least_bytes_;
  double most_apart_;
  bool gpu_updates_;
  OptimizerOffload result_;
};

}  // namespace

OptimizerOffload FindOptimizerOffload(const Basis& basis, const Phases& phases,
                                      const std::vector<std::uint32_t>& copies) {
  return OffloadFinder(basis, phases, copies).Find();
}

}  // namespace advise
