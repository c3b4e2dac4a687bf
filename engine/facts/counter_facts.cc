// Facts of kernel counters, rooflines and GPU metric samples: the list and the values.
#include <algorithm>

#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {
namespace {

constexpr const char* kNoCounters = "no kernel counters were given (Nsight Compute)";
constexpr const char* kNoSamples = "no GPU metric samples of this kind were recorded";

// Classes of kernels whose work and traffic go together, whatever their size.
struct Reference {
  const char* kernel_class;
  const char* number;  // of kb/metrics.toml
};
constexpr Reference kReferences[] = {{"elementwise", "roofline.elementwise"},
                                     {"cast", "roofline.elementwise"},
                                     {"reduction", "roofline.reduction"},
                                     {"normalisation", "roofline.normalisation"},
                                     {"softmax", "roofline.softmax"},
                                     {"attention", "roofline.attention"},
                                     {"matrix", "roofline.matrix"}};

Rows CounterRows(const Counters& counters) {
  Rows rows;
  for (const CountedKernel& k : counters.kernels) {
    rows.push_back({{"kernel", k.name},
                    {"class", k.kernel_class},
                    {"weight", k.weight},
                    {"count", static_cast<double>(k.instances)},
                    {"time", k.run_time_ns > 0 ? k.run_time_ns : k.time_ns},
                    {"bound", k.bound},
                    {"headroom", k.headroom},
                    {"lost", k.lost_ns},
                    {"sm", k.sm},
                    {"memory", k.memory},
                    {"dram", k.dram},
                    {"l2_hit", k.l2_hit},
                    {"occupancy", k.occupancy},
                    {"theoretical", k.theoretical},
                    {"limiter", k.limiter},
                    {"registers", k.registers},
                    {"waves", k.waves},
                    {"ipc", k.ipc},
                    {"issue", k.issue},
                    {"stall_memory", k.stall_memory},
                    {"stall_barrier", k.stall_barrier},
                    {"stall_not_selected", k.stall_not_selected},
                    {"sectors", k.sectors},
                    {"useful", k.useful},
                    {"local", k.local},
                    {"lanes", k.lanes},
                    {"tensor", k.tensor},
                    {"source", k.source}});
  }
  return rows;
}

Rows RooflineRows(const Counters& counters) {
  Rows rows;
  for (const CountedKernel& k : counters.kernels) {
    if (k.intensity < 0) continue;
    rows.push_back({{"kernel", k.name},
                    {"weight", k.weight},
                    {"flops", k.flops},
                    {"bytes", k.bytes},
                    {"intensity", k.intensity},
                    {"balance", k.balance},
                    {"achieved", k.achieved},
                    {"attainable", k.attainable},
                    {"bound", k.balance <= 0            ? ""
                              : k.intensity < k.balance ? "memory"
                                                        : "compute"},
                    {"estimated", k.tensor_estimated ? "tensor work" : ""}});
  }
  return rows;
}

Rows AdviceRows(const Trace& trace) {
  Rows rows;
  for (const KernelCounters& counters : trace.counters) {
    for (const CounterAdvice& advice : counters.advice) {
      if (advice.speedup_percent < 0) continue;
      rows.push_back({{"kernel", counters.kernel},
                      {"rule", advice.rule},
                      {"speedup", std::min(1.0, advice.speedup_percent / 100)},
                      {"text", advice.text}});
    }
  }
  return rows;
}

// Where no counters are: what the kernels' classes say of their intensity.
void WriteEstimates(const Analysis& a, FactWriter* w) {
  const double bandwidth = a.hardware.memory_bytes_per_s;
  if (bandwidth <= 0 || a.hardware.peak_fp32_flops <= 0) {
    for (const char* name : {"roofline.estimates", "roofline.low_intensity.share"}) {
      w->Missing(name, "the peaks of the device are not known (see --gpu)", "hardware");
    }
    return;
  }
  Rows rows;
  double low = 0;
  for (const KernelRow& row : a.kernels.classes) {
    for (const Reference& reference : kReferences) {
      if (row.kernel_class != reference.kernel_class) continue;
      const bool matrix = row.kernel_class == "matrix" || row.kernel_class == "attention";
      const double peak = matrix
                              ? std::max(a.hardware.peak_tensor_flops, a.hardware.peak_fp32_flops)
                              : a.hardware.peak_fp32_flops;
      const double intensity = a.run.knowledge.Number(reference.number);
      const double balance = peak / bandwidth;
      if (intensity < balance) low += row.time_ns;
      rows.push_back({{"class", row.kernel_class},
                      {"time", row.time_ns},
                      {"intensity", intensity},
                      {"balance", balance},
                      {"bound", intensity < balance ? "memory" : "compute"}});
    }
  }
  // Sizes tell more than a class does.
  for (const ShapeRow& row : a.shapes.rows) {
    low += IsArithmetic(row.kind) && row.bound == "memory" ? row.time_ns : 0;
  }
  w->Table("roofline.estimates", std::move(rows));
  w->Number("roofline.low_intensity.share",
            a.kernels.time_ns > 0 ? std::min(1.0, low / a.kernels.time_ns) : 0);
}

struct SampleFact {
  const char* name;
  double SampledMeans::*value;
  const char* words;
};
constexpr SampleFact kSampleFacts[] = {
    {"gr_active", &SampledMeans::gr_active, "share of the time in which the GPU did anything"},
    {"sm_active", &SampledMeans::sm_active, "share of the SMs that had work"},
    {"sm_issue", &SampledMeans::sm_issue, "share of the issue slots that were used"},
    {"tensor", &SampledMeans::tensor, "activity of the tensor pipes"},
    {"dram", &SampledMeans::dram, "device memory traffic over its peak"},
    {"pcie", &SampledMeans::pcie, "PCIe traffic over its peak, of the busier direction"},
    {"nvlink", &SampledMeans::nvlink, "NVLink traffic over its peak, of the busier direction"}};

// The time that samples of compute speak of; nothing on devices without any series.
std::vector<IntervalSet> SampledCompute(const Analysis& a) {
  std::vector<IntervalSet> spans(a.times.size());
  for (const Series& series : a.run.trace.gpu_series) {
    if (series.device < spans.size()) spans[series.device] = a.times[series.device].compute;
  }
  return spans;
}

struct SampleTime {
  const char* name;
  SampledMeans Samples::*means;
  const char* words;
};
constexpr SampleTime kSampleTimes[] = {
    {"window", &Samples::window, "in the window"},
    {"compute", &Samples::compute, "while compute kernels ran"},
    {"comm", &Samples::comm, "while communication ran and no compute"},
    {"idle", &Samples::idle, "while nothing ran"}};

std::string SampleName(const SampleTime& time, const char* what) {
  return std::string("sample.") + time.name + "." + what;
}

}  // namespace

std::vector<FactInfo> CounterFactList() {
  std::vector<FactInfo> list = {
      {"counter.kernels", "count", "Kernels, by name, of which hardware counters were given."},
      {"counter.instances", "count", "Counted launches."},
      {"counter.time", "ns", "Their summed time under the kernel profiler."},
      {"counter.coverage", "share",
       "Part of the run's kernel time in kernels that were counted; absent without a timeline."},
      {"counter.top", "name", "The counted kernel with the largest weight."},
      {"counter.rows", "rows",
       "Counted kernels: kernel, class, weight (share of the run's kernel time; without a timeline "
       "of the counted time), count, time, bound (what it meets first: memory, compute; latency "
       "when it is near neither), headroom (share of its time that running near that limit would "
       "win), lost (the same as time), then shares of peak, of the warps, of the issue slots, of a "
       "warp's latency, and ratios; -1 was not counted."},
      {"counter.memory.lost", "spans",
       "Headroom of counted kernels that memory limits; without a timeline on the counted time."},
      {"counter.compute.lost", "spans", "Headroom of counted kernels that the SMs limit."},
      {"counter.latency.lost", "spans", "Headroom of counted kernels that are near no limit."},
      {"counter.advice", "rows",
       "What the kernel profiler itself advised with an estimate: kernel, rule, speedup, text."},
      {"roofline.rows", "rows",
       "Counted kernels with work and traffic: kernel, weight, flops and bytes a launch, "
       "intensity, "
       "balance, achieved, attainable, bound, estimated (what was not counted directly)."},
      {"roofline.estimates", "rows",
       "An estimate from the classes of kernels alone: class, time, intensity, balance, bound."},
      {"roofline.low_intensity.share", "share",
       "Estimate: share of the kernel time in classes whose intensity lies below the balance, and "
       "in products whose recorded sizes say so."},
      {"sample.nic", "bytes_per_s", "Traffic of all network cards in the window, both directions."},
      {"sample.comm.nic", "bytes_per_s",
       "The same while communication ran and no compute; may hold other traffic than the job's."},
  };
  for (const SampleTime& time : kSampleTimes) {
    for (const SampleFact& fact : kSampleFacts) {
      list.push_back({SampleName(time, fact.name), "share",
                      std::string("Samples ") + time.words + ": " + fact.words + "."});
    }
    list.push_back({SampleName(time, "samples"), "count",
                    std::string("Samples ") + time.words + ", of the quantity with most."});
  }
  list.push_back(
      {"sample.compute.lost", "spans", "Compute time of the devices that were sampled."});
  return list;
}

void WriteCounterFacts(const Analysis& a, FactWriter* w) {
  const Counters& c = a.counters;
  w->Number("counter.kernels", static_cast<double>(c.kernels.size()));
  w->Number("counter.instances", static_cast<double>(c.instances));
  if (c.kernels.empty()) {
    for (const char* name :
         {"counter.time", "counter.coverage", "counter.top", "counter.rows", "counter.memory.lost",
          "counter.compute.lost", "counter.latency.lost", "counter.advice", "roofline.rows"}) {
      w->Missing(name, kNoCounters, "ncu");
    }
  } else {
    w->Number("counter.time", c.time_ns);
    if (c.coverage >= 0) {
      w->Number("counter.coverage", c.coverage);
    } else {
      w->Missing("counter.coverage", "no timeline of the run was given", "cuda");
    }
    w->Text("counter.top", c.kernels.front().name);
    w->Table("counter.rows", CounterRows(c));
    w->SpansOf("counter.memory.lost", c.memory);
    w->SpansOf("counter.compute.lost", c.compute);
    w->SpansOf("counter.latency.lost", c.latency);
    w->Table("counter.advice", AdviceRows(a.run.trace));
    w->Table("roofline.rows", RooflineRows(c));
  }
  if (a.run.trace.HasTimeline()) {
    WriteEstimates(a, w);
  } else {
    for (const char* name : {"roofline.estimates", "roofline.low_intensity.share"}) {
      w->Missing(name, "no timeline of the run was given", "cuda");
    }
  }
  const auto share = [&](const std::string& name, double value, const char* needs) {
    if (value >= 0) {
      w->Number(name, value);
    } else {
      w->Missing(name, kNoSamples, needs);
    }
  };
  for (const SampleTime& time : kSampleTimes) {
    const SampledMeans& means = a.samples.*time.means;
    for (const SampleFact& fact : kSampleFacts) {
      const double value = means.*fact.value;
      share(SampleName(time, fact.name), value < 0 ? value : std::min(1.0, value), "gpu-metrics");
    }
    share(SampleName(time, "samples"), means.samples > 0 ? static_cast<double>(means.samples) : -1,
          "gpu-metrics");
  }
  if (a.samples.compute.samples > 0) {
    w->SpansOf("sample.compute.lost", SampledCompute(a));
  } else {
    w->Missing("sample.compute.lost", kNoSamples, "gpu-metrics");
  }
  share("sample.nic", a.samples.nic_bytes_per_s, "nic-metrics");
  share("sample.comm.nic", a.samples.nic_in_comm, "nic-metrics");
}

}  // namespace advise::facts
