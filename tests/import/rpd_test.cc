// Databases of rocmProfileData's tracer.
#include "tests/import/text_inputs.h"

namespace advise {
namespace {

using testing::NsysBuilder;
using testing::TempDir;

constexpr const char* kRpd = R"(
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER,
  end INTEGER, apiName_id INTEGER, args_id INTEGER);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER,
  completionSignal TEXT, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, gridX INTEGER,
  gridY INTEGER, gridZ INTEGER, workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER,
  groupSegmentSize INTEGER, kernelName_id INTEGER);
CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, size INTEGER,
  kind INTEGER, dstDevice INTEGER, srcDevice INTEGER, sync BOOL, pinned BOOL);
INSERT INTO rocpd_string VALUES (4294967297, ''), (4294967298, 'hipLaunchKernel'),
  (4294967299, 'hipMemcpyAsync'), (4294967300, 'UserMarker'), (4294967301, 'decode'),
  (4294967302, 'gemm<half>'), (4294967303, 'KernelExecution'), (4294967304, 'CopyHostToDevice'),
  (4294967305, 'Barrier'), (4294967306, 'FillBuffer'), (4294967307, 'CopyDeviceToDevice');
INSERT INTO rocpd_api VALUES (4294967400, 42, 43, 100, 900, 4294967300, 4294967301),
  (4294967401, 42, 43, 110, 120, 4294967299, 4294967297),
  (4294967402, 42, 43, 130, 140, 4294967298, 4294967297),
  (8589934698, 44, 45, 150, 160, 4294967298, 4294967297);
INSERT INTO rocpd_kernelapi VALUES (4294967402, '0x7f10', 8, 2, 1, 256, 1, 1, 64, 4294967302),
  (8589934698, '0x0', 4, 1, 1, 64, 1, 1, 0, 4294967302);
INSERT INTO rocpd_copyapi VALUES (4294967401, '0x7f10', 4096, 1, 2, 2, 0, 0);
INSERT INTO rocpd_op VALUES (1, 2, 3, 0, '', 200, 300, 4294967297, 4294967304),
  (2, 2, 3, 0, '', 310, 390, 4294967302, 4294967303),
  (3, 2, 3, 0, '', 395, 396, 4294967297, 4294967305),
  (4, 3, 1, 0, '', 400, 500, 4294967302, 4294967303),
  (5, 2, 3, 0, '', 510, 520, 4294967297, 4294967306);
INSERT INTO rocpd_api_ops (api_id, op_id) VALUES (4294967401, 1), (4294967402, 2),
  (8589934698, 4);
)";

TEST_CASE("a database of rocmProfileData becomes GPU work, calls and ranges") {
  const TempDir dir;
  NsysBuilder builder(dir.File("run.rpd"), NsysBuilder::Schema::kEmpty);
  builder.Sql(kRpd);
  builder.Close();
  const Result<Trace> read = ImportReport(builder.path(), {});
  INFO((read ? "" : read.error().Line()));
  REQUIRE(read);
  const Trace& trace = *read;
  CHECK(trace.kind == "rocprof");
  CHECK(trace.producer == "rocmProfileData");
  REQUIRE(trace.processes.size() == 2);
  CHECK(trace.processes[1].pid == 44);
  REQUIRE(trace.devices.size() == 2);
  CHECK(trace.devices[0].ordinal == 2);

  CHECK(trace.ops.start == std::vector<Nanos>{200, 310, 400, 510});
  CHECK(trace.ops.kind ==
        std::vector<OpKind>{OpKind::kCopy, OpKind::kKernel, OpKind::kKernel, OpKind::kMemset});
  const KernelShape& gemm = trace.shapes[trace.ops.detail[1]];
  CHECK(trace.strings[gemm.name] == "gemm<half>");
  CHECK(gemm.grid == std::array<std::uint32_t, 3>{8, 2, 1});
  CHECK(gemm.block == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(trace.copies.bytes == std::vector<std::int64_t>{4096});
  CHECK(trace.copies.direction[0] == CopyDirection::kHostToDevice);
  CHECK(trace.copies.peer[0] == kNone);
  CHECK(trace.streams[trace.ops.stream[1]].id == 0x7f10);

  // The ids of the two launches are the same in their last 32 bits.
  REQUIRE(trace.calls.size() == 3);
  const auto launch_of = [&](std::size_t op) { return trace.calls.start[trace.ops.call[op]]; };
  CHECK(launch_of(0) == 110);
  CHECK(launch_of(1) == 130);
  CHECK(launch_of(2) == 150);
  REQUIRE(trace.ranges.start.size() == 1);
  CHECK(trace.strings[trace.ranges.name[0]] == "decode");
}

TEST_CASE("later tables of rocmProfileData keep the texts of markers apart") {
  const TempDir dir;
  NsysBuilder builder(dir.File("run.rpd"), NsysBuilder::Schema::kEmpty);
  builder.Sql(kRpd).Sql(
      "CREATE TABLE rocpd_ustring (id INTEGER PRIMARY KEY, string TEXT);"
      "INSERT INTO rocpd_ustring VALUES (7, 'prefill');"
      "UPDATE rocpd_api SET args_id = 7 WHERE id = 4294967400");
  builder.Close();
  const Result<Trace> trace = ImportReport(builder.path(), {});
  REQUIRE(trace);
  REQUIRE(trace->ranges.start.size() == 1);
  CHECK(trace->strings[trace->ranges.name[0]] == "prefill");
}

TEST_CASE("copies of rocmProfileData inside a GPU are none between GPUs") {
  const TempDir dir;
  NsysBuilder builder(dir.File("run.rpd"), NsysBuilder::Schema::kEmpty);
  builder.Sql(kRpd).Sql(
      "UPDATE rocpd_op SET opType_id = 4294967307 WHERE id = 1;"
      "UPDATE rocpd_copyapi SET dstDevice = 3, srcDevice = 3");
  builder.Close();
  const Result<Trace> trace = ImportReport(builder.path(), {});
  REQUIRE(trace);
  CHECK(trace->copies.direction[0] == CopyDirection::kDeviceToDevice);
  CHECK(trace->copies.peer[0] == kNone);
}

TEST_CASE("a database of rocmProfileData without GPU work says so") {
  const TempDir dir;
  NsysBuilder builder(dir.File("run.rpd"), NsysBuilder::Schema::kEmpty);
  builder.Sql(kRpd).Sql("DELETE FROM rocpd_op");
  builder.Close();
  const Result<Trace> trace = ImportReport(builder.path(), {});
  REQUIRE_FALSE(trace);
  CHECK(trace.error().what == "rocmProfileData recorded no GPU work");
}

}  // namespace
}  // namespace advise
