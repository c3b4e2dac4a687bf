// What a person is told to type: the statement, or the pattern, and nothing where none is sound.
#include "engine/lookup/look_up.h"

#include <catch2/catch.hpp>

#include "engine/lookup/cupti.h"

namespace advise {
namespace {

using Catch::Contains;

Trace TraceOf(const char* kind) {
  Trace trace;
  trace.kind = kind;
  trace.processes.resize(1);
  trace.processes[0].global_pid = std::int64_t{17} << 24;
  trace.devices.resize(2);
  trace.devices[1].cuda_ordinal = 1;
  trace.streams.push_back({.process = 0, .device = 0, .id = 7});
  trace.streams.push_back({.process = 0, .device = 1, .id = 7});
  for (std::uint16_t device = 0; device < 2; ++device) {
    trace.ops.start.push_back(12'345'678 + device);
    trace.ops.end.push_back(12'400'000);
    trace.ops.kind.push_back(OpKind::kKernel);
    trace.ops.device.push_back(device);
    trace.ops.stream.push_back(device);
    trace.ops.call.push_back(kNone);
    trace.ops.detail.push_back(0);
    trace.ops.in_graph.push_back(0);
  }
  trace.table_rows[cupti::kKernels] = 2;
  return trace;
}

TEST_CASE("a database is asked with one statement, of the window and the rank") {
  Trace trace = TraceOf("nsys-sqlite");
  const StringId name = trace.strings.Intern("it's<a>");
  const ReportGuide guide(trace, {100, 200});
  const LookUp time = guide.TimeOfKernel(name);
  CHECK(time.table == "CUPTI_ACTIVITY_KIND_KERNEL");
  CHECK(time.find.empty());
  CHECK_THAT(time.sql, Contains("s.value = 'it''s<a>' and k.start >= 100 and k.start < 200"));
  CHECK_THAT(guide.GapBefore(12'345'679, 1).sql,
             Contains("globalPid in (285212672) and deviceId = 1"));
  trace.part_of = std::int64_t{17} << 24;
  trace.part_device = 1;
  CHECK_THAT(guide.TimeOfKernel(name).sql, Contains("k.globalPid = 285212672 and k.deviceId = 1"));
  CHECK_THAT(guide.CountOfCalls(name).sql, Contains("(r.globalTid & ~16777215) = 285212672"));
}

TEST_CASE("a database of rocprofv3 is asked in the words of its tables") {
  Trace trace = TraceOf("rocprof");
  trace.schema = "3.0.1";
  trace.devices[1].report_id = 5;
  trace.table_rows = {{"rocpd_kernel_dispatch_7a", 2}, {"rocpd_memory_copy_7a", 0}};
  const StringId name = trace.strings.Intern("it's<a>");
  const ReportGuide guide(trace, {100, 200});
  CHECK(guide.IsDatabase());
  const LookUp time = guide.TimeOfKernel(name);
  CHECK(time.table == "rocpd_kernel_dispatch_7a");
  CHECK(time.find.empty());
  CHECK_THAT(time.sql, Contains("rocpd_info_kernel_symbol_7a") &&
                           Contains("in ('it''s<a>', 'it''s<a>.kd')") &&
                           Contains("k.start >= 100 and k.start < 200"));
  CHECK_THAT(guide.GapBefore(12'345'679, 1).sql, Contains("where agent_id = 5"));
  CHECK_THAT(guide.OpAt(0).sql, Contains("rocpd_kernel_dispatch_7a where start = 12345678"));
  CHECK_THAT(guide.BytesCopied({CopyDirection::kHostToDevice}, MemoryKind::kUnknown).sql,
             Contains("sum(c.size)") && Contains("in ('MEMORY_COPY_HOST_TO_DEVICE')"));
  CHECK_THAT(guide.CountOfCalls(name).sql, Contains("rocpd_region_7a"));

  // Of several processes, or with times in a table of their own: nothing to type.
  trace.table_rows.emplace("rocpd_kernel_dispatch_7b", 2);
  const ReportGuide merged(trace, {100, 200});
  CHECK_FALSE(merged.IsDatabase());
  CHECK(merged.TimeOfKernel(name).sql.empty());
  CHECK(merged.TimeOfKernel(name).find.empty());
  CHECK(merged.OpAt(0).find.empty());
}

TEST_CASE("of long names of kernels, as much is said as tells them from others") {
  Trace trace = TraceOf("nsys-sqlite");
  const std::string middle(200, 'm');
  const std::string first(30, 'f');
  const StringId name = trace.strings.Intern(first + middle + std::string(30, 'z'));
  trace.shapes.emplace_back().name = name;
  const ReportGuide guide(trace, {100, 200});
  CHECK_THAT(guide.TimeOfKernel(name).sql,
             Contains("substr(s.value, 1, 24) = '" + first.substr(0, 24) +
                      "' and substr(s.value, -24) = '" + std::string(24, 'z') + "' and k.start"));
  // Another name with the same ends: the parts grow.
  trace.shapes.emplace_back().name =
      trace.strings.Intern(first + std::string(150, 'n') + std::string(30, 'z'));
  CHECK_THAT(guide.TimeOfKernel(name).sql, Contains("substr(s.value, 1, 32) = '"));
}

TEST_CASE("calls that a report lists twice are counted once") {
  Trace trace = TraceOf("nsys-sqlite");
  const StringId name = trace.strings.Intern("cudaMalloc");
  CHECK_THAT(ReportGuide(trace, {0, 10}).CountOfCalls(name).sql, Contains("select count(*) from"));
  trace.diagnostics.Add(Level::kInfo, kCallsListedTwice);
  CHECK_THAT(ReportGuide(trace, {0, 10}).CountOfCalls(name).sql,
             Contains("select count(distinct r.globalTid || ' ' || r.correlationId) from"));
}

TEST_CASE("all kinds of copies of one direction are counted, and none that a kind does not tell") {
  const Trace trace = TraceOf("nsys-sqlite");
  const ReportGuide guide(trace, {0, 10});
  CHECK_THAT(guide.BytesCopied({CopyDirection::kHostToDevice}, MemoryKind::kPinned).sql,
             Contains("copyKind in (1, 3) and srcKind = 1 and start >= 0 and start < 10"));
  CHECK_THAT(guide.BytesCopied({CopyDirection::kDeviceToHost}, MemoryKind::kPageable).sql,
             Contains("copyKind in (2, 4) and dstKind = 0"));
  CHECK_THAT(guide
                 .BytesCopied({CopyDirection::kHostToDevice, CopyDirection::kDeviceToHost},
                              MemoryKind::kPinned)
                 .sql,
             Contains("where ((copyKind in (1, 3) and srcKind = 1) or (copyKind in (2, 4) and "
                      "dstKind = 1)) and start >="));
  CHECK(guide.BytesCopied({CopyDirection::kPeerToPeer}, MemoryKind::kDevice).table.empty());
}

TEST_CASE("a text is searched for the time or the name, as its writer prints them") {
  Trace trace = TraceOf("kineto");
  const ReportGuide guide(trace, {0, 10});
  const LookUp op = guide.OpAt(0);
  CHECK(op.table == "kernel");
  CHECK(op.sql.empty());
  CHECK(op.find == "\"ts\": *12345");
  CHECK(guide.TimeOfKernel(trace.strings.Intern("f(int*)")).find == "\"name\": *\"f(int\\*)\"");
}

TEST_CASE("rows of a table of GPU work are found by their start, where it is in nanoseconds") {
  Trace trace = TraceOf("gpu-trace");
  trace.producer = "nsys stats";
  const ReportGuide guide(trace, {0, 10});
  CHECK(guide.OpAt(0).find == "^12345678,");
  CHECK(guide.TimeOfKernel(trace.strings.Intern("f(int*)")).find == "f(int\\*)");
  trace.producer = "nvprof";
  CHECK(guide.OpAt(0).find.empty());
}

TEST_CASE("kernels of a rank are told apart as far as the report needs it") {
  RankInReport rank{.pid = 17, .device = 1};
  CHECK_THAT(KernelsOfRank(rank, {5, 9}).sql,
             Contains("where deviceId = 1 and start < 9 and \"end\" > 5;"));
  rank.is_only_one = false;
  CHECK_THAT(KernelsOfRank(rank, {5, 9}).sql,
             Contains("where globalPid / 16777216 % 16777216 = 17 and start < 9"));
  rank.is_only_of_process = false;
  CHECK_THAT(KernelsOfRank(rank, {5, 9}).sql, Contains("= 17 and deviceId = 1 and start < 9"));
}

}  // namespace
}  // namespace advise
