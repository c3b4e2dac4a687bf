// Ranges, host threads, memory, metrics and the machine.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "engine/import/importer.h"
#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/import/nsys/nsys_sqlite_system.h"
#include "tests/import/nsys_builder.h"

using namespace advise;
using namespace advise::testing;
using Schema = NsysBuilder::Schema;

namespace {

// An NVTX row; `fields` in the order start, end, eventType, text, textId, globalTid, domainId.
std::string Nvtx(const std::string& fields) {
  return "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, textId, globalTid, domainId) "
         "VALUES (" +
         fields + ")";
}

const std::string kThread = std::to_string(GlobalTid(100, 100));
const std::string kOther = std::to_string(GlobalTid(200, 200));

}  // namespace

TEST_CASE("what PyTorch appends to make range names unique is removed, other commas stay") {
  using nsys::WithoutUniqueSuffix;
  CHECK(WithoutUniqueSuffix("aten::view, op_id = 314290") == "aten::view");
  CHECK(WithoutUniqueSuffix("aten::add, seq = 45328, op_id = 9, sizes = [[2, 3]]") == "aten::add");
  CHECK(WithoutUniqueSuffix("aten::mm, sizes = [[2], [3]], input_op_ids = [(0,1)]") == "aten::mm");
  CHECK(WithoutUniqueSuffix("step, epoch 3") == "step, epoch 3");
  CHECK(WithoutUniqueSuffix("load, seq = first") == "load, seq = first");
  CHECK(WithoutUniqueSuffix(", op_id = ") == ", op_id = ");
  CHECK(WithoutUniqueSuffix("a, b, op_id = 3") == "a, b");
}

TEST_CASE("ranges take their name from the row or from the string table") {
  const TempDir dir;
  NsysBuilder builder(dir.File("ranges.sqlite"), Schema::k3_25);
  builder.Text(70, "registered, op_id = 5")
      .Sql(Nvtx("10, 20, 59, 'inline, op_id = 1', NULL, " + kThread + ", 0"))
      .Sql(Nvtx("30, 40, 60, NULL, 70, " + kThread + ", 0"))
      .Sql(Nvtx("50, 60, 70, NULL, NULL, " + kThread + ", 0"))
      .Sql(Nvtx("70, 80, 71, 'inline, op_id = 2', NULL, " + kThread + ", NULL"))
      .Sql(Nvtx("75, NULL, 34, 'a mark', NULL, " + kThread + ", 0"))
      .Sql("UPDATE NVTX_EVENTS SET uint64Value = 17 WHERE start = 30");
  const Trace trace = Read(builder);
  REQUIRE(trace.ranges.size() == 4);
  const auto name = [&](std::size_t row) { return trace.strings[trace.ranges.name[row]]; };
  CHECK(name(0) == "inline");
  CHECK(name(1) == "registered");
  CHECK(name(2).empty());
  CHECK(trace.ranges.name[3] == trace.ranges.name[0]);
  CHECK(trace.ranges.payload == std::vector<std::int64_t>{0, 17, 0, 0});
  CHECK(CountOf(trace, "marks") == 1);
}

TEST_CASE("operators that PyTorch writes as ranges are operators, with their sequence numbers") {
  const TempDir dir;
  NsysBuilder builder(dir.File("operators.sqlite"), Schema::k3_25);
  builder.Text(70, "aten::add, seq = 7, op_id = 5")
      .Sql(Nvtx("5, 90, 59, 'forward', NULL, " + kThread + ", 0"))
      .Sql(Nvtx("10, 40, 59, 'aten::to, seq = 45330, op_id = 990728', NULL, " + kThread + ", 0"))
      .Sql(Nvtx("15, 30, 59, 'aten::copy_, op_id = 990729', NULL, " + kThread + ", 0"))
      .Sql(Nvtx("50, 60, 59, 'AddmmBackward0, seq = 12', NULL, " + kThread + ", 0"))
      .Sql(Nvtx("70, 80, 60, NULL, 70, " + kThread + ", 0"));
  const Trace trace = Read(builder);
  REQUIRE(trace.ranges.size() == 1);
  CHECK(trace.strings[trace.ranges.name[0]] == "forward");
  CHECK(trace.operators.start == std::vector<Nanos>{10, 15, 50, 70});
  CHECK(trace.strings[trace.operators.name[0]] == "aten::to");
  CHECK(trace.operators.payload == std::vector<std::int64_t>{45330, -1, 12, -1});
  CHECK(nsys::IsOperatorName("autograd::engine::evaluate_function: MulBackward0"));
  CHECK_FALSE(nsys::IsOperatorName("Backward"));
  CHECK_FALSE(nsys::IsOperatorName("FusionContainer::buildFusionIr"));
}

TEST_CASE("domains belong to a process, and open ranges end with the trace") {
  const TempDir dir;
  NsysBuilder builder(dir.File("domains.sqlite"), Schema::k3_25);
  builder.Sql(Nvtx("5, NULL, 59, 'whole run', NULL, " + kThread + ", 1"))
      .Sql(Nvtx("10, 20, 59, 'send', NULL, " + kThread + ", 1"))
      .Sql(Nvtx("10, 20, 59, 'reduce', NULL, " + kOther + ", 1"))
      .Sql(Nvtx("30, 40, 59, 'plain', NULL, " + kOther + ", 0"))
      .Sql(Nvtx("-9, NULL, 75, 'MPI', NULL, " + kThread + ", 1"))
      .Sql(Nvtx("-8, NULL, 75, 'NCCL', NULL, " + kOther + ", 1"))
      .Add(KernelRow{.start = 1, .end = 990});
  const Trace trace = Read(builder);
  REQUIRE(trace.ranges.size() == 4);
  const auto domain = [&](std::size_t row) { return trace.strings[trace.ranges.domain[row]]; };
  CHECK(trace.strings[trace.ranges.name[0]] == "whole run");
  CHECK(trace.ranges.end[0] == 990);
  CHECK(domain(0) == "MPI");
  CHECK(domain(1) == "MPI");
  CHECK(domain(2) == "NCCL");
  CHECK(domain(3).empty());
  CHECK(CountOf(trace, "still open") == 1);
}

TEST_CASE("names of threads and processes, and ranks, from where the version has them") {
  const TempDir dir;
  NsysBuilder builder(dir.File("names.sqlite"), Schema::k2_9);
  builder.Text(60, "pt_main_thread")
      .Sql("INSERT INTO PROCESSES VALUES (" + std::to_string(GlobalPid(100)) +
           ", 100, 'train'), (" + std::to_string(GlobalPid(999)) + ", 999, 'sh')")
      .Sql("INSERT INTO ThreadNames VALUES (60, 0, " + kOther + ")")
      .Sql(Nvtx("1, NULL, 39, 'MPI Rank 3', NULL, " + kThread + ", 0"))
      .Add(CallRow{.start = 1, .end = 2, .pid = 100, .tid = 100})
      .Add(CallRow{.start = 3, .end = 4, .pid = 200, .tid = 200});
  SECTION("a thread called MPI Rank 3 is of rank 3") {
    const Trace trace = Read(builder);
    REQUIRE(trace.processes.size() == 2);  // sh did nothing
    CHECK(trace.processes[0].name == "train");
    CHECK(trace.processes[0].rank == 3);
    CHECK(trace.processes[1].rank == -1);
    REQUIRE(trace.threads.size() == 2);
    CHECK(trace.strings[trace.threads[0].name] == "MPI Rank 3");
    CHECK(trace.strings[trace.threads[1].name] == "pt_main_thread");
    CHECK(trace.threads[1].process == 1);
  }
  SECTION("MPI_RANKS wins") {
    builder.Sql("CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER)")
        .Sql("INSERT INTO MPI_RANKS VALUES (" + kThread + ", 5)");
    const Trace trace = Read(builder);
    CHECK(trace.processes.at(0).rank == 5);
  }
}

TEST_CASE("OS calls, scheduling and samples are sorted by thread and time") {
  const TempDir dir;
  NsysBuilder builder(dir.File("host.sqlite"), Schema::k3_25);
  builder.Text(20, "poll")
      .Text(21, "libc.so")
      .Text(22, "0x7f00")
      .Text(23, "memcpy")
      .Sql("INSERT INTO OSRT_API VALUES (50, 60, " + kOther + ", 20), (40, 45, " + kThread +
           ", 20), (10, 90, " + kThread + ", 20)")
      .Sql("INSERT INTO SCHED_EVENTS VALUES (7, 3, 0, " + kThread + "), (5, 3, 1, " + kThread + ")")
      .Sql("INSERT INTO COMPOSITE_EVENTS VALUES (2, 30, 0, " + kThread + "), (1, 20, 0, " +
           kThread + "), (3, 40, 0, " + kThread + ")")
      .Sql(
          "INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 23, 21, 0, 0), (1, 20, 21, 0, 1), "
          "(2, 22, 21, 1, 0)");
  const Trace trace = Read(builder);
  CHECK(trace.os_calls.start == std::vector<Nanos>{10, 40, 50});
  CHECK(trace.os_calls.thread == std::vector<std::uint32_t>{0, 0, 1});
  CHECK(trace.strings[trace.os_calls.name[0]] == "poll");
  CHECK(trace.sched.time == std::vector<Nanos>{5, 7});
  CHECK(trace.sched.on == std::vector<std::uint8_t>{1, 0});
  CHECK(trace.sched.cpu == std::vector<std::uint16_t>{3, 3});
  REQUIRE(trace.samples.time == std::vector<Nanos>{20, 30, 40});
  CHECK(trace.strings[trace.samples.symbol[0]] == "memcpy");
  CHECK(trace.strings[trace.samples.module[0]] == "libc.so");
  CHECK(trace.samples.symbol[1] == 0);  // unresolved: an address is no name
  CHECK(trace.strings[trace.samples.module[1]] == "libc.so");
  CHECK(trace.samples.symbol[2] == 0);  // no stack at all
}

TEST_CASE("overheads are named by their type where they have one, else by their own name") {
  const TempDir dir;
  NsysBuilder builder(dir.File("overhead.sqlite"), Schema::k3_25);
  builder.Text(20, "CUDA profiling data flush")
      .Sql("INSERT INTO PROFILER_OVERHEAD VALUES (10, 20, " + kThread + ", 20, 0)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (5, 6, 103, " + kThread +
           ", 0, NULL, 8), (1, 2, 103, " + kThread + ", 0, 20, 7)");
  const Trace trace = Read(builder);
  REQUIRE(trace.overheads.start == std::vector<Nanos>{1, 5, 10});
  CHECK(trace.strings[trace.overheads.name[0]] == "Lazy function loading");
  CHECK(trace.strings[trace.overheads.name[1]] == "Command buffer full");
  CHECK(trace.strings[trace.overheads.name[2]] == "CUDA profiling data flush");
}

TEST_CASE("memory given back is negative, also when only its address is told") {
  const TempDir dir;
  NsysBuilder builder(dir.File("memory.sqlite"), Schema::k3_25);
  const std::string pid = std::to_string(GlobalPid(100));
  builder
      .Sql(
          "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, "
          "deviceId INTEGER, address INTEGER, bytes INTEGER, memKind INTEGER, "
          "memoryOperationType INTEGER)")
      .Sql(
          "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES "
          "(30, " +
          pid + ", 0, 4096, 0, 2, 1), (10, " + pid +
          ", 0, 4096, 1000, 2, 0), "
          "(20, " +
          pid + ", 0, 8192, 50, 1, 0), (40, " + pid + ", 0, 8192, 50, 1, 1)");
  const Trace trace = Read(builder);
  CHECK(trace.memory.time == std::vector<Nanos>{10, 20, 30, 40});
  CHECK(trace.memory.bytes == std::vector<std::int64_t>{1000, 50, -1000, -50});
  CHECK(trace.memory.memory[1] == MemoryKind::kPinned);
  CHECK(trace.memory.process == std::vector<std::uint32_t>(4, 0));
}

TEST_CASE("page faults of CPU and GPU share a table") {
  const TempDir dir;
  NsysBuilder builder(dir.File("faults.sqlite"), Schema::k3_25);
  builder.Sql("CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start INTEGER, globalPid INTEGER)")
      .Sql(
          "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start INTEGER, \"end\" INTEGER, "
          "globalPid INTEGER, deviceId INTEGER, numberOfPageFaults INTEGER)")
      .Sql("INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (50, 0)")
      .Sql("INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (10, 20, " +
           std::to_string(GlobalPid(100)) + ", 0, 64)");
  const Trace trace = Read(builder);
  CHECK(trace.faults.start == std::vector<Nanos>{10, 50});
  CHECK(trace.faults.end == std::vector<Nanos>{20, 50});
  CHECK(trace.faults.count == std::vector<std::uint32_t>{64, 1});
  CHECK(trace.faults.device == std::vector<std::uint32_t>{0, kNone});
}

TEST_CASE("GPU metrics are told apart by GPU, and clocks are unwrapped") {
  const TempDir dir;
  NsysBuilder builder(dir.File("metrics.sqlite"), Schema::k3_25);
  builder
      .Sql(
          "INSERT INTO TARGET_INFO_GPU (id, cuDevice, name, smCount, computeMajor) VALUES "
          "(0, 1, 'first', 1, 9), (1, 0, 'second', 1, 9)")
      .Sql(
          "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, "
          "metricId INTEGER, metricName TEXT)")
      .Sql(
          "CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, "
          "value INTEGER)")
      .Sql(
          "INSERT INTO TARGET_INFO_GPU_METRICS VALUES "
          "(281543712243968, 1, 'GPU 0', 0, 'GPC Clock Frequency [MHz]'), "
          "(281543712243968, 1, 'GPU 0', 7, 'SMs Active [Throughput %]'), "
          "(281543712243969, 1, 'GPU 1', 7, 'SMs Active [Throughput %]'), "
          "(281543712243969, 1, 'GPU 1', 9, 'Never Sampled [Requests]')")
      .Sql(
          "INSERT INTO GPU_METRICS VALUES (200, 281543712243968, 7, 60), "
          "(100, 281543712243968, 7, 50), (100, 281543712243969, 7, 90), "
          "(100, 281543712243968, 0, -1794967296), (100, 281543712243968, 33, 1), "
          "(100, 5, 7, 1)");
  const Trace trace = Read(builder);
  REQUIRE(trace.gpu_series.size() == 3);
  const Series& clock = trace.gpu_series[0];
  CHECK(clock.name == "GPC Clock Frequency");
  CHECK(clock.unit == "hz");
  CHECK(clock.value == std::vector<double>{2.5e9});
  const Series& active = trace.gpu_series[1];
  CHECK(active.name == "SMs Active");
  CHECK(active.unit == "percent");
  CHECK(active.time == std::vector<Nanos>{100, 200});
  CHECK(active.value == std::vector<double>{50, 60});
  CHECK(trace.devices.at(active.device).name == "first");
  CHECK(trace.gpu_series[2].value == std::vector<double>{90});
  CHECK(trace.devices.at(trace.gpu_series[2].device).name == "second");
  CHECK(CountOf(trace, "metrics without a name", "GPU_METRICS") == 2);
}

TEST_CASE("GPU metrics of old exports are read from their JSON rows") {
  const TempDir dir;
  NsysBuilder builder(dir.File("generic.sqlite"), Schema::k2_9);
  builder.Sql("CREATE TABLE GENERIC_EVENT_TYPES (typeId INTEGER, sourceId INTEGER, data TEXT)")
      .Sql(
          "CREATE TABLE GENERIC_EVENTS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, "
          "data TEXT)")
      .Sql(
          "INSERT INTO GENERIC_EVENT_TYPES VALUES (256, 1, '{\"Name\":\"GPU Metrics [GA100]\"}'), "
          "(512, 1, '{\"Name\":\"Ftrace\"}')")
      .Sql(
          "INSERT INTO GENERIC_EVENTS VALUES (0, 100, 256, '{\"SM Active\":\"12\"}'), "
          "(0, 200, 256, '{\"SM Active\":34}'), (0, 300, 256, '{broken'), "
          "(0, 100, 512, '{\"cpu\":1}')");
  const Trace trace = Read(builder);
  REQUIRE(trace.gpu_series.size() == 1);
  CHECK(trace.gpu_series[0].name == "SM Active");
  CHECK(trace.gpu_series[0].unit == "percent");
  CHECK(trace.gpu_series[0].time == std::vector<Nanos>{100, 200});
  CHECK(trace.gpu_series[0].value == std::vector<double>{12, 34});
}

TEST_CASE("network card metrics carry the card's name and port") {
  const TempDir dir;
  NsysBuilder builder(dir.File("nic.sqlite"), Schema::k3_25);
  builder.Sql("CREATE TABLE TARGET_INFO_NIC_INFO (GUID INTEGER, nicId INTEGER, name TEXT)")
      .Sql("CREATE TABLE NIC_ID_MAP (nicId INTEGER, globalId INTEGER)")
      .Sql(
          "CREATE TABLE TARGET_INFO_NETWORK_METRICS (metricsListId INTEGER, metricsIdx INTEGER, "
          "name TEXT, description TEXT, unit TEXT)")
      .Sql(
          "CREATE TABLE NET_NIC_METRIC (start INTEGER, \"end\" INTEGER, globalId INTEGER, "
          "portId INTEGER, metricsListId INTEGER, metricsIdx INTEGER, value INTEGER)")
      .Sql("INSERT INTO TARGET_INFO_NIC_INFO VALUES (-77, 2, 'mlx5_0')")
      .Sql("INSERT INTO NIC_ID_MAP VALUES (2, 4242)")
      .Sql("INSERT INTO TARGET_INFO_NETWORK_METRICS VALUES (1, 0, 'Bytes sent', '', 'Bytes')")
      .Sql(
          "INSERT INTO NET_NIC_METRIC VALUES (0, 10, 4242, 1, 1, 0, 500), "
          "(10, 20, 4242, 1, 1, 0, 700), (10, 20, 4242, 1, 9, 9, 1)");
  const Trace trace = Read(builder);
  REQUIRE(trace.nic_series.size() == 1);
  CHECK(trace.nic_series[0].name == "Bytes sent");
  CHECK(trace.nic_series[0].unit == "bytes");
  CHECK(trace.nic_series[0].source == "mlx5_0 port 1");
  CHECK(trace.nic_series[0].time == std::vector<Nanos>{10, 20});
  CHECK(trace.nic_series[0].value == std::vector<double>{500, 700});
  CHECK(CountOf(trace, "metrics without a name", "NET_NIC_METRIC") == 1);
}

TEST_CASE("the driver version is read in each of its spellings") {
  CHECK(nsys::DriverVersion("580.95.05") == "580.95.05");
  CHECK(nsys::DriverVersion("52510517") == "525.105.17");
  CHECK(nsys::DriverVersion("5154304") == "515.43.04");
  CHECK(nsys::DriverVersion("57196") == "571.96");
  CHECK(nsys::DriverVersion("0").empty());
}

TEST_CASE("the machine is described, and an appended report is a warning") {
  const TempDir dir;
  NsysBuilder builder(dir.File("machine.sqlite"), Schema::k3_25);
  builder
      .Sql(
          "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'Hostname', 1, 'node7'), "
          "(0, '', 'CpuCores', 2, '128'), (0, '', 'NvDriverVersion', 3, '580.95.05')")
      .Sql(
          "INSERT INTO TARGET_INFO_GPU (id, cuDevice, name, uuid, smCount, clockRate, "
          "memoryBandwidth, totalMemory, l2CacheSize, maxWarpsPerSm, threadsPerWarp, "
          "computeMajor, computeMinor) VALUES (0, 0, 'T4', 'u', 40, 1590000000, 320000000000, "
          "15000000000, 4194304, 32, 32, 7, 5)")
      .Sql("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (5, '', '', 0), (9, '', '', 0)");
  const Trace trace = Read(builder);
  CHECK(trace.host == "node7");
  CHECK(trace.cpu_cores == 128);
  CHECK(trace.driver_version == "580.95.05");
  CHECK(trace.utc_origin_ns == 5);
  CHECK(CountOf(trace, "several reports") == 1);
  REQUIRE(trace.devices.size() == 1);
  const Device& gpu = trace.devices[0];
  CHECK(gpu.sm_count == 40);
  CHECK(gpu.clock_hz == 1.59e9);
  CHECK(gpu.memory_bytes_per_s == 3.2e11);
  CHECK(gpu.memory_bytes == 1.5e10);
  CHECK(gpu.l2_bytes == 4194304);
  CHECK(gpu.max_threads_per_sm == 1024);
  CHECK(gpu.compute_capability() == "7.5");
}
