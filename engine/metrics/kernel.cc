#include "engine/metrics/kernel.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/metrics/waves.h"

namespace advise {
namespace {

class KernelFinder {
 public:
  KernelFinder(const Basis& basis, const Phases& phases, double tensor_speedup)
      : basis_(basis),
        run_(basis.run),
        trace_(basis.run.trace),
        phases_(phases),
        tensor_speedup_(tensor_speedup),
        room_share_(run_.knowledge.Number("kernel.room_share")),
        tail_waste_(run_.knowledge.Number("kernel.tail_waste")) {
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel || !basis_.InWindow(trace_.ops.start[op]))
        continue;
      kernels_.push_back(op);
    }
  }

  Kernels Find() {
    Tables();
    Grids();
    ByClass();
    Elementwise();
    Attention();
    Optimizer();
    Precision();
    Concurrency();
    return std::move(result_);
  }

 private:
  double Length(std::uint32_t op) const {
    return static_cast<double>(trace_.ops.end[op] - trace_.ops.start[op]);
  }
  const KernelShape& Shape(std::uint32_t op) const { return trace_.shapes[trace_.ops.detail[op]]; }
  const KernelClass& Class(std::uint32_t op) const {
    return run_.names.Kernel(trace_.ops.detail[op]);
  }
  bool Is(std::uint32_t op, const char* name) const { return Class(op).name == name; }
  void Count(std::uint32_t op, LossBuilder* loss) const {
    loss->Count(trace_.ops.start[op], 0, trace_.ops.end[op] - trace_.ops.start[op]);
    loss->AddOp(op);
  }

  static std::vector<KernelRow> ByTime(
      std::map<std::string, std::pair<KernelRow, std::vector<std::uint32_t>>> rows) {
    std::vector<KernelRow> sorted;
    for (auto& [key, row] : rows) {
      row.first.median_ns = Median(std::move(row.second));
      sorted.push_back(std::move(row.first));
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const KernelRow& a, const KernelRow& b) { return a.time_ns > b.time_ns; });
    return sorted;
  }

  using RowMap = std::map<std::string, std::pair<KernelRow, std::vector<std::uint32_t>>>;
  KernelRow& Tally(RowMap* rows, const std::string& key, std::uint32_t op) const {
    auto& [row, lengths] = (*rows)[key];
    row.name = key;
    row.kernel_class = Class(op).name;
    row.count += 1;
    row.time_ns += Length(op);
    lengths.push_back(static_cast<std::uint32_t>(std::min(Length(op), 4.29e9)));
    return row;
  }

  // Totals by name and by class: gathered by shape first, since shapes are few and names are long.
  void Tables() {
    std::vector<std::vector<std::uint32_t>> lengths(
        trace_.shapes.size());  // ns, at most 4.29 s each
    std::vector<std::uint32_t> example(trace_.shapes.size(), kNone);
    std::vector<double> sums(trace_.shapes.size(), 0);
    for (const std::uint32_t op : kernels_) {
      const std::uint32_t shape = trace_.ops.detail[op];
      lengths[shape].push_back(static_cast<std::uint32_t>(std::min(Length(op), 4.29e9)));
      sums[shape] += Length(op);
      example[shape] = op;
    }
    RowMap names;
    RowMap classes;
    for (std::uint32_t shape = 0; shape < lengths.size(); ++shape) {
      if (example[shape] == kNone) continue;
      result_.time_ns += sums[shape];
      for (auto* rows : {&names, &classes}) {
        const bool by_name = rows == &names;
        const std::string& key =
            by_name ? trace_.strings[trace_.shapes[shape].name] : Class(example[shape]).name;
        auto& [row, all] = (*rows)[key];
        row.name = key;
        row.kernel_class = Class(example[shape]).name;
        row.count += static_cast<std::int64_t>(lengths[shape].size());
        row.time_ns += sums[shape];
        all.insert(all.end(), lengths[shape].begin(), lengths[shape].end());
      }
    }
    result_.count = static_cast<std::int64_t>(kernels_.size());
    result_.top = ByTime(std::move(names));
    result_.classes = ByTime(std::move(classes));
    for (const std::uint32_t d : run_.active_devices) {
      result_.compute_ns += static_cast<double>(basis_.times[d].ComputeNs());
    }
  }

  // Blocks that the device holds at once: by threads alone, since registers and shared memory can
  // only lower it.
  double BlocksAtOnce(std::uint32_t op, int sms) const {
    const double threads_per_sm =
        std::max(1024, trace_.devices[trace_.ops.device[op]].max_threads_per_sm);
    const auto threads = static_cast<double>(Shape(op).ThreadsPerBlock());
    return sms * std::clamp(std::floor(threads_per_sm / std::max<double>(1, threads)), 1.0, 32.0);
  }

  // Kernels with fewer blocks than the device has SMs, and the last partial wave of larger ones.
  void Grids() {
    LossBuilder small(basis_);
    LossBuilder tail(basis_);
    RowMap small_rows;
    RowMap tail_rows;
    RowMap spilling;
    std::vector<std::pair<double, double>> weighted;  // (blocks, time)
    double fill = 0;
    double fill_time = 0;
    std::vector<Nanos> alone = Alone();
    const std::vector<double> per_wave = CountedBlocksPerWave(trace_);
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const std::uint32_t op = kernels_[i];
      if (run_.IsComm(op)) continue;
      const int sms = trace_.devices[trace_.ops.device[op]].sm_count;
      const KernelShape& shape = Shape(op);
      const auto blocks = static_cast<double>(shape.Blocks());
      const std::string& name = trace_.strings[shape.name];
      if (shape.local_bytes > 0) {
        KernelRow& row = Tally(&spilling, name, op);
        row.local_bytes = shape.local_bytes;
        row.registers = shape.registers;
        result_.spilling_ns += Length(op);
      }
      if (sms <= 0 || blocks <= 0 || Class(op).Has("persistent")) continue;
      if (blocks < sms && alone[i] * 10 >= (trace_.ops.end[op] - trace_.ops.start[op]) * 9) {
        Count(op, &small);
        Tally(&small_rows, name, op).blocks = blocks;
        weighted.emplace_back(blocks, Length(op));
        fill += blocks / sms * Length(op);
        fill_time += Length(op);
      } else if (blocks >= sms) {
        const double counted = per_wave[trace_.ops.detail[op]];
        const double waves = blocks / (counted > 0 ? counted : BlocksAtOnce(op, sms));
        const double waste = waves > 1 ? (std::ceil(waves) - waves) / std::ceil(waves) : 0;
        if (waves <= 1 || waves > 8 || waste < tail_waste_) continue;
        Count(op, &tail);
        Tally(&tail_rows, name, op).waves = waves;
        result_.tail_waste_ns += waste * Length(op);
        if (counted > 0) result_.tail_counted_ns += Length(op);
      }
    }
    result_.small_grid = small.Build();
    result_.tail = tail.Build();
    result_.small_grid_rows = ByTime(std::move(small_rows));
    result_.tail_rows = ByTime(std::move(tail_rows));
    result_.spilling_rows = ByTime(std::move(spilling));
    result_.small_grid_fill = fill_time > 0 ? fill / fill_time : 0;
    std::sort(weighted.begin(), weighted.end());
    double half = fill_time / 2;
    for (const auto& [blocks, time] : weighted) {
      result_.small_grid_blocks = blocks;
      half -= time;
      if (half <= 0) break;
    }
  }

  // For each kernel of kernels_: how long it ran with no other kernel beside it on its device.
  std::vector<Nanos> Alone() {
    std::vector<Nanos> alone(kernels_.size(), 0);
    struct Reached {
      Nanos end = 0;           // latest end so far
      std::size_t holder = 0;  // who reaches there
      bool any = false;
    };
    std::vector<Reached> devices(trace_.devices.size());
    double busy = 0;
    double sum = 0;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const std::uint32_t op = kernels_[i];
      const Nanos start = trace_.ops.start[op];
      const Nanos end = trace_.ops.end[op];
      Reached& reached = devices[trace_.ops.device[op]];
      sum += static_cast<double>(end - start);
      if (!reached.any || start >= reached.end) {
        alone[i] = end - start;
      } else {
        alone[reached.holder] -= std::min(reached.end, end) - start;
        alone[i] = std::max<Nanos>(0, end - reached.end);
      }
      busy += static_cast<double>(
          std::max<Nanos>(0, end - (reached.any ? std::max(start, reached.end) : start)));
      if (!reached.any || end > reached.end) reached = {end, i, true};
    }
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const std::uint32_t op = kernels_[i];
      const int sms = trace_.devices[trace_.ops.device[op]].sm_count;
      if (sms > 0 && static_cast<double>(Shape(op).Blocks()) <= room_share_ * sms) {
        result_.narrow_ns += static_cast<double>(std::max<Nanos>(0, alone[i]));
      }
    }
    result_.concurrency = busy > 0 ? sum / busy : 0;
    return alone;
  }

  void ByClass() {
    LossBuilder layout(basis_);
    LossBuilder cast(basis_);
    for (const std::uint32_t op : kernels_) {
      if (Is(op, "transpose") || Class(op).Has("layout")) {
        Count(op, &layout);
        layout.remedy().scaled_ops.emplace_back(op, 0.0F);
      } else if (Is(op, "cast") || Class(op).Has("cast")) {
        Count(op, &cast);
        cast.remedy().scaled_ops.emplace_back(
            op, static_cast<float>(1 - run_.knowledge.Number("kernel.cast_removable")));
      }
    }
    result_.layout = layout.Build();
    result_.cast = cast.Build();
  }

  bool Fusable(std::uint32_t op) const {
    const std::string& name = Class(op).name;
    const bool light = name == "elementwise" || name == "copy" || name == "cast";
    return light && !Class(op).Has("fused") && !Class(op).Has("tiny-optimizer") &&
           trace_.ops.in_graph[op] == 0 && phases_.OfOp(run_, op) != Phase::kOptimizer;
  }

  // Runs of element-wise kernels on one stream: each reads and writes memory that one kernel would
  // touch once.
  void Elementwise() {
    const auto residual = static_cast<float>(run_.knowledge.Number("kernel.fused_residual"));
    LossBuilder loss(basis_);
    StepCounter runs(run_);
    std::map<std::uint32_t, std::vector<std::uint32_t>> open;
    const auto close = [&](std::vector<std::uint32_t>* list) {
      if (list->size() >= 2) {
        runs.Count(trace_.ops.start[list->front()]);
        for (std::size_t i = 1; i < list->size(); ++i) {
          loss.remedy().scaled_ops.emplace_back((*list)[i], residual);
          const std::uint32_t call = trace_.ops.call[(*list)[i]];
          if (call != kNone) loss.remedy().vanished_calls.push_back(call);
        }
      }
      list->clear();
    };
    for (const std::uint32_t op : kernels_) {
      std::vector<std::uint32_t>& list = open[trace_.ops.stream[op]];
      if (!Fusable(op)) {
        close(&list);
        continue;
      }
      Count(op, &loss);
      list.push_back(op);
    }
    for (auto& [stream, list] : open) close(&list);
    result_.elementwise_runs = runs.PerStep();
    result_.elementwise = loss.Build();
  }

  // matmul, softmax with what stands around it, matmul: the scores are written and read again.
  void Attention() {
    LossBuilder loss(basis_);
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_stream;
    for (const std::uint32_t op : kernels_) by_stream[trace_.ops.stream[op]].push_back(op);
    constexpr std::ptrdiff_t kReach =
        8;  // kernels between the two products: scale, mask, cast, softmax, dropout
    for (const auto& [stream, ops] : by_stream) {
      for (std::size_t i = 0; i < ops.size(); ++i) {
        if (!Is(ops[i], "softmax")) continue;
        const auto light = [&](std::uint32_t op) {
          const std::string& n = Class(op).name;
          return n == "elementwise" || n == "cast" || n == "copy" || n == "softmax" ||
                 n == "random" || n == "transpose";
        };
        std::ptrdiff_t before = static_cast<std::ptrdiff_t>(i) - 1;
        while (before >= 0 && static_cast<std::ptrdiff_t>(i) - before < kReach &&
               light(ops[static_cast<std::size_t>(before)]))
          --before;
        std::size_t after = i + 1;
        while (after < ops.size() && after - i < static_cast<std::size_t>(kReach) &&
               light(ops[after]))
          ++after;
        if (before < 0 || after >= ops.size()) continue;
        if (!Is(ops[static_cast<std::size_t>(before)], "matrix") || !Is(ops[after], "matrix"))
          continue;
        loss.Count(trace_.ops.start[ops[i]], 0, 0);
        for (auto k = static_cast<std::size_t>(before); k <= after; ++k) {
          loss.AddOp(ops[k]);
          if (!Is(ops[k], "matrix")) loss.remedy().scaled_ops.emplace_back(ops[k], 0.0F);
        }
        i = after - 1;
      }
    }
    result_.attention = loss.Build();
  }

  // A parameter update of many small kernels: one or more a tensor.
  void Optimizer() {
    LossBuilder loss(basis_);
    const double small_ns = run_.knowledge.Number("kernel.optimizer_small");
    std::map<std::uint32_t, std::uint32_t> previous;  // stream -> op of the update before
    for (const std::uint32_t op : kernels_) {
      const bool by_phase = phases_.OfOp(run_, op) == Phase::kOptimizer &&
                            (Is(op, "elementwise") || Is(op, "optimizer") || Is(op, "copy"));
      const bool by_name = Class(op).Has("tiny-optimizer");
      const bool grouped = trace_.strings[Shape(op).name].find("multi_tensor") != std::string::npos;
      if ((!by_phase && !by_name) || grouped || Length(op) > small_ns ||
          trace_.ops.in_graph[op] != 0) {
        previous[trace_.ops.stream[op]] = kNone;
        continue;
      }
      Count(op, &loss);
      const auto last = previous.find(trace_.ops.stream[op]);
      if (last != previous.end() && last->second != kNone) {
        // The gap between two kernels of the update.
        const std::uint32_t device = trace_.ops.device[op];
        const IntervalSet gap =
            basis_.times[device].idle.Clip(trace_.ops.end[last->second], trace_.ops.start[op]);
        for (const Interval& g : gap.intervals()) loss.AddSpan(device, g.start, g.end);
        if (trace_.ops.call[op] != kNone)
          loss.remedy().vanished_calls.push_back(trace_.ops.call[op]);
        loss.remedy().scaled_ops.emplace_back(
            op, static_cast<float>(run_.knowledge.Number("kernel.multi_tensor_residual")));
      }
      previous[trace_.ops.stream[op]] = op;
    }
    result_.optimizer = loss.Build();
  }

  void Precision() {
    LossBuilder fp32(basis_);
    LossBuilder unaligned(basis_);
    std::map<std::string, double> names;
    const double speedup = std::clamp(tensor_speedup_ * run_.knowledge.Number("precision.achieved"),
                                      1.0, run_.knowledge.Number("precision.most"));
    for (const std::uint32_t op : kernels_) {
      if (!Is(op, "matrix") && !Is(op, "convolution")) continue;
      result_.matrix_ns += Length(op);
      if (Class(op).tensor_core == 1) result_.tensor_ns += Length(op);
      if (Class(op).precision == "fp32" && Class(op).tensor_core != 1) {
        Count(op, &fp32);
        names[trace_.strings[Shape(op).name]] += Length(op);
        fp32.remedy().scaled_ops.emplace_back(op, static_cast<float>(1 / speedup));
      } else if (Class(op).Has("unaligned")) {
        Count(op, &unaligned);
        unaligned.remedy().scaled_ops.emplace_back(
            op, static_cast<float>(run_.knowledge.Number("precision.aligned_residual")));
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
    std::map<std::uint32_t, bool> streams;
    for (const std::uint32_t op : kernels_) streams[trace_.ops.stream[op]] = true;
    result_.streams = streams.size();
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  const Phases& phases_;
  double tensor_speedup_;
  double room_share_;
  double tail_waste_;
  std::vector<std::uint32_t> kernels_;  // ops of the window, in time order
  Kernels result_;
};

}  // namespace

Kernels FindKernels(const Basis& basis, const Phases& phases, double tensor_speedup) {
  return KernelFinder(basis, phases, tensor_speedup).Find();
}

}  // namespace advise
