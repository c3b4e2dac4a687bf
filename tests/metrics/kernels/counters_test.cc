// Counters of kernels: joined to the run by name, placed under the roofline, headroom by hand.
#include <map>

#include "engine/metrics/kernels/kernel_counters.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

constexpr const char* kSm = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kMemory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kTime = "gpu__time_duration.sum";

KernelCounters Counted(const std::string& kernel,
                       std::map<std::string, double, std::less<>> metrics) {
  KernelCounters counters;
  counters.kernel = kernel;
  counters.metrics = std::move(metrics);
  counters.source = "k.csv:2";
  return counters;
}

// Everything computed of counters beside a timeline, or of counters alone.
struct Case {
  Trace trace;
  std::unique_ptr<Analysis> analysis;
  Case(Trace with, std::vector<KernelCounters> counters, const std::string& gpu = "")
      : trace(std::move(with)) {
    trace.counters = std::move(counters);
    if (trace.devices.empty()) trace.devices.emplace_back();
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    options.gpu = gpu;
    analysis = std::make_unique<Analysis>(trace, ShippedKnowledge(), options);
  }
  const Counters& counters() const { return analysis->counters; }
  const CountedKernel& kernel(std::size_t i = 0) const { return analysis->counters.kernels.at(i); }
};

TEST_CASE("names: casts, blanks, parameters and unnamed scopes make no difference") {
  CHECK(PlainKernelName("void f<(int)4, at::A<float> >(int, T2)") ==
        PlainKernelName("void f<4, at::A<float>>(int)"));
  CHECK(PlainKernelName("void operator>>(float*, int)") == "operator>>");
  CHECK(PlainKernelName("void (anonymous namespace)::g<float>(float*)") ==
        PlainKernelName("g<float>"));
  CHECK(PlainKernelName("volta_sgemm_128x64_nn") == "volta_sgemm_128x64_nn");
  CHECK(PlainKernelName("f<(bool)1>(int)") != PlainKernelName("f<(bool)0>(int)"));
}

TEST_CASE("weights are shares of the run's kernel time; what was not counted stays uncovered") {
  const Case c(
      TraceBuilder()
          .Kernel("void a<4>(int)", {0, 600})
          .Kernel("b", {600, 900})
          .Kernel("c", {900, 1000})
          .Build(),
      {Counted("b", {{kTime, 50'000}, {kSm, 10}, {kMemory, 17}}),
       Counted("void a<(int)4>(int, T2)", {{kTime, 100'000}, {kSm, 42.5}, {kMemory, 34}})});
  CHECK(c.counters().coverage == Approx(0.9));
  REQUIRE(c.counters().kernels.size() == 2);
  CHECK(c.kernel(0).name == "void a<(int)4>(int, T2)");
  CHECK(c.kernel(0).weight == Approx(0.6));
  CHECK(c.kernel(1).weight == Approx(0.3));
  // Near no limit: of 0.85 of the SMs' peak it reaches half, so half of its time is headroom.
  CHECK(c.kernel(0).bound == "latency");
  CHECK(c.kernel(0).headroom == Approx(0.5));
  CHECK(c.kernel(1).headroom == Approx(0.8));
  CHECK(c.kernel(0).lost_ns == Approx(300));
  // The last half of a, the last four fifths of b.
  CHECK(c.counters().latency[0] == IntervalSet::Of({{300, 600}, {660, 900}}));
  CHECK(c.counters().memory[0].empty());
}

TEST_CASE("a bare function name joins only where it is unambiguous") {
  const std::vector<KernelCounters> counted = {
      Counted("f", {{kTime, 10}, {kSm, 10}, {kMemory, 10}})};
  CHECK(Case(TraceBuilder().Kernel("void ns::f<1>(int)", {0, 100}).Build(), counted)
            .counters()
            .coverage == 1);
  CHECK(Case(TraceBuilder()
                 .Kernel("void f<1>(int)", {0, 100})
                 .Kernel("void f<2>(int)", {100, 200})
                 .Build(),
             counted)
            .counters()
            .coverage == 0);
}

TEST_CASE("without a timeline weights and claims are of the counted time") {
  const Case c(Trace(), {Counted("a", {{kTime, 30'000}, {kSm, 10}, {kMemory, 42.5}}),
                         Counted("b", {{kTime, 10'000}, {kSm, 85}, {kMemory, 20}}),
                         Counted("a", {{kTime, 60'000}, {kSm, 10}, {kMemory, 42.5}})});
  CHECK(c.counters().coverage == -1);
  CHECK(c.kernel(0).weight == Approx(0.9));
  CHECK(c.kernel(0).instances == 2);
  CHECK(c.counters().instances == 3);
  CHECK(c.counters().latency[0] == IntervalSet::Of({{15'000, 30'000}, {70'000, 100'000}}));
  CHECK(c.analysis->run.window.Length() == 100'000);
  CHECK(c.kernel(1).bound == "compute");
  CHECK(c.kernel(1).headroom == 0);
  CHECK_FALSE(c.analysis->support.verdict);
}

TEST_CASE("without any times one kernel is all that was counted, of several nothing is known") {
  const Case one(Trace(), {Counted("a", {{kSm, 10}}), Counted("a", {{kSm, 30}})});
  CHECK(one.kernel().weight == 1);
  const Case two(Trace(), {Counted("a", {{kSm, 10}}), Counted("b", {{kSm, 30}})});
  CHECK(two.kernel(0).weight == 0);
  CHECK(two.kernel(1).weight == 0);
}

TEST_CASE("instances are averaged by their time") {
  const Case c(Trace(), {Counted("a", {{kTime, 100}, {kSm, 20}, {kMemory, 10}}),
                         Counted("a", {{kTime, 300}, {kSm, 40}, {kMemory, 10}})});
  CHECK(c.kernel().sm == Approx(0.35));
}

TEST_CASE("waste in sectors is headroom of a kernel that memory limits") {
  const auto kernel = [](double ideal) {
    return Counted("a", {{kTime, 100},
                         {kSm, 10},
                         {kMemory, 85},
                         {"memory_l2_theoretical_sectors_global", 400},
                         {"memory_l2_theoretical_sectors_global_ideal", ideal}});
  };
  const Case whole(Trace(), {kernel(400)});
  CHECK(whole.kernel().bound == "memory");
  CHECK(whole.kernel().headroom == Approx(0));
  const Case quarter(Trace(), {kernel(100)});
  CHECK(quarter.kernel().useful == Approx(0.25));
  CHECK(quarter.kernel().headroom == Approx(0.75));
}

// At 0.60 of memory's peak, a quarter of the bytes takes a quarter of the time. The rest of the
// headroom is what a higher rate would win: 0.15 of 0.85 are left.
TEST_CASE("moving what was asked for, as fast as now, is the certain part of the headroom") {
  const auto kernel = [](double sm) {
    return Counted("a", {{kTime, 100},
                         {kSm, sm},
                         {kMemory, 60},
                         {"memory_l2_theoretical_sectors_global", 400},
                         {"memory_l2_theoretical_sectors_global_ideal", 100}});
  };
  const Case copy(Trace(), {kernel(10)});
  CHECK(copy.kernel().headroom == Approx(1 - 0.15 / 0.85));
  CHECK(copy.kernel().scattered == Approx(0.75));
  const Case works(Trace(), {kernel(30)});  // the SMs need half of the time
  CHECK(works.kernel().scattered == Approx(0.5));
}

TEST_CASE("sectors a request prove waste only beyond the widest access") {
  const auto useful = [](double sectors) {
    return Case(Trace(),
                {Counted("a",
                         {{kTime, 100},
                          {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
                           sectors}})})
        .kernel()
        .useful;
  };
  CHECK(useful(16) == -1);  // 16 bytes a thread need as many
  CHECK(useful(32) == Approx(0.5));
}

TEST_CASE("the details page has waste as a remark only, with its figure") {
  KernelCounters counters = Counted("a", {{kTime, 100}, {kSm, 10}, {kMemory, 85}});
  counters.advice.push_back({"SourceCounters", "UncoalescedGlobalAccess",
                             "... a total of 25165824 excessive sectors (75% of the total 33554432 "
                             "sectors). Check ...",
                             74.14});
  CHECK(Case(Trace(), {counters}).kernel().useful == Approx(0.25));
  counters.advice.front().text = "some other words (% of the total)";
  CHECK(Case(Trace(), {counters}).kernel().useful == -1);
}

TEST_CASE("the roofline by hand: an FP32 kernel of a real report") {
  // An A6000 at the clock of the profiler: 84 SMs of 128 lanes, 96 bytes a memory clock.
  const Case c(
      Trace(),
      {Counted("k", {{kTime, 1e6},
                     {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", 1e9},
                     {"sm__sass_thread_inst_executed_op_fadd_pred_on.sum", 5e8},
                     {"dram__bytes_read.sum", 3e8},
                     {"dram__bytes_write.sum", 2e8},
                     {"dram__bytes.sum.peak_sustained", 96},
                     {"dram__cycles_elapsed.avg.per_second", 8e9},
                     {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", 10752},
                     {"gpc__cycles_elapsed.avg.per_second", 1.5e9}})});
  const CountedKernel& k = c.kernel();
  CHECK(k.flops == Approx(2.5e9));
  CHECK(k.bytes == Approx(5e8));
  CHECK(k.intensity == Approx(5));
  CHECK(k.balance == Approx(2 * 10752 * 1.5e9 / (96 * 8e9)));  // 42
  CHECK(k.attainable == Approx(5 * 96 * 8e9));
  CHECK(k.achieved == Approx(2.5e12));
}

TEST_CASE("work of tensor pipes: counted where the GPU counts it, else estimated from activity") {
  const Case counted(Trace(),
                     {Counted("k", {{kTime, 1e6},
                                    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 4e11},
                                    {"dram__bytes.sum", 1e9}})},
                     "NVIDIA H100 80GB HBM3");
  CHECK(counted.kernel().flops == Approx(4e11));
  CHECK_FALSE(counted.kernel().tensor_estimated);
  CHECK(counted.kernel().balance == Approx(989.4e12 / 3.35e12));
  const Case estimated(
      Trace(),
      {Counted("k", {{kTime, 1e6},
                     {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 50},
                     {"dram__bytes.sum", 1e9}})},
      "NVIDIA A100-SXM4-80GB");
  CHECK(estimated.kernel().flops == Approx(0.5 * 312e12 * 1e-3));
  CHECK(estimated.kernel().tensor_estimated);
}

TEST_CASE("blocks smaller than a warp leave lanes empty; the counted figure wins") {
  KernelCounters small = Counted("k", {{kTime, 100}});
  small.block = {4, 2, 1};
  CHECK(Case(Trace(), {small}).kernel().lanes == Approx(0.25));
  small.metrics["smsp__thread_inst_executed_per_inst_executed.ratio"] = 4;
  CHECK(Case(Trace(), {small}).kernel().lanes == Approx(0.125));
  small.metrics.erase("smsp__thread_inst_executed_per_inst_executed.ratio");
  small.block = {64, 1, 1};
  CHECK(Case(Trace(), {small}).kernel().lanes == -1);
}

TEST_CASE("stalls are shares of a warp's latency, whichever way they were counted") {
  const Case ratios(
      Trace(),
      {Counted("k",
               {{"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 6},
                {"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", 1},
                {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 1},
                {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 1},
                {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", 1}})});
  CHECK(ratios.kernel().stall_memory == Approx(0.7));
  CHECK(ratios.kernel().stall_barrier == Approx(0.1));
  const Case sampled(
      Trace(), {Counted("k", {{"smsp__pcsamp_warps_issue_stalled_long_scoreboard", 30},
                              {"smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued", 25},
                              {"smsp__pcsamp_warps_issue_stalled_not_selected", 60},
                              {"smsp__pcsamp_warps_issue_stalled_barrier", 10}})});
  CHECK(sampled.kernel().stall_memory == Approx(0.3));
  CHECK(sampled.kernel().stall_not_selected == Approx(0.6));
}

TEST_CASE("occupancy is limited by what allows the fewest blocks") {
  const Case c(Trace(),
               {Counted("k", {{"launch__occupancy_limit_registers", 2},
                              {"launch__occupancy_limit_shared_mem", 8},
                              {"launch__occupancy_limit_warps", 4},
                              {"sm__warps_active.avg.pct_of_peak_sustained_active", 24}})});
  CHECK(c.kernel().limiter == "registers");
  CHECK(c.kernel().occupancy == Approx(0.24));
  CHECK(c.kernel().bound.empty());  // throughput was not collected: nothing is claimed
  CHECK(c.counters().latency[0].empty());
}

TEST_CASE("beside a capture without GPU work counters claim nothing") {
  Trace empty;
  empty.kind = "nsys-sqlite";
  const Case c(std::move(empty), {Counted("a", {{kTime, 300}, {kSm, 10}, {kMemory, 42.5}})});
  CHECK(c.counters().kernels.size() == 1);
  for (const IntervalSet& set : c.counters().latency) CHECK(set.empty());
}

TEST_CASE("a kernel claims what it has to win under the bound that it has, and no other") {
  const auto claims = [](double sm, double memory) {
    const Case c(TraceBuilder().Kernel("a", {0, 100'000}).Build(),
                 {Counted("a", {{kTime, 10'000}, {kSm, sm}, {kMemory, memory}})});
    const Counters& all = c.counters();
    CHECK(static_cast<double>(all.compute[0].Total() + all.memory[0].Total() +
                              all.latency[0].Total()) ==
          Approx(c.kernel().headroom * 100'000).margin(1));
    CHECK(c.kernel().headroom > 0.1);
    return std::tuple(c.kernel().bound, all.compute[0].empty(), all.memory[0].empty(),
                      all.latency[0].empty());
  };
  CHECK(claims(65, 5) == std::tuple("compute", false, true, true));
  CHECK(claims(5, 65) == std::tuple("memory", true, false, true));
  CHECK(claims(10, 20) == std::tuple("latency", true, true, false));
}

TEST_CASE("claims of all bounds together are never more than the kernels' time") {
  const Case c(TraceBuilder().Kernel("a", {0, 500}).Kernel("b", {400, 1000}).Build(),
               {Counted("a", {{kTime, 10}, {kSm, 1}, {kMemory, 1}}),
                Counted("b", {{kTime, 10}, {kSm, 5}, {kMemory, 62}})});
  const Counters& counters = c.counters();
  CHECK(counters.latency[0].Total() + counters.memory[0].Total() <= 1000);
  for (const IntervalSet* set : {&counters.latency[0], &counters.memory[0]}) {
    CHECK(set->Clip(0, 1000) == *set);
  }
}

}  // namespace
}  // namespace advise
