#include "engine/metrics/losses/kernel_trains.h"

#include <algorithm>
#include <utility>

namespace advise {
namespace {

class TrainFinder {
 public:
  TrainFinder(const Basis& basis, const std::vector<std::uint32_t>& kernels)
      : basis_(basis),
        run_(basis.run),
        trace_(basis.run.trace),
        small_ns_(run_.knowledge.Number("kernel.train_small")),
        train_length_(static_cast<std::size_t>(run_.knowledge.Number("kernel.train_length"))),
        kernels_(kernels) {}

  KernelTrains Find() {
    LossBuilder matrix(basis_);
    LossBuilder repeats(basis_);
    StepCounter matrix_whens(run_);
    StepCounter repeat_whens(run_);
    const Names& names = run_.names;
    const ShapeSet matrices = names.Shapes([](const KernelClass& c) { return c.name == "matrix"; });
    const ShapeSet attention =
        names.Shapes([](const KernelClass& c) { return c.name == "attention"; });
    const ShapeSet heavy = names.Shapes([](const KernelClass& c) {
      return c.name == "matrix" || c.name == "optimizer" || c.name == "convolution";
    });
    // By stream; damaged reports have kernels of no stream.
    std::vector<std::pair<Train, Train>> open(trace_.streams.size() + 1);
    const std::size_t most_between = 2;
    for (const std::uint32_t op : kernels_) {
      auto& [products, same] = open[std::min<std::size_t>(trace_.ops.stream[op], open.size() - 1)];
      const bool small = Length(op) <= small_ns_ && trace_.ops.in_graph[op] == 0;
      if (small && In(matrices, op)) {
        // Layers alternate between shapes; a loop over pieces does not.
        const bool alike = !products.ops.empty() &&
                           trace_.ops.detail[products.ops.back()] == trace_.ops.detail[op];
        if (!alike) Close(&products, &matrix, &matrix_whens);
        products.ops.push_back(op);
        products.between = 0;
      } else if (!small || In(attention, op) || ++products.between > most_between) {
        Close(&products, &matrix, &matrix_whens);
      }
      const bool like =
          !same.ops.empty() && trace_.ops.detail[same.ops.back()] == trace_.ops.detail[op];
      const bool counts = small && !In(heavy, op);
      if (!like || !counts) Close(&same, &repeats, &repeat_whens);
      if (counts) same.ops.push_back(op);
    }
    for (auto& [products, same] : open) {
      Close(&products, &matrix, &matrix_whens);
      Close(&same, &repeats, &repeat_whens);
    }
    result_.product_kernels = matrix_whens.PerStep();
    result_.repeat_kernels = repeat_whens.PerStep();
    result_.products = matrix.Build();
    result_.repeats = repeats.Build();
    return std::move(result_);
  }

 private:
  double Length(std::uint32_t op) const {
    return static_cast<double>(trace_.ops.end[op] - trace_.ops.start[op]);
  }
  bool In(const ShapeSet& shapes, std::uint32_t op) const {
    return shapes.Has(trace_.ops.detail[op]);
  }

  struct Train {
    std::vector<std::uint32_t> ops;  // that count
    std::size_t between = 0;         // light kernels since the last that counts
  };

  void Close(Train* train, LossBuilder* loss, StepCounter* whens) const {
    if (train->ops.size() >= train_length_) {
      const std::uint32_t first = train->ops.front();
      loss->Count(trace_.ops.start[first], 0, 0);
      // Only the gaps: one launch for all of them does not make the work itself less.
      const std::uint32_t device = trace_.ops.device[first];
      const IntervalSet gaps =
          basis_.times[device].idle.Clip(trace_.ops.end[first], trace_.ops.end[train->ops.back()]);
      for (const Interval& gap : gaps.intervals()) loss->AddSpan(device, gap.start, gap.end);
      for (std::size_t i = 0; i < train->ops.size(); ++i) {
        const std::uint32_t op = train->ops[i];
        whens->Count(trace_.ops.start[op]);
        if (i > 0 && trace_.ops.call[op] != kNone) {
          loss->remedy().vanished_calls.push_back(trace_.ops.call[op]);
        }
      }
    }
    train->ops.clear();
    train->between = 0;
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  double small_ns_;
  std::size_t train_length_;
  const std::vector<std::uint32_t>& kernels_;
  KernelTrains result_;
};

}  // namespace

KernelTrains FindKernelTrains(const Basis& basis, const std::vector<std::uint32_t>& kernels) {
  return TrainFinder(basis, kernels).Find();
}

}  // namespace advise
