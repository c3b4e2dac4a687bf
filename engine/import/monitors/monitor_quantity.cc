#include "engine/import/monitors/monitor_quantity.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/is_in.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

using Entry = std::pair<std::string_view, MonitorQuantity>;

constexpr double kMiB = 1048576;
constexpr MonitorQuantity kUtilization{"utilization", "share", 0.01};
constexpr MonitorQuantity kMemoryActivity{"memory_activity", "share", 0.01};
constexpr MonitorQuantity kPower{"power", "W", 1};
constexpr MonitorQuantity kPowerLimit{"power_limit", "W", 1};
constexpr MonitorQuantity kTemperature{"temperature", "C", 1};
constexpr MonitorQuantity kSmClock{"sm_clock", "hz", 1e6};
constexpr MonitorQuantity kMemoryUsed{"memory_used", "bytes", kMiB};
constexpr MonitorQuantity kMemoryTotal{"memory_total", "bytes", kMiB};
constexpr MonitorQuantity kMemoryFree{"memory_free", "bytes", kMiB};

constexpr MonitorQuantity kUncorrected{"ecc_uncorrected", "count", 1};
constexpr MonitorQuantity kPcieReplays{"pcie_replays", "count", 1};

constexpr auto kSmi = std::to_array<Entry>({
    {"utilization.gpu", kUtilization},
    {"utilization.memory", kMemoryActivity},
    {"memory.used", kMemoryUsed},
    {"memory.total", kMemoryTotal},
    {"memory.free", kMemoryFree},
    {"power.draw", kPower},
    {"power.draw.average", {"power_average", "W", 1}},
    {"power.draw.instant", {"power_instant", "W", 1}},
    {"power.limit", kPowerLimit},
    {"enforced.power.limit", kPowerLimit},
    {"power.default_limit", {"power_default", "W", 1}},
    {"temperature.gpu", kTemperature},
    {"pcie.link.width.current", {"pcie_lanes", "count", 1}},
    {"pcie.link.width.max", {"pcie_lanes_max", "count", 1}},
    {"pcie.link.gen.current", {"pcie_generation", "count", 1}},
    {"pcie.link.gen.max", {"pcie_generation_max", "count", 1}},
    {"ecc.errors.uncorrected.volatile.total", {"ecc_uncorrected", "count", 1}},
    {"retired_pages.pending", {"pages_pending", "share", 1}},
    {"remapped_rows.pending", {"remap_pending", "share", 1}},
    {"remapped_rows.failure", {"remap_failed", "share", 1}},
    {"clocks.sm", kSmClock},
    {"clocks.current.sm", kSmClock},
    {"clocks.max.sm", {"sm_clock_max", "hz", 1e6}},
    {"clocks.mem", {"memory_clock", "hz", 1e6}},
    {"clocks.current.memory", {"memory_clock", "hz", 1e6}},
    {"clocks.gr", {"graphics_clock", "hz", 1e6}},
    {"clocks.current.graphics", {"graphics_clock", "hz", 1e6}},
    {"clocks_throttle_reasons.sw_power_cap", kByPower},
    {"clocks_event_reasons.sw_power_cap", kByPower},
    {"clocks_throttle_reasons.hw_power_brake_slowdown", kByBrake},
    {"clocks_event_reasons.hw_power_brake_slowdown", kByBrake},
    {"clocks_throttle_reasons.sw_thermal_slowdown", kByHeat},
    {"clocks_event_reasons.sw_thermal_slowdown", kByHeat},
    {"clocks_throttle_reasons.hw_thermal_slowdown", kByHeat},
    {"clocks_event_reasons.hw_thermal_slowdown", kByHeat},
    {"clocks_throttle_reasons.hw_slowdown", kByHardware},
    {"clocks_event_reasons.hw_slowdown", kByHardware},
});

constexpr auto kDmon = std::to_array<Entry>({
    {"pwr", kPower},
    {"gtemp", kTemperature},
    {"temp", kTemperature},
    {"sm", kUtilization},
    {"mem", kMemoryActivity},
    {"mclk", {"memory_clock", "hz", 1e6}},
    {"pclk", kSmClock},
    {"pviol", {"throttle_power", "share", 0.01}},
    {"tviol", kByHeat},
    {"fb", kMemoryUsed},
    {"rxpci", {"pcie_rx", "bytes_per_s", 1e6}},
    {"dbecc", kUncorrected},
    {"pci", kPcieReplays},
});

constexpr MonitorQuantity kXid{"xid", "code", 1};
// Total times for which the clocks were kept low.
constexpr MonitorQuantity kPowerTime{"throttle_power", "violation", 1};
constexpr MonitorQuantity kHeatTime{"throttle_thermal", "violation", 1};
// A number whose bits are reasons for low clocks.
constexpr MonitorQuantity kReasons{"throttle_reasons", "reasons", 1};

// Short names of `dcgmi dmon`, field numbers, and the names of the exporter, old and new.
constexpr auto kDcgm = std::to_array<Entry>({
    {"gract", {"gr_active", "share", 1}},
    {"1001", {"gr_active", "share", 1}},
    {"dcgm_fi_prof_gr_engine_active", {"gr_active", "share", 1}},
    {"dcgm_fi_prof_gr_engine_util_ratio", {"gr_active", "share", 1}},
    {"smact", {"sm_active", "share", 1}},
    {"1002", {"sm_active", "share", 1}},
    {"dcgm_fi_prof_sm_active", {"sm_active", "share", 1}},
    {"dcgm_fi_prof_sm_util_ratio", {"sm_active", "share", 1}},
    {"smocc", {"sm_occupancy", "share", 1}},
    {"1003", {"sm_occupancy", "share", 1}},
    {"dcgm_fi_prof_sm_occupancy", {"sm_occupancy", "share", 1}},
    {"dcgm_fi_prof_sm_occupancy_ratio", {"sm_occupancy", "share", 1}},
    {"tenso", {"tensor_active", "share", 1}},
    {"1004", {"tensor_active", "share", 1}},
    {"dcgm_fi_prof_pipe_tensor_active", {"tensor_active", "share", 1}},
    {"dcgm_fi_prof_tensor_util_ratio", {"tensor_active", "share", 1}},
    {"drama", {"dram_active", "share", 1}},
    {"1005", {"dram_active", "share", 1}},
    {"dcgm_fi_prof_dram_active", {"dram_active", "share", 1}},
    {"dcgm_fi_prof_dram_util_ratio", {"dram_active", "share", 1}},
    {"fp64a", {"fp64_active", "share", 1}},
    {"1006", {"fp64_active", "share", 1}},
    {"dcgm_fi_prof_pipe_fp64_active", {"fp64_active", "share", 1}},
    {"dcgm_fi_prof_fp64_util_ratio", {"fp64_active", "share", 1}},
    {"fp32a", {"fp32_active", "share", 1}},
    {"1007", {"fp32_active", "share", 1}},
    {"dcgm_fi_prof_pipe_fp32_active", {"fp32_active", "share", 1}},
    {"dcgm_fi_prof_fp32_util_ratio", {"fp32_active", "share", 1}},
    {"fp16a", {"fp16_active", "share", 1}},
    {"1008", {"fp16_active", "share", 1}},
    {"dcgm_fi_prof_pipe_fp16_active", {"fp16_active", "share", 1}},
    {"dcgm_fi_prof_fp16_util_ratio", {"fp16_active", "share", 1}},
    {"pcitx", {"pcie_tx", "bytes_per_s", 1}},
    {"1009", {"pcie_tx", "bytes_per_s", 1}},
    {"dcgm_fi_prof_pcie_tx_bytes", {"pcie_tx", "bytes_per_s", 1}},
    {"pcirx", {"pcie_rx", "bytes_per_s", 1}},
    {"1010", {"pcie_rx", "bytes_per_s", 1}},
    {"dcgm_fi_prof_pcie_rx_bytes", {"pcie_rx", "bytes_per_s", 1}},
    {"nvltx", {"nvlink_tx", "bytes_per_s", 1}},
    {"1011", {"nvlink_tx", "bytes_per_s", 1}},
    {"dcgm_fi_prof_nvlink_tx_bytes", {"nvlink_tx", "bytes_per_s", 1}},
    {"nvlrx", {"nvlink_rx", "bytes_per_s", 1}},
    {"1012", {"nvlink_rx", "bytes_per_s", 1}},
    {"dcgm_fi_prof_nvlink_rx_bytes", {"nvlink_rx", "bytes_per_s", 1}},
    {"gputl", kUtilization},
    {"203", kUtilization},
    {"dcgm_fi_dev_gpu_util", kUtilization},
    {"mcutl", kMemoryActivity},
    {"204", kMemoryActivity},
    {"dcgm_fi_dev_mem_copy_util", kMemoryActivity},
    {"power", kPower},
    {"155", kPower},
    {"dcgm_fi_dev_power_usage", kPower},
    {"pmlmt", kPowerLimit},
    {"dcgm_fi_dev_power_mgmt_limit", kPowerLimit},
    {"dcgm_fi_dev_enforced_power_limit", kPowerLimit},
    {"tmptr", kTemperature},
    {"150", kTemperature},
    {"dcgm_fi_dev_gpu_temp", kTemperature},
    {"smclk", kSmClock},
    {"100", kSmClock},
    {"dcgm_fi_dev_sm_clock", kSmClock},
    {"mmclk", {"memory_clock", "hz", 1e6}},
    {"101", {"memory_clock", "hz", 1e6}},
    {"dcgm_fi_dev_mem_clock", {"memory_clock", "hz", 1e6}},
    {"fbttl", kMemoryTotal},
    {"250", kMemoryTotal},
    {"fbfre", kMemoryFree},
    {"dcgm_fi_dev_fb_free", kMemoryFree},
    {"fbusd", kMemoryUsed},
    {"252", kMemoryUsed},
    {"dcgm_fi_dev_fb_used", kMemoryUsed},
    {"xider", kXid},
    {"230", kXid},
    {"dcgm_fi_dev_xid_errors", kXid},
    {"edvtl", kUncorrected},
    {"311", kUncorrected},
    {"dcgm_fi_dev_ecc_dbe_vol_total", kUncorrected},
    {"rppen", {"pages_pending", "count", 1}},
    {"392", {"pages_pending", "count", 1}},
    {"dcgm_fi_dev_retired_pending", {"pages_pending", "count", 1}},
    {"urmps", {"rows_remapped", "count", 1}},
    {"393", {"rows_remapped", "count", 1}},
    {"dcgm_fi_dev_uncorrectable_remapped_rows", {"rows_remapped", "count", 1}},
    {"rrf", {"remap_failed", "count", 1}},
    {"395", {"remap_failed", "count", 1}},
    {"dcgm_fi_dev_row_remap_failure", {"remap_failed", "count", 1}},
    {"rrp", {"remap_pending", "count", 1}},
    {"396", {"remap_pending", "count", 1}},
    {"dcgm_fi_dev_row_remap_pending", {"remap_pending", "count", 1}},
    {"202", kPcieReplays},
    {"dcgm_fi_dev_pcie_replay_counter", kPcieReplays},
    {"pcimg", {"pcie_generation_max", "count", 1}},
    {"235", {"pcie_generation_max", "count", 1}},
    {"dcgm_fi_dev_pcie_max_link_gen", {"pcie_generation_max", "count", 1}},
    {"pcimw", {"pcie_lanes_max", "count", 1}},
    {"236", {"pcie_lanes_max", "count", 1}},
    {"dcgm_fi_dev_pcie_max_link_width", {"pcie_lanes_max", "count", 1}},
    {"pcilg", {"pcie_generation", "count", 1}},
    {"237", {"pcie_generation", "count", 1}},
    {"dcgm_fi_dev_pcie_link_gen", {"pcie_generation", "count", 1}},
    {"pcilw", {"pcie_lanes", "count", 1}},
    {"238", {"pcie_lanes", "count", 1}},
    {"dcgm_fi_dev_pcie_link_width", {"pcie_lanes", "count", 1}},
    {"409", {"nvlink_flit_errors", "count", 1}},
    {"dcgm_fi_dev_nvlink_crc_flit_error_count_total", {"nvlink_flit_errors", "count", 1}},
    {"419", {"nvlink_data_errors", "count", 1}},
    {"dcgm_fi_dev_nvlink_crc_data_error_count_total", {"nvlink_data_errors", "count", 1}},
    {"429", {"nvlink_replays", "count", 1}},
    {"dcgm_fi_dev_nvlink_replay_error_count_total", {"nvlink_replays", "count", 1}},
    {"439", {"nvlink_recoveries", "count", 1}},
    {"dcgm_fi_dev_nvlink_recovery_error_count_total", {"nvlink_recoveries", "count", 1}},
    {"pviol", kPowerTime},
    {"240", kPowerTime},
    {"dcgm_fi_dev_power_violation", kPowerTime},
    {"tviol", kHeatTime},
    {"241", kHeatTime},
    {"dcgm_fi_dev_thermal_violation", kHeatTime},
    {"dvcctr", kReasons},
    {"112", kReasons},
    {"dcgm_fi_dev_clock_throttle_reasons", kReasons},
    {"dcgm_fi_dev_clocks_event_reasons", kReasons},
    {"smmax", {"sm_clock_max", "hz", 1e6}},
    {"113", {"sm_clock_max", "hz", 1e6}},
    {"dcgm_fi_dev_max_sm_clock", {"sm_clock_max", "hz", 1e6}},
    {"eplmt", kPowerLimit},
    {"164", kPowerLimit},
    {"160", kPowerLimit},
    {"251", kMemoryFree},
    {"dcgm_fi_dev_fb_total", kMemoryTotal},
});

// Columns of amd-smi's table, since ROCm 6.4 and before, and of its CSV, which are also the keys of
// its JSON; columns of rocm-smi's table, and the names in its CSV, JSON and lines. With dots: where
// a value stands in the JSON of `amd-smi metric`.
constexpr auto kAmd = std::to_array<Entry>({
    {"power", kPower},
    {"power_usage", kPower},
    {"avgpwr", kPower},
    {"average graphics package power (w)", kPower},
    {"current socket graphics package power (w)", kPower},
    {"pwr_cap", kPowerLimit},
    {"pwrcap", kPowerLimit},
    {"max_power", kPowerLimit},
    {"max graphics package power (w)", kPowerLimit},
    {"gpu_t", kTemperature},
    {"gpu_temp", kTemperature},
    {"hotspot_temperature", kTemperature},
    {"temp", kTemperature},
    {"temperature (sensor edge) (c)", kTemperature},
    {"temperature (sensor junction) (c)", kTemperature},
    {"gfx%", kUtilization},
    {"gfx_util", kUtilization},
    {"gfx", kUtilization},
    {"gpu%", kUtilization},
    {"gpu use (%)", kUtilization},
    {"mem%", kMemoryActivity},
    {"mem_util", kMemoryActivity},
    {"mem", kMemoryActivity},
    {"gpu memory use (%)", kMemoryActivity},
    {"gpu memory read/write activity (%)", kMemoryActivity},
    {"gfx_clk", kSmClock},
    {"gfx_clock", kSmClock},
    {"sclk", kSmClock},
    {"sclk clock level", kSmClock},
    {"sclk clock speed:", kSmClock},
    {"mem_clock", {"memory_clock", "hz", 1e6}},
    {"mclk", {"memory_clock", "hz", 1e6}},
    {"mclk clock level", {"memory_clock", "hz", 1e6}},
    {"mclk clock speed:", {"memory_clock", "hz", 1e6}},
    {"vram_used", kMemoryUsed},
    {"vram_total", kMemoryTotal},
    {"vram_free", kMemoryFree},
    {"vram total memory (b)", {"memory_total", "bytes", 1}},
    {"vram total used memory (b)", {"memory_used", "bytes", 1}},
    {"pviol", {"throttle_power", "share", 0.01}},
    {"tviol", {"throttle_thermal", "share", 0.01}},
    {"throttle", kByHardware},
    {"double_ecc", kUncorrected},
    {"double_bit_ecc", kUncorrected},
    {"pcie_replay", kPcieReplays},
    {"pcie replay count", kPcieReplays},
    {"usage.gfx_activity", kUtilization},
    {"usage.umc_activity", kMemoryActivity},
    {"power.socket_power", kPower},
    {"temperature.edge", kTemperature},
    {"temperature.hotspot", kTemperature},
    {"clock.gfx_0.clk", kSmClock},
    {"clock.mem_0.clk", {"memory_clock", "hz", 1e6}},
    {"mem_usage.used_vram", kMemoryUsed},
    {"mem_usage.total_vram", kMemoryTotal},
    {"mem_usage.free_vram", kMemoryFree},
    {"throttle.ppt_violation_activity", {"throttle_power", "share", 0.01}},
    {"throttle.socket_thermal_violation_activity", {"throttle_thermal", "share", 0.01}},
    {"throttle.hbm_thermal_violation_activity", {"throttle_thermal", "share", 0.01}},
    {"throttle.vr_thermal_violation_activity", {"throttle_thermal", "share", 0.01}},
    {"ecc.total_uncorrectable_count", kUncorrected},
    {"pcie.replay_count", kPcieReplays},
});

template <std::size_t N>
const MonitorQuantity* FindIn(const std::array<Entry, N>& table, std::string_view word) {
  const std::string lower = Lower(Trimmed(word));
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Entry& entry) { return entry.first == lower; });
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace

const MonitorQuantity* SmiQuantity(std::string_view field) { return FindIn(kSmi, field); }
const MonitorQuantity* AmdQuantity(std::string_view name) { return FindIn(kAmd, name); }
const MonitorQuantity* DcgmQuantity(std::string_view short_name) {
  return FindIn(kDcgm, short_name);
}
const MonitorQuantity* DmonQuantity(std::string_view column) {
  static constexpr MonitorQuantity kTx{"pcie_tx", "bytes_per_s", 1e6};
  return Lower(column) == "txpci" ? &kTx : FindIn(kDmon, column);
}

std::optional<double> InUnit(double value, std::string_view printed, std::string_view unit) {
  struct Pair {
    std::string_view printed, unit;
    double scale;
  };
  static constexpr auto kPairs =
      std::to_array<Pair>({{"%", "share", 0.01},
                           {"b", "bytes", 1},
                           {"kib", "bytes", 1024},
                           {"mib", "bytes", kMiB},
                           {"gib", "bytes", 1024 * kMiB},
                           {"mb", "bytes", kMiB},  // dmon and amd-smi mean MiB
                           {"gb", "bytes", 1024 * kMiB},
                           {"w", "W", 1},
                           {"mw", "W", 1e-3},
                           {"c", "C", 1},
                           {"mhz", "hz", 1e6},
                           {"hz", "hz", 1},
                           {"ghz", "hz", 1e9},
                           {"mb/s", "bytes_per_s", 1e6},
                           {"kb/s", "bytes_per_s", 1e3},
                           {"b/s", "bytes_per_s", 1},
                           {"bool", "share", 1}});
  const std::string lower = Lower(printed);
  for (const Pair& pair : kPairs) {
    if (pair.printed == lower && pair.unit == unit) return value * pair.scale;
  }
  return std::nullopt;
}

bool IsNoValue(std::string_view cell) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"", "-", "n/a", "[n/a]", "err!", "[err!]", "[gpu is lost]", "[unknown error]",
       "[not supported]", "not supported", "[insufficient permissions]", "<<<null>>>",
       "[not found]", "unsupported"});
  const std::string lower = Lower(Trimmed(cell));
  return IsIn(lower, kWords);
}

bool IsOfLostGpu(std::string_view cell) { return Lower(Trimmed(cell)) == "[gpu is lost]"; }

bool IsBlankNumber(double value) {
  // 32-bit, 64-bit and floating-point marks; the last ones count up from the first.
  const bool real = value >= 140737488355328.0 && value < 140737488355328.0 + 16;
  return real || value >= 9223372036854775000.0 || (value >= 2147483632.0 && value <= 2147483647.0);
}

}  // namespace advise
