#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "engine/metrics/losses/operators/recomputed_forward.h"

namespace advise {
namespace {

// The forward pass is known by what it launches: kernels that follow each other there, some of them
// different, one of them the product of a layer. A backward pass multiplies other operands, in
// other layouts, and has such a sequence only where it computes the forward pass again.
class SequenceFinder : Finder {
 public:
  SequenceFinder(const Basis& basis, const Phases& phases, double memory_bytes_per_s)
      : Finder(basis),
        phases_(phases),
        memory_bytes_per_s_(memory_bytes_per_s),
        products_(run_.names.Shapes([](const KernelClass& c) { return c.Multiplies(); })),
        length_(CountOf("activations.sequence")),
        loss_(basis) {}

  RecomputedForward Find() {
    const std::vector<std::vector<std::uint32_t>> forward = RunsIn(Phase::kForward);
    for (const auto& run : forward) Read(run);
    RecomputedForward found;
    found.known = !forward.empty();
    for (const auto& run : RunsIn(Phase::kBackward)) Mark(run);
    if (memory_bytes_per_s_ > 0 && loss_.count() > 0) found.bytes = BytesPerStep();
    found.loss = loss_.Build();
    return found;
  }

 private:
  using Sequence = std::vector<std::uint32_t>;  // shapes of kernels
  using Ops = std::vector<std::uint32_t>;

  // Kernels of the phase that follow each other on their stream, collectives left out.
  std::vector<Ops> RunsIn(Phase phase) const {
    std::vector<Ops> runs;
    // Damaged reports have kernels of no stream.
    const std::size_t streams = trace_.streams.size();
    std::vector<Ops> open(streams + 1);
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (trace_.ops.kind[op] != OpKind::kKernel || run_.IsComm(op)) continue;
      Ops& run = open[std::min<std::size_t>(trace_.ops.stream[op], streams)];
      if (phases_.OfOp(run_, op) == phase) {
        run.push_back(op);
      } else if (!run.empty()) {
        runs.push_back(std::exchange(run, {}));
      }
    }
    for (Ops& run : open)
      if (!run.empty()) runs.push_back(std::move(run));
    return runs;
  }

  Sequence At(const Ops& run, std::size_t first) const {
    Sequence shapes;
    for (std::size_t i = 0; i < length_; ++i) shapes.push_back(trace_.ops.detail[run[first + i]]);
    return shapes;
  }

  // Kernels that only repeat, or only move data, can stand in any pass.
  bool IsTelling(const Sequence& shapes) const {
    const std::set<std::uint32_t> different(shapes.begin(), shapes.end());
    return different.size() + 1 >= length_ &&
           std::any_of(shapes.begin(), shapes.end(),
                       [&](std::uint32_t shape) { return products_.Has(shape); });
  }

  void Read(const Ops& run) {
    for (std::size_t i = 0; i + length_ <= run.size(); ++i) {
      const Sequence shapes = At(run, i);
      if (IsTelling(shapes)) forward_.insert(shapes);
    }
  }

  void Mark(const Ops& run) {
    std::size_t gone = 0;  // up to here, kernels are computed again
    for (std::size_t i = 0; i + length_ <= run.size(); ++i) {
      if (!forward_.contains(At(run, i))) continue;
      const Nanos start = trace_.ops.start[run[i]];
      if (i >= gone && basis_.InLoop(start)) loss_.Count(start, 0, 0);
      for (std::size_t k = std::max(i, gone); k < i + length_; ++k) Remove(run[k]);
      gone = i + length_;
    }
  }

  void Remove(std::uint32_t op) {
    loss_.RemoveOp(op);
    loss_.RemoveCallOf(op);
    if (!products_.Has(trace_.ops.detail[op])) moved_ns_ += static_cast<double>(Length(op));
  }

  // Most results of products are read by kernels that move data, and their results by products:
  // what those move is about what is kept.
  double BytesPerStep() const {
    const double steps = run_.steps.known()
                             ? std::max<double>(1, static_cast<double>(run_.steps.steady_count()))
                             : 1;
    return moved_ns_ * memory_bytes_per_s_ / kNanosPerSecond / steps;
  }

  const Phases& phases_;
  const double memory_bytes_per_s_;
  const ShapeSet products_;
  const std::size_t length_;
  LossBuilder loss_;
  std::set<Sequence> forward_;
  double moved_ns_ = 0;
};

}  // namespace

RecomputedForward FindRecomputedKernels(const Basis& basis, const Phases& phases,
                                        double memory_bytes_per_s) {
  return SequenceFinder(basis, phases, memory_bytes_per_s).Find();
}

}  // namespace advise
