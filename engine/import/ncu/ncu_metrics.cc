#include "engine/import/ncu/ncu_metrics.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "engine/import/text_input.h"

namespace advise::ncu {
namespace {

using Label = std::pair<std::string_view, std::string_view>;

// Labels as printed since 2020; older spellings beside newer ones.
constexpr auto kLabels = std::to_array<Label>({
    {"Duration", "gpu__time_duration.sum"},
    {"Elapsed Cycles", "gpc__cycles_elapsed.max"},
    {"SM Active Cycles", "sm__cycles_active.avg"},
    {"SM Frequency", "gpc__cycles_elapsed.avg.per_second"},
    {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
    {"Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"Compute (SM) [%]", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"SOL SM", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"Memory [%]", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"SOL Memory", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"SOL DRAM", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    {"SOL L1/TEX Cache", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    {"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
    {"L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
    {"Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"},
    {"Executed Ipc Elapsed", "sm__inst_executed.avg.per_cycle_elapsed"},
    {"Issue Slots Busy", "sm__issue_active.avg.pct_of_peak_sustained_active"},
    {"One or More Eligible", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    {"Warp Cycles Per Issued Instruction", "smsp__average_warp_latency_per_inst_issued.ratio"},
    {"Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"},
    {"Registers Per Thread", "launch__registers_per_thread"},
    {"Block Size", "launch__block_size"},
    {"Grid Size", "launch__grid_size"},
    {"Waves Per SM", "launch__waves_per_multiprocessor"},
    {"Threads", "launch__thread_count"},
    {"# SMs", "device__attribute_multiprocessor_count"},
    {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
    {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
    {"Block Limit SM", "launch__occupancy_limit_blocks"},
    {"Block Limit Registers", "launch__occupancy_limit_registers"},
    {"Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"},
    {"Block Limit Warps", "launch__occupancy_limit_warps"},
    {"Block Limit Barriers", "launch__occupancy_limit_barriers"},
    {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
    {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"Local Memory Spilling Requests", "smsp__inst_executed_op_local_spilling"},
});

// A unit of one of the two sides of "Gbyte/second".
struct Part {
  std::string_view base;
  double scale;
};

Part PartOf(std::string_view unit) {
  struct Known {
    std::string_view printed;
    Part part;
  };
  static constexpr auto kKnown = std::to_array<Known>({
      {"ns", {"ns", 1}},
      {"nsecond", {"ns", 1}},
      {"us", {"ns", 1e3}},
      {"usecond", {"ns", 1e3}},
      {"ms", {"ns", 1e6}},
      {"msecond", {"ns", 1e6}},
      {"s", {"ns", 1e9}},
      {"second", {"ns", 1e9}},
      {"hz", {"hz", 1}},
      {"khz", {"hz", 1e3}},
      {"mhz", {"hz", 1e6}},
      {"ghz", {"hz", 1e9}},
  });
  const std::string lower = Lower(unit);
  for (const Known& known : kKnown) {
    if (known.printed == lower) return known.part;
  }
  // Kbyte, Mbyte, Ginst, Tbyte: decimal prefixes, in capitals.
  static constexpr auto kScaled = std::to_array<std::string_view>(
      {"byte", "inst", "cycle", "sector", "request", "warp", "thread", "block", "wavefront"});
  for (const std::string_view base : kScaled) {
    if (lower == base) return {base, 1};
    if (unit.size() != base.size() + 1 || lower.substr(1) != base) continue;
    const char prefix = unit.front();
    const double scale = prefix == 'K'   ? 1e3
                         : prefix == 'M' ? 1e6
                         : prefix == 'G' ? 1e9
                         : prefix == 'T' ? 1e12
                                         : 1;
    return {base, scale};
  }
  return {unit, 1};
}

}  // namespace

std::string MetricId(std::string_view label, std::string_view unit) {
  if (label == "Memory Throughput") {
    return unit == "%" ? "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
                       : "dram__bytes.sum.per_second";
  }
  const auto found = std::find_if(kLabels.begin(), kLabels.end(),
                                  [&](const Label& known) { return known.first == label; });
  return std::string(found == kLabels.end() ? label : found->second);
}

double InBaseUnit(double value, std::string_view unit) {
  const std::size_t slash = unit.find('/');
  if (slash == std::string_view::npos) return value * PartOf(unit).scale;
  const Part above = PartOf(unit.substr(0, slash));
  const Part below = PartOf(unit.substr(slash + 1));
  if (below.base != "ns") return value * above.scale;
  return value * above.scale * (1e9 / below.scale);  // per second
}

bool PutMetric(std::string_view name, std::string_view unit, std::string_view cell,
               const NumberStyle& style, KernelCounters* counters) {
  if (name == "device__attribute_display_name") counters->device = cell;
  const auto value = style.Read(cell);
  if (!value) return false;
  const double base = unit == "%" ? *value : InBaseUnit(*value, unit);
  counters->metrics.emplace(MetricId(name, unit), base);
  return true;
}

void DescribeDevice(Trace* trace) {
  if (trace->counters.empty()) return;
  const KernelCounters& first = trace->counters.front();
  const auto number = [&](std::string_view id) {
    const auto found = first.metrics.find(id);
    return found == first.metrics.end() ? 0.0 : found->second;
  };
  Device device;
  device.name = first.device;
  device.sm_count = WholeOf<int>(number("device__attribute_multiprocessor_count"));
  device.l2_bytes = number("device__attribute_l2_cache_size");
  device.max_threads_per_sm =
      WholeOf<int>(number("device__attribute_max_threads_per_multiprocessor"));
  device.memory_bytes = number("device__attribute_total_memory");
  const std::size_t dot = first.compute_capability.find('.');
  if (dot != std::string::npos) {
    device.compute_major =
        WholeOf<int>(NumberOf(first.compute_capability.substr(0, dot)).value_or(0));
    device.compute_minor =
        WholeOf<int>(NumberOf(first.compute_capability.substr(dot + 1)).value_or(0));
  }
  trace->devices.push_back(std::move(device));
}

}  // namespace advise::ncu
