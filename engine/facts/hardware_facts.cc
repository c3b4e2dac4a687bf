// hw.*: the device.
#include "engine/facts/declare.h"

namespace advise::facts {

void DeclareHardwareFacts(Catalog* catalog) {
  auto& hw = catalog->Of(&Analysis::hardware);
  hw.AlsoWithoutTimeline();
  const auto known = [&](const char* name, const char* unit, const char* definition,
                         double Hardware::*value,
                         const char* reason =
                             "the device is not in the knowledge base, or the "
                             "report does not name it (see --gpu)",
                         const char* needs = "hardware") {
    hw.Add(name, unit, definition, IfPositive(value, reason, needs));
  };
  hw.Add(
      "hw.name", "name", "Name of the first device.",
      UnlessEmpty(&Hardware::name, "the report does not name the device (see --gpu)", "hardware"));
  hw.Add("hw.known", "flag", "The knowledge base has this device.", &Hardware::known);
  known("hw.sm_count", "count", "SMs of the first device.", &Hardware::sm_count);
  known("hw.compute_capability", "num", "Compute capability of the first device: 9.0 is 9.",
        &Hardware::compute_capability);
  known("hw.memory_bytes", "bytes", "Memory of the first device.", &Hardware::memory_bytes);
  known("hw.memory_bytes_per_s", "bytes_per_s", "Peak memory bandwidth of the first device.",
        &Hardware::memory_bytes_per_s);
  known("hw.host_link_bytes_per_s", "bytes_per_s",
        "Rate that pinned copies reach on the host link.", &Hardware::host_link_bytes_per_s);
  known("hw.nvlink", "bytes_per_s", "Rate of NVLink in one direction, where every card has it.",
        &Hardware::nvlink_bytes_per_s,
        "the device is not in the knowledge base, or the report does not name it (see --gpu)", "");
  known("hw.peak_fp32_flops", "flop_per_s", "Peak FP32 rate without tensor cores.",
        &Hardware::peak_fp32_flops);
  known("hw.peak_tensor_flops", "flop_per_s", "Peak dense 16-bit tensor rate.",
        &Hardware::peak_tensor_flops);
  known("hw.peak_fp8_flops", "flop_per_s", "Peak dense FP8 rate; absent where the device has none.",
        &Hardware::peak_fp8_flops,
        "the device has no FP8 units, or is not in the knowledge base (see --gpu)");
  known("hw.fp64_ratio", "num", "Peak FP64 rate over peak FP32 rate, without tensor cores.",
        &Hardware::fp64_ratio);
}

}  // namespace advise::facts
