// What the importer makes of GPU work, calls and names. Files and opening:
// sqlite_file_test.cc; devices: nsys_sqlite_devices_test.cc; the host:
// nsys_sqlite_host_test.cc.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "engine/base/text.h"
#include "engine/import/importer.h"
#include "tests/import/nsys_builder.h"

using namespace advise;
using namespace advise::testing;
using Schema = NsysBuilder::Schema;

namespace {

std::string NameOfCall(const Trace& trace, std::size_t row) {
  return trace.strings[trace.calls.name[row]];
}

}  // namespace

TEST_CASE("an export of 2022 is read: old metadata, old default streams, events without time") {
  const TempDir dir;
  NsysBuilder builder(dir.File("old.sqlite"), Schema::k2_9);
  builder.Add(CallRow{.start = 10, .end = 20, .correlation = 5})
      .Add(CallRow{.start = 30, .end = 31, .correlation = 6})
      .Add(KernelRow{.start = 15, .end = 40, .correlation = 5})
      .Sql("INSERT INTO TARGET_INFO_CUDA_NULL_STREAM VALUES (7, 0, 1, 100, 0, 1)")
      .Sql("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '')")
      .Sql("INSERT INTO ANALYSIS_DETAILS VALUES (0, 777, 5000000, 5000777)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 7, 6, " +
           std::to_string(GlobalPid(100)) + ", 3)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 7, 999, " +
           std::to_string(GlobalPid(100)) + ", 4)");
  const Trace trace = Read(builder);
  CHECK(trace.kind == "nsys-sqlite");
  CHECK(trace.producer == "nsys 2022.2.1");
  CHECK(trace.schema == "2.9.1");
  CHECK(trace.utc_origin_ns == 1700000000000000000);
  CHECK(trace.session_ns == 777);
  REQUIRE(trace.streams.size() == 1);
  CHECK(trace.streams[0].is_default);
  REQUIRE(trace.ops.size() == 1);
  CHECK(trace.ops.call[0] == 0);
  // The event has no time of its own: its call's start stands in. One without a call is counted.
  REQUIRE(trace.events.size() == 1);
  CHECK(trace.events.time[0] == 30);
  CHECK(trace.events.event_id[0] == 3);
  CHECK(CountOf(trace, "events without a time") == 1);
}

TEST_CASE("an export of 2026 is read: new metadata, default streams, event times, graphs") {
  const TempDir dir;
  NsysBuilder builder(dir.File("new.sqlite"), Schema::k3_25);
  const std::string pid = std::to_string(GlobalPid(100));
  builder.Text(3, "cudaGraphLaunch_v10000")
      .Add(CallRow{.start = 10, .end = 20, .correlation = 5, .name = 3})
      .Add(KernelRow{.start = 15, .end = 40, .stream = 13, .correlation = 5, .graph_node = 9})
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (50, 90, 0, 1, NULL, 13, 5, " + pid +
           ", 42, 2)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (45, 46, 0, 1, 13, 0, " + pid +
           ", 0, 4096, NULL, 2)")
      .Sql("INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (7, 0, 1, 100, 0, 1)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 7, 5, " + pid +
           ", 3, 12345, NULL)")
      .Sql("INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 1, 2, 'events were lost', 0)")
      .Sql(
          "INSERT INTO META_DATA_CAPTURE VALUES ('CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Graph'), "
          "('PROCESS_0:ENVIRONMENT_VARIABLE', 'OMP_NUM_THREADS=\"2\"'), "
          "('PROCESS_0:ENVIRONMENT_VARIABLE', 'A=b=c'), ('PROCESS_0:ARGUMENT_0', '--x')");
  const Trace trace = Read(builder);
  CHECK(trace.producer == "nsys 2026.2.1");
  CHECK(trace.schema == "3.25.0");
  REQUIRE(trace.ops.size() == 3);
  CHECK(trace.ops.kind[0] == OpKind::kKernel);
  CHECK(trace.ops.in_graph[0] == 1);
  CHECK(trace.ops.kind[1] == OpKind::kMemset);
  CHECK(trace.ops.call[1] == kNone);
  CHECK(trace.memsets.bytes == std::vector<std::int64_t>{4096});
  CHECK(trace.memsets.memory[0] == MemoryKind::kDevice);
  CHECK(trace.ops.kind[2] == OpKind::kGraph);
  CHECK(trace.ops.detail[2] == 42);
  CHECK(trace.ops.call[2] == 0);
  CHECK(NameOfCall(trace, 0) == "cudaGraphLaunch");
  REQUIRE(trace.streams.size() == 2);
  CHECK(trace.streams[0].id == 7);
  CHECK(trace.streams[0].is_default);
  CHECK(trace.streams[1].id == 13);
  CHECK_FALSE(trace.streams[1].is_default);
  CHECK(trace.events.time == std::vector<Nanos>{12345});
  REQUIRE(trace.profiler_messages.size() == 1);
  CHECK(trace.profiler_messages[0].level == Level::kWarning);
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(trace.environment == Pairs{{"OMP_NUM_THREADS", "2"}, {"A", "b=c"}});
  CHECK(trace.capture_options ==
        Pairs{{"CUDA_GRAPH_TRACE_OPTIONS:MODE", "Graph"}, {"PROCESS_0:ARGUMENT_0", "--x"}});
  CHECK(trace.table_rows.count("ENUM_CUDA_MEMCPY_OPER") == 0);
  CHECK(trace.table_rows.at("NVTX_EVENTS") == 0);
  CHECK(trace.table_rows.at("CUPTI_ACTIVITY_KIND_KERNEL") == 1);
}

TEST_CASE("a report without GPU activity is read, with no work") {
  const TempDir dir;
  NsysBuilder builder(dir.File("cpu.sqlite"), Schema::kEmpty);
  builder.Sql("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
  const Trace trace = Read(builder);
  CHECK(trace.ops.size() == 0);
  CHECK(trace.devices.empty());
  CHECK(trace.diagnostics.list().empty());
}

TEST_CASE("tables with few columns are read, and work without a process joins the only caller") {
  const TempDir dir;
  NsysBuilder builder(dir.File("trimmed.sqlite"), Schema::kEmpty);
  builder.Sql("CREATE TABLE StringIds (id INTEGER, value TEXT)")
      .Sql("INSERT INTO StringIds VALUES (4, 'gemm'), (9, 'cudaLaunchKernel')")
      .Sql(
          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER, "
          "correlationId INTEGER, shortName INTEGER)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 7, 4)")
      .Sql(
          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, \"end\" INTEGER, "
          "correlationId INTEGER, globalTid INTEGER, nameId INTEGER)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 5, 7, " +
           std::to_string(GlobalTid(300, 301)) + ", 9)")
      .Sql("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT)")
      .Sql("INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100')");
  const Trace trace = Read(builder);
  REQUIRE(trace.ops.size() == 1);
  CHECK(trace.ops.call[0] == 0);
  REQUIRE(trace.processes.size() == 1);
  CHECK(trace.processes[0].pid == 300);
  CHECK(trace.threads.at(0).tid == 301);
  CHECK(trace.strings[trace.shapes.at(0).name] == "gemm");
  REQUIRE(trace.devices.size() == 1);
  CHECK(trace.devices[0].name == "NVIDIA H100");
}

TEST_CASE("the same correlation id in two processes means two calls") {
  const TempDir dir;
  NsysBuilder builder(dir.File("ranks.sqlite"), Schema::k3_25);
  builder.Add(CallRow{.start = 1, .end = 2, .pid = 100, .tid = 100, .correlation = 9})
      .Add(CallRow{.start = 3, .end = 4, .pid = 200, .tid = 200, .correlation = 9})
      .Add(KernelRow{.start = 10, .end = 20, .pid = 200, .device = 1, .correlation = 9})
      .Add(KernelRow{.start = 11, .end = 21, .pid = 100, .device = 0, .correlation = 9});
  const Trace trace = Read(builder);
  REQUIRE(trace.ops.size() == 2);
  CHECK(trace.calls.start[trace.ops.call[0]] == 3);
  CHECK(trace.calls.start[trace.ops.call[1]] == 1);
}

TEST_CASE("of calls that share a correlation id the outermost launched the work") {
  const TempDir dir;
  NsysBuilder builder(dir.File("nested.sqlite"), Schema::k3_25);
  builder.Text(3, "cuLaunchKernel")
      .Add(CallRow{.start = 12, .end = 18, .correlation = 9, .name = 3})
      .Add(CallRow{.start = 10, .end = 20, .correlation = 9})
      .Add(KernelRow{.start = 30, .end = 40, .correlation = 9});
  const Trace trace = Read(builder);
  REQUIRE(trace.calls.size() == 2);
  CHECK(trace.calls.start == std::vector<Nanos>{10, 12});
  CHECK(NameOfCall(trace, trace.ops.call.at(0)) == "cudaLaunchKernel");
}

TEST_CASE("correlation ids that lie far apart still join") {
  const TempDir dir;
  NsysBuilder builder(dir.File("far.sqlite"), Schema::k3_25);
  for (const std::int64_t id : {3LL, 4000000000LL, 2000000000LL}) {
    builder.Add(CallRow{.start = id, .end = id + 1, .correlation = id})
        .Add(KernelRow{.start = id, .end = id + 5, .correlation = id});
  }
  builder.Add(KernelRow{.start = 0, .end = 1, .correlation = 77});
  const Trace trace = Read(builder);
  REQUIRE(trace.ops.size() == 4);
  CHECK(trace.ops.call[0] == kNone);
  for (std::size_t i = 1; i < 4; ++i) {
    REQUIRE(trace.ops.call[i] != kNone);
    CHECK(trace.calls.start[trace.ops.call[i]] == trace.ops.start[i]);
  }
}

TEST_CASE("calls of the system and ranges without a thread are dropped, too") {
  const TempDir dir;
  NsysBuilder builder(dir.File("threads.sqlite"), Schema::k3_25);
  builder.Text(10, "read")
      .Sql(
          "INSERT INTO OSRT_API (start, \"end\", nameId, globalTid) VALUES (1, 2, 10, NULL), "
          "(3, 4, 10, 281479271743844)")
      .Sql(
          "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid) VALUES "
          "(1, 9, 59, 'lost', NULL), (2, 8, 59, 'step', 281479271743844)");
  const Trace trace = Read(builder);
  CHECK(trace.os_calls.start == std::vector<Nanos>{3});
  REQUIRE(trace.ranges.size() == 1);
  CHECK(trace.strings[trace.ranges.name[0]] == "step");
  CHECK(trace.diagnostics.list().size() == 2);
}

TEST_CASE("a call without a thread is dropped, and its work stays") {
  const TempDir dir;
  NsysBuilder builder(dir.File("thread.sqlite"), Schema::k3_25);
  builder.Add(CallRow{.start = 1, .end = 2, .correlation = 1})
      .Add(CallRow{.start = 11, .end = 12, .correlation = 2})
      .Add(KernelRow{.start = 5, .end = 8, .correlation = 1})
      .Add(KernelRow{.start = 15, .end = 18, .correlation = 2})
      .Sql("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = NULL WHERE start = 1");
  const Trace trace = Read(builder);
  CHECK(trace.calls.start == std::vector<Nanos>{11});
  CHECK(trace.ops.call == std::vector<std::uint32_t>{kNone, 0});
  REQUIRE(trace.diagnostics.list().size() == 1);
  CHECK(trace.diagnostics.list()[0].text == "calls without a thread were dropped");
}

TEST_CASE("version suffixes of calls are removed, failures are marked, not-ready is none") {
  const TempDir dir;
  NsysBuilder builder(dir.File("calls.sqlite"), Schema::k3_25);
  builder.Text(10, "cudaMemcpyAsync_ptsz_v7000")
      .Text(11, "cuMemcpyHtoDAsync_v2_ptds")
      .Text(12, "cudaEventQuery_v3020")
      .Text(13, "my_view")
      .Add(CallRow{.start = 1, .end = 2, .name = 10})
      .Add(CallRow{.start = 3, .end = 4, .name = 11, .result = 2})
      .Add(CallRow{.start = 5, .end = 6, .name = 12, .result = 600})
      .Add(CallRow{.start = 7, .end = 8, .name = 13});
  const Trace trace = Read(builder);
  REQUIRE(trace.calls.size() == 4);
  CHECK(NameOfCall(trace, 0) == "cudaMemcpyAsync");
  CHECK(NameOfCall(trace, 1) == "cuMemcpyHtoDAsync");
  CHECK(NameOfCall(trace, 2) == "cudaEventQuery");
  CHECK(NameOfCall(trace, 3) == "my_view");
  CHECK(trace.calls.failed == std::vector<std::uint8_t>{0, 1, 0, 0});
}

TEST_CASE("a call that is listed twice, with and without a version, is one call") {
  const TempDir dir;
  NsysBuilder builder(dir.File("twice.sqlite"), Schema::k2_9);
  builder.Text(50, "cudaMalloc").Text(51, "cudaMalloc_v3020").Text(52, "cuMemAlloc_v2");
  builder.Add(CallRow{.start = 10, .end = 20, .correlation = 5, .name = 50})
      .Add(CallRow{.start = 11, .end = 19, .correlation = 5, .name = 51, .result = 2})
      .Add(CallRow{.start = 12, .end = 18, .correlation = 5, .name = 52})  // what it calls itself
      .Add(CallRow{.start = 30, .end = 40, .correlation = 6, .name = 50})
      .Add(CallRow{.start = 31, .end = 39, .tid = 101, .correlation = 7, .name = 51})
      .Add(CallRow{.start = 50, .end = 60, .correlation = 8, .name = 51})
      .Add(CallRow{.start = 60, .end = 70, .correlation = 9, .name = 51});
  const Trace trace = Read(builder);
  CHECK(trace.calls.start == std::vector<Nanos>{10, 12, 30, 50, 60, 31});
  CHECK(trace.calls.failed == std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0});
  CHECK(CountOf(trace, "listed twice") == 1);
}

TEST_CASE("calls are sorted by thread, start and then the longest first") {
  const TempDir dir;
  NsysBuilder builder(dir.File("order.sqlite"), Schema::k3_25);
  builder.Add(CallRow{.start = 50, .end = 60, .tid = 102})
      .Add(CallRow{.start = 40, .end = 41, .tid = 101})
      .Add(CallRow{.start = 10, .end = 20, .tid = 102})
      .Add(CallRow{.start = 10, .end = 30, .tid = 102})
      .Add(CallRow{.start = 30, .end = 35, .tid = 101});
  const Trace trace = Read(builder);
  CHECK(trace.calls.thread == std::vector<std::uint32_t>{0, 0, 1, 1, 1});
  CHECK(trace.calls.start == std::vector<Nanos>{30, 40, 10, 10, 50});
  CHECK(trace.calls.end == std::vector<Nanos>{35, 41, 30, 20, 60});
  CHECK(trace.threads.at(0).tid == 101);
  CHECK(trace.threads.at(1).tid == 102);
}

TEST_CASE("GPU work of all tables is in one order of time, each row with its own detail") {
  const TempDir dir;
  NsysBuilder builder(dir.File("ops.sqlite"), Schema::k3_25);
  builder.Text(3, "other")
      .Add(KernelRow{.start = 30, .end = 40, .name = 3})
      .Add(KernelRow{.start = 10, .end = 20, .name = 1})
      .Add(KernelRow{.start = 10, .end = 15, .name = 3})
      .Add(CopyRow{
          .start = 35, .end = 50, .kind = 2, .bytes = 111, .source_kind = 2, .target_kind = 1})
      .Add(CopyRow{.start = 5, .end = 50, .kind = 1, .bytes = 222});
  const Trace trace = Read(builder);
  CHECK(trace.ops.start == std::vector<Nanos>{5, 10, 10, 30, 35});
  CHECK(trace.ops.end == std::vector<Nanos>{50, 15, 20, 40, 50});
  CHECK(trace.copies.bytes.at(trace.ops.detail[0]) == 222);
  CHECK(trace.copies.direction.at(trace.ops.detail[0]) == CopyDirection::kHostToDevice);
  CHECK(trace.copies.source.at(trace.ops.detail[0]) == MemoryKind::kPageable);
  CHECK(trace.copies.bytes.at(trace.ops.detail[4]) == 111);
  CHECK(trace.copies.direction.at(trace.ops.detail[4]) == CopyDirection::kDeviceToHost);
  CHECK(trace.copies.target.at(trace.ops.detail[4]) == MemoryKind::kPinned);
  REQUIRE(trace.shapes.size() == 2);  // three kernels of two shapes
  CHECK(trace.ops.detail[1] == trace.ops.detail[3]);
  CHECK(trace.strings[trace.shapes[trace.ops.detail[1]].name] == "other");
  const KernelShape& shape = trace.shapes[trace.ops.detail[2]];
  CHECK(trace.strings[shape.name] == "void kernel<float>(float*)");
  CHECK(shape.registers == 32);
  CHECK(shape.static_shared_bytes == 1024);
  CHECK(shape.dynamic_shared_bytes == 2048);
  CHECK(shape.ThreadsPerBlock() == 128);
}

TEST_CASE("migrations of unified memory have a direction, no stream and no call") {
  const TempDir dir;
  NsysBuilder builder(dir.File("uvm.sqlite"), Schema::k3_25);
  builder.Add(CallRow{.start = 1, .end = 2, .correlation = 0})
      .Add(CopyRow{.start = 10, .end = 11, .kind = 11, .context = 0, .stream = 0})
      .Add(CopyRow{.start = 20, .end = 21, .kind = 12, .context = 0, .stream = 0})
      .Add(CopyRow{.start = 30, .end = 31, .kind = 13, .context = 0, .stream = 0})
      .Add(CopyRow{.start = 40, .end = 41, .kind = 14, .context = 0, .stream = 0});
  const Trace trace = Read(builder);
  using D = CopyDirection;
  CHECK(trace.copies.direction == std::vector<D>{D::kMigrationToDevice, D::kMigrationToHost,
                                                 D::kMigrationPeer, D::kMigrationPeer});
  CHECK(trace.ops.stream == std::vector<std::uint32_t>(4, kNone));
  CHECK(trace.ops.call == std::vector<std::uint32_t>(4, kNone));
  CHECK(trace.streams.empty());
  CHECK(trace.devices.size() == 1);
}

TEST_CASE("negative times are times") {
  const TempDir dir;
  NsysBuilder builder(dir.File("negative.sqlite"), Schema::k3_25);
  builder.Add(KernelRow{.start = -500, .end = -400}).Add(KernelRow{.start = -10, .end = 10});
  const Trace trace = Read(builder);
  CHECK(trace.ops.start == std::vector<Nanos>{-500, -10});
  CHECK(trace.diagnostics.list().empty());
}

TEST_CASE("rows that cannot be used are dropped and counted by reason") {
  const TempDir dir;
  NsysBuilder builder(dir.File("bad.sqlite"), Schema::k3_25);
  const std::string kernel = "CUPTI_ACTIVITY_KIND_KERNEL";
  builder.Add(KernelRow{.start = 10, .end = 20})
      .Add(KernelRow{.start = 20, .end = 10})
      .Add(KernelRow{.start = 30, .end = 25})
      .Add(KernelRow{.start = 1LL << 62, .end = (1LL << 62) + 1})
      .Add(KernelRow{.start = 40, .end = 50, .device = -3})
      .Add(KernelRow{.start = 60, .end = 70, .grid_x = 0})
      .Sql("INSERT INTO " + kernel + " (start, \"end\", deviceId) VALUES (NULL, 5, 0)")
      .Sql("INSERT INTO " + kernel + " (start, \"end\", deviceId) VALUES (5, 'soon', 0)");
  const Trace trace = Read(builder);
  CHECK(trace.ops.start == std::vector<Nanos>{10, 60});
  CHECK(CountOf(trace, "end before they start", kernel) == 2);
  CHECK(CountOf(trace, "impossible time", kernel) == 1);
  CHECK(CountOf(trace, "impossible device number", kernel) == 1);
  CHECK(CountOf(trace, "without a time", kernel) == 2);
  CHECK(CountOf(trace, "empty grid", kernel) == 1);
  CHECK(trace.table_rows.at(kernel) == 8);
}

TEST_CASE("names are found by sparse and far ids, kept byte by byte, and missed when absent") {
  const TempDir dir;
  NsysBuilder builder(dir.File("names.sqlite"), Schema::k3_25);
  const std::string not_utf8 = "caf\xe9 \xff\xfe";
  builder.Text(3436172, "sparse")
      .Text(1LL << 30, "far")
      .Text(50, not_utf8)
      .Add(KernelRow{.start = 1, .end = 2, .name = 3436172})
      .Add(KernelRow{.start = 3, .end = 4, .name = 1LL << 30})
      .Add(KernelRow{.start = 5, .end = 6, .name = 50})
      .Add(KernelRow{.start = 7, .end = 8, .name = 666});
  const Trace trace = Read(builder);
  REQUIRE(trace.ops.size() == 4);
  const auto name = [&](std::size_t op) {
    return trace.strings[trace.shapes[trace.ops.detail[op]].name];
  };
  CHECK(name(0) == "sparse");
  CHECK(name(1) == "far");
  CHECK(name(2) == not_utf8);
  CHECK(IsUnnamedKernel(name(3)));
  CHECK(CountOf(trace, "names are missing", "StringIds") == 1);
}

TEST_CASE("texts that no row refers to are not loaded") {
  const TempDir dir;
  NsysBuilder builder(dir.File("output.sqlite"), Schema::k3_25);
  builder.Text(9, std::string(1 << 20, 'x')).Add(KernelRow{.start = 1, .end = 2});
  const Trace trace = Read(builder);
  for (StringId id = 0; id < trace.strings.size(); ++id) CHECK(trace.strings[id].size() < 100);
  CHECK(trace.strings[trace.shapes.at(0).name] == "void kernel<float>(float*)");
}

TEST_CASE("waits are joined to their call and stream") {
  const TempDir dir;
  NsysBuilder builder(dir.File("waits.sqlite"), Schema::k3_25);
  const std::string pid = std::to_string(GlobalPid(100));
  builder.Text(3, "cudaDeviceSynchronize_v3020")
      .Add(CallRow{.start = 1, .end = 50, .correlation = 8, .name = 3})
      .Sql(
          "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES "
          "(60, 70, 0, 1, 7, 99, " +
          pid +
          ", 3, 0), "
          "(2, 49, 0, 1, 4294967295, 8, " +
          pid + ", 4, 5)");
  const Trace trace = Read(builder);
  REQUIRE(trace.syncs.size() == 2);
  CHECK(trace.syncs.start == std::vector<Nanos>{2, 60});
  CHECK(trace.syncs.stream[0] == kNone);
  CHECK(trace.syncs.call[0] == 0);
  CHECK(trace.syncs.event_id[0] == 5);
  REQUIRE(trace.syncs.stream[1] != kNone);
  CHECK(trace.streams[trace.syncs.stream[1]].id == 7);
  CHECK(trace.syncs.call[1] == kNone);
}

TEST_CASE("reports of two jobs and of one are the same") {
  const TempDir dir;
  NsysBuilder builder(dir.File("jobs.sqlite"), Schema::k3_25);
  builder.Sql("BEGIN");
  for (std::int64_t i = 0; i < 500; ++i) {
    const std::int64_t pid = 100 + i % 3;
    builder.Text(1000 + i, "name" + std::to_string(i * 7 % 100))
        .Add(CallRow{
            .start = 1000 - i, .end = 1001, .pid = pid, .tid = pid + i % 5, .correlation = i})
        .Add(KernelRow{.start = i * 31 % 500,
                       .end = 600,
                       .pid = pid,
                       .stream = i % 4,
                       .correlation = i,
                       .name = 1000 + i})
        .Add(CopyRow{.start = i * 17 % 500, .end = 700, .kind = i % 15, .pid = pid})
        .Sql("INSERT INTO OSRT_API VALUES (" + std::to_string(i * 13 % 400) + ", 800, " +
             std::to_string(GlobalTid(pid, pid + i % 7)) + ", " + std::to_string(1000 + i) + ")")
        .Sql("INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid) VALUES (" +
             std::to_string(i * 11 % 300) + ", 900, 59, 'step " + std::to_string(i % 9) + "', " +
             std::to_string(GlobalTid(pid, pid)) + ")");
  }
  builder.Sql("COMMIT");
  const std::string one = Describe(Read(builder, 1));
  CHECK(one.find("name99") != std::string::npos);
  CHECK(one == Describe(Read(builder, 2)));
  CHECK(one == Describe(Read(builder, 5)));
}
