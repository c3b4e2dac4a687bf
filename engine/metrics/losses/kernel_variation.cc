#include "engine/metrics/losses/kernel_variation.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "engine/metrics/losses/kernel_tallies.h"

namespace advise {
namespace {

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

class VariationFinder {
 public:
  VariationFinder(const Basis& basis, const std::vector<std::uint32_t>& kernels)
      : basis_(basis),
        run_(basis.run),
        trace_(basis.run.trace),
        enough_(static_cast<std::size_t>(run_.knowledge.Number("kernel.like_calls"))),
        kernels_(kernels) {}

  KernelVariation Find() {
    LossBuilder varying(basis_);
    LossBuilder slowing(basis_);
    RowsOfShapes rows;
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
        AddToShape(run_, op, length - static_cast<double>(median), &rows).median_ns =
            static_cast<double>(median);
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
    return std::move(result_);
  }

 private:
  double Length(std::uint32_t op) const {
    return static_cast<double>(trace_.ops.end[op] - trace_.ops.start[op]);
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  std::size_t enough_;
  const std::vector<std::uint32_t>& kernels_;
  KernelVariation result_;
};

}  // namespace

KernelVariation FindKernelVariation(const Basis& basis, const std::vector<std::uint32_t>& kernels) {
  return VariationFinder(basis, kernels).Find();
}

}  // namespace advise
