// sample.*: GPU metric samples, by what ran meanwhile.
#include <algorithm>

#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

constexpr const char* kNoSamples = "no GPU metric samples of this kind were recorded";

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
    {"nvlink", &SampledMeans::nvlink, "NVLink traffic over its peak, of the busier direction"},
    {"clock", &SampledMeans::clock, "clock of the SMs over the highest one of the GPU"}};

// The time that samples of compute speak of; nothing on devices without any series.
std::vector<IntervalSet> SampledCompute(const Analysis& a) {
  std::vector<IntervalSet> spans(a.times.size());
  for (const Series& series : a.run.trace.gpu_series) {
    if (series.device < spans.size()) spans[series.device] = a.times[series.device].compute;
  }
  return spans;
}

struct SampleTime {
  const char* group;  // of facts
  SampledMeans Samples::*means;
  const char* words;
};
constexpr SampleTime kSampleTimes[] = {
    {"sample.window.", &Samples::window, "in the window"},
    {"sample.compute.", &Samples::compute, "while compute kernels ran"},
    {"sample.comm.", &Samples::comm, "while communication ran and no compute"}};

// "mlx5_0" of "mlx5_0 port 1".
std::string CardOf(const std::string& port) { return port.substr(0, port.find(" port ")); }

// Which card carried the traffic of collectives.
void DeclarePorts(Catalog* catalog) {
  auto& samples = catalog->Of(&Analysis::samples);
  samples.Add("sample.port.count", "count",
              "Ports of network cards whose traffic was sampled while communication ran and no "
              "compute; 0 for none.",
              [](const Samples& s) { return s.ports.size(); });
  samples.Add("sample.port.rows", "rows",
              "Each port that was sampled, the busiest first: port, card, link, rate (bytes per "
              "second of the busier direction), without (the same while no communication ran; -1 "
              "unknown), idle (1 or 0).",
              [](const Samples& s) {
                return RowsOf(s.ports, [](const PortTraffic& port) {
                  return Row{{"port", port.port},       {"card", CardOf(port.port)},
                             {"link", port.link},       {"rate", port.rate},
                             {"without", port.without}, {"idle", port.idle ? 1.0 : 0.0}};
                });
              });
}

}  // namespace

void DeclareSampleFacts(Catalog* catalog) {
  auto& samples = catalog->Of(&Analysis::samples);
  samples.AlsoWithoutTimeline();
  samples.Add("sample.comm.nic", "bytes_per_s",
              "Traffic of all network cards while communication ran and no compute; may hold other "
              "traffic than the job's.",
              UnlessNegative(&Samples::nic_in_comm, kNoSamples, "nic-metrics"));
  DeclarePorts(catalog);
  for (const SampleTime& time : kSampleTimes) {
    const std::string group = time.group;
    const auto means = time.means;
    for (const SampleFact& fact : kSampleFacts) {
      const auto value = fact.value;
      samples.Add(group + fact.name, "share",
                  std::string("Samples ") + time.words + ": " + fact.words + ".",
                  UnlessNegative(
                      [means, value](const Samples& s) { return std::min(1.0, s.*means.*value); },
                      kNoSamples, "gpu-metrics"));
    }
    samples.Add(group + "samples", "count",
                std::string("Samples ") + time.words + ", of the quantity with most.",
                IfPositive([means](const Samples& s) { return (s.*means).samples; }, kNoSamples,
                           "gpu-metrics"));
  }
  const auto some = [](const Samples& s) { return s.low_sm.share > 0; };
  samples.Add(
      "sample.low_sm.share", "share",
      "Part of the compute time in kernels, each a good part of it, in whose samples at most "
      "half of the SMs have work; absent for none.",
      IfPositive([](const Samples& s) { return s.low_sm.share; }, kNoSamples, "gpu-metrics"));
  samples.Add(
      "sample.low_sm.active", "share",
      "Share of the SMs that had work in kernels that leave half of them idle.",
      If(
          some, [](const Samples& s) { return s.low_sm.active; }, kNoSamples, "gpu-metrics"));
  samples.Add(
      "sample.low_sm.samples", "count", "Samples in kernels that leave half of the SMs idle.",
      IfPositive([](const Samples& s) { return s.low_sm.samples; }, kNoSamples, "gpu-metrics"));
  samples.Add(
      "sample.low_sm.name", "name",
      "The kernel that takes most time of those that leave half of the SMs idle.",
      UnlessEmpty([](const Samples& s) { return s.low_sm.name; }, kNoSamples, "gpu-metrics"));
  samples.Add("sample.low_sm.lost", "spans",
              "Time of kernels that leave half of the SMs idle, by their samples.",
              [](const Samples& s, const Analysis& a) {
                std::vector<IntervalSet> spans = s.low_sm.spans;
                spans.resize(a.times.size());
                return spans;
              });
  catalog->OfAll()
      .AlsoWithoutTimeline()
      .Needs([](const Analysis& a) { return a.samples.compute.samples > 0; }, kNoSamples,
             "gpu-metrics")
      .Add("sample.compute.lost", "spans", "Compute time of the devices that were sampled.",
           SampledCompute);
}

}  // namespace advise::facts
