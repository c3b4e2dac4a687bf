#include "engine/metrics/losses/kernels/data_growth.h"

#include <algorithm>

namespace advise {
namespace {

// What steps have on average, before and after one of them.
class Sides {
 public:
  Sides(const Steps& steps, std::uint32_t middle) : steps_(steps), middle_(middle) {}

  void Add(std::uint32_t step, double amount) {
    if (step < steps_.first_steady || step >= steps_.all.size()) return;
    (step < middle_ ? before_ : after_) += amount;
  }
  double Growth() const {
    const auto first = static_cast<double>(middle_ - steps_.first_steady);
    const auto second = static_cast<double>(steps_.all.size() - middle_);
    return before_ > 0 ? (after_ / second) / (before_ / first) : 1;
  }

 private:
  const Steps& steps_;
  std::uint32_t middle_;
  double before_ = 0;
  double after_ = 0;
};

// By name: whether its kernels have grids of different sizes. A kernel that fills the GPU once and
// loops inside has one grid for all sizes, and tells nothing.
std::vector<std::uint8_t> NamesOfSeveralGrids(const Trace& trace,
                                              const std::vector<std::uint32_t>& kernels) {
  std::vector<std::int64_t> blocks(trace.strings.size(), 0);
  std::vector<std::uint8_t> several(trace.strings.size(), 0);
  for (const std::uint32_t op : kernels) {
    const KernelShape& shape = trace.shapes[trace.ops.detail[op]];
    const auto size = static_cast<std::int64_t>(shape.Blocks());
    if (blocks[shape.name] != 0 && blocks[shape.name] != size) several[shape.name] = 1;
    blocks[shape.name] = size;
  }
  return several;
}

}  // namespace

double GrowthOfData(const Basis& basis, const std::vector<std::uint32_t>& kernels,
                    std::uint32_t middle) {
  const Trace& trace = basis.run.trace;
  const Steps& steps = basis.run.steps;
  if (middle <= steps.first_steady || middle >= steps.all.size()) return 1;
  Sides blocks(steps, middle);
  const std::vector<std::uint8_t> several = NamesOfSeveralGrids(trace, kernels);
  for (const std::uint32_t op : kernels) {
    const KernelShape& shape = trace.shapes[trace.ops.detail[op]];
    if (several[shape.name] != 0)
      blocks.Add(StepOf(basis.run, op), static_cast<double>(shape.Blocks()));
  }
  Sides uploads(steps, middle);
  for (const std::uint32_t op : basis.OpsInWindow()) {
    if (trace.ops.kind[op] != OpKind::kCopy) continue;
    const std::uint32_t copy = trace.ops.detail[op];
    if (trace.copies.direction[copy] == CopyDirection::kHostToDevice)
      uploads.Add(StepOf(basis.run, op), static_cast<double>(trace.copies.bytes[copy]));
  }
  return std::max(blocks.Growth(), uploads.Growth());
}

}  // namespace advise
