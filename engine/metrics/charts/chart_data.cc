#include "engine/metrics/charts/chart_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/base/median.h"
#include "engine/metrics/losses/copies/copy.h"
#include "engine/timeline/collective_match.h"

namespace advise {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// The largest power of two that is not above `bytes`; 0 for nothing.
std::int64_t PowerOfTwo(std::int64_t bytes) {
  std::int64_t power = 1;
  if (bytes <= 0) return 0;
  while (power <= bytes / 2) power *= 2;
  return power;
}

std::string DeviceName(const Trace& trace, std::uint32_t device) {
  for (const Stream& stream : trace.streams) {
    if (stream.device == device && stream.process != kNone &&
        trace.processes[stream.process].rank >= 0) {
      return fmt::format("rank {}", trace.processes[stream.process].rank);
    }
  }
  return fmt::format("GPU {}", trace.devices[device].ordinal);
}

// The time between two samples: upper median; 0 with less than two.
Nanos SampleSpacing(const Series& series) {
  std::vector<Nanos> spacing;
  for (std::size_t i = 1; i < series.time.size(); ++i) {
    spacing.push_back(series.time[i] - series.time[i - 1]);
  }
  return Median(std::move(spacing));
}

ThinSeries Thin(const Series& series, const Window& window, std::size_t most) {
  ThinSeries thin;
  thin.name = series.name;
  thin.unit = series.unit;
  thin.source = series.source;
  const auto parts = static_cast<Nanos>(most);
  // Wider than samples lie apart: else parts stay empty by chance, and look like pauses.
  const Nanos spacing = SampleSpacing(series);
  thin.bucket_ns = std::max((window.Length() + parts - 1) / parts, spacing + spacing / 2);
  const auto buckets =
      static_cast<std::size_t>((window.Length() + thin.bucket_ns - 1) / thin.bucket_ns);
  std::vector<double> sum(buckets, 0);
  std::vector<std::size_t> count(buckets, 0);
  for (std::size_t i = 0; i < series.time.size(); ++i) {
    if (series.time[i] < window.start || series.time[i] >= window.end) continue;
    const auto bucket = static_cast<std::size_t>((series.time[i] - window.start) / thin.bucket_ns);
    sum[bucket] += series.value[i];
    ++count[bucket];
  }
  for (std::size_t b = 0; b < buckets; ++b) {
    thin.mean.push_back(count[b] == 0 ? kNoValue : sum[b] / static_cast<double>(count[b]));
  }
  return thin;
}

// What the placing of a kernel under its roof stood on.
RoofCurve RoofOf(const CountedKernel& kernel) {
  const bool by_memory = kernel.intensity < kernel.balance;
  const double bandwidth =
      by_memory ? kernel.attainable / kernel.intensity : kernel.attainable / kernel.balance;
  return {bandwidth * kernel.balance, bandwidth};
}

// Peaks of the same arithmetic at almost the same clock are one roof.
bool Alike(const RoofCurve& a, const RoofCurve& b) {
  constexpr double kClockNoise = 0.05;  // layout only
  return std::abs(a.peak_flops - b.peak_flops) <= kClockNoise * a.peak_flops &&
         std::abs(a.bytes_per_s - b.bytes_per_s) <= kClockNoise * a.bytes_per_s;
}

}  // namespace

std::vector<StepPoint> GroupSteps(const std::vector<Step>& steps, std::size_t warmup,
                                  const std::vector<std::size_t>& outliers, std::size_t most) {
  std::vector<StepPoint> points;
  if (most == 0) return points;
  const std::size_t group = (steps.size() + most - 1) / most;
  for (std::size_t first = 0; first < steps.size();) {
    // Warm-up and steady steps never share a point.
    const std::size_t border = first < warmup ? warmup : steps.size();
    StepPoint point;
    point.first = first;
    point.count = std::min(group, border - first);
    point.start_ns = steps[first].start;
    point.warmup = first < warmup;
    std::vector<Nanos> lengths;
    for (std::size_t i = first; i < first + point.count; ++i) {
      lengths.push_back(steps[i].Length());
    }
    const auto slow = std::lower_bound(outliers.begin(), outliers.end(), first);
    point.outlier = slow != outliers.end() && *slow < first + point.count;
    point.max_ns = *std::max_element(lengths.begin(), lengths.end());
    point.median_ns = Median(std::move(lengths));
    first += point.count;
    points.push_back(point);
  }
  return points;
}

std::vector<StepPoint> StepPoints(const Run& run, std::size_t most) {
  if (!run.steps.known()) return {};
  return GroupSteps(run.steps.all, run.steps.first_steady, run.steps.outliers, most);
}

std::vector<CopySizeBin> CopySizes(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  std::map<std::pair<std::string, std::int64_t>, CopySizeBin> bins;
  for (const std::uint32_t op : basis.OpsInWindow()) {
    if (trace.ops.kind[op] != OpKind::kCopy) continue;
    const std::uint32_t copy = trace.ops.detail[op];
    const std::string direction = DirectionName(trace.copies.direction[copy]);
    const std::int64_t from = PowerOfTwo(trace.copies.bytes[copy]);
    CopySizeBin& bin = bins[{direction, from}];
    bin.direction = direction;
    bin.from_bytes = from;
    ++bin.count;
    bin.bytes += static_cast<double>(trace.copies.bytes[copy]);
    bin.time_ns += trace.ops.end[op] - trace.ops.start[op];
  }
  std::vector<CopySizeBin> list;
  for (auto& [key, bin] : bins) list.push_back(std::move(bin));
  return list;
}

std::vector<ThinSeries> ThinSamples(const Run& run, std::size_t most) {
  std::vector<ThinSeries> list;
  if (run.window.Length() <= 0 || most == 0) return list;
  for (const auto* all : {&run.trace.gpu_series, &run.trace.nic_series}) {
    for (const Series& series : *all) {
      ThinSeries thin = Thin(series, run.window, most);
      const bool any = std::any_of(thin.mean.begin(), thin.mean.end(),
                                   [](double value) { return std::isfinite(value); });
      if (!any) continue;
      if (series.device != kNone) thin.source = DeviceName(run.trace, series.device);
      list.push_back(std::move(thin));
    }
  }
  return list;
}

LatenessMatrix LatenessByStep(const Run& run, std::size_t most_columns) {
  LatenessMatrix matrix;
  const Steps& steps = run.steps;
  if (!steps.known() || most_columns == 0) return matrix;
  const auto groups = MatchCollectives(run);
  if (groups.empty()) return matrix;
  for (const std::uint32_t op : groups.front()) {
    matrix.devices.push_back(run.trace.ops.device[op]);
    matrix.names.push_back(DeviceName(run.trace, run.trace.ops.device[op]));
  }
  const std::size_t wide = (steps.all.size() + most_columns - 1) / most_columns;
  const std::size_t columns = (steps.all.size() + wide - 1) / wide;
  for (std::size_t c = 0; c < columns; ++c) matrix.steps.push_back(c * wide);
  std::vector<std::vector<double>> sum(matrix.devices.size(), std::vector<double>(columns, 0));
  std::vector<std::size_t> count(columns, 0);
  for (const auto& group : groups) {
    Nanos first = run.trace.ops.start[group.front()];
    for (const std::uint32_t op : group) first = std::min(first, run.trace.ops.start[op]);
    const std::uint32_t step = steps.At(first);
    if (step == kNone) continue;
    ++count[step / wide];
    for (std::size_t d = 0; d < group.size(); ++d) {
      sum[d][step / wide] += static_cast<double>(run.trace.ops.start[group[d]] - first);
    }
  }
  for (std::vector<double>& row : sum) {
    for (std::size_t c = 0; c < columns; ++c) {
      row[c] = count[c] == 0 ? kNoValue : row[c] / static_cast<double>(count[c]);
    }
  }
  matrix.mean_ns = std::move(sum);
  return matrix;
}

void Roofline::AddRoof(const RoofCurve& roof) {
  const bool known = std::any_of(roofs.begin(), roofs.end(),
                                 [&](const RoofCurve& other) { return Alike(other, roof); });
  if (known) return;
  const auto next = std::upper_bound(
      roofs.begin(), roofs.end(), roof,
      [](const RoofCurve& a, const RoofCurve& b) { return a.peak_flops < b.peak_flops; });
  roofs.insert(next, roof);
}

Roofline RooflineOf(const Counters& counters) {
  Roofline roofline;
  for (const CountedKernel& kernel : counters.kernels) {
    if (kernel.intensity <= 0 || kernel.achieved <= 0 || kernel.time_ns <= 0) {
      ++roofline.without_place;
      continue;
    }
    roofline.points.push_back({kernel.name, kernel.intensity, kernel.achieved, kernel.time_ns});
    if (kernel.attainable <= 0 || kernel.balance <= 0) continue;
    roofline.AddRoof(RoofOf(kernel));
  }
  return roofline;
}

}  // namespace advise
