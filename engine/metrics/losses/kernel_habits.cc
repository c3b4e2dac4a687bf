#include "engine/metrics/losses/kernel_habits.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace advise {
namespace {

class HabitFinder {
 public:
  explicit HabitFinder(const Basis& basis)
      : basis_(basis),
        run_(basis.run),
        trace_(basis.run.trace),
        small_ns_(run_.knowledge.Number("kernel.train_small")),
        train_length_(static_cast<std::size_t>(run_.knowledge.Number("kernel.train_length"))),
        enough_(static_cast<std::size_t>(run_.knowledge.Number("kernel.like_calls"))) {
    kernels_.reserve(trace_.ops.size());
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (!basis_.InWindow(trace_.ops.start[op])) continue;
      if (trace_.ops.kind[op] == OpKind::kGraph) result_.whole_graph_ns += Length(op);
      if (trace_.ops.kind[op] == OpKind::kKernel && !run_.IsComm(op)) kernels_.push_back(op);
    }
  }

  KernelHabits Find() {
    Trains();
    Compare();
    Blocks();
    Formats();
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
  bool In(const ShapeSet& shapes, std::uint32_t op) const {
    return shapes.Has(trace_.ops.detail[op]);
  }
  void Count(std::uint32_t op, LossBuilder* loss) const {
    loss->Count(trace_.ops.start[op], 0, trace_.ops.end[op] - trace_.ops.start[op]);
    loss->AddOp(op);
  }
  void Tally(std::map<std::uint32_t, KernelRow>* rows, std::uint32_t op, double time) const {
    KernelRow& row = (*rows)[trace_.ops.detail[op]];
    if (row.count == 0) {
      row.name = trace_.strings[Shape(op).name];
      row.kernel_class = Class(op).name;
    }
    row.count += 1;
    row.time_ns += time;
  }
  static std::vector<KernelRow> ByTime(const std::map<std::uint32_t, KernelRow>& rows) {
    std::vector<KernelRow> sorted;
    for (const auto& [shape, row] : rows) sorted.push_back(row);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const KernelRow& a, const KernelRow& b) { return a.time_ns > b.time_ns; });
    return sorted;
  }

  // ---- trains of like kernels on one stream

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

  void Trains() {
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
    result_.matrix_train_kernels = matrix_whens.PerStep();
    result_.repeat_kernels = repeat_whens.PerStep();
    result_.matrix_trains = matrix.Build();
    result_.repeats = repeats.Build();
  }

  // ---- launches that do the same work

  // The same kernel with the same grid may still do other work (a longer inner dimension of a
  // product): in a loop it is the launch at the same place of each step that compares.
  // Groups of launches by device, shape and place, in that order.
  class Likes {
   public:
    Likes(const Run& run, const std::vector<std::uint32_t>& kernels) {
      const Steps& steps = run.steps;
      const OpTable& ops = run.trace.ops;
      if (!steps.known()) return;
      const std::size_t shapes = run.trace.shapes.size();
      // By device and shape: how often met in the step at hand, and the group of each place.
      struct Places {
        std::size_t step = 0;
        std::size_t met = 0;
        std::vector<std::uint32_t> groups;
      };
      std::vector<Places> places(run.trace.devices.size() * shapes);
      std::vector<std::uint32_t> group_of(kernels.size(), kNone);
      std::uint32_t groups = 0;
      std::size_t step = steps.first_steady;
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        const std::uint32_t op = kernels[i];
        while (step < steps.all.size() && ops.start[op] >= steps.all[step].end) ++step;
        if (step >= steps.all.size() || ops.start[op] < steps.all[step].start) continue;
        Places& place = places[ops.device[op] * shapes + ops.detail[op]];
        if (place.step != step) place.step = step, place.met = 0;
        if (place.met == place.groups.size()) place.groups.push_back(groups++);
        group_of[i] = place.groups[place.met++];
      }
      // Numbered anew in the order of devices, shapes and places, then sorted by counting.
      std::vector<std::uint32_t> number(groups);
      std::uint32_t next = 0;
      for (const Places& place : places) {
        for (const std::uint32_t group : place.groups) number[group] = next++;
      }
      first_.assign(groups + 1, 0);
      for (const std::uint32_t group : group_of) {
        if (group != kNone) ++first_[number[group] + 1];
      }
      std::partial_sum(first_.begin(), first_.end(), first_.begin());
      std::vector<std::size_t> at(first_.begin(), first_.end() - 1);
      ops_.resize(first_.back());
      lengths_.resize(first_.back());
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (group_of[i] == kNone) continue;
        const std::size_t row = at[number[group_of[i]]]++;
        ops_[row] = kernels[i];
        lengths_[row] = ops.end[kernels[i]] - ops.start[kernels[i]];
      }
    }
    std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }
    std::span<const std::uint32_t> Ops(std::size_t group) const {
      return std::span(ops_).subspan(first_[group], first_[group + 1] - first_[group]);
    }
    std::span<const Nanos> Lengths(std::size_t group) const {  // of these ops
      return std::span(lengths_).subspan(first_[group], first_[group + 1] - first_[group]);
    }

   private:
    std::vector<std::size_t> first_;
    std::vector<std::uint32_t> ops_;
    std::vector<Nanos> lengths_;  // side by side, as no column of the trace has them
  };

  void Compare() {
    LossBuilder varying(basis_);
    LossBuilder slowing(basis_);
    std::map<std::uint32_t, KernelRow> rows;
    const Nanos middle = run_.window.start + run_.window.Length() / 2;
    const auto middle_op = static_cast<std::uint32_t>(
        std::lower_bound(trace_.ops.start.begin(), trace_.ops.start.end(), middle) -
        trace_.ops.start.begin());
    const auto factor = run_.knowledge.Number("kernel.slow_factor");
    double compared = 0;
    double before = 0;
    double after = 0;
    const Likes likes(run_, kernels_);
    for (std::size_t group = 0; group < likes.size(); ++group) {
      const std::span<const std::uint32_t> ops = likes.Ops(group);
      if (ops.size() < enough_) continue;
      const std::span<const Nanos> lengths = likes.Lengths(group);
      const Nanos median = Median(std::vector<Nanos>(lengths.begin(), lengths.end()));
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const auto length = static_cast<double>(lengths[i]);
        if (length <= factor * static_cast<double>(median)) continue;
        const std::uint32_t op = ops[i];
        varying.Count(trace_.ops.start[op], 0, lengths[i] - median);
        varying.AddSpan(trace_.ops.device[op], trace_.ops.start[op] + median, trace_.ops.end[op]);
        varying.remedy().scaled_ops.emplace_back(
            op, static_cast<float>(static_cast<double>(median) / length));
        Tally(&rows, op, length - static_cast<double>(median));
        rows[trace_.ops.detail[op]].median_ns = static_cast<double>(median);
      }
      // Ops are in time order.
      const auto half = std::lower_bound(ops.begin(), ops.end(), middle_op) - ops.begin();
      const auto half_size = static_cast<std::size_t>(half);
      if (half_size < enough_ / 2 || ops.size() - half_size < enough_ / 2) continue;
      const Nanos first = Median(std::vector<Nanos>(lengths.begin(), lengths.begin() + half));
      const Nanos second = Median(std::vector<Nanos>(lengths.begin() + half, lengths.end()));
      const auto count = static_cast<double>(ops.size() - half_size);
      compared += static_cast<double>(median) * static_cast<double>(ops.size());
      before += static_cast<double>(first) * count;
      after += static_cast<double>(second) * count;
      if (second <= first) continue;
      for (std::size_t i = half_size; i < ops.size(); ++i) {
        if (lengths[i] <= first) continue;
        const std::uint32_t op = ops[i];
        slowing.Count(trace_.ops.start[op], 0, lengths[i] - first);
        slowing.AddSpan(trace_.ops.device[op], trace_.ops.start[op] + first, trace_.ops.end[op]);
        slowing.remedy().scaled_ops.emplace_back(
            op, static_cast<float>(static_cast<double>(first) / Length(op)));
      }
    }
    double all = 0;
    for (const std::uint32_t op : kernels_) all += Length(op);
    result_.slowing_ratio = before > 0 ? after / before : 0;
    result_.slowing_share = all > 0 ? std::min(1.0, compared / all) : 0;
    result_.varying = varying.Build();
    result_.varying_rows = ByTime(rows);
    result_.slowing = slowing.Build();
  }

  // ---- blocks

  void Blocks() {
    LossBuilder partial(basis_);
    LossBuilder tiny(basis_);
    std::map<std::uint32_t, KernelRow> rows;
    for (const std::uint32_t op : kernels_) {
      const auto threads = static_cast<double>(Shape(op).ThreadsPerBlock());
      if (threads <= 0) continue;
      const int sms = trace_.devices[trace_.ops.device[op]].sm_count;
      const std::uint64_t warps = (Shape(op).ThreadsPerBlock() + 31) / 32;
      const double lanes = 32 * static_cast<double>(warps);
      // With fewer blocks than SMs the grid is the cause, not the block (kernel/small-grid).
      const bool fills = sms > 0 && Shape(op).Blocks() >= static_cast<std::uint64_t>(sms);
      if (threads < lanes && fills) {
        Count(op, &partial);
        partial.remedy().scaled_ops.emplace_back(op, static_cast<float>(threads / lanes));
        result_.partial_warp_waste_ns += (1 - threads / lanes) * Length(op);
        Tally(&rows, op, Length(op));
        rows[trace_.ops.detail[op]].blocks = threads;
      }
      if (threads <= 32 && sms > 0 && Shape(op).Blocks() > static_cast<std::uint64_t>(sms)) {
        Count(op, &tiny);
      }
    }
    result_.partial_warps = partial.Build();
    result_.partial_warp_rows = ByTime(rows);
    result_.tiny_blocks = tiny.Build();
  }

  // ---- number formats

  void Formats() {
    LossBuilder fp64(basis_);
    LossBuilder bf16(basis_);
    const Names& names = run_.names;
    const ShapeSet doubles =
        names.Shapes([](const KernelClass& c) { return c.precision == "fp64"; });
    const ShapeSet plain_bf16 = names.Shapes(
        [](const KernelClass& c) { return c.precision == "bf16" && c.tensor_core != 1; });
    const auto is_product = [](const KernelClass& c) {
      return c.name == "matrix" || c.name == "convolution";
    };
    const ShapeSet halves = names.Shapes([&](const KernelClass& c) {
      return is_product(c) && (c.precision == "bf16" || c.precision == "fp16");
    });
    const ShapeSet eighths = names.Shapes([&](const KernelClass& c) {
      return is_product(c) &&
             (c.precision == "fp8" || c.precision == "fp4" || c.precision == "int8");
    });
    // What the change wins depends on what binds each kernel: half their time is the assumption,
    // and said.
    const auto count = [&](std::uint32_t op, LossBuilder* loss) {
      Count(op, loss);
      loss->remedy().scaled_ops.emplace_back(op, 0.5F);
    };
    for (const std::uint32_t op : kernels_) {
      if (In(doubles, op)) count(op, &fp64);
      if (In(plain_bf16, op)) count(op, &bf16);
      if (In(halves, op)) result_.half_ns += Length(op);
      if (In(eighths, op)) result_.fp8_ns += Length(op);
    }
    result_.fp64 = fp64.Build();
    result_.bf16 = bf16.Build();
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  double small_ns_;
  std::size_t train_length_;
  std::size_t enough_;
  std::vector<std::uint32_t> kernels_;  // of the window, in time order, without communication
  KernelHabits result_;
};

}  // namespace

KernelHabits FindKernelHabits(const Basis& basis) { return HabitFinder(basis).Find(); }

}  // namespace advise
