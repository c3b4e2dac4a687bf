// Printed tables of profilers: what has a time of its own for each event becomes a timeline, all
// else totals or counters. Texts are made here, in the form that the tools print.
#include <array>
#include <limits>

#include "engine/import/text_input.h"
#include "tests/import/text_inputs.h"

using namespace advise;
using namespace advise::testing;

namespace {

const std::string kPage =
    "some output of the program\n==PROF== Connected to process 42 (/home/me/app)\n"
    "[42] app@127.0.0.1\n"
    "  void scale<float, 4>(T1 *, int) (1024, 2, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, "
    "CC 8.0\n"
    "    Section: GPU Speed Of Light Throughput\n"
    "    ----------------------- ------------ ------------\n"
    "    Metric Name              Metric Unit Metric Value\n"
    "    ----------------------- ------------ ------------\n"
    "    SM Frequency                     Ghz         1.41\n"
    "    Duration                          us    21,058.94\n"
    "    Memory Throughput                  %        61.71\n"
    "    ----------------------- ------------ ------------\n"
    "\n"
    "    OPT   Est. Speedup: 98.5%\n"
    "          Memory is used more than compute. Look at\n"
    "          the next section.\n"
    "    ----- ------------------------------------------\n"
    "    INF   A remark.\n"
    "\n"
    "    Section: Launch Statistics\n"
    "    -------------------------------- --------------- ---------------\n"
    "    Metric Name                          Metric Unit    Metric Value\n"
    "    -------------------------------- --------------- ---------------\n"
    "    Function Cache Configuration                     CachePreferNone\n"
    "    Grid Size                                                  2,048\n"
    "    Registers Per Thread             register/thread              32\n"
    "    Achieved Occupancy                             %         (!) n/a\n"
    "    -------------------------------- --------------- ---------------\n"
    "\n"
    "  plain(int *), 2020-Dec-09 10:11:12, Context 1, Stream 7\n"
    "    Section: Command line profiler metrics\n"
    "    ---------------------------- --------------- ---------------\n"
    "    dram__bytes_read.sum                   Gbyte            1.50\n"
    "    ---------------------------- --------------- ---------------\n"
    "\n";

double MetricOf(const KernelCounters& counters, const char* id) {
  const auto found = counters.metrics.find(id);
  INFO(id);
  REQUIRE(found != counters.metrics.end());
  return found->second;
}

TEST_CASE("numbers that no whole number holds are cut to what one holds") {
  CHECK(WholeOf<int>(7.9) == 7);
  CHECK(WholeOf<std::int64_t>(-8.9e23) == -(std::int64_t{1} << 62));
  CHECK(WholeOf<std::uint32_t>(-1) == 0);
  CHECK(WholeOf<std::uint32_t>(9e9) == std::numeric_limits<std::uint32_t>::max() / 2);
  CHECK(WholeOf<int>(std::nan("")) == 0);
  // As fuzzing found it, under the checks of undefined behavior.
  const Trace trace = ImportedText(
      "Device 888888888888888888888888 and more\n# gpu   pwr\n# Idx     W\n"
      "    888888888888888888888888    50\n");
  CHECK(trace.devices.size() == 1);
}

}  // namespace

TEST_CASE("an estimate of a section's own metric is none of the kernel") {
  std::string page = kPage;
  page.replace(page.find("Est. Speedup"), 12, "Est. Local Speedup");
  CHECK(ImportedText(page).counters.at(0).advice.at(0).speedup_percent == -1);
}

TEST_CASE("the printed page of ncu: kernels, sizes, metrics in base units, and advice") {
  const Trace trace = ImportedText(kPage);
  CHECK(trace.kind == "ncu-text");
  REQUIRE(trace.counters.size() == 2);
  const KernelCounters& first = trace.counters[0];
  CHECK(first.kernel == "void scale<float, 4>(T1 *, int)");
  CHECK(first.grid == std::array<std::uint32_t, 3>{1024, 2, 1});
  CHECK(first.block == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(first.compute_capability == "8.0");
  CHECK(MetricOf(first, "gpu__time_duration.sum") == Approx(21058940));
  CHECK(MetricOf(first, "gpc__cycles_elapsed.avg.per_second") == Approx(1.41e9));
  CHECK(MetricOf(first, "launch__grid_size") == 2048);
  CHECK(MetricOf(first, "launch__registers_per_thread") == 32);
  REQUIRE(first.advice.size() == 2);
  CHECK(first.advice[0].speedup_percent == 98.5);
  CHECK(first.advice[0].text == "Memory is used more than compute. Look at the next section.");
  CHECK(first.advice[0].section == "GPU Speed Of Light Throughput");
  CHECK(first.advice[1].speedup_percent == -1);
  CHECK(first.source.ends_with(":4"));
  const KernelCounters& second = trace.counters[1];
  CHECK(second.kernel == "plain(int *)");
  CHECK(MetricOf(second, "dram__bytes_read.sum") == Approx(1.5e9));
  CHECK(Said(trace, "without a value") == 1);
}

TEST_CASE(
    "the printed page of ncu without its beginning, and pages on which nothing was measured") {
  const std::size_t section = kPage.find("    Section: GPU");
  const Trace cut = ImportedText(kPage.substr(section));
  REQUIRE(cut.counters.size() == 2);
  CHECK(cut.counters[0].kernel == "a kernel whose name is cut off");
  CHECK(Said(cut, "without the name of its first kernel") == 1);

  const std::string head =
      "==ERROR== LaunchFailed\n  k(int *) (1, 1, 1)x(1, 1, 1), Context 1, Stream 7\n"
      "    Section: Command line profiler metrics\n"
      "    -------------- ----------- ------------\n"
      "    sm_cycles.sum                   (!) n/a\n"
      "    -------------- ----------- ------------\n";
  CHECK(Refused(head) == "Nsight Compute measured nothing: LaunchFailed (line 1)");
  CHECK(
      Refused(head.substr(head.find('\n') + 1)) ==
      "no metric has a value: sm_cycles.sum is n/a (line 4), so its name is misspelled or this GPU "
      "does not have it");
}

TEST_CASE("counters of nvprof, for each launch and as a summary, under the names of ncu") {
  const Trace each = ImportedText(
      "==42== NVPROF is profiling process 42, command: ./app\n==42== Profiling result:\n"
      "\"Device\",\"Context\",\"Stream\",\"Kernel\",\"Correlation_ID\",\"achieved_occupancy\","
      "\"l2_tex_hit_rate\",\"l2_read_transactions\"\n"
      ",,,,,,%,\n"
      "\"Tesla V100 (0)\",\"1\",\"7\",\"void k<int, bool=1>(int)\",107,0.5,62.5,4096\n"
      "\"Tesla V100 (0)\",\"1\",\"7\",\"void k<int, bool=1>(int)\",108,0.25,50,1024\n"
      "\"Tesla V100 (0)\",\"1\",\"7\"\n");
  CHECK(each.kind == "nvprof-metrics");
  REQUIRE(each.counters.size() == 2);
  CHECK(each.counters[0].kernel == "void k<int, bool=1>(int)");
  CHECK(each.counters[0].device == "Tesla V100");
  CHECK(MetricOf(each.counters[0], "sm__warps_active.avg.pct_of_peak_sustained_active") == 50);
  CHECK(MetricOf(each.counters[1], "lts__t_sector_hit_rate.pct") == 50);
  CHECK(MetricOf(each.counters[0], "l2_read_transactions") == 4096);
  CHECK(each.counters[0].source.ends_with(":5"));
  CHECK(Said(each, "cut short") == 1);

  const Trace summary = ImportedText(
      "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric "
      "Description\",\"Min\",\"Max\",\"Avg\"\n"
      "\"Tesla V100 (0)\",\"k(int)\",4,\"gld_efficiency\",\"Global Load "
      "Efficiency\",25.00%,25.00%,25.00%\n"
      "\"Tesla V100 (0)\",\"k(int)\",4,\"dram_read_throughput\",\"Device Memory Read "
      "Throughput\",1.0GB/s,3.0GB/s,2.0GB/s\n");
  REQUIRE(summary.counters.size() == 1);
  CHECK(MetricOf(summary.counters[0],
                 "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct") == 25);
  CHECK(MetricOf(summary.counters[0], "dram__bytes_read.sum.per_second") == Approx(2e9));
}

TEST_CASE("a table of GPU work is a timeline: kernels, copies, memsets, streams and sizes") {
  const std::string heading =
      "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),"
      "DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n";
  const Trace trace = ImportedText(
      "Processing [run.sqlite] with [cuda_gpu_trace.py]...\n" + heading +
      "2000,500,12,8,1,1,256,1,1,32,0.001,0.002,,,,,NVIDIA RTX A4500 (1),1,,7,\"void k<a, b>()\"\n"
      "1000,400,11,,,,,,,,,,2.500,6250,Pageable,Device,NVIDIA RTX A4500 (1),1,,7,[CUDA memcpy "
      "Host-to-Device]\n"
      "3000,10,13,,,,,,,,,,0.004,,Device,,NVIDIA RTX A4500 (1),1,,13,[CUDA memset]\n"
      "4000,x,14,,,,,,,,,,,,,,NVIDIA RTX A4500 (1),1,,13,k\n");
  CHECK(trace.kind == "gpu-trace");
  CHECK(trace.HasTimeline());
  REQUIRE(trace.ops.size() == 3);
  CHECK(trace.ops.start == std::vector<Nanos>{1000, 2000, 3000});
  CHECK(trace.ops.end == std::vector<Nanos>{1400, 2500, 3010});
  CHECK(trace.ops.kind == std::vector<OpKind>{OpKind::kCopy, OpKind::kKernel, OpKind::kMemset});
  CHECK(trace.ops.call == std::vector<std::uint32_t>(3, kNone));
  REQUIRE(trace.devices.size() == 1);
  CHECK(trace.devices[0].name == "NVIDIA RTX A4500");
  CHECK(trace.devices[0].ordinal == 1);
  REQUIRE(trace.streams.size() == 2);
  CHECK(trace.copies.bytes == std::vector<std::int64_t>{2'500'000});
  CHECK(trace.copies.direction[0] == CopyDirection::kHostToDevice);
  CHECK(trace.copies.source[0] == MemoryKind::kPageable);
  CHECK(trace.copies.target[0] == MemoryKind::kDevice);
  CHECK(trace.memsets.bytes == std::vector<std::int64_t>{4000});
  REQUIRE(trace.shapes.size() == 1);
  CHECK(trace.strings[trace.shapes[0].name] == "void k<a, b>()");
  CHECK(trace.shapes[0].registers == 32);
  CHECK(trace.shapes[0].dynamic_shared_bytes == 2000);
  CHECK(trace.shapes[0].Blocks() == 8);
  CHECK(Said(trace, "without a start or a duration") == 1);
  CHECK(Refused(heading + "4000,x,14,,,,,,,,,,,,,,A4500 (1),1,,13,k\n") ==
        "the table of GPU work holds no rows");
}

TEST_CASE("a table of nvprof without calls is nvprof's, too") {
  const Trace trace = ImportedText(
      "==1== NVPROF is profiling process 1, command: ./app\n"
      "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\","
      "\"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\","
      "\"SrcMemType\",\"DstMemType\",\"Device\",\"Context\",\"Stream\",\"Name\"\n"
      "s,ms,,,,,,,,KB,B,MB,GB/s,,,,,,\n"
      "0.5,1.9,80,1,1,256,1,1,32,0,0,,,,,\"Tesla V100 (0)\",1,7,\"stencil(float*)\"\n");
  CHECK(trace.producer == "nvprof");
}

TEST_CASE("nvprof's table of GPU work in its units, with the calls that launched it") {
  const Trace trace = ImportedText(
      "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block "
      "Z\",\"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\","
      "\"SrcMemType\",\"DstMemType\",\"Device\",\"Context\",\"Stream\",\"Name\",\"Correlation_"
      "ID\"\n"
      "ms,us,,,,,,,,KB,B,MB,GB/s,,,,,,,\n"
      "1.5,2.0,,,,,,,,,,,,,,,,,\"cudaLaunchKernel\",31\n"
      "1.6,4.0,8,1,1,64,1,1,16,1.0,128,,,,,\"Tesla V100 (0)\",\"1\",\"7\",\"k(int) [31]\",31\n"
      "1.7,8.0,,,,,,,,,,1.0,0.125,\"Device\",\"Pinned\",\"Tesla V100 (0)\",\"1\",\"7\",\"[CUDA "
      "memcpy DtoH]\",32\n");
  CHECK(trace.producer == "nvprof");
  REQUIRE(trace.ops.size() == 2);
  CHECK(trace.ops.start == std::vector<Nanos>{1'600'000, 1'700'000});
  CHECK(trace.ops.end == std::vector<Nanos>{1'604'000, 1'708'000});
  REQUIRE(trace.calls.size() == 1);
  CHECK(trace.ops.call == std::vector<std::uint32_t>{0, kNone});
  CHECK(trace.strings[trace.shapes[0].name] == "k(int)");
  CHECK(trace.shapes[0].static_shared_bytes == 1000);
  CHECK(trace.copies.direction[0] == CopyDirection::kDeviceToHost);
  CHECK(trace.copies.target[0] == MemoryKind::kPinned);
  CHECK(trace.copies.bytes[0] == 1'000'000);
}

TEST_CASE("totals of nsys stats, as CSV with several tables and as printed") {
  const Trace csv = ImportedText(
      " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n"
      "Time (%),Total Time (us),Instances,Avg (us),Med (us),Min (us),Max (us),StdDev (us),Name\n"
      "75.0,3000.5,10,300,290,1,900,4,\"void k<a, b>(int)\"\n"
      "25.0,1000.0,5,200,190,1,900,4,j\n\n"
      "Time (%),Total Time (us),Num Calls,Avg (us),Med (us),Min (us),Max (us),StdDev (us),Name\n"
      "100.0,90.0,15,6.0,5.5,1,9,1,cudaLaunchKernel_v7000\n\n"
      "Time (%),Total Time (us),Count,Avg (us),Med (us),Min (us),Max (us),StdDev (us),Operation\n"
      "100.0,50.0,2,25.0,25.0,1,9,1,[CUDA memcpy Host-to-Device]\n");
  CHECK(csv.kind == "totals");
  CHECK_FALSE(csv.HasTimeline());
  const ProfileTable& kernels = NeededTable(csv, ProfileOf::kKernels);
  REQUIRE(kernels.rows.size() == 2);
  CHECK(kernels.rows[0].name == "void k<a, b>(int)");
  CHECK(kernels.rows[0].total == Approx(3000500));
  CHECK(kernels.rows[0].count == 10);
  CHECK(kernels.rows[0].median == Approx(290000));
  CHECK(NeededTable(csv, ProfileOf::kCalls).rows[0].name == "cudaLaunchKernel");
  CHECK(NeededTable(csv, ProfileOf::kCopies).rows[0].total == Approx(50000));

  const Trace printed = ImportedText(
      "[1/8] [100%] run.nsys-rep\n[3/8] Executing 'nvtx_sum' stats report\n\n"
      " Time (%)  Total Time (ns)  Instances   Avg (ns)     Style        Range    \n"
      " --------  ---------------  ---------  -----------  -------  -------------\n"
      "    100.0      101,592,786          1  101,592,786  PushPop  :inference   \n\n"
      "[4/8] Executing 'osrt_sum' stats report\n\n"
      " Time (%)  Total Time (ns)  Num Calls    Avg (ns)    Name \n"
      " --------  ---------------  ---------  ------------  -----\n"
      "     92.0    3,041,609,958        153  19,879,803.6  poll \n"
      "      4.5      147,590,638        767     192,425.9  ioctl\n\n"
      "Generated:\n\t/home/me/run.nsys-rep\n");
  const ProfileTable& ranges = NeededTable(printed, ProfileOf::kRanges);
  REQUIRE(ranges.rows.size() == 1);
  CHECK(ranges.rows[0].name == ":inference");
  CHECK(ranges.rows[0].total == 101592786);
  const ProfileTable& os = NeededTable(printed, ProfileOf::kOsCalls);
  REQUIRE(os.rows.size() == 2);
  CHECK(os.rows[1].name == "ioctl");
  CHECK(os.rows[1].count == 767);
  CHECK(TableOf(printed, ProfileOf::kKernels) == nullptr);
}

TEST_CASE("totals of MPI calls and OpenACC constructs are no kernels") {
  const Trace mpi = ImportedText(
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Source,"
      "Name\n"
      "90.0,9000000000,6000,1500000.0,1,1,1,1,MPI_COLLECTIVES_EVENTS,MPI_Allreduce\n");
  CHECK(TableOf(mpi, ProfileOf::kKernels) == nullptr);
  CHECK(NeededTable(mpi, ProfileOf::kOsCalls).rows[0].count == 6000);
  const Trace openacc = ImportedText(
      "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "70.0,7000000000,6000,1166666.0,1,1,1,1,Enqueue Upload@solver.f90:112\n");
  CHECK(TableOf(openacc, ProfileOf::kKernels) == nullptr);
  CHECK(NeededTable(openacc, ProfileOf::kOsCalls).rows[0].count == 6000);
}

TEST_CASE("rocprofv3 lists a dispatch once for each counter: it ran once") {
  const std::string row = ",\"Agent 4\",1,77,77,6400,1,\"jacobi(double*, int)\",64,0,512,128,0,32,";
  const Trace trace = ImportedText(
      "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
      "\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
      "\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
      "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n1,1" +
      row + "\"SQ_WAVES\",100,1405000,1505000\n1,1" + row + "\"VALUBusy\",3,1405000,1505000\n2,2" +
      row + "\"SQ_WAVES\",100,1805000,1905000\n");
  REQUIRE(trace.ops.size() == 2);
  CHECK(trace.ops.start[1] == 1805000);
  REQUIRE(trace.shapes.size() == 1);
  CHECK(trace.shapes[0].grid[0] == 100);
  CHECK_FALSE(trace.diagnostics.list().empty());
}

TEST_CASE("totals of nvprof, as CSV and as printed, and its calls one by one") {
  const Trace csv = ImportedText(
      "==42== NVPROF is profiling process 42\n"
      "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
      ",%,ms,,us,us,us,\n"
      "\"GPU activities\",60.0,3.5,10,350,1,900,\"k(int*)\"\n"
      "\"GPU activities\",40.0,2.0,4,500,1,900,\"[CUDA memcpy HtoD]\"\n"
      "\"API calls\",100.0,9.0,1,9000,9000,9000,\"cudaMalloc\"\n");
  CHECK(csv.producer == "nvprof");
  CHECK(NeededTable(csv, ProfileOf::kKernels).rows[0].total == Approx(3.5e6));
  CHECK(NeededTable(csv, ProfileOf::kCopies).rows[0].count == 4);
  CHECK(NeededTable(csv, ProfileOf::kCalls).rows[0].total == Approx(9e6));

  const Trace printed = ImportedText(
      "==42== Profiling result:\n"
      "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
      " GPU activities:   60.00%  3.5000ms        10  350.00us  1.0000us  900.00us  k(int*, int)\n"
      "                   40.00%  2.0000ms         4  500.00us  1.0000us  900.00us  [CUDA memcpy "
      "HtoD]\n"
      "      API calls:  100.00%  1.2000s         1   1.2000s   1.2000s   1.2000s  cudaMalloc\n");
  CHECK(NeededTable(printed, ProfileOf::kKernels).rows[0].name == "k(int*, int)");
  CHECK(NeededTable(printed, ProfileOf::kKernels).rows[0].total == Approx(3.5e6));
  CHECK(NeededTable(printed, ProfileOf::kCopies).rows.size() == 1);
  CHECK(NeededTable(printed, ProfileOf::kCalls).rows[0].total == Approx(1.2e9));

  const Trace calls = ImportedText(
      "\"Start\",\"Duration\",\"Name\",\"Correlation_ID\"\nms,us,,\n"
      "1.0,4.0,\"cudaLaunchKernel\",1\n2.0,6.0,\"cudaLaunchKernel\",2\n3.0,5.0,"
      "\"cudaLaunchKernel\",3\n");
  const ProfileRow& launch = NeededTable(calls, ProfileOf::kCalls).rows[0];
  CHECK(launch.total == Approx(15000));
  CHECK(launch.count == 3);
  CHECK(launch.median == Approx(5000));
}

TEST_CASE("samples without times: folded stacks, and the source page of ncu") {
  const Trace stacks = ImportedText(
      "python;main;train;load_batch 40\npython;main;train;step 10\npython;main;warm;load_batch "
      "5\n");
  CHECK(stacks.kind == "folded-stacks");
  const ProfileTable& frames = NeededTable(stacks, ProfileOf::kStacks);
  REQUIRE(frames.rows.size() == 2);
  CHECK(frames.rows[0].name == "load_batch");
  CHECK(frames.rows[0].total == 45);
  // Prose that happens to end in numbers is none.
  CHECK_FALSE(Refused("epoch 1\nepoch 2\n").empty());

  const Trace source = ImportedText(
      "\"#\",\"Address\",\"Source\",\"Warp Stall Sampling (All Samples)\",\"# Samples\"\n"
      "\"1\",\"0x10\",\"  MOV R1, R2\",\"0\",\"0\"\n"
      "\"2\",\"0x20\",\"  FFMA R1, R2, R3, R1\",\"1,204\",\"3\"\n\"3\"\n");
  CHECK(source.kind == "ncu-source");
  const ProfileTable& lines = NeededTable(source, ProfileOf::kInstructions);
  REQUIRE(lines.rows.size() == 1);
  CHECK(lines.rows[0].name == "FFMA R1, R2, R3, R1");
  CHECK(lines.rows[0].total == 1204);
  CHECK(Said(source, "cut short") == 1);
  CHECK(Refused("\"#\",\"Address\",4Source\",\"Warp Stall Sampling (All Samples)\"\n"
                "\"2\",\"0x20\",\"FFMA R1\",\"1,204\"\n") ==
        "the source page of Nsight Compute has no column of sources");
}

TEST_CASE("logs of monitors without a header: columns are told by their units, or not at all") {
  const Trace smi = ImportedText(
      "2024/11/20 10:15:02.000, NVIDIA L4, 45 %, 12 %, 23034 MiB, 1234 MiB, 71.23 W, 1410 MHz, 66\n"
      "2024/11/20 10:15:03.000, NVIDIA L4, 55 %, 14 %, 23034 MiB, 1235 MiB, 70.00 W, 1410 MHz, "
      "67\n");
  CHECK(smi.kind == "smi-csv");
  REQUIRE(smi.monitor.gpus.size() == 1);
  CHECK(Values(smi, 0, "utilization") == std::vector<double>{0.45, 0.55});
  CHECK(Values(smi, 0, "power") == std::vector<double>{71.23, 70});
  CHECK(Values(smi, 0, "memory_used")[0] == 1234.0 * 1024 * 1024);
  CHECK(Said(smi, "recognized by their units") == 1);
  CHECK(Values(ImportedText("296.80 W\n300.19 W\n"), 0, "power") ==
        std::vector<double>{296.8, 300.19});

  const std::string row =
      "    0    218     43      -     95     20      0      0      0      0  12481   2325\n";
  const Trace dmon = ImportedText(row + row + row);
  CHECK(dmon.kind == "dmon");
  CHECK(Values(dmon, 0, "utilization") == std::vector<double>{0.95, 0.95, 0.95});
  CHECK(Values(dmon, 0, "power")[0] == 218);
  CHECK(Said(dmon, "taken for the default ones") == 1);
  CHECK_FALSE(
      Refused("0 218 43 - 195 20 0 0 0 0 12481 2325\n0 218 43 - 5 20 0 0 0 0 1 2325\n").empty());
}
