// Sampled counters: names of several generations, means over the time of one kind of work.
#include "engine/metrics/kernels/samples.h"

#include "tests/support/analyzed.h"

namespace advise {
namespace {

Series Sampled(const std::string& name, std::vector<double> values, Nanos period = 10) {
  Series series;
  series.name = name;
  series.unit = "percent";
  series.device = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    series.time.push_back(static_cast<Nanos>(i + 1) * period);
  }
  series.value = std::move(values);
  return series;
}

// A kernel in [0, 100), a collective in [100, 200), nothing until 280, a kernel until 300.
TraceBuilder SampledStory() {
  return TraceBuilder()
      .Kernel("gemm", {0, 100})
      .Kernel(kAllReduce, {100, 200})
      .Kernel("gemm", {280, 300});
}

Samples Of(std::vector<Series> gpu, std::vector<Series> nic = {}) {
  Trace trace = SampledStory().Build();
  trace.gpu_series = std::move(gpu);
  trace.nic_series = std::move(nic);
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  return Analysis(trace, ShippedKnowledge(), options).samples;
}

std::vector<double> Values(double compute, double comm, double idle) {
  std::vector<double> values(30, compute);
  for (int i = 10; i < 20; ++i) values[static_cast<std::size_t>(i)] = comm;
  for (int i = 20; i < 28; ++i) values[static_cast<std::size_t>(i)] = idle;
  return values;
}

TEST_CASE("samples: names of counters, directions that add up, and the busier way of a link") {
  const auto constant = [](const char* name, double value) {
    return Sampled(name, std::vector<double>(30, value));
  };
  const Samples samples =
      Of({constant("GR Active", 90), constant("SM Issue", 30), constant("Tensor Active", 40),
          constant("DRAM Read Bandwidth", 20), constant("DRAM Write Bandwidth", 15),
          constant("PCIe RX Throughput", 5), constant("PCIe TX Throughput", 9),
          constant("NVLink RX Bandwidth", 11), constant("NVLink TX Bandwidth", 7),
          constant("NVLink RX Protocol Bandwidth", 50)});
  CHECK(samples.window.gr_active == Approx(0.9));
  CHECK(samples.window.sm_issue == Approx(0.3));
  CHECK(samples.window.tensor == Approx(0.4));
  CHECK(samples.window.dram == Approx(0.35));
  CHECK(samples.window.pcie == Approx(0.09));
  CHECK(samples.window.nvlink == Approx(0.11));
  CHECK(samples.window.samples == 30);
  CHECK(samples.window.sm_active == -1);
  const Samples full =
      Of({constant("VRAM Read Bandwidth", 80), constant("VRAM Write Bandwidth", 70)});
  CHECK(full.window.dram == 1);  // rounding and clocks of the tool
}

TEST_CASE("samples: tensor pipes while products run") {
  Trace trace = TraceBuilder().Kernel(kMatrixBf16, {0, 100}).Kernel("x", {100, 300}).Build();
  trace.gpu_series = {Sampled("Tensor Active", Values(80, 10, 10)),
                      Sampled("SMs Active", Values(99, 99, 99))};
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const Samples samples = Analysis(trace, ShippedKnowledge(), options).samples;
  CHECK(samples.tensor_samples == 9);  // at 10 to 90; the one at 100 lies behind the product
  CHECK(samples.tensor_in_matrix == Approx(0.8));
  trace.gpu_series.resize(1);
  trace.gpu_series[0].device = 7;  // of no device of the report
  CHECK(Analysis(trace, ShippedKnowledge(), options).samples.tensor_in_matrix == -1);
}

TEST_CASE("samples: without memory the efficiency is taken from them") {
  Trace trace = TraceBuilder().Kernel("unknown", {0, 300}).Build();
  trace.gpu_series = {Sampled("Tensor Active", std::vector<double>(30, 30)),
                      Sampled("DRAM Read Bandwidth", std::vector<double>(30, 50))};
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const Analysis run(trace, ShippedKnowledge(), options);
  CHECK(run.efficiency.source == "samples");
  CHECK(run.efficiency.mfu == Approx(0.3));
  CHECK(run.efficiency.bandwidth == Approx(0.5));
  // Of one quantity alone, also of one that stays at nothing.
  trace.gpu_series = {Sampled("DRAM Read Bandwidth", std::vector<double>(30, 0))};
  CHECK(Analysis(trace, ShippedKnowledge(), options).efficiency.source == "samples");
  trace.gpu_series = {Sampled("Tensor Active", std::vector<double>(30, 0))};
  CHECK(Analysis(trace, ShippedKnowledge(), options).efficiency.source == "samples");
  trace.gpu_series = {Sampled("SMs Active", std::vector<double>(30, 80))};
  CHECK(Analysis(trace, ShippedKnowledge(), options).efficiency.source == "none");
}

TEST_CASE("samples: each speaks of the period before it") {
  const Samples samples = Of({Sampled("SMs Active", Values(80, 20, 0))});
  CHECK(samples.compute.sm_active == Approx(0.8));
  CHECK(samples.comm.sm_active == Approx(0.2));
  CHECK(samples.window.sm_active == Approx((12 * 80 + 10 * 20) / 30.0 / 100));
  CHECK(samples.compute.samples == 12);
  CHECK(samples.compute.sm_issue == -1);
}

TEST_CASE("samples: a period that is half in a kernel counts, less does not") {
  // Samples every 40: periods (0,40] (40,80] (80,120] (120,160] (160,200] (200,240] …
  const Samples samples = Of({Sampled("SM Active", {10, 20, 30, 40, 50, 60, 70}, 40)});
  CHECK(samples.compute.sm_active == Approx((10 + 20 + 30) / 300.0));  // 80 to 100 is half
  CHECK(samples.comm.sm_active == Approx((30 + 40 + 50) / 300.0));
}

TEST_CASE("samples: names of generations mean the same") {
  for (const auto& [older, newer] :
       {std::pair{"DRAM Read Throughput", "DRAM Read Bandwidth"}, {"SM Active", "SMs Active"}}) {
    INFO(older);
    const SampledMeans a = Of({Sampled(older, Values(50, 0, 0))}).compute;
    const SampledMeans b = Of({Sampled(newer, Values(50, 0, 0))}).compute;
    CHECK(std::max(a.dram, a.sm_active) == Approx(0.5));
    CHECK(a.dram == b.dram);
    CHECK(a.sm_active == b.sm_active);
  }
  const Samples both = Of({Sampled("DRAM Read Bandwidth", Values(40, 0, 0)),
                           Sampled("DRAM Write Bandwidth", Values(30, 0, 0))});
  CHECK(both.compute.dram == Approx(0.7));
}

TEST_CASE("samples: links are the busier direction, requests and responses together, no protocol") {
  const Samples samples = Of({Sampled("NVLink RX Requests User Data", Values(0, 10, 0)),
                              Sampled("NVLink RX Responses User Data", Values(0, 20, 0)),
                              Sampled("NVLink RX Requests Protocol Data", Values(0, 50, 0)),
                              Sampled("NVLink TX Requests User Data", Values(0, 5, 0)),
                              Sampled("PCIe RX Throughput", Values(0, 60, 0)),
                              Sampled("PCIe TX Throughput", Values(0, 70, 0))});
  CHECK(samples.comm.nvlink == Approx(0.3));
  CHECK(samples.comm.pcie == Approx(0.7));
  CHECK(samples.compute.nvlink == Approx(0));
}

TEST_CASE("samples: cards add up, and only those that count bytes") {
  Series received = Sampled("Bytes received", Values(0, 2e9, 0));
  received.unit = "bytes/s";
  Series sent = Sampled("Bytes sent", Values(0, 1e9, 0));
  sent.unit = "bytes/s";
  const Series packets = Sampled("Packets sent", Values(7, 7, 7));
  const Samples samples = Of({}, {received, sent, packets});
  CHECK(samples.nic_in_comm == Approx(3e9));
  CHECK(Of({}, {packets}).nic_in_comm == -1);
}

TEST_CASE("samples: ports of network cards, the busiest first, and those that are idle") {
  const auto port = [](const char* source, const char* link, double compute, double comm) {
    Series series = Sampled("IB: Bytes sent", Values(compute, comm, 0));
    series.unit = "b";  // counted since the sample before
    series.source = source;
    series.link = link;
    return series;
  };
  const Samples samples =
      Of({}, {port("mlx5_0 port 1", "InfiniBand", 0, 0), port("eth0 port 1", "Ethernet", 1, 100)});
  REQUIRE(samples.ports.size() == 2);
  CHECK(samples.ports[0].port == "eth0 port 1");
  CHECK(samples.ports[0].rate == Approx(1e10));  // 100 bytes in 10 ns
  CHECK(samples.ports[0].without == Approx(1e8 * 12 / 20));
  CHECK_FALSE(samples.ports[0].idle);
  CHECK(samples.ports[1].idle);
  CHECK(samples.nic_in_comm == Approx(1e10));
}

TEST_CASE("samples: the clock while kernels run, over the highest one of the GPU") {
  Trace trace = SampledStory().Build();
  trace.gpu_series = {Sampled("GPC Clock Frequency", Values(1.0e9, 1.4e9, 0.3e9))};
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  CHECK(Analysis(trace, ShippedKnowledge(), options).samples.compute.clock == -1);
  trace.devices[0].clock_hz = 1.4e9;
  const Samples samples = Analysis(trace, ShippedKnowledge(), options).samples;
  CHECK(samples.compute.clock == Approx(1.0 / 1.4));
  CHECK(samples.compute.samples == 12);
}

TEST_CASE("samples: kernels that leave SMs idle are told apart from others") {
  Trace trace = TraceBuilder()
                    .Kernel("gemm", {0, 1000})
                    .Kernel("softmax", {1000, 2000})
                    .Kernel("gemm", {2000, 3000})
                    .Build();
  std::vector<double> active(300, 40);
  for (std::size_t i = 100; i < 200; ++i) active[i] = 95;
  trace.gpu_series = {Sampled("SMs Active", active)};
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const LowSmKernels low = Analysis(trace, ShippedKnowledge(), options).samples.low_sm;
  CHECK(low.share == Approx(2.0 / 3));
  CHECK(low.active == Approx(0.4));
  CHECK(low.name == "gemm");
  REQUIRE(low.spans.size() == 1);
  CHECK(low.spans[0].Total() == 2000);
}

}  // namespace
}  // namespace advise
