// Reads counters of kernels as nvprof printed them, for one launch each or as a summary:
//
//   "Device","Context","Stream","Kernel","Correlation_ID","l2_tex_hit_rate"     --print-gpu-trace
//   "Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
//
// Metrics that Nsight Compute has under another name get that name; the others keep theirs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "engine/import/formats.h"
#include "engine/import/profiles/printed_tables.h"

namespace advise {
namespace {

struct NvprofMetric {
  std::string_view nvprof;
  std::string_view id;
  double scale = 1;
};

// After "nvprof Metric Comparison" in the manual of Nsight Compute's command line, 2019 to 2022.
constexpr auto kMetrics = std::to_array<NvprofMetric>({
    {"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", 100},
    {"dram_read_bytes", "dram__bytes_read.sum"},
    {"dram_read_throughput", "dram__bytes_read.sum.per_second"},
    {"dram_write_bytes", "dram__bytes_write.sum"},
    {"dram_write_throughput", "dram__bytes_write.sum.per_second"},
    {"flop_count_dp_add", "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"},
    {"flop_count_dp_fma", "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"},
    {"flop_count_dp_mul", "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"},
    {"flop_count_sp_add", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"},
    {"flop_count_sp_fma", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"},
    {"flop_count_sp_mul", "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"},
    {"gld_efficiency", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"},
    {"gst_efficiency", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"},
    {"ipc", "smsp__inst_executed.avg.per_cycle_active"},
    {"issue_slot_utilization", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    {"l2_tex_hit_rate", "lts__t_sector_hit_rate.pct"},
    {"sm_efficiency", "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {"tex_cache_hit_rate", "l1tex__t_sector_hit_rate.pct"},
    // A share of the 32 threads of a warp there, their number here.
    {"warp_execution_efficiency", "smsp__thread_inst_executed_per_inst_executed.ratio", 0.32},
});

bool IsPerLaunch(const PrintedTable& table) {
  return table.Has("kernel") && table.Has("correlation_id") && !table.Has("start");
}
bool IsMetricSummary(const PrintedTable& table) {
  return table.Has("kernel") && table.Has("invocations") &&
         table.Find({"metric name", "event name"});
}

double UnitBytes(std::string_view unit) {
  if (unit.starts_with("KB")) return 1e3;
  if (unit.starts_with("MB")) return 1e6;
  if (unit.starts_with("GB")) return 1e9;
  return 1;
}

// "12.5%", "1.5GB/s", "Low (2)", "42".
std::optional<double> ValueOfCell(std::string_view cell, std::string_view unit,
                                  const NumberStyle& style) {
  cell = Trimmed(cell);
  const std::size_t end = cell.find_first_not_of("0123456789.,-+eE");
  if (end != std::string_view::npos && end > 0) {
    unit = cell.substr(end);
    cell = cell.substr(0, end);
  }
  const auto value = style.Read(cell);
  return value ? std::optional(*value * UnitBytes(unit)) : std::nullopt;
}

void PutNvprof(std::string_view name, std::optional<double> value, KernelCounters* counters) {
  if (!value) return;
  const auto known = std::find_if(kMetrics.begin(), kMetrics.end(),
                                  [&](const NvprofMetric& m) { return m.nvprof == name; });
  if (known == kMetrics.end()) {
    counters->metrics.emplace(name, *value);
  } else {
    counters->metrics.emplace(known->id, *value * known->scale);
  }
}

KernelCounters CountersOf(std::string_view kernel, std::string_view device, const std::string& path,
                          std::size_t line) {
  KernelCounters counters;
  counters.kernel = kernel;
  const std::size_t open = device.rfind(" (");
  counters.device = device.ends_with(')') ? device.substr(0, open) : device;
  counters.source = fmt::format("{}:{}", path, line);
  return counters;
}

void ReadPerLaunch(const PrintedTable& table, const NumberStyle& style, const std::string& path,
                   Trace* trace) {
  const auto kernel = *table.Find({"kernel"});
  const auto device = table.Find({"device"});
  const auto last_key = *table.Find({"correlation_id"});
  for (const PrintedTable::Row& row : table.rows) {
    KernelCounters counters =
        CountersOf(row.cells[kernel], device ? row.cells[*device] : "", path, row.line);
    for (std::size_t i = last_key + 1; i < row.cells.size(); ++i) {
      PutNvprof(table.columns[i].name, ValueOfCell(row.cells[i], table.columns[i].unit, style),
                &counters);
    }
    trace->counters.push_back(std::move(counters));
  }
}

void ReadMetricSummary(const PrintedTable& table, const NumberStyle& style, const std::string& path,
                       Trace* trace) {
  const auto kernel = *table.Find({"kernel"});
  const auto device = table.Find({"device"});
  const auto metric = *table.Find({"metric name", "event name"});
  const auto average = table.Find({"avg"});
  if (!average) return;
  std::map<std::string, std::size_t> known;
  for (const PrintedTable::Row& row : table.rows) {
    const auto [found, is_new] = known.emplace(row.cells[kernel], trace->counters.size());
    if (is_new) {
      trace->counters.push_back(
          CountersOf(row.cells[kernel], device ? row.cells[*device] : "", path, row.line));
    }
    PutNvprof(row.cells[metric], ValueOfCell(row.cells[*average], "", style),
              &trace->counters[found->second]);
  }
}

}  // namespace

bool SniffNvprofMetrics(std::string_view head) {
  const auto printed = PrintedTablesOf(head);
  return std::any_of(printed.tables.begin(), printed.tables.end(),
                     [](const PrintedTable& t) { return IsPerLaunch(t) || IsMetricSummary(t); });
}

std::optional<Error> ReadNvprofMetrics(std::string_view text, const std::string& path,
                                       Trace* trace) {
  trace->producer = "nvprof";
  const PrintedTables printed = PrintedTablesOf(text);
  for (const PrintedTable& table : printed.tables) {
    if (IsPerLaunch(table)) ReadPerLaunch(table, printed.style, path, trace);
    if (IsMetricSummary(table)) ReadMetricSummary(table, printed.style, path, trace);
  }
  if (printed.cut_short > 0) {
    trace->diagnostics.Add(Level::kWarning, "rows that were cut short were skipped", "",
                           printed.cut_short);
  }
  if (trace->counters.empty()) {
    return Error{"the output of nvprof holds no counters", path, "did a kernel run?"};
  }
  Device device;
  device.name = trace->counters.front().device;
  trace->devices.push_back(std::move(device));
  trace->table_rows["kernels"] = static_cast<std::int64_t>(trace->counters.size());
  return std::nullopt;
}

}  // namespace advise
