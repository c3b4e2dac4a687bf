#include "engine/metrics/kernels/samples.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "engine/base/glob.h"
#include "engine/base/is_in.h"
#include "engine/base/median.h"

namespace advise {
namespace {

Nanos PeriodOf(const Series& series) {
  if (series.time.size() < 2) return 0;
  std::vector<Nanos> steps;
  for (std::size_t i = 1; i < std::min<std::size_t>(series.time.size(), 1000); ++i) {
    steps.push_back(series.time[i] - series.time[i - 1]);
  }
  return Median(std::move(steps));
}

// The mean of one quantity over the devices; series of one direction of one device add up (requests
// and responses of a link).
class Sampler {
 public:
  Sampler(const Knowledge& knowledge, const Trace& trace, const std::vector<IntervalSet>& time)
      : trace_(trace), all_(trace.gpu_series), time_(time) {
    for (const Series& series : all_) {
      quantity_.push_back(knowledge.ValueIn(NameList::kGpuMetric, series.name));
    }
  }

  double Of(std::initializer_list<std::string_view> quantities, std::size_t* most) const {
    double sum = 0;
    std::size_t devices = 0;
    for (std::uint32_t d = 0; d < time_.size(); ++d) {
      double of_device = 0;
      bool any = false;
      for (std::size_t s = 0; s < all_.size(); ++s) {
        const Series& series = all_[s];
        if (series.device != d) continue;
        if (!IsIn(quantity_[s], quantities)) {
          continue;
        }
        std::size_t count = 0;
        const double mean = MeanDuring(series, time_[d], &count);
        if (count == 0) continue;
        of_device += mean / 100;
        any = true;
        if (most != nullptr) *most = std::max(*most, count);
      }
      if (!any) continue;
      sum += std::min(1.0, of_device);
      ++devices;
    }
    return devices > 0 ? sum / static_cast<double>(devices) : -1;
  }

  SampledMeans All() const {
    SampledMeans means;
    std::size_t* const count = &means.samples;
    means.gr_active = Of({"gr_active"}, count);
    means.sm_active = Of({"sm_active"}, count);
    means.sm_issue = Of({"sm_issue"}, count);
    means.tensor = Of({"tensor"}, count);
    means.dram = Of({"dram_read", "dram_write"}, count);
    means.pcie = std::max(Of({"pcie_rx"}, count), Of({"pcie_tx"}, count));
    means.nvlink = std::max(Of({"nvlink_rx"}, count), Of({"nvlink_tx"}, count));
    means.clock = Clock(count);
    return means;
  }

 private:
  double Clock(std::size_t* most) const {
    double sum = 0;
    std::size_t devices = 0;
    for (std::size_t s = 0; s < all_.size(); ++s) {
      const std::uint32_t d = all_[s].device;
      if (quantity_[s] != "clock" || d >= time_.size() || trace_.devices[d].clock_hz <= 0) continue;
      std::size_t count = 0;
      const double mean = MeanDuring(all_[s], time_[d], &count);
      if (count == 0) continue;
      *most = std::max(*most, count);
      sum += std::min(1.0, mean / trace_.devices[d].clock_hz);
      ++devices;
    }
    return devices > 0 ? sum / static_cast<double>(devices) : -1;
  }

  const Trace& trace_;
  const std::vector<Series>& all_;
  const std::vector<IntervalSet>& time_;
  std::vector<std::string> quantity_;  // of each series
};

// Bytes per second that a series of a card shows; -1 where it counts no bytes, or has no sample in
// that time. Profilers give rates, or what was counted since the sample before.
double CardRate(const Series& series, const IntervalSet& time) {
  if (!MatchesGlob(series.name, "*byte*")) return -1;
  std::size_t count = 0;
  const double mean = MeanDuring(series, time, &count);
  if (count == 0) return -1;
  if (MatchesGlob(series.unit, "*/s*") || MatchesGlob(series.unit, "*per*")) return mean;
  const Nanos period = PeriodOf(series);
  return period > 0 ? mean / static_cast<double>(period) * kNanosPerSecond : -1;
}

// Bytes a second that all cards moved, both ways; -1 without such series.
double NicRate(const std::vector<Series>& cards, const IntervalSet& time) {
  double sum = -1;
  for (const Series& series : cards) {
    const double rate = CardRate(series, time);
    if (rate >= 0) sum = std::max(0.0, sum) + rate;
  }
  return sum;
}

std::vector<PortTraffic> PortsOf(const std::vector<Series>& cards, const IntervalSet& time,
                                 const IntervalSet& without, double idle) {
  std::vector<PortTraffic> ports;
  for (const Series& series : cards) {
    const double rate = CardRate(series, time);
    if (rate < 0) continue;
    auto port = std::find_if(ports.begin(), ports.end(),
                             [&](const PortTraffic& one) { return one.port == series.source; });
    if (port == ports.end()) {
      ports.push_back({series.source, series.link, 0, -1, false});
      port = std::prev(ports.end());
    }
    port->rate = std::max(port->rate, rate);
    port->without = std::max(port->without, CardRate(series, without));
  }
  std::stable_sort(ports.begin(), ports.end(),
                   [](const PortTraffic& a, const PortTraffic& b) { return a.rate > b.rate; });
  for (PortTraffic& port : ports) port.idle = port.rate <= idle * ports.front().rate;
  return ports;
}

double TensorInMatrix(const Basis& basis, std::size_t* count) {
  const Trace& trace = basis.run.trace;
  std::vector<IntervalSet> matrix(trace.devices.size());
  for (const std::uint32_t op : basis.OpsInWindow()) {
    if (trace.ops.kind[op] != OpKind::kKernel) continue;
    const std::string& name = basis.run.names.Kernel(trace.ops.detail[op]).name;
    if (name == "matrix" || name == "convolution") {
      matrix[trace.ops.device[op]].Append(trace.ops.start[op], trace.ops.end[op]);
    }
  }
  double sum = 0;
  for (const Series& series : trace.gpu_series) {
    // Percent of the tensor pipes' peak; spelt alike from Ampere to Blackwell, with FP16 beside it
    // on Turing.
    if (series.device >= matrix.size() ||
        basis.run.knowledge.ValueIn(NameList::kGpuMetric, series.name) != "tensor")
      continue;
    for (std::size_t i = 0; i < series.time.size(); ++i) {
      if (!matrix[series.device].Contains(series.time[i])) continue;
      sum += series.value[i] / 100;
      ++*count;
    }
  }
  return *count > 0 ? sum / static_cast<double>(*count) : -1;
}

// Samples of all kernels together hide that the largest ones leave SMs idle.
LowSmKernels FindLowSm(const Basis& basis, const std::vector<IntervalSet>& compute) {
  const Trace& trace = basis.run.trace;
  const Knowledge& knowledge = basis.run.knowledge;
  LowSmKernels low;
  std::vector<const Series*> active(trace.devices.size());
  for (const Series& series : trace.gpu_series) {
    if (series.device < active.size() &&
        knowledge.ValueIn(NameList::kGpuMetric, series.name) == "sm_active")
      active[series.device] = &series;
  }
  Nanos all = 0;
  for (std::size_t d = 0; d < compute.size(); ++d) all += active[d] ? compute[d].Total() : 0;
  if (all == 0) return low;
  std::map<StringId, std::vector<std::vector<Interval>>> kernels;  // by name, then device
  for (const std::uint32_t op : basis.OpsInWindow()) {
    if (trace.ops.kind[op] != OpKind::kKernel) continue;
    auto& spans = kernels[trace.shapes[trace.ops.detail[op]].name];
    spans.resize(trace.devices.size());
    spans[trace.ops.device[op]].push_back({trace.ops.start[op], trace.ops.end[op]});
  }
  low.spans.resize(trace.devices.size());
  double weighted = 0, longest = 0, low_time = 0;
  for (auto& [name, by_device] : kernels) {
    double time = 0, sum = 0, samples = 0;
    std::vector<IntervalSet> spans(trace.devices.size());
    for (std::size_t d = 0; d < by_device.size(); ++d) {
      if (active[d] == nullptr) continue;
      spans[d] = IntervalSet::Of(std::move(by_device[d])).Intersect(compute[d]);
      std::size_t count = 0;
      const double mean = MeanDuring(*active[d], spans[d], &count);
      time += static_cast<double>(spans[d].Total());
      sum += count > 0 ? mean / 100 * static_cast<double>(count) : 0;
      samples += static_cast<double>(count);
    }
    if (time < knowledge.Number("sample.kernel_share") * static_cast<double>(all) ||
        samples < knowledge.Number("sample.least") ||
        sum > knowledge.Number("sample.low_sm") * samples)
      continue;
    weighted += sum / samples * time;
    low_time += time;
    low.samples += static_cast<std::size_t>(samples);
    if (time > longest) {
      longest = time;
      low.name = trace.strings[name];
    }
    for (std::size_t d = 0; d < spans.size(); ++d) low.spans[d] = low.spans[d].Union(spans[d]);
  }
  if (low_time <= 0) return low;
  low.share = std::min(1.0, low_time / static_cast<double>(all));
  low.active = weighted / low_time;
  return low;
}

}  // namespace

double MeanDuring(const Series& series, const IntervalSet& time, std::size_t* count) {
  const Nanos period = PeriodOf(series);
  const IntervalList& intervals = time.intervals();
  std::size_t first = 0;  // the first interval that reaches into this sample's period or beyond
  double sum = 0;
  *count = 0;
  for (std::size_t i = 0; i < series.time.size() && first < intervals.size(); ++i) {
    // A sample speaks of the period before it.
    const Nanos end = series.time[i];
    const Nanos start = end - period;
    while (first < intervals.size() && intervals[first].end <= start) ++first;
    Nanos inside = 0;
    for (std::size_t k = first; k < intervals.size() && intervals[k].start < end; ++k) {
      inside += std::min(end, intervals[k].end) - std::max(start, intervals[k].start);
    }
    const bool counts = period > 0 ? 2 * inside >= period : time.Contains(end);
    if (!counts) continue;
    sum += series.value[i];
    ++*count;
  }
  return *count > 0 ? sum / static_cast<double>(*count) : -1;
}

Samples FindSamples(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  Samples samples;
  if (trace.gpu_series.empty() && trace.nic_series.empty()) return samples;
  if (!trace.gpu_series.empty()) {
    samples.tensor_in_matrix = TensorInMatrix(basis, &samples.tensor_samples);
  }
  std::vector<IntervalSet> window(trace.devices.size()), compute(window), comm(window);
  std::vector<Interval> comm_any;
  IntervalSet all_comm;
  for (const std::uint32_t d : basis.run.active_devices) {
    window[d].Append(basis.run.window.start, basis.run.window.end);
    compute[d] = basis.times[d].compute;
    comm[d] = basis.times[d].comm_exposed;
    const auto& intervals = comm[d].intervals();
    comm_any.insert(comm_any.end(), intervals.begin(), intervals.end());
    all_comm = all_comm.Union(basis.times[d].comm);
  }
  samples.window = Sampler(basis.run.knowledge, trace, window).All();
  samples.compute = Sampler(basis.run.knowledge, trace, compute).All();
  samples.low_sm = FindLowSm(basis, compute);
  samples.comm = Sampler(basis.run.knowledge, trace, comm).All();
  IntervalSet all_window;
  all_window.Append(basis.run.window.start, basis.run.window.end);
  const IntervalSet in_comm = IntervalSet::Of(std::move(comm_any));
  samples.nic_in_comm = NicRate(trace.nic_series, in_comm);
  samples.ports = PortsOf(trace.nic_series, in_comm, all_window.Subtract(all_comm),
                          basis.run.knowledge.Number("sample.idle_port"));
  return samples;
}

}  // namespace advise
