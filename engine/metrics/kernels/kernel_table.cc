#include "engine/metrics/kernels/kernel_table.h"

#include <algorithm>
#include <map>

namespace advise {
namespace {

struct Tally {
  std::vector<Nanos> lengths;
  Nanos total = 0;
  std::map<std::uint32_t, Nanos> shapes;  // time by shape
};

}  // namespace

std::vector<KernelTotal> TabulateKernels(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  std::map<StringId, Tally> by_name;
  Nanos all = 0;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.kind[op] != OpKind::kKernel || !basis.InWindow(trace.ops.start[op])) continue;
    const Nanos length = trace.ops.end[op] - trace.ops.start[op];
    Tally& tally = by_name[trace.shapes[trace.ops.detail[op]].name];
    tally.lengths.push_back(length);
    tally.total += length;
    tally.shapes[trace.ops.detail[op]] += length;
    all += length;
  }
  std::vector<KernelTotal> rows;
  for (auto& [name, tally] : by_name) {
    const std::uint32_t shape =
        std::max_element(tally.shapes.begin(), tally.shapes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    const KernelClass& kernel_class = basis.run.names.Kernel(shape);
    KernelTotal row;
    row.name = trace.strings[name];
    row.kernel_class = kernel_class.name;
    row.precision = kernel_class.precision;
    row.count = static_cast<std::int64_t>(tally.lengths.size());
    row.total_ns = tally.total;
    row.share = all > 0 ? static_cast<double>(tally.total) / static_cast<double>(all) : 0;
    row.min_ns = *std::min_element(tally.lengths.begin(), tally.lengths.end());
    row.max_ns = *std::max_element(tally.lengths.begin(), tally.lengths.end());
    row.median_ns = Median(std::move(tally.lengths));
    row.blocks = trace.shapes[shape].Blocks();
    row.threads = trace.shapes[shape].ThreadsPerBlock();
    row.registers = trace.shapes[shape].registers;
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const KernelTotal& a, const KernelTotal& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return rows;
}

}  // namespace advise
