#include "engine/metrics/losses/kernels/kernel.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>

#include "engine/base/text.h"
#include "engine/metrics/losses/kernels/elementwise_runs.h"
#include "engine/metrics/losses/kernels/kernel_grids.h"
#include "engine/metrics/losses/kernels/kernel_tallies.h"
#include "engine/metrics/losses/kernels/kernel_updates.h"
#include "engine/metrics/losses/kernels/product_reuse.h"

namespace advise {
namespace {

class KernelFinder : Finder {
 public:
  KernelFinder(const Basis& basis, const Phases& phases, const KernelRates& rates)
      : Finder(basis), phases_(phases), rates_(rates) {
    kernels_.reserve(trace_.ops.size());
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      kernels_.push_back(op);
    }
  }

  Kernels Find() {
    Tables();
    FindGrids(basis_, kernels_, &result_);
    ByClass();
    const std::vector<std::uint8_t> in_update =
        UpdateKernels(run_, phases_, kernels_, rates_.memory_bytes_per_s);
    result_.optimizer = CostOfUpdates(basis_, kernels_, in_update, kUpdate);
    result_.optimizer_one_grid = OneGrid(in_update);
    result_.optimizer_norms = Norms(in_update);
    result_.zeroing = CostOfUpdates(basis_, kernels_, in_update, kZeroing);
    std::vector<Nanos> adding;
    for (const std::uint32_t op : kernels_)
      if (in_update[op] == kAdding && basis_.InLoop(trace_.ops.start[op]))
        adding.push_back(trace_.ops.start[op]);
    result_.zeroing_added = std::min(PerStep(run_, adding), result_.zeroing.per_step);
    ElementwiseRuns runs = FindElementwiseRuns(basis_, phases_, kernels_, in_update);
    result_.elementwise = std::move(runs.loss);
    result_.elementwise_runs = runs.per_step;
    Attention();
    Precision();
    Concurrency();
    return std::move(result_);
  }

 private:
  // Where a table by stream has the op's row; damaged reports have kernels of no stream.
  std::size_t Slot(std::uint32_t op) const {
    return std::min<std::size_t>(trace_.ops.stream[op], trace_.streams.size());
  }
  // The shapes of classes with one of these names.
  ShapeSet Named(std::initializer_list<std::string_view> names) const {
    return run_.names.Shapes([&](const KernelClass& c) {
      return std::find(names.begin(), names.end(), c.name) != names.end();
    });
  }
  // Totals by name and by class.
  void Tables() {
    Tallies all(run_);
    for (const std::uint32_t op : kernels_) all.Add(op);
    result_.count = static_cast<std::int64_t>(kernels_.size());
    result_.top = all.ByName();
    result_.classes = all.ByClass();
    for (const KernelRow& row : result_.top) {
      if (!IsUnnamedKernel(row.name)) continue;
      result_.unnamed.count += row.count;
      result_.unnamed.time_ns += row.time_ns;
    }
    for (const KernelRow& row : result_.classes) result_.time_ns += row.time_ns;
    for (const std::uint32_t d : run_.active_devices) {
      result_.compute_ns += static_cast<double>(basis_.times[d].ComputeNs());
    }
  }

  // Of the kernels of updates: the share that takes the norm of a tensor.
  double Norms(const std::vector<std::uint8_t>& in_update) const {
    const ShapeSet takes_norm =
        run_.names.Shapes([](const KernelClass& c) { return c.HasTrait("tensor-norm"); });
    std::int64_t all = 0;
    std::int64_t norms = 0;
    for (const std::uint32_t op : kernels_) {
      if (in_update[op] != kUpdate) continue;
      norms += In(takes_norm, op) ? 1 : 0;
      ++all;
    }
    return all > 0 ? static_cast<double>(norms) / static_cast<double>(all) : 0;
  }

  // Of the kernels of updates: the share that has the commonest number of blocks.
  double OneGrid(const std::vector<std::uint8_t>& in_update) const {
    std::map<std::uint64_t, std::int64_t> kernels_of_size;
    std::int64_t all = 0;
    std::int64_t most = 0;
    for (const std::uint32_t op : kernels_) {
      if (in_update[op] != kUpdate) continue;
      most = std::max(most, ++kernels_of_size[Shape(op).Blocks()]);
      ++all;
    }
    return all > 0 ? static_cast<double>(most) / static_cast<double>(all) : 0;
  }

  // One call launches all nodes of a graph: it stays.
  void RemoveLaunchOf(std::uint32_t op, LossBuilder* loss) const {
    if (trace_.ops.in_graph[op] == 0) loss->RemoveCallOf(op);
  }

  // Libraries convert inside an operator, whose own code stands before its first launch and behind
  // its last: what goes with the call is the shorter side.
  void RemoveConversion(std::uint32_t op, LossBuilder* loss) const {
    const std::uint32_t call = trace_.ops.call[op];
    if (call == kNone || trace_.ops.in_graph[op] != 0) return;
    const CallTable& calls = trace_.calls;
    const std::uint32_t thread = calls.thread[call];
    const RowRange of_thread = run_.calls_of_thread[thread];
    const bool between = call > of_thread.first && call + 1 < of_thread.last;
    if (between &&
        calls.start[call + 1] - calls.end[call] < calls.start[call] - calls.end[call - 1])
      loss->CutHost(thread, calls.start[call], calls.start[call + 1]);
    else
      loss->RemoveCallOf(op);
  }

  void ByClass() {
    LossBuilder layout(basis_);
    LossBuilder cast(basis_);
    LossBuilder waiting(basis_);
    const double removable = Number("kernel.cast_removable");
    std::vector<double> launches_gone(trace_.devices.size());  // of casts, not taken out yet
    std::vector<Nanos> waited_on(trace_.devices.size());
    const ShapeSet waits = Named({"wait"});
    const ShapeSet moves = run_.names.Shapes(
        [](const KernelClass& c) { return c.name == "transpose" || c.HasTrait("layout"); });
    const ShapeSet casts = run_.names.Shapes(
        [](const KernelClass& c) { return c.name == "cast" || c.HasTrait("cast"); });
    for (const std::uint32_t op : kernels_) {
      if (In(waits, op)) {
        waiting.CountWhole(op);
        waiting.ScaleOp(op, 0);
        Nanos& waited = waited_on[trace_.ops.device[op]];
        waited += trace_.ops.end[op] - trace_.ops.start[op];
        waiting.remedy().reach_ns = std::max(waiting.remedy().reach_ns, waited);
      } else if (In(moves, op)) {
        layout.CountWhole(op);
        layout.ScaleOp(op, 0);
        RemoveConversion(op, &layout);
      } else if (In(casts, op)) {
        cast.CountWhole(op);
        cast.ScaleOp(op, 1 - removable);
        double& gone = launches_gone[trace_.ops.device[op]];
        gone += removable;
        if (gone >= 1) RemoveLaunchOf(op, &cast), gone -= 1;
      }
    }
    result_.layout = layout.Build();
    result_.cast = cast.Build();
    waiting.remedy().reach_reason = "the GPU's other work";
    result_.waiting = waiting.Build();
  }

  // matmul, softmax with what stands around it, matmul: the scores are written and read again.
  void Attention() {
    LossBuilder loss(basis_);
    const ShapeSet softmaxes = run_.names.Shapes(
        [](const KernelClass& c) { return c.name == "softmax" && !c.HasTrait("over-classes"); });
    const ShapeSet products = Named({"matrix"});
    const ShapeSet between =
        Named({"elementwise", "cast", "copy", "softmax", "random", "transpose"});
    std::vector<std::vector<std::uint32_t>> by_stream(trace_.streams.size() + 1);
    if (!softmaxes.empty()) {
      for (const std::uint32_t op : kernels_) by_stream[Slot(op)].push_back(op);
    }
    constexpr std::ptrdiff_t kReach =
        8;  // kernels between the two products: scale, mask, cast, softmax, dropout
    const auto light = [&](std::uint32_t op) { return In(between, op); };
    for (const std::vector<std::uint32_t>& ops : by_stream) {
      for (std::size_t i = 0; i < ops.size(); ++i) {
        if (!In(softmaxes, ops[i])) continue;
        std::ptrdiff_t before = static_cast<std::ptrdiff_t>(i) - 1;
        while (before >= 0 && static_cast<std::ptrdiff_t>(i) - before < kReach &&
               light(ops[static_cast<std::size_t>(before)]))
          --before;
        std::size_t after = i + 1;
        while (after < ops.size() && after - i < static_cast<std::size_t>(kReach) &&
               light(ops[after]))
          ++after;
        if (before < 0 || after >= ops.size()) continue;
        if (!In(products, ops[static_cast<std::size_t>(before)]) || !In(products, ops[after]))
          continue;
        loss.Count(trace_.ops.start[ops[i]], 0, 0);
        for (auto k = static_cast<std::size_t>(before); k <= after; ++k) {
          loss.AddOp(ops[k]);
          if (!In(products, ops[k])) loss.ScaleOp(ops[k], 0);
          // One launch is left of all.
          if (k != static_cast<std::size_t>(before)) RemoveLaunchOf(ops[k], &loss);
        }
        i = after - 1;
      }
    }
    result_.attention = loss.Build();
  }

  // What is left of a product's time once its sizes are aligned: for odd sizes, libraries have
  // kernels of older generations only.
  float Aligned(std::uint32_t op) const {
    const bool older =
        Class(op).HasTrait("turing") &&
        trace_.devices[trace_.ops.device[op]].compute_major >= Number("precision.turing_slow_from");
    return static_cast<float>(Number("precision.aligned_residual") *
                              (older ? Number("precision.turing_residual") : 1));
  }

  void Precision() {
    LossBuilder fp32(basis_);
    LossBuilder unaligned(basis_);
    std::map<std::string, double> names;
    const double speedup = std::clamp(rates_.tensor_speedup * Number("precision.achieved"), 1.0,
                                      Number("precision.most"));
    const ShapeSet products = Named({"matrix", "convolution"});
    std::vector<double> by_memory;  // by shape
    for (const KernelShape& shape : trace_.shapes) {
      by_memory.push_back(MostByMemory(shape, trace_.strings[shape.name], rates_.fp32_flops,
                                       rates_.memory_bytes_per_s));
    }
    for (const std::uint32_t op : kernels_) {
      if (!In(products, op)) continue;
      result_.matrix_ns += LengthNs(op);
      if (Class(op).tensor_core == 1) result_.tensor_ns += LengthNs(op);
      if (Class(op).precision == "fp32" && Class(op).tensor_core != 1) {
        if (Class(op).HasTrait("vector") || Class(op).HasTrait("no-product")) continue;
        fp32.CountWhole(op);
        names[trace_.strings[Shape(op).name]] += LengthNs(op);
        const double most_here = std::min(speedup, by_memory[trace_.ops.detail[op]]);
        fp32.ScaleOp(op, 1 / std::max(1.0, most_here));
      } else if (Class(op).HasTrait("unaligned")) {
        unaligned.CountWhole(op);
        unaligned.ScaleOp(op, Aligned(op));
      }
    }
    double most = 0;
    for (const auto& [name, time] : names) {
      if (time > most) most = time, result_.fp32_top = name;
    }
    result_.fp32 = fp32.Build();
    result_.unaligned = unaligned.Build();
  }

  void Concurrency() {
    std::vector<std::uint8_t> used(trace_.streams.size() + 1, 0);
    for (const std::uint32_t op : kernels_) used[Slot(op)] = 1;
    result_.streams = static_cast<std::size_t>(std::count(used.begin(), used.end(), 1));
  }

  const Phases& phases_;
  KernelRates rates_;
  std::vector<std::uint32_t> kernels_;  // ops of the window, in time order
  Kernels result_;
};

}  // namespace

Kernels FindKernels(const Basis& basis, const Phases& phases, const KernelRates& rates) {
  return KernelFinder(basis, phases, rates).Find();
}

std::vector<std::uint32_t> ComputeKernels(const Basis& basis) {
  const OpTable& ops = basis.run.trace.ops;
  std::vector<std::uint32_t> kernels;
  kernels.reserve(ops.size());
  for (const std::uint32_t op : basis.OpsInWindow()) {
    if (ops.kind[op] != OpKind::kKernel) continue;
    if (!basis.run.IsComm(op)) kernels.push_back(op);
  }
  return kernels;
}

}  // namespace advise
