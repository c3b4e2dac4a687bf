// Databases of rocprofv3, with the tables that its versions make.
#include <fmt/format.h>

#include "tests/import/text_inputs.h"

namespace advise {
namespace {

using testing::NsysBuilder;
using testing::Said;
using testing::TempDir;

// Tables of schema 3: each row holds its times and its place. The columns that are read, and some.
constexpr const char* kTables3 = R"(
CREATE TABLE rocpd_metadata_@ (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string_@ (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE rocpd_info_node_@ (id INTEGER PRIMARY KEY, guid TEXT, machine_id TEXT, hostname TEXT);
CREATE TABLE rocpd_info_process_@ (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER,
  init BIGINT, fini BIGINT, command TEXT, environment JSONB);
CREATE TABLE rocpd_info_agent_@ (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER,
  type TEXT, absolute_index INTEGER, type_index INTEGER, name TEXT, model_name TEXT,
  product_name TEXT, extdata JSONB);
CREATE TABLE rocpd_info_kernel_symbol_@ (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER,
  kernel_name TEXT, display_name TEXT);
CREATE TABLE rocpd_track_@ (id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, tid INTEGER);
CREATE TABLE rocpd_event_@ (id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER,
  stack_id INTEGER, correlation_id INTEGER, extdata JSONB DEFAULT '{}');
CREATE TABLE rocpd_region_@ (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER,
  tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_kernel_dispatch_@ (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER,
  tid INTEGER, agent_id INTEGER, kernel_id INTEGER, queue_id INTEGER, stream_id INTEGER,
  start BIGINT, end BIGINT, workgroup_size_x INTEGER, workgroup_size_y INTEGER,
  workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER,
  event_id INTEGER);
CREATE TABLE rocpd_memory_copy_@ (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER,
  tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, dst_agent_id INTEGER,
  src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, event_id INTEGER);
CREATE VIEW rocpd_event AS SELECT id, unknown_function(extdata) FROM rocpd_event_@;
)";

// What both schemas share: a process with two GPUs, kernels by name, the kinds of records.
constexpr const char* kNames = R"(
INSERT INTO rocpd_metadata_@ (tag, value) VALUES ('schema_version', '3.0.1'), ('guid', 'g');
INSERT INTO rocpd_string_@ (id, string) VALUES (1, ''), (2, 'HIP_RUNTIME_API'),
  (3, 'MARKER_CORE_API'), (4, 'KERNEL_DISPATCH'), (5, 'hipLaunchKernel'), (6, 'hipMemcpy'),
  (7, 'roctxRangePushA'), (8, 'MEMORY_COPY_DEVICE_TO_HOST'), (9, 'MEMORY_COPY_DEVICE_TO_DEVICE'),
  (10, 'MEMORY_COPY_HOST_TO_HOST'), (11, 'HSA_CORE_API'), (12, 'hsa_signal_wait'),
  (13, '__hipPushCallConfiguration');
INSERT INTO rocpd_info_node_@ (id, machine_id, hostname) VALUES (1, 'm', 'n1');
INSERT INTO rocpd_info_process_@ (id, nid, pid, init, fini, command, environment)
  VALUES (@pid, 1, @pid, 1000, 9000, '/opt/bin/solver -n 8', '{"NCCL_DEBUG": "INFO", "X": "1"}');
INSERT INTO rocpd_info_agent_@ (id, nid, pid, type, absolute_index, type_index, name, model_name,
  product_name, extdata) VALUES
  (0, 1, @pid, 'CPU', 0, 0, 'EPYC', '', '', '{}'),
  (1, 1, @pid, 'GPU', 1, 0, 'gfx942', '', 'AMD Instinct MI300A', '{"type": 2, "cu_count": 228,
    "wave_front_size": 64, "max_waves_per_cu": 32, "max_engine_clk_fcompute": 2100,
    "mem_banks": [{"size_in_bytes": 137438953472}]}'),
  (2, 1, @pid, 'GPU', 2, 1, 'gfx942', '', '', 'not JSON');
INSERT INTO rocpd_info_kernel_symbol_@ (id, pid, kernel_name, display_name) VALUES
  (5, @pid, '_Z5sweepPd.kd', 'sweep(double*)'), (6, @pid, 'fill.kd', '');
INSERT INTO rocpd_event_@ (id, category_id, stack_id, extdata) VALUES
  (1, 2, 11, '{}'), (2, 2, 12, '{}'), (3, 2, 13, '{}'), (4, 3, 21, '{"message": "sweep"}'),
  (5, 4, 12, '{}'), (6, 4, 11, '{}'), (7, 4, 13, '{}'), (8, 4, 13, '{}'), (9, 11, 30, '{}'),
  (10, 2, 10, '{}'), (11, 3, 22, '{}');
)";

constexpr const char* kRows3 = R"(
INSERT INTO rocpd_region_@ (id, pid, tid, start, end, name_id, event_id) VALUES
  (12, @pid, 43, 1900, 1950, 5, 2), (10, @pid, 43, 1790, 1795, 13, 10),
  (11, @pid, 43, 1800, 1850, 5, 1), (13, @pid, 43, 3600, 4200, 6, 3),
  (21, @pid, 43, 1700, 4300, 7, 4), (22, @pid, 43, 1701, 4299, 7, 11),
  (30, @pid, 43, 3610, 4190, 12, 9);
INSERT INTO rocpd_kernel_dispatch_@ VALUES
  (1, 'g', 1, @pid, 43, 1, 6, 1, 2, 3000, 3500, 256, 1, 1, 1000, 2, 1, 5),
  (2, 'g', 1, @pid, 43, 1, 5, 1, 2, 2000, 2900, 256, 1, 1, 1000, 2, 1, 6);
INSERT INTO rocpd_memory_copy_@ VALUES
  (1, 'g', 1, @pid, 43, 3700, 4100, 8, 0, 1, 4096, NULL, 2, 7),
  (2, 'g', 1, @pid, 43, 4400, 4500, 9, 2, 1, 4096, NULL, 2, 8),
  (3, 'g', 1, @pid, 43, 4600, 4700, 10, 0, 0, 4096, NULL, 2, 8);
)";

std::string With(std::string sql, const std::string& set, int pid) {
  const auto replace = [&](const std::string& what, const std::string& by) {
    for (std::size_t at = sql.find(what); at != std::string::npos; at = sql.find(what, at))
      sql.replace(at, what.size(), by);
  };
  replace("@pid", std::to_string(pid));
  replace("@", set);
  return sql;
}

Trace Imported(const NsysBuilder& builder) {
  Result<Trace> trace = ImportReport(builder.path(), {});
  INFO((trace ? "" : trace.error().Line()));
  REQUIRE(trace);
  return std::move(*trace);
}

TEST_CASE("a database of rocprofv3 becomes GPU work, calls and ranges") {
  const TempDir dir;
  NsysBuilder builder(dir.File("42_results.db"), NsysBuilder::Schema::kEmpty);
  for (const char* sql : {kTables3, kNames, kRows3}) builder.Sql(With(sql, "0000_7a", 42));
  builder.Close();
  const Trace trace = Imported(builder);
  CHECK(trace.kind == "rocprof");
  CHECK(trace.producer == "rocprofv3");
  CHECK(trace.schema == "3.0.1");
  CHECK(trace.host == "n1");
  CHECK(trace.session_ns == 8000);
  REQUIRE(trace.processes.size() == 1);
  CHECK(trace.processes[0].name == "solver");
  CHECK(trace.processes[0].pid == 42);
  REQUIRE(trace.environment.size() == 2);
  CHECK(trace.environment[0] == std::pair<std::string, std::string>("NCCL_DEBUG", "INFO"));

  REQUIRE(trace.devices.size() == 2);
  CHECK(trace.devices[0].name == "AMD Instinct MI300A");
  CHECK(trace.devices[0].sm_count == 228);
  CHECK(trace.devices[0].clock_hz == 2.1e9);
  CHECK(trace.devices[0].max_threads_per_sm == 2048);
  CHECK(trace.devices[0].memory_bytes == 137438953472.0);
  CHECK(trace.devices[0].ordinal == 0);
  CHECK(trace.devices[1].name == "gfx942");

  REQUIRE(trace.ops.size() == 4);
  CHECK(trace.ops.start == std::vector<Nanos>{2000, 3000, 3700, 4400});
  const KernelShape& sweep = trace.shapes[trace.ops.detail[0]];
  CHECK(trace.strings[sweep.name] == "sweep(double*)");
  CHECK(sweep.grid == std::array<std::uint32_t, 3>{4, 2, 1});  // 1000 threads are 4 blocks
  CHECK(sweep.block == std::array<std::uint32_t, 3>{256, 1, 1});
  CHECK(trace.strings[trace.shapes[trace.ops.detail[1]].name] == "fill");
  CHECK(trace.streams[trace.ops.stream[0]].id == 2);

  REQUIRE(trace.calls.size() == 3);
  CHECK(trace.strings[trace.calls.name[0]] == "hipLaunchKernel");
  CHECK(trace.calls.start == std::vector<Nanos>{1800, 1900, 3600});
  CHECK(trace.ops.call == std::vector<std::uint32_t>{0, 1, 2, 2});
  REQUIRE(trace.ranges.start.size() == 1);
  CHECK(trace.strings[trace.ranges.name[0]] == "sweep");

  REQUIRE(trace.copies.size() == 2);
  CHECK(trace.copies.direction[0] == CopyDirection::kDeviceToHost);
  CHECK(trace.copies.bytes[0] == 4096);
  CHECK(trace.copies.direction[1] == CopyDirection::kPeerToPeer);
  CHECK(trace.copies.peer[1] == 1);
}

TEST_CASE("a merged database holds a process a set; both use the GPUs of their machine") {
  const TempDir dir;
  NsysBuilder builder(dir.File("merged.db"), NsysBuilder::Schema::kEmpty);
  for (const auto& [set, pid] : {std::pair("0000_7a", 42), std::pair("0000_7b", 44)}) {
    for (const char* sql : {kTables3, kNames, kRows3}) {
      std::string text = With(sql, set, pid);
      if (const auto view = text.find("CREATE VIEW"); view != std::string::npos) text.resize(view);
      builder.Sql(text);
    }
  }
  builder.Close();
  const Trace trace = Imported(builder);
  REQUIRE(trace.processes.size() == 2);
  CHECK(trace.processes[1].pid == 44);
  CHECK(trace.devices.size() == 2);
  REQUIRE(trace.ops.size() == 8);
  CHECK(trace.streams[trace.ops.stream[0]].process == 0);
  CHECK(trace.streams[trace.ops.stream[1]].process == 1);
  CHECK(trace.threads[trace.calls.thread[trace.ops.call[0]]].process == 0);
  CHECK(trace.threads[trace.calls.thread[trace.ops.call[1]]].process == 1);
}

// Later tables: times in a table of their own, places in tracks, kinds of records by name.
constexpr const char* kTables4 = R"(
DROP TABLE rocpd_region_@; DROP TABLE rocpd_kernel_dispatch_@; DROP TABLE rocpd_memory_copy_@;
DROP TABLE rocpd_track_@;
CREATE TABLE rocpd_info_category_@ (id INTEGER PRIMARY KEY, guid TEXT, name TEXT);
CREATE TABLE rocpd_track_@ (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER,
  tid INTEGER, agent_id INTEGER, queue_id INTEGER, stream_id INTEGER);
CREATE TABLE rocpd_timestamp_@ (id INTEGER PRIMARY KEY, guid TEXT, value BIGINT, phase INTEGER);
CREATE TABLE rocpd_region_@ (id INTEGER PRIMARY KEY, track_id INTEGER, name_id INTEGER,
  start_id INTEGER, end_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_kernel_dispatch_@ (id INTEGER PRIMARY KEY, track_id INTEGER, kernel_id INTEGER,
  start_id INTEGER, end_id INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER,
  workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER,
  event_id INTEGER);
CREATE TABLE rocpd_memory_copy_@ (id INTEGER PRIMARY KEY, track_id INTEGER, start_id INTEGER,
  end_id INTEGER, name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER,
  event_id INTEGER);
INSERT INTO rocpd_info_category_@ (id, name) VALUES (2, 'HIP_RUNTIME_API'), (3, 'MARKER_CORE_API'),
  (4, 'KERNEL_DISPATCH'), (11, 'HSA_CORE_API');
INSERT INTO rocpd_track_@ (id, pid, tid, agent_id, queue_id, stream_id) VALUES
  (1, @pid, 43, NULL, NULL, NULL), (2, @pid, 43, 1, 1, 2);
INSERT INTO rocpd_timestamp_@ (id, value) VALUES (1, 1800), (2, 1850), (3, 1900), (4, 1950),
  (5, 3600), (6, 4200), (7, 1700), (8, 4300), (9, 2000), (10, 2900), (11, 3000), (12, 3500),
  (13, 3700), (14, 4100), (15, 4400), (16, 4500);
INSERT INTO rocpd_region_@ VALUES (11, 1, 5, 1, 2, 1), (12, 1, 5, 3, 4, 2), (13, 1, 6, 5, 6, 3),
  (21, 1, 7, 7, 8, 4);
INSERT INTO rocpd_kernel_dispatch_@ VALUES (1, 2, 6, 11, 12, 256, 1, 1, 1000, 2, 1, 5),
  (2, 2, 5, 9, 10, 256, 1, 1, 1000, 2, 1, 6);
INSERT INTO rocpd_memory_copy_@ VALUES (1, 2, 13, 14, 8, 0, 1, 4096, 7),
  (2, 2, 15, 16, 9, 2, 1, 4096, 8);
)";

TEST_CASE("tables of timestamps and tracks say the same as rows that hold both") {
  const TempDir dir;
  const auto described = [&](const std::string& name, std::initializer_list<const char*> parts) {
    NsysBuilder builder(dir.File(name), NsysBuilder::Schema::kEmpty);
    for (const char* sql : parts) builder.Sql(With(sql, "0000_7a", 42));
    builder.Close();
    Trace trace = Imported(builder);
    trace.path.clear();
    trace.table_rows.clear();
    return testing::Describe(trace);
  };
  CHECK(described("4.db", {kTables3, kNames, kTables4}) ==
        described("3.db", {kTables3, kNames, kRows3}));
}

TEST_CASE("a database of rocprof-sys holds functions of the program, too") {
  const TempDir dir;
  NsysBuilder builder(dir.File("sys.db"), NsysBuilder::Schema::kEmpty);
  for (const char* sql : {kTables3, kNames, kRows3}) builder.Sql(With(sql, "7a", 42));
  builder.Sql(
      "UPDATE rocpd_string_7a SET string = 'rocm_hip_api' WHERE id = 2;"
      "UPDATE rocpd_string_7a SET string = 'rocm_marker_api' WHERE id = 3;"
      "UPDATE rocpd_string_7a SET string = 'host' WHERE id = 11;"
      "UPDATE rocpd_string_7a SET string = 'solve' WHERE id = 12;"
      "UPDATE rocpd_string_7a SET string = 'assembly' WHERE id = 7;"
      "UPDATE rocpd_event_7a SET extdata = '{}'");
  builder.Close();
  const Trace trace = Imported(builder);
  CHECK(trace.producer == "rocprof-sys");
  CHECK(trace.calls.size() == 3);
  REQUIRE(trace.ranges.start.size() == 3);
  CHECK(trace.strings[trace.ranges.name[0]] == "assembly");
  CHECK(trace.strings[trace.ranges.name[2]] == "solve");
}

TEST_CASE("rows of a database that say nothing are dropped, and one without work says so") {
  const TempDir dir;
  const std::string set = "0000_7a";
  NsysBuilder builder(dir.File("some.db"), NsysBuilder::Schema::kEmpty);
  for (const char* sql : {kTables3, kNames, kRows3}) builder.Sql(With(sql, set, 42));
  builder.Sql("UPDATE rocpd_kernel_dispatch_" + set + " SET pid = 41 WHERE id = 1");
  builder.Sql("UPDATE rocpd_memory_copy_" + set + " SET end = 1 WHERE id = 1");
  builder.Sql("UPDATE rocpd_memory_copy_" + set + " SET src_agent_id = 0 WHERE id = 2");
  builder.Close();
  const Trace trace = Imported(builder);
  CHECK(trace.ops.size() == 1);
  CHECK(Said(trace, "records without a process were dropped") == 1);
  CHECK(Said(trace, "records without times or a GPU were dropped") == 2);

  NsysBuilder none(dir.File("none.db"), NsysBuilder::Schema::kEmpty);
  for (const char* sql : {kTables3, kNames}) none.Sql(With(sql, set, 42));
  none.Close();
  const Result<Trace> empty = ImportReport(none.path(), {});
  REQUIRE_FALSE(empty);
  CHECK(empty.error().what == "rocprofv3 recorded no GPU work");
}

TEST_CASE("a database of rocprofv3 that was cut off is read as far as it is whole") {
  const TempDir dir;
  NsysBuilder builder(dir.File("whole.db"), NsysBuilder::Schema::kEmpty);
  for (const char* sql : {kTables3, kNames, kRows3}) builder.Sql(With(sql, "0000_7a", 42));
  builder.Close();
  std::ifstream file(builder.path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  constexpr std::size_t kPage = 4096;
  int read = 0;
  for (std::size_t size = 3 * kPage; size < whole.size(); size += kPage) {
    const std::string path = dir.File("cut.db");
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    const Result<Trace> trace = ImportReport(path, {});
    INFO(size);
    if (trace) {
      ++read;
      CHECK(Said(*trace, "damaged or was cut off") == 1);
    } else {
      CHECK(trace.error().what.find("damaged") != std::string::npos);
    }
  }
  CHECK(read > 0);
}

}  // namespace
}  // namespace advise
