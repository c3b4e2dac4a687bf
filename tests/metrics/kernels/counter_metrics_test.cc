// What single hardware counters say of a kernel, under each name that tools and generations of GPUs
// give them; and its place under the roofline, worked out by hand.
#include <catch2/catch.hpp>
#include <map>

#include "engine/metrics/analysis.h"
#include "engine/metrics/kernels/roofline.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

using MetricMap = std::map<std::string, double, std::less<>>;

CountedKernel CountersOf(MetricMap metrics) {
  KernelCounters counters;
  counters.metrics = std::move(metrics);
  CountedKernel kernel;
  ReadCounters(counters, ShippedKnowledge(), &kernel);
  return kernel;
}

// A GPU whose peaks are easy to add up.
Hardware RoundGpu() {
  Hardware gpu;
  gpu.peak_fp32_flops = 10e12;
  gpu.peak_fp64_flops = 5e12;
  gpu.peak_tensor_flops = 100e12;
  gpu.tensor_ratio = 10;
  gpu.memory_bytes_per_s = 1e12;
  gpu.boost_clock_hz = 2e9;
  return gpu;
}

CountedKernel PlacedCounters(MetricMap metrics, const Hardware& gpu = RoundGpu(),
                             const std::string& kernel_class = "") {
  KernelCounters counters;
  counters.metrics = std::move(metrics);
  CountedKernel kernel;
  kernel.kernel_class = kernel_class;
  ReadCounters(counters, ShippedKnowledge(), &kernel);
  PlaceUnderRoofline(counters, gpu, ShippedKnowledge(), &kernel);
  return kernel;
}

constexpr const char* kDuration = "gpu__time_duration.sum";

TEST_CASE("percentages are shares, under every name that they have; the first one decides") {
  struct Form {
    double CountedKernel::*field;
    std::vector<const char*> names;
  };
  const auto form = GENERATE(values<Form>({
      {&CountedKernel::sm, {"sm__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {&CountedKernel::memory,
       {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"}},
      {&CountedKernel::dram,
       {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {&CountedKernel::l1,
       {"l1tex__throughput.avg.pct_of_peak_sustained_active",
        "l1tex__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {&CountedKernel::l2, {"lts__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {&CountedKernel::occupancy, {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
      {&CountedKernel::theoretical, {"sm__maximum_warps_per_active_cycle_pct"}},
      {&CountedKernel::issue,
       {"smsp__issue_active.avg.pct_of_peak_sustained_active",
        "sm__issue_active.avg.pct_of_peak_sustained_active",
        "sm__issue_active.avg.pct_of_peak_sustained_elapsed"}},
      {&CountedKernel::l2_hit, {"lts__t_sector_hit_rate.pct"}},
      {&CountedKernel::useful, {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"}},
      {&CountedKernel::tensor,
       {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"}},
  }));
  CHECK(CountersOf({}).*form.field == -1);
  MetricMap all;
  double percent = 80;
  for (const char* name : form.names) {
    INFO(name);
    CHECK(CountersOf({{name, 37}}).*form.field == Approx(0.37));
    CHECK(CountersOf({{name, 0}}).*form.field == 0);
    CHECK(CountersOf({{name, 100.4}}).*form.field == 1);  // rounding of the tool
    all[name] = percent;
    percent /= 2;
  }
  CHECK(CountersOf(all).*form.field == Approx(0.8));
}

TEST_CASE("numbers that are no percentages stand as they are") {
  CHECK(CountersOf({{"launch__registers_per_thread", 64}}).registers == 64);
  CHECK(CountersOf({{"launch__waves_per_multiprocessor", 2.5}}).waves == 2.5);
  CHECK(CountersOf({{"sm__inst_executed.avg.per_cycle_active", 1.5}}).ipc == 1.5);
  // An SM has four schedulers.
  CHECK(CountersOf({{"smsp__inst_executed.avg.per_cycle_active", 0.5}}).ipc == 2);
  CHECK(CountersOf({{"smsp__inst_executed.avg.per_cycle_active", 0}}).ipc == 0);
  CHECK(CountersOf({{"smsp__inst_executed.avg.per_cycle_active", 0.5},
                    {"sm__inst_executed.avg.per_cycle_active", 0}})
            .ipc == 0);
  const CountedKernel none = CountersOf({});
  for (const double value : {none.registers, none.waves, none.ipc, none.sectors, none.lanes,
                             none.local, none.stall_memory, none.stall_barrier}) {
    CHECK(value == -1);
  }
  CHECK(none.limiter.empty());
  CHECK(CountersOf({{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 4},
                    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", 9}})
            .sectors == 9);
  CHECK(CountersOf({{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 2097152},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 65536}})
            .sectors == 32);
  CHECK(CountersOf({{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 640},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 80}})
            .sectors == 8);
  CHECK(CountersOf({{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 640},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 0}})
            .sectors == -1);
}

TEST_CASE("the limit of occupancy that allows the fewest blocks is named, none of them may be 0") {
  CHECK(CountersOf({{"launch__occupancy_limit_registers", 0}, {"launch__occupancy_limit_warps", 3}})
            .limiter == "registers");
  CHECK(CountersOf(
            {{"launch__occupancy_limit_registers", 4}, {"launch__occupancy_limit_shared_mem", 3}})
            .limiter == "shared memory");
  CHECK(
      CountersOf({{"launch__occupancy_limit_shared_mem", 4}, {"launch__occupancy_limit_warps", 3}})
          .limiter == "the size of its blocks");
  CHECK(CountersOf({{"launch__occupancy_limit_warps", 4}, {"launch__occupancy_limit_blocks", 3}})
            .limiter == "the number of blocks an SM holds");
  CHECK(CountersOf({{"launch__occupancy_limit_blocks", 4}, {"launch__occupancy_limit_barriers", 3}})
            .limiter == "barriers");
  // Of two that allow as many, the one that programs change more easily.
  CHECK(CountersOf({{"launch__occupancy_limit_registers", 3}, {"launch__occupancy_limit_warps", 3}})
            .limiter == "registers");
}

TEST_CASE("sectors that threads asked for, of those that were fetched") {
  constexpr const char* kIdeal = "memory_l2_theoretical_sectors_global_ideal";
  constexpr const char* kActual = "memory_l2_theoretical_sectors_global";
  CHECK(CountersOf({{kIdeal, 30}, {kActual, 120}}).useful == Approx(0.25));
  CHECK(CountersOf({{kIdeal, 130}, {kActual, 120}}).useful == 1);
  CHECK(CountersOf({{kIdeal, 0}, {kActual, 120}}).useful == -1);  // it reads no global memory
  CHECK(CountersOf({{kIdeal, 30}, {kActual, 0}}).useful == -1);
  CHECK(CountersOf({{kIdeal, 30},
                    {kActual, 120},
                    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 90}})
            .useful == Approx(0.25));
}

TEST_CASE("a remark of the tool gives the excess in whole percent") {
  const auto useful = [](const std::string& rule, const std::string& text) {
    KernelCounters counters;
    counters.advice.push_back({"SourceCounters", rule, text, 10});
    CountedKernel kernel;
    ReadCounters(counters, ShippedKnowledge(), &kernel);
    return kernel.useful;
  };
  CHECK(useful("UncoalescedGlobalAccess", "5 excessive sectors (0% of the total)") == 1);
  CHECK(useful("UncoalescedGlobalAccess", "5 excessive sectors (100% of the total)") == 0);
  CHECK(useful("UncoalescedGlobalAccess", "5 excessive sectors (9% of the total)") == Approx(0.91));
  CHECK(useful("UncoalescedGlobalAccess", "30% of the total") == Approx(0.7));
  // The text of the page gives the section in place of the rule.
  CHECK(useful("Source Counters",
               "This kernel has uncoalesced global accesses resulting in a total of 25165824 "
               "excessive sectors (75% of the total 33554432 sectors)") == Approx(0.25));
  CHECK(useful("Source Counters", "shared bank conflicts (75% of the total)") == -1);
  CHECK(useful("UncoalescedGlobalAccess", "(101% of the total)") == -1);
  CHECK(useful("OtherRule", "5 excessive sectors (75% of the total)") == -1);
}

TEST_CASE("instructions on local memory, of all that were executed") {
  const MetricMap local = {{"sass__inst_executed_local_loads", 30},
                           {"sass__inst_executed_local_stores", 10}};
  const auto with = [](MetricMap metrics, const MetricMap& more) {
    metrics.insert(more.begin(), more.end());
    return CountersOf(std::move(metrics)).local;
  };
  CHECK(with(local, {}) == -1);
  CHECK(with(local, {{"smsp__inst_executed.sum", 400}}) == Approx(0.1));
  CHECK(with(local, {{"sm__inst_executed.sum", 400}}) == Approx(0.1));
  CHECK(with(local, {{"smsp__inst_executed.sum", 0}}) == -1);
  CHECK(with(local, {{"smsp__inst_executed.sum", 10}}) == 1);
  // A mean over the four parts of 5 SMs.
  CHECK(with(local, {{"smsp__inst_executed.avg", 20},
                     {"device__attribute_multiprocessor_count", 5}}) == Approx(0.1));
  CHECK(with({{"smsp__sass_inst_executed_op_local_ld.sum", 60},
              {"smsp__sass_inst_executed_op_local_st.sum", 20}},
             {{"smsp__inst_executed.sum", 400}}) == Approx(0.2));
  CHECK(with({}, {{"smsp__inst_executed.sum", 400}}) == -1);
  CHECK(with({{"sass__inst_executed_local_loads", 0}}, {{"smsp__inst_executed.sum", 400}}) == 0);
}

TEST_CASE("stalls of barriers, of memory and of warps that were ready") {
  const auto kernel = [](const std::string& start, const std::string& end) {
    return CountersOf({{start + "long_scoreboard" + end, 10},
                       {start + "lg_throttle" + end, 20},
                       {start + "tex_throttle" + end, 5},
                       {start + "barrier" + end, 4},
                       {start + "membar" + end, 1},
                       {start + "not_selected" + end, 8},
                       {start + "wait" + end, 52}});
  };
  for (const auto& [start, end] :
       {std::pair("smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"),
        {"smsp__average_warp_latency_issue_stalled_", ".ratio"},
        {"smsp__pcsamp_warps_issue_stalled_", ""}}) {
    INFO(start);
    const CountedKernel stalled = kernel(start, end);
    CHECK(stalled.stall_memory == Approx(0.35));
    CHECK(stalled.stall_barrier == Approx(0.04));
    CHECK(stalled.stall_fence == Approx(0.01));
    CHECK(stalled.stall_not_selected == Approx(0.08));
  }
  CHECK(CountersOf({{"smsp__pcsamp_warps_issue_stalled_wait", 0}}).stall_memory == -1);
  // Only these reasons were collected.
  CHECK(CountersOf({{"smsp__pcsamp_warps_issue_stalled_barrier", 7}}).stall_barrier == 1);
}

TEST_CASE("where only some stalls were collected, they are shares of the whole latency") {
  const CountedKernel fenced =
      CountersOf({{"smsp__average_warps_issue_stalled_membar_per_issue_active.ratio", 30},
                  {"smsp__average_warp_latency_per_inst_issued.ratio", 34}});
  CHECK(fenced.stall_fence == Approx(30.0 / 34));
  CHECK(fenced.stall_barrier == 0);
}

TEST_CASE("atomics are a part of what the second-level cache handles") {
  CHECK(CountersOf({{"lts__t_sectors_op_atom.sum", 60},
                    {"lts__t_sectors_op_red.sum", 30},
                    {"lts__t_sectors.sum", 100}})
            .atomics == Approx(0.9));
  CHECK(CountersOf({{"lts__t_sectors.sum", 100}}).atomics == -1);
}

TEST_CASE("lanes are threads of a warp that execute") {
  CHECK(CountersOf({{"smsp__thread_inst_executed_per_inst_executed.ratio", 24}}).lanes == 0.75);
  CHECK(CountersOf({{"smsp__thread_inst_executed_per_inst_executed.ratio", 0}}).lanes == 0);
  CHECK(CountersOf({{"smsp__thread_inst_executed_per_inst_executed.ratio", 33}}).lanes == 1);
  KernelCounters counters;
  CountedKernel kernel;
  counters.block = {2, 2, 7};
  ReadCounters(counters, ShippedKnowledge(), &kernel);
  CHECK(kernel.lanes == Approx(28.0 / 32));
  for (const std::array<std::uint32_t, 3> whole :
       {std::array<std::uint32_t, 3>{32, 1, 1}, {0, 0, 0}}) {
    counters.block = whole;
    CountedKernel full;
    ReadCounters(counters, ShippedKnowledge(), &full);
    CHECK(full.lanes == -1);
  }
}

TEST_CASE("a fused operation is two, a half-precision one works on two values") {
  const auto flops = [](const char* op, const char* unit) {
    return PlacedCounters(
               {{std::string(unit) + "__sass_thread_inst_executed_op_" + op + "_pred_on.sum", 1e6}})
        .flops;
  };
  for (const char* unit : {"sm", "smsp"}) {
    CHECK(flops("fadd", unit) == 1e6);
    CHECK(flops("fmul", unit) == 1e6);
    CHECK(flops("ffma", unit) == 2e6);
    CHECK(flops("dadd", unit) == 1e6);
    CHECK(flops("dmul", unit) == 1e6);
    CHECK(flops("dfma", unit) == 2e6);
    CHECK(flops("hadd", unit) == 2e6);
    CHECK(flops("hmul", unit) == 2e6);
    CHECK(flops("hfma", unit) == 4e6);
  }
  CHECK(PlacedCounters({{"sm__sass_thread_inst_executed_op_fadd_pred_on.sum", 0}}).flops == 0);
  CHECK(PlacedCounters({}).flops == -1);
  CHECK(PlacedCounters({{"sm__sass_thread_inst_executed_op_fadd_pred_on.sum", 3},
                        {"sm__sass_thread_inst_executed_op_dfma_pred_on.sum", 5},
                        {"sm__sass_thread_inst_executed_op_hfma_pred_on.sum", 7}})
            .flops == 3 + 10 + 28);
}

TEST_CASE("instructions that were counted per cycle are of all cycles") {
  const auto flops = [](const std::string& unit, const MetricMap& cycles) {
    MetricMap metrics = {
        {unit + "__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed", 50}};
    metrics.insert(cycles.begin(), cycles.end());
    return PlacedCounters(metrics).flops;
  };
  for (const char* unit : {"sm", "smsp"}) {
    CHECK(flops(unit, {{"smsp__cycles_elapsed.avg", 1000}}) == 50'000);
    CHECK(flops(unit, {{"sm__cycles_elapsed.avg", 1000}}) == 50'000);
    // 2 GHz for 1 us.
    CHECK(flops(unit, {{"smsp__cycles_elapsed.avg.per_second", 2e9}, {kDuration, 1000}}) ==
          Approx(100'000));
    CHECK(flops(unit, {{"sm__cycles_elapsed.avg.per_second", 2e9},
                       {"gpu__time_duration.avg", 1000}}) == Approx(100'000));
    CHECK(flops(unit, {{"sm__cycles_elapsed.max", 3000}}) == 150'000);
    CHECK(flops(unit, {{"gpc__cycles_elapsed.max", 3000}}) == 150'000);
    CHECK(flops(unit, {{"smsp__cycles_elapsed.avg.per_second", 2e9},
                       {"sm__cycles_elapsed.max", 3000}}) == 150'000);  // the time is not known
    CHECK(flops(unit, {{"sm__cycles_elapsed.avg", 1000}, {"sm__cycles_elapsed.max", 3000}}) ==
          50'000);
    CHECK(flops(unit, {}) == -1);
    CHECK(flops(unit, {{"sm__cycles_elapsed.avg", 0}}) == -1);
  }
}

TEST_CASE("bytes of the memory, from the first counter that has them") {
  CHECK(PlacedCounters({{"dram__bytes.sum", 7}, {"dram__bytes_read.sum", 1}}).bytes == 7);
  CHECK(PlacedCounters({{"dram__bytes.sum", 0}, {"lts__t_bytes.sum", 1}}).bytes == 0);
  CHECK(PlacedCounters({{"dram__bytes_read.sum", 3}, {"dram__bytes_write.sum", 4}}).bytes == 7);
  CHECK(PlacedCounters({{"dram__bytes_read.sum", 3}, {"lts__t_bytes.sum", 9}}).bytes == 3);
  CHECK(PlacedCounters({{"dram__bytes_read.sum", 0}, {"lts__t_bytes.sum", 9}}).bytes == 0);
  CHECK(PlacedCounters({{"dram__bytes.sum.per_second", 2e9}, {kDuration, 1000}}).bytes ==
        Approx(2000));
  CHECK(PlacedCounters(
            {{"dram__bytes.sum.per_second", 0}, {kDuration, 1000}, {"lts__t_bytes.sum", 9}})
            .bytes == 0);
  CHECK(PlacedCounters({{"dram__bytes.sum.per_second", 2e9}, {"lts__t_bytes.sum", 9}}).bytes == 9);
  CHECK(PlacedCounters({}).bytes == -1);
}

TEST_CASE("the roof is lower by as much as the profiler holds the clock down") {
  // 2 GFLOP in 1 ms with 1 GB moved, at 1 GHz where 2 GHz are the most.
  const MetricMap metrics = {{kDuration, 1e6},
                             {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", 1e9},
                             {"dram__bytes.sum", 1e9},
                             {"gpc__cycles_elapsed.avg.per_second", 1e9}};
  const CountedKernel kernel = PlacedCounters(metrics);
  CHECK(kernel.flops == 2e9);
  CHECK(kernel.achieved == Approx(2e12));
  CHECK(kernel.intensity == 2);
  CHECK(kernel.balance == Approx(5));        // 5 TFLOP/s over 1 TB/s
  CHECK(kernel.attainable == Approx(2e12));  // 2 FLOP a byte
  MetricMap other = metrics;
  other.erase("gpc__cycles_elapsed.avg.per_second");
  CHECK(PlacedCounters(other).balance == Approx(10));
  other["sm__cycles_elapsed.avg.per_second"] = 1e9;
  CHECK(PlacedCounters(other).balance == Approx(5));
  Hardware unknown = RoundGpu();
  unknown.boost_clock_hz = 0;
  CHECK(PlacedCounters(metrics, unknown).balance == Approx(10));
  unknown.memory_bytes_per_s = 0;
  CHECK(PlacedCounters(metrics, unknown).balance == -1);
  CHECK(PlacedCounters(metrics, unknown).attainable == -1);
  unknown = RoundGpu();
  unknown.peak_fp32_flops = 0;
  CHECK(PlacedCounters(metrics, unknown).balance == -1);
  // Dense work meets the peak, not the memory.
  other = metrics;
  other["dram__bytes.sum"] = 1e8;
  CHECK(PlacedCounters(other).attainable == Approx(5e12));
  other["dram__bytes.sum"] = 0;
  CHECK(PlacedCounters(other).intensity == -1);
  other = metrics;
  other[kDuration] = 0;
  CHECK(PlacedCounters(other).achieved == -1);
  CHECK(PlacedCounters({{kDuration, 1e6}, {"dram__bytes.sum", 1e9}}).achieved == -1);
  CHECK(PlacedCounters({{kDuration, 1e6}, {"dram__bytes.sum", 1e9}}).intensity == -1);
}

TEST_CASE("the peaks that were counted win over those of the data sheet") {
  const MetricMap metrics = {{"dram__bytes.sum.peak_sustained", 100},
                             {"dram__cycles_elapsed.avg.per_second", 5e9}};
  CHECK(PlacedCounters(metrics).balance == Approx(20));  // 10 TFLOP/s over 0.5 TB/s
  CHECK(PlacedCounters(
            {{"dram__bytes.sum.peak_sustained", 0}, {"dram__cycles_elapsed.avg.per_second", 5e9}})
            .balance == Approx(10));
  CHECK(PlacedCounters({{"dram__bytes.sum.peak_sustained", 100}}).balance == Approx(10));
  CHECK(PlacedCounters({{"dram__cycles_elapsed.avg.per_second", 5e9}}).balance == Approx(10));
  // 3000 lanes of two operations at 1 GHz.
  constexpr const char* kLanes = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained";
  CHECK(PlacedCounters({{kLanes, 3000}, {"gpc__cycles_elapsed.avg.per_second", 1e9}}).balance ==
        Approx(6));
  CHECK(PlacedCounters({{kLanes, 3000}}).balance == Approx(10));
  CHECK(PlacedCounters({{kLanes, 0}, {"gpc__cycles_elapsed.avg.per_second", 1e9}}).balance ==
        Approx(5));
}

TEST_CASE("the peak is that of the units that do most of the work") {
  constexpr const char* kFadd = "sm__sass_thread_inst_executed_op_fadd_pred_on.sum";
  constexpr const char* kDadd = "sm__sass_thread_inst_executed_op_dadd_pred_on.sum";
  constexpr const char* kHadd = "sm__sass_thread_inst_executed_op_hadd_pred_on.sum";
  constexpr const char* kActive = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
  CHECK(PlacedCounters({{kFadd, 10}, {kDadd, 11}}).balance == Approx(5));
  CHECK(PlacedCounters({{kFadd, 10}, {kDadd, 10}}).balance == Approx(10));
  CHECK(PlacedCounters({{kFadd, 5}, {kHadd, 3}, {kDadd, 10}}).balance == Approx(10));  // 5 + 6
  CHECK(PlacedCounters({{kFadd, 10}, {kActive, 1}}).balance == Approx(100));
  CHECK(PlacedCounters({{kFadd, 10}, {kActive, 0}}).balance == Approx(10));
  CHECK(PlacedCounters({{"sm__ops_path_tensor_src_fp16_dst_fp32.sum", 5}}).balance == Approx(100));
  Hardware gpu = RoundGpu();
  gpu.peak_fp64_flops = 0;
  CHECK(PlacedCounters({{kFadd, 10}, {kDadd, 11}}, gpu).balance == Approx(10));
  gpu.peak_tensor_flops = 0;
  CHECK(PlacedCounters({{kFadd, 10}, {kActive, 50}}, gpu).balance == Approx(10));
  // Tensor work that was not counted is estimated from the activity: 50 % of 100 TFLOP/s for 1 us.
  const CountedKernel estimated = PlacedCounters({{kActive, 50}, {kDuration, 1000}, {kFadd, 1e6}});
  CHECK(estimated.tensor_estimated);
  CHECK(estimated.flops == Approx(50e6 + 1e6));
  const CountedKernel counted = PlacedCounters(
      {{kActive, 50}, {kDuration, 1000}, {kFadd, 1e6}, {"sm__ops_path_tensor_src_a.sum", 3e6}});
  CHECK_FALSE(counted.tensor_estimated);
  CHECK(counted.flops == 4e6);
  CHECK(PlacedCounters({{kActive, 50}}).flops == -1);  // the time is not known
  CHECK_FALSE(PlacedCounters({{kActive, 0}, {kDuration, 1000}}).tensor_estimated);
  CHECK(PlacedCounters({{kActive, 0}, {kDuration, 1000}}).flops == -1);
}

TEST_CASE("the limit that a kernel meets first leaves the rest of its time as headroom") {
  const double near = ShippedKnowledge().Number("counter.near_limit") * 100;
  const double achievable = ShippedKnowledge().Number("counter.achievable") * 100;
  const auto kernel = [](double sm, double memory, MetricMap more = {},
                         const std::string& is = "") {
    more["sm__throughput.avg.pct_of_peak_sustained_elapsed"] = sm;
    more["gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"] = memory;
    return PlacedCounters(more, RoundGpu(), is);
  };
  CHECK(kernel(near - 1, near - 2).bound == "latency");
  CHECK(kernel(near, 10).bound == "compute");
  CHECK(kernel(10, near).bound == "memory");
  CHECK(kernel(near, near).bound == "memory");
  CHECK(kernel(achievable / 4, 5).headroom == Approx(0.75));
  CHECK(kernel(0, 0).headroom == 1);
  CHECK(kernel(achievable, 5).headroom == Approx(0).margin(1e-9));
  CHECK(kernel(99, 5).headroom == 0);
  // Half of what memory moves is waste: the SMs at a third of it are no limit yet.
  const MetricMap half = {{"memory_l2_theoretical_sectors_global_ideal", 50},
                          {"memory_l2_theoretical_sectors_global", 100}};
  CHECK(kernel(achievable / 3, achievable, half).headroom == Approx(0.5));
  CHECK(kernel(achievable * 0.8, achievable, half).headroom == Approx(0.2));
  CHECK(kernel(achievable / 3, achievable).headroom == Approx(0).margin(1e-9));
  // A product without tensor cores would be faster on them, until memory holds it.
  const double faster = 10 * ShippedKnowledge().Number("precision.achieved");
  REQUIRE(faster > 2);
  const MetricMap idle = {{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 0}};
  for (const char* product : {"matrix", "convolution"}) {
    CHECK(kernel(achievable, 1, idle, product).headroom == Approx(1 - 1 / faster));
    CHECK(kernel(achievable, achievable * 0.6, idle, product).headroom == Approx(0.4));
  }
  CHECK(kernel(achievable, 1, idle, "elementwise").headroom == Approx(0).margin(1e-9));
  CHECK(kernel(achievable, 1, {}, "matrix").headroom == Approx(0).margin(1e-9));
  const MetricMap busy = {{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 5}};
  CHECK(kernel(achievable, 1, busy, "matrix").headroom == Approx(0).margin(1e-9));
  CHECK(PlacedCounters({{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 0}})
            .bound == "");
}

TEST_CASE("a full first-level cache is the limit, however little data moves") {
  const double full = ShippedKnowledge().Number("counter.full_cache") * 100;
  const double least = ShippedKnowledge().Number("counter.least_at_work");
  const auto row_sum = [](double l1, double sm = 6, double at_work = 0.9) {
    return PlacedCounters({{"sm__throughput.avg.pct_of_peak_sustained_elapsed", sm},
                           {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 49},
                           {"sm__cycles_active.avg", 1000 * at_work},
                           {"gpc__cycles_elapsed.max", 1000},
                           {"l1tex__throughput.avg.pct_of_peak_sustained_active", l1}});
  };
  CHECK(row_sum(98).bound == "memory");
  CHECK(row_sum(98).headroom == 0);  // what the requests could become was not counted
  CHECK(row_sum(full).bound == "memory");
  CHECK(row_sum(full - 1).bound == "latency");
  CHECK(row_sum(98, 99).bound == "compute");
  // Few blocks fill the caches of their SMs, while the others have nothing to do.
  CHECK(row_sum(98, 6, least + 0.01).bound == "memory");
  CHECK(row_sum(98, 6, least - 0.01).bound == "latency");
}

TEST_CASE(
    "where device memory is half as busy as the busiest memory, or less, that one is the limit") {
  const auto on_chip = [](double memory, double dram, double l1 = -1) {
    MetricMap counted = {
        {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", memory},
        {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 10},
        {"sm__cycles_active.avg", 900},
        {"gpc__cycles_elapsed.max", 1000}};
    if (dram >= 0) counted["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"] = dram;
    if (l1 >= 0) counted["l1tex__throughput.avg.pct_of_peak_sustained_active"] = l1;
    const CountedKernel kernel = PlacedCounters(counted);
    REQUIRE(kernel.bound == "memory");
    return kernel.on_chip;
  };
  CHECK(on_chip(83, 19));
  CHECK(on_chip(80, 36));
  CHECK_FALSE(on_chip(80, 44));
  CHECK_FALSE(on_chip(85, 84));
  CHECK_FALSE(on_chip(83, -1));  // not counted
  CHECK(on_chip(61, 40, 98));    // the first-level cache is the busiest
  CHECK_FALSE(on_chip(61, 40, 70));
  CHECK_FALSE(
      PlacedCounters({{"sm__throughput.avg.pct_of_peak_sustained_elapsed", 90},
                      {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 5},
                      {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 20}})
          .on_chip);
}

TEST_CASE("blocks, threads and SMs at work tell whether the grid fills the GPU") {
  KernelCounters counters;
  counters.grid = {8, 1, 1};
  counters.block = {33, 1, 1};
  counters.metrics = {{"device__attribute_multiprocessor_count", 108},
                      {"sm__cycles_active.avg", 74},
                      {"sm__cycles_elapsed.max", 1000}};
  CountedKernel kernel;
  ReadCounters(counters, ShippedKnowledge(), &kernel);
  CHECK(kernel.blocks == 8);
  CHECK(kernel.threads == 33);
  CHECK(kernel.sms == 108);
  CHECK(kernel.at_work == Approx(0.074));
  counters.metrics.erase("sm__cycles_active.avg");
  CountedKernel by_grid;
  ReadCounters(counters, ShippedKnowledge(), &by_grid);
  CHECK(by_grid.at_work == Approx(8.0 / 108));
  const CountedKernel by_metrics =
      CountersOf({{"launch__grid_size", 109}, {"launch__block_size", 1024}});
  CHECK(by_metrics.blocks == 109);
  CHECK(by_metrics.threads == 1024);
  CHECK(by_metrics.at_work == -1);
}

TEST_CASE("conflicts of banks are a part of the accesses to shared memory, and what they cost") {
  MetricMap counted = {{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 85},
                       {"l1tex__throughput.avg.pct_of_peak_sustained_active", 85},
                       {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 17},
                       {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 10},
                       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 90},
                       {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 100}};
  const CountedKernel kernel = PlacedCounters(counted);
  CHECK(kernel.conflicts == Approx(0.9));
  CHECK(kernel.on_chip);
  CHECK(kernel.headroom == Approx(0.8));  // then device memory is the limit
  counted["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"] = 0;
  CHECK(PlacedCounters(counted).headroom == Approx(0).margin(1e-9));
}

TEST_CASE("bytes on local memory stand for instructions where these were not counted") {
  const CountedKernel kernel = CountersOf({{"smsp__inst_executed.sum", 1000},
                                           {"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", 6400},
                                           {"l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum", 6400}});
  CHECK(kernel.local == Approx(0.1));
  CHECK(CountersOf(
            {{"smsp__inst_executed.sum", 1000}, {"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", 0}})
            .local == 0);
}

TEST_CASE("a full queue of memory instructions is told from waiting for data") {
  const std::string start = "smsp__average_warps_issue_stalled_", end = "_per_issue_active.ratio";
  const CountedKernel kernel = CountersOf({{start + "long_scoreboard" + end, 40},
                                           {start + "lg_throttle" + end, 50},
                                           {start + "wait" + end, 10}});
  CHECK(kernel.stall_memory == Approx(0.9));
  CHECK(kernel.stall_queue == Approx(0.5));
}

TEST_CASE("a kernel of two microseconds takes the time of a start, and has nothing to win") {
  const auto lasts = [](double ns) {
    return PlacedCounters(
        {{kDuration, ns},
         {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 0.1},
         {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 1}});
  };
  CHECK(lasts(1900).bound == "launch");
  CHECK(lasts(1900).headroom == 0);
  CHECK(lasts(20000).bound == "latency");
}

}  // namespace
}  // namespace advise
