#include "engine/metrics/kernels/roofline.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "engine/base/ascii.h"
#include "engine/metrics/analysis.h"

namespace advise {
namespace {

constexpr double kUnknown = -1;

class Metrics {
 public:
  explicit Metrics(const KernelCounters& counters) : counters_(counters) {}

  // The first of these that was collected.
  double First(std::initializer_list<std::string_view> ids) const {
    for (const std::string_view id : ids) {
      const auto found = counters_.metrics.find(id);
      if (found != counters_.metrics.end()) return found->second;
    }
    return kUnknown;
  }
  // The same of percentages, as a share.
  double Share(std::initializer_list<std::string_view> ids) const {
    const double percent = First(ids);
    return percent < 0 ? kUnknown : std::clamp(percent / 100, 0.0, 1.0);
  }
  double Sum(std::initializer_list<std::string_view> ids) const {
    double sum = 0;
    bool any = false;
    for (const std::string_view id : ids) {
      const auto found = counters_.metrics.find(id);
      if (found == counters_.metrics.end()) continue;
      sum += found->second;
      any = true;
    }
    return any ? sum : kUnknown;
  }
  // All whose id begins and ends so.
  double SumOf(std::string_view start, std::string_view end) const {
    double sum = 0;
    bool any = false;
    for (auto at = counters_.metrics.lower_bound(start);
         at != counters_.metrics.end() && at->first.starts_with(start); ++at) {
      if (!at->first.ends_with(end)) continue;
      sum += at->second;
      any = true;
    }
    return any ? sum : kUnknown;
  }
  double Time() const { return First({"gpu__time_duration.sum", "gpu__time_duration.avg"}); }

 private:
  const KernelCounters& counters_;
};

// The share of a warp's latency that is spent stalled for these reasons.
double Stalled(const Metrics& m, std::initializer_list<std::string_view> reasons) {
  struct Spelling {
    std::string_view start, end;
  };
  static constexpr auto kSpellings =
      std::to_array<Spelling>({{"smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"},
                               {"smsp__average_warp_latency_issue_stalled_", ".ratio"},
                               {"smsp__pcsamp_warps_issue_stalled_", ""}});
  for (const Spelling& spelling : kSpellings) {
    double all = m.SumOf(spelling.start, spelling.end);
    if (spelling.end.empty()) {
      // Samples are listed a second time, of those cycles in which nothing was issued.
      const double again = m.SumOf(spelling.start, "_not_issued");
      if (again > 0) all -= again;
    }
    if (all <= 0) continue;
    double part = 0;
    for (const std::string_view reason : reasons) {
      const std::string id =
          std::string(spelling.start) + std::string(reason) + std::string(spelling.end);
      part += std::max(0.0, m.First({id}));
    }
    return std::min(1.0, part / all);
  }
  return kUnknown;
}

// What keeps blocks off an SM first.
std::string Limiter(const Metrics& m) {
  struct Limit {
    const char* id;
    const char* words;
  };
  static constexpr auto kLimits =
      std::to_array<Limit>({{"launch__occupancy_limit_registers", "registers"},
                            {"launch__occupancy_limit_shared_mem", "shared memory"},
                            {"launch__occupancy_limit_warps", "the size of its blocks"},
                            {"launch__occupancy_limit_blocks", "the number of blocks an SM holds"},
                            {"launch__occupancy_limit_barriers", "barriers"}});
  const char* words = "";
  double least = -1;
  for (const Limit& limit : kLimits) {
    const double blocks = m.First({limit.id});
    if (blocks < 0 || (least >= 0 && blocks >= least)) continue;
    least = blocks;
    words = limit.words;
  }
  return words;
}

// Executed floating-point instructions of one kind, over all threads.
double Instructions(const Metrics& m, const std::string& op) {
  const std::string id = "__sass_thread_inst_executed_op_" + op + "_pred_on.sum";
  const double total = m.First({"sm" + id, "smsp" + id});
  if (total >= 0) return total;
  const double rate =
      m.First({"smsp" + id + ".per_cycle_elapsed", "sm" + id + ".per_cycle_elapsed"});
  double cycles = m.First({"smsp__cycles_elapsed.avg", "sm__cycles_elapsed.avg"});
  const double clock =
      m.First({"smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second"});
  if (cycles < 0 && clock > 0 && m.Time() > 0) cycles = clock * m.Time() * 1e-9;
  if (cycles < 0) cycles = m.First({"sm__cycles_elapsed.max", "gpc__cycles_elapsed.max"});
  return rate >= 0 && cycles > 0 ? rate * cycles : kUnknown;
}

// Operations of the plain pipes. Half-precision instructions work on two values.
struct PlainFlops {
  double fp16 = 0, fp32 = 0, fp64 = 0;
  bool any = false;
};
PlainFlops PlainWork(const Metrics& m) {
  PlainFlops work;
  const auto kind = [&](const char* letter, double values) {
    const std::string name = letter;
    double sum = 0;
    for (const auto& [op, per] : {std::pair{"add", 1.0}, {"mul", 1.0}, {"fma", 2.0}}) {
      const double count = Instructions(m, name + op);
      if (count < 0) continue;
      sum += count * per * values;
      work.any = true;
    }
    return sum;
  };
  work.fp32 = kind("f", 1);
  work.fp64 = kind("d", 1);
  work.fp16 = kind("h", 2);
  return work;
}

double SectorsPerRequest(const Metrics& m) {
  return std::max(
      m.First({"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"}),
      m.First({"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"}));
}

// Part of the fetched sectors' bytes that threads asked for.
double Useful(const Metrics& m, double sectors) {
  const double ideal = m.First({"memory_l2_theoretical_sectors_global_ideal"});
  const double actual = m.First({"memory_l2_theoretical_sectors_global"});
  if (ideal > 0 && actual > 0) return std::min(1.0, ideal / actual);
  const double percent = m.Share({"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"});
  if (percent >= 0) return percent;
  // 16 sectors a request are right for the widest loads, 16 bytes a thread: more never is.
  constexpr double kWidest = 16;
  return sectors > kWidest ? kWidest / sectors : kUnknown;
}

// The details page has no such metric; its remark on uncoalesced accesses gives the figure:
// "… excessive sectors (75% of the total …".
double UsefulByRemark(const KernelCounters& counters) {
  for (const CounterAdvice& advice : counters.advice) {
    const std::size_t at = advice.text.find("% of the total");
    if (!advice.rule.starts_with("Uncoalesced") || at == std::string::npos) continue;
    std::size_t start = at;
    while (start > 0 && IsDigit(advice.text[start - 1])) --start;
    if (start == at) continue;
    const double percent = std::stod(advice.text.substr(start, at - start));
    if (percent <= 100) return 1 - percent / 100;
  }
  return kUnknown;
}

double LocalShare(const Metrics& m) {
  const double local =
      m.Sum({"sass__inst_executed_local_loads", "sass__inst_executed_local_stores"});
  const double other = m.Sum(
      {"smsp__sass_inst_executed_op_local_ld.sum", "smsp__sass_inst_executed_op_local_st.sum"});
  const double all = m.First({"smsp__inst_executed.sum", "sm__inst_executed.sum"});
  const double average = m.First({"smsp__inst_executed.avg"});
  const double sms = m.First({"device__attribute_multiprocessor_count"});
  constexpr double kPartitions = 4;  // of an SM, on all GPUs that have this metric
  const double executed = all > 0 ? all : average > 0 && sms > 0 ? average * sms * kPartitions : -1;
  const double on_local = std::max(local, other);
  return on_local >= 0 && executed > 0 ? std::min(1.0, on_local / executed) : kUnknown;
}

double DramBytes(const Metrics& m) {
  const double all = m.First({"dram__bytes.sum"});
  if (all >= 0) return all;
  const double both = m.Sum({"dram__bytes_read.sum", "dram__bytes_write.sum"});
  if (both >= 0) return both;
  const double rate = m.First({"dram__bytes.sum.per_second"});
  if (rate >= 0 && m.Time() > 0) return rate * m.Time() * 1e-9;
  return m.First({"lts__t_bytes.sum"});  // GPUs on the host's memory have no DRAM counters
}

}  // namespace

void ReadCounters(const KernelCounters& counters, CountedKernel* kernel) {
  const Metrics m(counters);
  kernel->sm = m.Share({"sm__throughput.avg.pct_of_peak_sustained_elapsed"});
  kernel->memory = m.Share({"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"});
  kernel->dram = m.Share({"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                          "dram__throughput.avg.pct_of_peak_sustained_elapsed"});
  kernel->l2 = m.Share({"lts__throughput.avg.pct_of_peak_sustained_elapsed"});
  kernel->occupancy = m.Share({"sm__warps_active.avg.pct_of_peak_sustained_active"});
  kernel->theoretical = m.Share({"sm__maximum_warps_per_active_cycle_pct"});
  kernel->limiter = Limiter(m);
  kernel->ipc = m.First({"sm__inst_executed.avg.per_cycle_active"});
  const double of_scheduler = m.First({"smsp__inst_executed.avg.per_cycle_active"});
  if (kernel->ipc < 0 && of_scheduler >= 0) kernel->ipc = 4 * of_scheduler;
  kernel->issue = m.Share({"smsp__issue_active.avg.pct_of_peak_sustained_active",
                           "sm__issue_active.avg.pct_of_peak_sustained_active",
                           "sm__issue_active.avg.pct_of_peak_sustained_elapsed"});
  kernel->stall_memory = Stalled(m, {"long_scoreboard", "lg_throttle", "tex_throttle"});
  kernel->stall_barrier = Stalled(m, {"barrier", "membar"});
  kernel->stall_not_selected = Stalled(m, {"not_selected"});
  kernel->l2_hit = m.Share({"lts__t_sector_hit_rate.pct"});
  kernel->sectors = SectorsPerRequest(m);
  kernel->useful = Useful(m, kernel->sectors);
  if (kernel->useful < 0) kernel->useful = UsefulByRemark(counters);
  kernel->local = LocalShare(m);
  // Blocks smaller than a warp leave the rest of it empty, whatever else was counted.
  constexpr double kWarp = 32;
  const double threads = m.First({"smsp__thread_inst_executed_per_inst_executed.ratio"});
  const double block =
      static_cast<double>(counters.block[0]) * counters.block[1] * counters.block[2];
  if (threads >= 0) {
    kernel->lanes = std::min(1.0, threads / kWarp);
  } else if (block > 0 && block < kWarp) {
    kernel->lanes = block / kWarp;
  }
  kernel->registers = m.First({"launch__registers_per_thread"});
  kernel->waves = m.First({"launch__waves_per_multiprocessor"});
  kernel->tensor = m.Share({"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                            "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"});
}

void PlaceUnderRoofline(const KernelCounters& counters, const Hardware& hardware,
                        const Knowledge& knowledge, CountedKernel* kernel) {
  const Metrics m(counters);
  const double time_s = m.Time() * 1e-9;
  // The profiler holds the clocks down: peaks at the clock of the measurement.
  const double clock =
      m.First({"gpc__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second"});
  const double slowed =
      clock > 0 && hardware.boost_clock_hz > 0 ? clock / hardware.boost_clock_hz : 1;
  const double bandwidth_counted = m.First({"dram__bytes.sum.peak_sustained"}) *
                                   m.First({"dram__cycles_elapsed.avg.per_second"});
  const double bandwidth = m.First({"dram__bytes.sum.peak_sustained"}) > 0 && bandwidth_counted > 0
                               ? bandwidth_counted
                               : hardware.memory_bytes_per_s;
  double peak = hardware.peak_fp32_flops * slowed;
  const double lanes =
      m.First({"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"});
  if (lanes > 0 && clock > 0) peak = 2 * lanes * clock;

  const PlainFlops plain = PlainWork(m);
  double work = plain.fp16 + plain.fp32 + plain.fp64;
  bool known = plain.any;
  const double counted_tensor = m.SumOf("sm__ops_path_tensor_src_", ".sum");
  const double tensor_peak = hardware.peak_tensor_flops * slowed;
  if (counted_tensor > 0) {
    work += counted_tensor;
    known = true;
  } else if (kernel->tensor > 0 && tensor_peak > 0 && time_s > 0) {
    work += kernel->tensor * tensor_peak * time_s;
    kernel->tensor_estimated = true;
    known = true;
  }
  if (std::max(counted_tensor, kernel->tensor) > 0 && tensor_peak > 0) {
    peak = tensor_peak;
  } else if (plain.fp64 > plain.fp32 + plain.fp16 && hardware.peak_fp64_flops > 0) {
    peak = hardware.peak_fp64_flops * slowed;
  }
  kernel->bytes = DramBytes(m);
  if (known) kernel->flops = work;
  if (known && kernel->bytes > 0) kernel->intensity = work / kernel->bytes;
  if (peak > 0 && bandwidth > 0) kernel->balance = peak / bandwidth;
  if (known && time_s > 0) kernel->achieved = work / time_s;
  if (kernel->intensity >= 0 && kernel->balance > 0) {
    kernel->attainable = std::min(peak, kernel->intensity * bandwidth);
  }

  // Throughput of a unit over its peak at the clock of the measurement: which one is met first.
  const double near = knowledge.Number("counter.near_limit");
  const double achievable = knowledge.Number("counter.achievable");
  const double most = std::max(kernel->sm, kernel->memory);
  if (most < 0) return;  // these sections were not collected
  double next = most;
  if (most < near) {
    kernel->bound = "latency";
  } else if (kernel->memory >= kernel->sm) {
    kernel->bound = "memory";
    const double useful = kernel->useful > 0 ? kernel->useful : 1;
    next = std::max(kernel->memory * useful, kernel->sm);
  } else {
    kernel->bound = "compute";
    const bool matrix = kernel->kernel_class == "matrix" || kernel->kernel_class == "convolution";
    const double faster = hardware.tensor_ratio * knowledge.Number("precision.achieved");
    if (matrix && kernel->tensor == 0 && faster > 1) {
      next = std::max(kernel->sm / faster, kernel->memory);
    }
  }
  kernel->headroom = std::clamp(1 - next / achievable, 0.0, 1.0);
}

}  // namespace advise
