// What is known of the GPU: by its data sheet, by what the report records, by what copies reached.
#include "tests/support/analyzed.h"

namespace advise {
namespace {

Hardware HardwareOf(const std::string& name, const std::function<void(Device*)>& change = {},
                    const std::string& said = "") {
  Trace trace = TraceBuilder().Device(name, 0).Kernel("k", {0, 100}).Build();
  if (change) change(&trace.devices[0]);
  AnalysisOptions options;
  options.gpu = said;
  return Analysis(trace, ShippedKnowledge(), options).hardware;
}

TEST_CASE("the data sheet of an H100") {
  const Hardware gpu = HardwareOf("NVIDIA H100 80GB HBM3");
  CHECK(gpu.known);
  CHECK(gpu.sm_count == 132);
  CHECK(gpu.memory_bytes_per_s == 3.35e12);
  CHECK(gpu.peak_fp32_flops == 67e12);
  CHECK(gpu.peak_fp64_flops == 33.5e12);
  CHECK(gpu.fp64_ratio == Approx(33.5 / 67));
  CHECK(gpu.peak_tensor_flops == 989.4e12);
  CHECK(gpu.peak_fp8_flops == 1979e12);
  CHECK(gpu.tensor_ratio == Approx(989.4 / 67));
  CHECK(gpu.boost_clock_hz == 1.98e9);
  CHECK(gpu.nvlink_bytes_per_s == 450e9);
  CHECK(gpu.compute_capability == 9);
}

TEST_CASE("what the report records wins over the data sheet, what a person says over its name") {
  const Hardware gpu = HardwareOf("NVIDIA H100 80GB HBM3", [](Device* device) {
    device->sm_count = 66;
    device->memory_bytes = 40'000'000'000;
    device->memory_bytes_per_s = 1e12;
    device->compute_major = 8;
    device->compute_minor = 6;
  });
  CHECK(gpu.sm_count == 66);
  CHECK(gpu.memory_bytes == 40e9);
  CHECK(gpu.memory_bytes_per_s == 1e12);
  CHECK(gpu.compute_capability == Approx(8.6));
  CHECK(HardwareOf("some GPU", {}, "NVIDIA H100 80GB HBM3").peak_fp32_flops == 67e12);
  CHECK(HardwareOf("NVIDIA H100 80GB HBM3", {}, "NVIDIA A100-SXM4-80GB").peak_fp32_flops ==
        19.5e12);
}

TEST_CASE("of a GPU that nobody knows the generation tells the gain of tensor cores") {
  const auto generation = [](int major, int minor) {
    return HardwareOf("some GPU", [&](Device* device) {
      device->compute_major = major;
      device->compute_minor = minor;
    });
  };
  const Hardware ampere = generation(8, 0);
  CHECK_FALSE(ampere.known);
  CHECK(ampere.tensor_ratio == ShippedKnowledge().Number("precision.tensor_ratio_80"));
  CHECK(ampere.tensor_ratio > 1);
  CHECK(ampere.fp64_ratio == 0);
  CHECK(generation(6, 0).tensor_ratio == 0);  // Pascal has none
}

TEST_CASE("the link is as fast as its fastest large copies of pinned memory") {
  const auto link = [](std::int64_t bytes, Nanos length, MemoryKind memory) {
    TraceBuilder story;
    story.Device("some GPU", 100).CopyToGpu(bytes, memory, {0, 5_us}, {10_us, 10_us + length});
    story.Kernel("k", {1_ms, 10_ms});
    return Analyzed(story)->hardware.host_link_bytes_per_s;
  };
  const double assumed = ShippedKnowledge().Number("copy.assumed_link");
  const auto large = static_cast<std::int64_t>(ShippedKnowledge().Number("copy.large_bytes"));
  const double rate = static_cast<double>(large) / 100e-6;
  CHECK(link(large, 100_us, MemoryKind::kPinned) == Approx(rate));
  CHECK(link(large - 1, 100_us, MemoryKind::kPinned) == assumed);
  CHECK(link(large, 100_us, MemoryKind::kPageable) == assumed);
  TraceBuilder down;
  down.Device("some GPU", 100).CopyFromGpu(large, MemoryKind::kPinned, {0, 5_us}, {10_us, 110_us});
  down.Kernel("k", {1_ms, 10_ms});
  CHECK(Analyzed(down)->hardware.host_link_bytes_per_s == Approx(rate));
  TraceBuilder inside;
  inside.Device("some GPU", 100).CopyOnGpu(large, {0, 5_us}, {10_us, 110_us});
  CHECK(Analyzed(inside)->hardware.host_link_bytes_per_s == assumed);
}

}  // namespace
}  // namespace advise
