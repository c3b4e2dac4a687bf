#include "engine/metrics/losses/kernels/kernel_tallies.h"

#include <algorithm>
#include <limits>
#include <map>

namespace advise {

KernelRow& Tallies::Add(std::uint32_t op) {
  constexpr Nanos kLongest = std::numeric_limits<std::uint32_t>::max();
  const OpTable& ops = run_.trace.ops;
  const Nanos length = ops.end[op] - ops.start[op];
  OfShape& shape = shapes_[ops.detail[op]];
  shape.last_op = op;
  shape.row.time_ns += static_cast<double>(length);
  shape.lengths.push_back(static_cast<std::uint32_t>(std::min(length, kLongest)));
  return shape.row;
}

std::vector<KernelRow> Tallies::ByName() const {
  return Rows([&](std::uint32_t shape) -> const std::string& {
    return run_.trace.strings[run_.trace.shapes[shape].name];
  });
}

std::vector<KernelRow> Tallies::ByClass() const {
  return Rows(
      [&](std::uint32_t shape) -> const std::string& { return run_.names.Kernel(shape).name; });
}

template <typename KeyOf>
std::vector<KernelRow> Tallies::Rows(KeyOf key_of) const {
  std::map<std::string, OfShape> by_key;
  for (std::uint32_t s = 0; s < shapes_.size(); ++s) {
    const OfShape& shape = shapes_[s];
    if (shape.lengths.empty()) continue;
    OfShape& all = by_key[key_of(s)];
    const double time_ns = all.row.time_ns + shape.row.time_ns;
    if (all.lengths.empty() || shape.last_op > all.last_op) {
      all.row = shape.row;
      all.last_op = shape.last_op;
    }
    all.row.time_ns = time_ns;
    all.row.kernel_class = run_.names.Kernel(s).name;
    all.lengths.insert(all.lengths.end(), shape.lengths.begin(), shape.lengths.end());
  }
  std::vector<KernelRow> sorted;
  for (auto& [key, all] : by_key) {
    all.row.name = key;
    all.row.count = static_cast<std::int64_t>(all.lengths.size());
    all.row.median_ns = Median(std::move(all.lengths));
    sorted.push_back(std::move(all.row));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.time_ns > b.time_ns; });
  return sorted;
}

KernelRow& AddToShape(const Run& run, std::uint32_t op, double time_ns, RowsOfShapes* rows) {
  const std::uint32_t shape = run.trace.ops.detail[op];
  KernelRow& row = (*rows)[shape];
  if (row.count == 0) {
    row.name = run.trace.strings[run.trace.shapes[shape].name];
    row.kernel_class = run.names.Kernel(shape).name;
  }
  row.count += 1;
  row.time_ns += time_ns;
  return row;
}

std::vector<KernelRow> ByTime(const RowsOfShapes& rows) {
  std::vector<KernelRow> sorted;
  for (const auto& [shape, row] : rows) sorted.push_back(row);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.time_ns > b.time_ns; });
  return sorted;
}

}  // namespace advise
