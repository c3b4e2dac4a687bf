#include "engine/metrics/losses/kernels/elementwise_runs.h"

#include <algorithm>

#include "engine/metrics/kernels/shape_call.h"
#include "engine/metrics/losses/copies/copy.h"

namespace advise {
namespace {

class ElementwiseFinder : Finder {
 public:
  ElementwiseFinder(const Basis& basis, const Phases& phases,
                    const std::vector<std::uint8_t>& in_update)
      : Finder(basis),
        phases_(phases),
        in_update_(in_update),
        light_(run_.names.Shapes([](const KernelClass& c) {
          const bool simple = c.name == "elementwise" || c.name == "copy" || c.name == "cast";
          return simple && !c.HasTrait("fused") && !c.HasTrait("tiny-optimizer") &&
                 !c.HasTrait("by-table") && !c.HasTrait("vector-call");
        })),
        joins_(run_.names.Shapes([](const KernelClass& c) { return c.HasTrait("concatenates"); })),
        loss_(basis),
        runs_(run_),
        residual_(static_cast<float>(Number("kernel.fused_residual"))) {
    if (!trace_.operators.inputs.empty())
      operators_ = RowsByThread(trace_.operators.thread, trace_.threads.size());
  }

  ElementwiseRuns Find(const std::vector<std::uint32_t>& kernels) {
    // Damaged reports have kernels of no stream.
    const std::size_t streams = trace_.streams.size();
    std::vector<OpenRuns> open(streams + 1);
    const auto of_stream = [&](std::uint32_t op) -> OpenRuns& {
      return open[std::min<std::size_t>(trace_.ops.stream[op], streams)];
    };
    std::uint32_t next = kernels.empty() ? 0 : kernels.front();  // of all operations
    for (const std::uint32_t op : kernels) {
      for (; next < op; ++next) {
        // What the host reads or sends stands between two kernels: no compiler joins them.
        if (IsOfHost(next)) CloseAll(&of_stream(next));
      }
      OpenRuns& runs = of_stream(op);
      if (!IsFusable(op) || (!runs.empty() && StepOf(runs.back().back().op) != StepOf(op)))
        CloseAll(&runs);
      if (!IsFusable(op)) continue;
      const Kernel kernel{op, ElementsOf(op)};
      while (!runs.empty() && Compare(runs.back().back(), kernel) > 0) {
        Close(runs.back());
        runs.pop_back();
      }
      if (runs.empty() || Compare(runs.back().back(), kernel) < 0) runs.emplace_back();
      runs.back().push_back(kernel);
    }
    for (OpenRuns& runs : open) CloseAll(&runs);
    return {loss_.Build(), runs_.PerStep()};
  }

 private:
  struct Kernel {
    std::uint32_t op = 0;
    double elements = 0;  // 0 unknown
  };

  // Runs that may go on, each on fewer elements than the one before: what works on statistics of
  // rows, say, stands between two kernels that work on all elements, and is a run of its own.
  using OpenRuns = std::vector<std::vector<Kernel>>;

  bool IsFusable(std::uint32_t op) const {
    return light_.Has(trace_.ops.detail[op]) && trace_.ops.in_graph[op] == 0 &&
           in_update_[op] == 0 && phases_.OfOp(run_, op) != Phase::kOptimizer;
  }

  std::uint32_t StepOf(std::uint32_t op) const { return run_.steps.At(trace_.ops.start[op]); }

  double Threads(std::uint32_t op) const {
    const KernelShape& shape = trace_.shapes[trace_.ops.detail[op]];
    return static_cast<double>(shape.Blocks() * shape.ThreadsPerBlock());
  }

  // Whether a kernel works on fewer elements than the one before (-1), as many (0), or more. Where
  // sizes are unknown, its threads tell: each takes 4 or 8 elements, as the alignment of its
  // operands allows.
  int Compare(const Kernel& before, const Kernel& kernel) const {
    const bool known = before.elements > 0 && kernel.elements > 0;
    const double spread = known ? 1 : 2;
    const double was = known ? before.elements : Threads(before.op);
    const double is = known ? kernel.elements : Threads(kernel.op);
    if (is > spread * was) return 1;
    return was > spread * is ? -1 : 0;
  }

  // Of the largest tensor that the operator was given which launched the kernel; 0 unknown.
  double ElementsOf(std::uint32_t op) const {
    const std::uint32_t call = trace_.ops.call[op];
    if (operators_.empty() || call == kNone) return 0;
    const OperatorTable& operators = trace_.operators;
    const RowRange rows = operators_[trace_.calls.thread[call]];
    const Nanos at = trace_.calls.start[call];
    const auto first = operators.start.begin() + rows.first;
    auto row = std::upper_bound(first, operators.start.begin() + rows.last, at);
    constexpr int kFellows = 64;  // operators of one more, done before it launches
    for (int i = 0; i < kFellows && row != first; ++i) {
      const auto candidate = static_cast<std::size_t>(--row - operators.start.begin());
      if (operators.end[candidate] <= at) continue;
      const std::uint32_t list = operators.inputs[candidate];
      if (list == kNone) return 0;
      double most = 0;
      for (const OperatorTensor& tensor : trace_.operator_inputs[list].tensors) {
        if (!tensor.sizes.empty()) most = std::max(most, work::Elements(tensor));
      }
      return most;
    }
    return 0;
  }

  void CloseAll(OpenRuns* runs) {
    for (const std::vector<Kernel>& run : *runs) Close(run);
    runs->clear();
  }

  void Close(const std::vector<Kernel>& run) {
    // Each concatenation reads other tensors: there is no chain.
    const bool joins_only = std::all_of(run.begin(), run.end(), [&](const Kernel& kernel) {
      return joins_.Has(trace_.ops.detail[kernel.op]);
    });
    if (run.size() < 2 || joins_only) return;
    runs_.Count(trace_.ops.start[run.front().op]);
    for (const Kernel& kernel : run) {
      const Nanos start = trace_.ops.start[kernel.op];
      loss_.Count(start, 0, trace_.ops.end[kernel.op] - start);
      loss_.AddOp(kernel.op);
    }
    for (std::size_t i = 1; i < run.size(); ++i) {
      const std::uint32_t op = run[i].op;
      loss_.ScaleOp(op, residual_);
      const std::uint32_t call = trace_.ops.call[op];
      if (call != kNone) loss_.remedy().vanished_calls.push_back(call);
    }
  }

  const Phases& phases_;
  const std::vector<std::uint8_t>& in_update_;
  const ShapeSet light_;
  const ShapeSet joins_;
  std::vector<RowRange> operators_;  // by thread; empty where no sizes were recorded
  LossBuilder loss_;
  StepCounter runs_;
  float residual_;
};

}  // namespace

ElementwiseRuns FindElementwiseRuns(const Basis& basis, const Phases& phases,
                                    const std::vector<std::uint32_t>& kernels,
                                    const std::vector<std::uint8_t>& in_update) {
  return ElementwiseFinder(basis, phases, in_update).Find(kernels);
}

}  // namespace advise
