#include "engine/metrics/kernels/roofline.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "engine/base/ascii.h"
#include "engine/metrics/analysis.h"

namespace advise {
namespace {

constexpr double kUnknown = -1;

// What was collected of one launch, by the quantities of kb/counters.toml; kUnknown for what was
// not.
class Metrics {
 public:
  Metrics(const KernelCounters& counters, const Knowledge& knowledge)
      : counters_(counters), knowledge_(knowledge) {}

  double Of(std::string_view quantity) const {
    const CounterQuantity& known = knowledge_.Counter(quantity);
    double sum = kUnknown;
    for (const std::string& metric : known.metrics) {
      const double value = Metric(metric);
      if (value < 0) continue;
      if (!known.sum) return value;
      sum = std::max(0.0, sum) + value;
    }
    return sum;
  }
  // The same of percentages, as a share.
  double Share(std::string_view quantity) const {
    const double percent = Of(quantity);
    return percent < 0 ? kUnknown : std::clamp(percent / 100, 0.0, 1.0);
  }
  double Metric(const std::string& id) const {
    const auto found = counters_.metrics.find(id);
    return found == counters_.metrics.end() ? kUnknown : found->second;
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

 private:
  const KernelCounters& counters_;
  const Knowledge& knowledge_;
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
    // Where only some reasons were collected, what the others take.
    if (!spelling.end.empty()) all = std::max(all, m.Of("latency"));
    double part = 0;
    for (const std::string_view reason : reasons) {
      const std::string id =
          std::string(spelling.start) + std::string(reason) + std::string(spelling.end);
      part += std::max(0.0, m.Metric(id));
    }
    return std::min(1.0, part / all);
  }
  return kUnknown;
}

// What keeps blocks off an SM first.
std::string Limiter(const Metrics& m) {
  struct Limit {
    const char* quantity;
    const char* words;
  };
  static constexpr auto kLimits =
      std::to_array<Limit>({{"blocks_by_registers", "registers"},
                            {"blocks_by_shared_memory", "shared memory"},
                            {"blocks_by_warps", "the size of its blocks"},
                            {"blocks_by_blocks", "the number of blocks an SM holds"},
                            {"blocks_by_barriers", "barriers"}});
  const char* words = "";
  double least = -1;
  for (const Limit& limit : kLimits) {
    const double blocks = m.Of(limit.quantity);
    if (blocks < 0 || (least >= 0 && blocks >= least)) continue;
    least = blocks;
    words = limit.words;
  }
  return words;
}

// Executed floating-point instructions of one kind, over all threads.
double Instructions(const Metrics& m, const std::string& op) {
  const std::string id = "__sass_thread_inst_executed_op_" + op + "_pred_on.sum";
  for (const char* unit : {"sm", "smsp"}) {
    const double total = m.Metric(unit + id);
    if (total >= 0) return total;
  }
  double rate = m.Metric("smsp" + id + ".per_cycle_elapsed");
  if (rate < 0) rate = m.Metric("sm" + id + ".per_cycle_elapsed");
  double cycles = m.Of("cycles");
  const double clock = m.Of("sm_clock");
  if (cycles < 0 && clock > 0 && m.Of("time") > 0) cycles = clock * m.Of("time") * 1e-9;
  if (cycles < 0) cycles = m.Of("cycles_of_slowest");
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
  const auto ratio = [&](const char* given, const char* sectors, const char* requests) {
    if (const double value = m.Of(given); value >= 0) return value;
    const double all = m.Of(sectors);
    const double by = m.Of(requests);
    return all >= 0 && by > 0 ? all / by : kUnknown;
  };
  return std::max(ratio("sectors_per_load", "sectors_of_loads", "requests_of_loads"),
                  ratio("sectors_per_store", "sectors_of_stores", "requests_of_stores"));
}

// Part of the fetched sectors' bytes that threads asked for.
double Useful(const Metrics& m, double sectors) {
  const double ideal = m.Of("sectors_needed");
  const double actual = m.Of("sectors");
  if (ideal > 0 && actual > 0) return std::min(1.0, ideal / actual);
  const double percent = m.Share("useful_bytes");
  if (percent >= 0) return percent;
  // 16 sectors a request are right for the widest loads, 16 bytes a thread: more never is.
  constexpr double kWidest = 16;
  return sectors > kWidest ? kWidest / sectors : kUnknown;
}

// The details page has no such metric; its remark on uncoalesced accesses gives the figure:
// "… excessive sectors (75% of the total …". As text, the page names the section, not the rule.
double UsefulByRemark(const KernelCounters& counters) {
  for (const CounterAdvice& advice : counters.advice) {
    const std::size_t at = advice.text.find("% of the total");
    const bool of_accesses = advice.rule.starts_with("Uncoalesced") ||
                             advice.text.find("uncoalesced global accesses") != std::string::npos;
    if (!of_accesses || at == std::string::npos) continue;
    std::size_t start = at;
    while (start > 0 && IsDigit(advice.text[start - 1])) --start;
    if (start == at) continue;
    const double percent = std::stod(advice.text.substr(start, at - start));
    if (percent <= 100) return 1 - percent / 100;
  }
  return kUnknown;
}

double LocalShare(const Metrics& m) {
  const double local = m.Of("local_instructions");
  const double other = m.Of("local_instructions_by_opcode");
  const double all = m.Of("instructions");
  const double average = m.Of("instructions_per_scheduler");
  const double sms = m.Of("sms");
  constexpr double kPartitions = 4;  // of an SM, on all GPUs that have this metric
  const double executed = all > 0 ? all : average > 0 && sms > 0 ? average * sms * kPartitions : -1;
  // A warp moves 4 bytes for each of its threads with one instruction.
  constexpr double kBytes = 128;
  const double bytes = m.Of("local_bytes");
  const double by_bytes = bytes < 0 ? kUnknown : bytes / kBytes;
  const double counted = std::max(local, other);
  const double on_local = counted < 0 ? by_bytes : counted;
  return on_local >= 0 && executed > 0 ? std::min(1.0, on_local / executed) : kUnknown;
}

double Conflicts(const Metrics& m) {
  const double passes = m.Of("shared_wavefronts");
  const double conflicts = std::max(m.Of("bank_conflicts"), m.Of("bank_conflicts_by_direction"));
  return passes > 0 && conflicts >= 0 ? std::min(1.0, conflicts / passes) : kUnknown;
}

double Atomics(const Metrics& m) {
  const double all = m.Of("l2_sectors");
  const double atomics = m.Of("l2_atomics");
  return all > 0 && atomics >= 0 ? std::min(1.0, atomics / all) : kUnknown;
}

double CyclesAtWork(const Metrics& m) {
  const double slowest = m.Of("cycles_of_slowest");
  return slowest > 0 ? m.Of("cycles_at_work") / slowest : kUnknown;
}

// The grid, and how much of the GPU has work.
void ReadLaunch(const KernelCounters& counters, const Metrics& m, CountedKernel* kernel) {
  const auto size = [&](const std::array<std::uint32_t, 3>& of, const char* quantity) {
    const double product = static_cast<double>(of[0]) * of[1] * of[2];
    return product > 0 ? product : m.Of(quantity);
  };
  kernel->blocks = size(counters.grid, "blocks");
  kernel->threads = size(counters.block, "threads");
  kernel->sms = m.Of("sms");
  kernel->at_work = m.Of("cycles_at_work") >= 0 ? std::min(1.0, CyclesAtWork(m)) : kUnknown;
  if (kernel->at_work < 0 && kernel->blocks > 0 && kernel->blocks < kernel->sms)
    kernel->at_work = kernel->blocks / kernel->sms;
}

double DramBytes(const Metrics& m) {
  const double all = m.Of("dram_bytes");
  if (all >= 0) return all;
  const double both = m.Of("dram_bytes_by_direction");
  if (both >= 0) return both;
  const double rate = m.Of("dram_rate");
  if (rate >= 0 && m.Of("time") > 0) return rate * m.Of("time") * 1e-9;
  return m.Of("l2_bytes");  // GPUs on the host's memory have no DRAM counters
}

}  // namespace

double CountedTime(const KernelCounters& counters, const Knowledge& knowledge) {
  return std::max(0.0, Metrics(counters, knowledge).Of("time"));
}

void ReadCounters(const KernelCounters& counters, const Knowledge& knowledge,
                  CountedKernel* kernel) {
  const Metrics m(counters, knowledge);
  kernel->sm = m.Share("compute_throughput");
  kernel->memory = m.Share("memory_throughput");
  kernel->dram = m.Share("dram_throughput");
  kernel->l2 = m.Share("l2_throughput");
  kernel->l1 = m.Share("l1_throughput");
  kernel->occupancy = m.Share("occupancy");
  kernel->theoretical = m.Share("theoretical_occupancy");
  kernel->limiter = Limiter(m);
  kernel->ipc = m.Of("ipc");
  const double of_scheduler = m.Of("ipc_per_scheduler");
  if (kernel->ipc < 0 && of_scheduler >= 0) kernel->ipc = 4 * of_scheduler;
  kernel->issue = m.Share("issue_slots");
  kernel->stall_memory = Stalled(m, {"long_scoreboard", "lg_throttle", "tex_throttle"});
  kernel->stall_queue = Stalled(m, {"lg_throttle", "tex_throttle"});
  kernel->stall_barrier = Stalled(m, {"barrier"});
  kernel->stall_fence = Stalled(m, {"membar"});
  kernel->stall_not_selected = Stalled(m, {"not_selected"});
  kernel->l2_hit = m.Share("l2_hits");
  kernel->sectors = SectorsPerRequest(m);
  kernel->useful = Useful(m, kernel->sectors);
  if (kernel->useful < 0) kernel->useful = UsefulByRemark(counters);
  kernel->local = LocalShare(m);
  kernel->conflicts = Conflicts(m);
  kernel->atomics = Atomics(m);
  ReadLaunch(counters, m, kernel);
  // Blocks smaller than a warp leave the rest of it empty, whatever else was counted.
  constexpr double kWarp = 32;
  const double threads = m.Of("threads_per_warp");
  const double block =
      static_cast<double>(counters.block[0]) * counters.block[1] * counters.block[2];
  if (threads >= 0) {
    kernel->lanes = std::min(1.0, threads / kWarp);
  } else if (block > 0 && block < kWarp) {
    kernel->lanes = block / kWarp;
  }
  kernel->registers = m.Of("registers");
  kernel->waves = m.Of("waves");
  kernel->tensor = m.Share("tensor_pipe");
}

void PlaceUnderRoofline(const KernelCounters& counters, const Hardware& hardware,
                        const Knowledge& knowledge, CountedKernel* kernel) {
  const Metrics m(counters, knowledge);
  const double time_s = m.Of("time") * 1e-9;
  // The profiler holds the clocks down: peaks at the clock of the measurement.
  const double clock = m.Of("clock");
  const double slowed =
      clock > 0 && hardware.boost_clock_hz > 0 ? clock / hardware.boost_clock_hz : 1;
  const double dram_bytes = m.Of("dram_bytes_per_cycle");
  const double dram_clock = m.Of("dram_clock");
  const double bandwidth =
      dram_bytes > 0 && dram_clock > 0 ? dram_bytes * dram_clock : hardware.memory_bytes_per_s;
  double peak = hardware.peak_fp32_flops * slowed;
  const double lanes = m.Of("fp32_per_cycle");
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
  // A full first-level cache limits as well, however little of memory's peak the data takes, if the
  // SMs have work: the cache's peak is of the time in which they do.
  const double at_work = CyclesAtWork(m);
  const bool full = kernel->l1 >= knowledge.Number("counter.full_cache") &&
                    at_work >= knowledge.Number("counter.least_at_work");
  const double memory = full ? std::max(kernel->memory, kernel->l1) : kernel->memory;
  const double most = std::max(kernel->sm, memory);
  if (most < 0) return;  // these sections were not collected
  double next = most;
  if (most < near) {
    kernel->bound = "latency";
    if (m.Of("time") > 0 && m.Of("time") <= knowledge.Number("counter.start_time")) {
      kernel->bound = "launch";
      return;
    }
  } else if (memory >= kernel->sm) {
    kernel->bound = "memory";
    const double busiest = std::max(kernel->memory, kernel->l1);
    kernel->on_chip = kernel->dram >= 0 &&
                      kernel->dram <= busiest * knowledge.Number("counter.most_of_device_memory");
    const double useful = kernel->useful > 0 ? kernel->useful : 1;
    next = std::max(memory * useful, kernel->sm);
    kernel->scattered = 1 - next / memory;
    if (kernel->on_chip && kernel->conflicts > 0 && kernel->l1 >= kernel->memory)
      next = std::max({memory * useful * (1 - kernel->conflicts), kernel->dram, kernel->sm});
    const double spilled = m.Of("local_bytes") * knowledge.Number("counter.spill_traffic");
    if (!kernel->on_chip && spilled > 0 && kernel->bytes > 0)
      next = std::max(next * (1 - std::min(1.0, spilled / kernel->bytes)), kernel->sm);
  } else {
    kernel->bound = "compute";
    const bool matrix = kernel->kernel_class == "matrix" || kernel->kernel_class == "convolution";
    const double faster = hardware.tensor_ratio * knowledge.Number("precision.achieved");
    if (matrix && kernel->tensor == 0 && faster > 1) {
      next = std::max(kernel->sm / faster, kernel->memory);
    }
  }
  kernel->headroom = std::clamp(1 - next / achievable, 0.0, 1.0);
  kernel->scattered = std::clamp(kernel->scattered, 0.0, kernel->headroom);
}

}  // namespace advise
