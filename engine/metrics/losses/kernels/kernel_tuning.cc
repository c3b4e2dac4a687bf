#include "engine/metrics/losses/kernels/kernel_tuning.h"

#include <utility>

namespace advise {
namespace {

class TuningFinder : Finder {
 public:
  explicit TuningFinder(const Basis& basis)
      : Finder(basis),
        least_(basis.run.knowledge.CountOf("kernel.tuning_runs")),
        clears_(basis.run.knowledge.Number("kernel.tuning_clear")),
        loss_(basis) {}

  KernelTuning Find() {
    const RunOfStream none;
    std::vector<RunOfStream> open(trace_.streams.size() + 1, none);
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      RunOfStream& run = open[std::min<std::size_t>(trace_.ops.stream[op], open.size() - 1)];
      const OpKind kind = trace_.ops.kind[op];
      if (kind == OpKind::kMemset) {
        const auto bytes = static_cast<double>(trace_.memsets.bytes[trace_.ops.detail[op]]);
        if (bytes < clears_ || (run.bytes > 0 && bytes != run.bytes) || run.cleared) Close(&run);
        if (bytes < clears_) continue;
        run.bytes = bytes;
        run.cleared = true;
        run.ops.push_back(op);
      } else if (kind == OpKind::kKernel && run.cleared) {
        run.cleared = false;
        run.ops.push_back(op);
      } else if (!run.ops.empty()) {
        Close(&run);
      }
    }
    for (RunOfStream& run : open) Close(&run);
    if (loss_.count() > 0) result_.runs = runs_ / static_cast<double>(loss_.count());
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  // Memsets and kernels in turn.
  struct RunOfStream {
    std::vector<std::uint32_t> ops;
    double bytes = 0;      // of its memsets
    bool cleared = false;  // a kernel is due
  };

  void Close(RunOfStream* run) {
    if (run->cleared) run->ops.pop_back();  // of what follows
    const std::size_t pairs = run->ops.size() / 2;
    if (pairs >= least_ && basis_.InLoop(trace_.ops.start[run->ops.front()])) Take(*run);
    *run = RunOfStream();
  }

  void Take(const RunOfStream& run) {
    const std::uint32_t first = run.ops.front();
    const std::uint32_t last = run.ops.back();
    const Nanos start = trace_.ops.start[first];
    const Nanos end = trace_.ops.end[last];
    loss_.Count(start, 0, end - start);
    const std::size_t pairs = run.ops.size() / 2;
    runs_ += static_cast<double>(pairs);
    const std::uint32_t device = trace_.ops.device[first];
    loss_.AddSpans(device, basis_.times[device].idle.Clip(start, end));
    for (const std::uint32_t op : run.ops) {
      loss_.RemoveOp(op);
      loss_.RemoveCallOf(op);
    }
  }

  std::size_t least_;
  double clears_;
  LossBuilder loss_;
  double runs_ = 0;
  KernelTuning result_;
};

}  // namespace

KernelTuning FindKernelTuning(const Basis& basis) { return TuningFinder(basis).Find(); }

}  // namespace advise
