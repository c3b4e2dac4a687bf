#include "engine/metrics/chart_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "engine/metrics/collectives.h"
#include "engine/metrics/copy.h"

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

// Reads the counters of one profiled kernel.
class Counters {
 public:
  explicit Counters(const KernelCounters& kernel) : kernel_(kernel) {}

  double Time() const { return First({"gpu__time_duration.sum", "gpu__time_duration.avg"}); }

  double Bytes() const {
    if (const auto bytes = Find("dram__bytes.sum")) return *bytes;
    const auto read = Find("dram__bytes_read.sum");
    const auto written = Find("dram__bytes_write.sum");
    if (read && written) return *read + *written;
    return First({"dram__bytes.sum.per_second"}) * Time() / kNanosPerSecond;
  }

  // A fused multiply-add counts two; additions and multiplications of all precisions one.
  double Flop() const {
    double flop = 0;
    for (const char* precision : {"d", "f", "h"}) {
      flop +=
          Executed(precision, "add") + Executed(precision, "mul") + 2 * Executed(precision, "fma");
    }
    return flop;
  }

  double PeakFlops() const {
    return 2 * First({"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"}) *
           First({"sm__cycles_elapsed.avg.per_second"});
  }
  double PeakBytes() const {
    return First({"dram__bytes.sum.peak_sustained"}) *
           First({"dram__cycles_elapsed.avg.per_second"});
  }

 private:
  std::optional<double> Find(std::string_view name) const {
    const auto found = kernel_.metrics.find(name);
    if (found == kernel_.metrics.end() || !std::isfinite(found->second)) return std::nullopt;
    return found->second;
  }
  double First(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (const auto value = Find(name)) return *value;
    }
    return 0;
  }
  double Executed(const char* precision, const char* operation) const {
    for (const char* unit : {"smsp", "sm"}) {
      const std::string name = fmt::format("{}__sass_thread_inst_executed_op_{}{}_pred_on.sum",
                                           unit, precision, operation);
      if (const auto count = Find(name)) return *count;
      if (const auto rate = Find(name + ".per_cycle_elapsed")) {
        return *rate * First({fmt::format("{}__cycles_elapsed.avg.per_second", unit)}) * Time() /
               kNanosPerSecond;
      }
    }
    return 0;
  }

  const KernelCounters& kernel_;
};

}  // namespace

std::vector<StepPoint> StepPoints(const Run& run, std::size_t most) {
  const Steps& steps = run.steps;
  std::vector<StepPoint> points;
  if (!steps.known() || most == 0) return points;
  const std::size_t group = (steps.all.size() + most - 1) / most;
  for (std::size_t first = 0; first < steps.all.size();) {
    // Warm-up and steady steps never share a point.
    const std::size_t border = first < steps.first_steady ? steps.first_steady : steps.all.size();
    StepPoint point;
    point.first = first;
    point.count = std::min(group, border - first);
    point.start_ns = steps.all[first].start;
    point.warmup = first < steps.first_steady;
    std::vector<Nanos> lengths;
    for (std::size_t i = first; i < first + point.count; ++i) {
      lengths.push_back(steps.all[i].Length());
      point.outlier = point.outlier || std::find(steps.outliers.begin(), steps.outliers.end(), i) !=
                                           steps.outliers.end();
    }
    point.max_ns = *std::max_element(lengths.begin(), lengths.end());
    point.median_ns = Median(std::move(lengths));
    first += point.count;
    points.push_back(point);
  }
  return points;
}

std::vector<CopySizeBin> CopySizes(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  std::map<std::pair<std::string, std::int64_t>, CopySizeBin> bins;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.kind[op] != OpKind::kCopy || !basis.InWindow(trace.ops.start[op])) continue;
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
    const auto after =
        std::upper_bound(steps.all.begin(), steps.all.end(), first,
                         [](Nanos time, const Step& step) { return time < step.start; });
    if (after == steps.all.begin()) continue;
    const auto step = static_cast<std::size_t>(after - steps.all.begin()) - 1;
    if (first >= steps.all[step].end) continue;
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

Roofline RooflineOf(const Trace& trace, double peak_flops, double peak_bytes_per_s) {
  Roofline roofline;
  for (const KernelCounters& kernel : trace.counters) {
    const Counters counters(kernel);
    roofline.peak_flops = std::max(roofline.peak_flops, counters.PeakFlops());
    roofline.peak_bytes_per_s = std::max(roofline.peak_bytes_per_s, counters.PeakBytes());
    const double time = counters.Time();
    const double bytes = counters.Bytes();
    const double flop = counters.Flop();
    if (time <= 0 || bytes <= 0 || flop <= 0) {
      ++roofline.without_flops;
      continue;
    }
    roofline.points.push_back({kernel.kernel, flop / bytes, flop / time * kNanosPerSecond, time});
  }
  if (roofline.peak_flops <= 0) roofline.peak_flops = peak_flops;
  if (roofline.peak_bytes_per_s <= 0) roofline.peak_bytes_per_s = peak_bytes_per_s;
  return roofline;
}

}  // namespace advise
