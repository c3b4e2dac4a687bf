#include "engine/metrics/kernels/efficiency.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "engine/metrics/analysis.h"

namespace advise {
namespace {

struct Total {
  std::int64_t count = 0;
  double time_ns = 0;
  std::uint32_t shape = 0;
};

// What the operations of the rows need at their peaks, and the bytes at the rate of the memory.
void AddRates(const ShapeRows& shapes, const Hardware& hardware, double device_ns,
              KernelEfficiency* result) {
  double computing_ns = 0;
  double moving_ns = 0;
  double good_ns = 0;
  double took_ns = 0;
  for (const ShapeRow& row : shapes.rows) {
    if (row.peak <= 0) continue;
    const auto count = static_cast<double>(row.count);
    if (IsArithmetic(row.kind)) computing_ns += count * row.flops / row.peak * kNanosPerSecond;
    moving_ns += count * row.bytes / hardware.memory_bytes_per_s * kNanosPerSecond;
    good_ns += row.time_ns * row.reached;
    took_ns += row.time_ns;
  }
  if (took_ns <= 0 || device_ns <= 0) return;
  result->mfu = std::min(1.0, computing_ns / device_ns);
  result->bandwidth = std::min(1.0, moving_ns / device_ns);
  result->kernels_reached = good_ns / took_ns;
}

}  // namespace

KernelEfficiency FindEfficiency(const Basis& basis, const Hardware& hardware,
                                const ShapeRows& shapes, const Counters& counters,
                                const Samples& samples) {
  const Trace& trace = basis.run.trace;
  std::map<StringId, Total> totals;
  double all_ns = 0;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.kind[op] != OpKind::kKernel || basis.run.IsComm(op)) continue;
    if (!basis.InWindow(trace.ops.start[op])) continue;
    const auto length = static_cast<double>(trace.ops.end[op] - trace.ops.start[op]);
    Total& total = totals[trace.shapes[trace.ops.detail[op]].name];
    ++total.count;
    total.time_ns += length;
    total.shape = trace.ops.detail[op];
    all_ns += length;
  }
  std::set<std::string_view> counted;
  for (const CountedKernel& kernel : counters.kernels) {
    if (kernel.bound.empty()) continue;  // the sections that tell were not collected
    counted.insert(kernel.name);
  }
  KernelEfficiency result;
  double by_sizes = 0;
  double by_counters = 0;
  for (const auto& [name, total] : totals) {
    if (counted.contains(trace.strings[name])) {
      by_counters += total.time_ns;
      continue;
    }
    const auto rated = shapes.rated_of_kernel.find(name);
    const double known =
        rated == shapes.rated_of_kernel.end() ? 0.0 : std::min(rated->second, total.time_ns);
    by_sizes += known;
    if (known >= total.time_ns) continue;
    const double left = total.time_ns - known;
    result.unmeasured.push_back({trace.strings[name], basis.run.names.Kernel(total.shape).name,
                                 total.count, left, all_ns > 0 ? left / all_ns : 0});
  }
  std::stable_sort(
      result.unmeasured.begin(), result.unmeasured.end(),
      [](const UnmeasuredKernel& a, const UnmeasuredKernel& b) { return a.time_ns > b.time_ns; });
  if (all_ns > 0) result.measured_share = std::min(1.0, (by_sizes + by_counters) / all_ns);
  if (!trace.HasTimeline() && !counted.empty()) result.measured_share = 1;
  const bool counts = by_counters > 0 || (!trace.HasTimeline() && !counted.empty());
  if (counts || by_sizes > 0) {
    result.source = counts && by_counters >= by_sizes ? "counters" : "shapes";
  }
  AddRates(shapes, hardware, static_cast<double>(basis.Device()), &result);
  if (result.source == "none" && samples.compute.samples > 0 &&
      (samples.compute.dram >= 0 || samples.compute.tensor >= 0)) {
    result.source = "samples";
    result.mfu = samples.window.tensor;
    result.bandwidth = samples.window.dram;
  }
  return result;
}

}  // namespace advise
