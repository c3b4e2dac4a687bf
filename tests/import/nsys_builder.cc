#include "tests/import/nsys_builder.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "engine/import/importer.h"
#include "tests/support/seeds.h"

namespace advise::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBoth = R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT,
  nameEnum INTEGER, value TEXT);
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER,
  stopTime INTEGER);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, uuid TEXT, smCount INTEGER,
  clockRate INTEGER, memoryBandwidth INTEGER, totalMemory INTEGER, l2CacheSize INTEGER,
  cuDevice INTEGER, maxWarpsPerSm INTEGER, threadsPerWarp INTEGER, computeMajor INTEGER,
  computeMinor INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, "end" INTEGER, eventClass INTEGER,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER,
  callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "end" INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER, shortName INTEGER, mangledName INTEGER, registersPerThread INTEGER,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
  staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER,
  graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, "end" INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER,
  copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER,
  graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, "end" INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER,
  bytes INTEGER, graphNodeId INTEGER, memKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, "end" INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  syncType INTEGER, eventId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, "end" INTEGER, eventType INTEGER,
  rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,
  endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,
  int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER);
CREATE TABLE OSRT_API (start INTEGER, "end" INTEGER, globalTid INTEGER, nameId INTEGER);
CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER);
CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER, cpu INTEGER, globalTid INTEGER);
CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, unresolved INTEGER,
  stackDepth INTEGER);
CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER, hwId INTEGER, vmId INTEGER,
  processId INTEGER, contextId INTEGER, priority INTEGER, flag INTEGER);
)";

constexpr const char* kOld = R"(
CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2022.2.1.31'),
  ('EXPORT_SCHEMA_VERSION', '2.9.1');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_CUDA_NULL_STREAM (streamId INTEGER, hwId INTEGER, vmId INTEGER,
  processId INTEGER, deviceId INTEGER, contextId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, eventId INTEGER);
CREATE TABLE PROFILER_OVERHEAD (start INTEGER, "end" INTEGER, globalTid INTEGER, nameId INTEGER,
  returnValue INTEGER);
)";

constexpr const char* kNew = R"(
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.2.1.210'),
  ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT,
  systemClockNs INTEGER);
CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId INTEGER, hwId INTEGER, vmId INTEGER,
  processId INTEGER, deviceId INTEGER, contextId INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT,
  numMultiprocessors INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, eventId INTEGER,
  timestamp INTEGER, eventSyncId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, "end" INTEGER, deviceId INTEGER,
  contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER,
  globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER, "end" INTEGER, eventClass INTEGER,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER, overheadType INTEGER);
CREATE TABLE PROFILER_OVERHEAD (start INTEGER, "end" INTEGER, globalTid INTEGER, nameId INTEGER,
  overheadType INTEGER);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER,
  severity INTEGER, text TEXT, globalPid INTEGER);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
)";

// Numbers as the values of an INSERT.
std::string Insert(const std::string& table, const std::string& columns,
                   std::initializer_list<std::int64_t> values) {
  std::string sql = "INSERT INTO " + table + " (" + columns + ") VALUES (";
  for (const std::int64_t value : values) {
    if (sql.back() != '(') sql += ", ";
    sql += std::to_string(value);
  }
  return sql + ")";
}

template <typename T>
void Print(std::ostream& out, const char* name, const std::vector<T>& column) {
  out << name << ":";
  for (const T& value : column) {
    if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      out << ' ' << static_cast<long long>(value);
    } else {
      out << ' ' << value;
    }
  }
  out << '\n';
}

}  // namespace

TempDir::TempDir() {
  std::string name = (fs::temp_directory_path() / "advise-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::permissions(path_, fs::perms::owner_all, ignored);
  for (const auto& entry : fs::directory_iterator(path_, ignored)) KeepAsSeed(entry.path());
  fs::remove_all(path_, ignored);
}

std::vector<std::string> TempDir::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

NsysBuilder::NsysBuilder(std::string path, Schema schema) : path_(std::move(path)) {
  if (sqlite3_open(path_.c_str(), &db_) != SQLITE_OK) throw std::runtime_error("cannot open");
  Sql("pragma synchronous = off");  // thousands of small statements: no disk is waited for
  if (schema == Schema::kEmpty) return;
  Sql(kBoth).Sql(schema == Schema::k2_9 ? kOld : kNew);
  Text(1, "void kernel<float>(float*)").Text(2, "cudaLaunchKernel_v7000");
}

NsysBuilder::~NsysBuilder() { Close(); }

void NsysBuilder::Close() {
  sqlite3_close(db_);
  db_ = nullptr;
}

NsysBuilder& NsysBuilder::Sql(const std::string& sql) {
  char* message = nullptr;
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &message) != SQLITE_OK) {
    const std::string text = message == nullptr ? "unknown" : message;
    sqlite3_free(message);
    throw std::runtime_error(text + " in: " + sql);
  }
  return *this;
}

NsysBuilder& NsysBuilder::Text(std::int64_t id, const std::string& value) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db_, "INSERT INTO StringIds VALUES (?, ?)", -1, &statement, nullptr);
  sqlite3_bind_int64(statement, 1, id);
  sqlite3_bind_text(statement, 2, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
  const int code = sqlite3_step(statement);
  sqlite3_finalize(statement);
  if (code != SQLITE_DONE) throw std::runtime_error("StringIds row refused");
  return *this;
}

NsysBuilder& NsysBuilder::Add(const KernelRow& row) {
  return Sql(Insert("CUPTI_ACTIVITY_KIND_KERNEL",
                    "start, \"end\", deviceId, contextId, streamId, correlationId, globalPid, "
                    "demangledName, shortName, registersPerThread, gridX, gridY, gridZ, blockX, "
                    "blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
                    "localMemoryPerThread, graphNodeId",
                    {row.start,
                     row.end,
                     row.device,
                     row.context,
                     row.stream,
                     row.correlation,
                     GlobalPid(row.pid),
                     row.name,
                     row.name,
                     32,
                     row.grid_x,
                     1,
                     1,
                     128,
                     1,
                     1,
                     1024,
                     2048,
                     0,
                     row.graph_node}));
}

NsysBuilder& NsysBuilder::Add(const CallRow& row) {
  return Sql(Insert(
      "CUPTI_ACTIVITY_KIND_RUNTIME",
      "start, \"end\", eventClass, globalTid, correlationId, nameId, returnValue",
      {row.start, row.end, 0, GlobalTid(row.pid, row.tid), row.correlation, row.name, row.result}));
}

NsysBuilder& NsysBuilder::Add(const CopyRow& row) {
  return Sql(Insert("CUPTI_ACTIVITY_KIND_MEMCPY",
                    "start, \"end\", deviceId, contextId, streamId, correlationId, globalPid, "
                    "bytes, copyKind, srcKind, dstKind",
                    {row.start, row.end, row.device, row.context, row.stream, row.correlation,
                     GlobalPid(row.pid), row.bytes, row.kind, row.source_kind, row.target_kind}));
}

Trace Read(NsysBuilder& builder, int jobs) {
  builder.Close();
  Result<Trace> trace = ImportReport(builder.path(), {.jobs = jobs});
  if (!trace) FAIL(trace.error().Line());
  return std::move(*trace);
}

std::string Describe(const Trace& t) {
  std::ostringstream out;
  out << t.producer << '|' << t.schema << '|' << t.host << '|' << t.utc_origin_ns << '|'
      << t.session_ns << '|' << t.cpu_cores << '|' << t.driver_version << '\n';
  for (StringId id = 0; id < t.strings.size(); ++id) out << "string " << t.strings[id] << '\n';
  for (const Device& d : t.devices) {
    out << "device " << d.name << ' ' << d.uuid << ' ' << d.report_id << ' ' << d.ordinal << '\n';
  }
  for (const Process& p : t.processes) {
    out << "process " << p.global_pid << ' ' << p.name << ' ' << p.rank << '\n';
  }
  for (const Thread& h : t.threads) {
    out << "thread " << h.global_tid << ' ' << h.process << ' ' << h.name << '\n';
  }
  for (const Stream& s : t.streams) {
    out << "stream " << s.process << ' ' << s.device << ' ' << s.context << ' ' << s.id << ' '
        << s.is_default << ' ' << s.name << '\n';
  }
  for (const KernelShape& s : t.shapes) {
    out << "shape " << s.name << ' ' << s.short_name << ' ' << s.Blocks() << ' '
        << s.ThreadsPerBlock() << '\n';
  }
  Print(out, "ops.start", t.ops.start);
  Print(out, "ops.end", t.ops.end);
  Print(out, "ops.kind", t.ops.kind);
  Print(out, "ops.device", t.ops.device);
  Print(out, "ops.stream", t.ops.stream);
  Print(out, "ops.call", t.ops.call);
  Print(out, "ops.detail", t.ops.detail);
  Print(out, "ops.in_graph", t.ops.in_graph);
  Print(out, "copies.bytes", t.copies.bytes);
  Print(out, "copies.direction", t.copies.direction);
  Print(out, "copies.peer", t.copies.peer);
  Print(out, "copies.cause", t.copies.cause);
  Print(out, "calls.start", t.calls.start);
  Print(out, "calls.end", t.calls.end);
  Print(out, "calls.thread", t.calls.thread);
  Print(out, "calls.name", t.calls.name);
  Print(out, "calls.failed", t.calls.failed);
  Print(out, "syncs.start", t.syncs.start);
  Print(out, "syncs.call", t.syncs.call);
  Print(out, "syncs.stream", t.syncs.stream);
  Print(out, "events.time", t.events.time);
  Print(out, "events.call", t.events.call);
  Print(out, "ranges.start", t.ranges.start);
  Print(out, "ranges.end", t.ranges.end);
  Print(out, "ranges.thread", t.ranges.thread);
  Print(out, "ranges.name", t.ranges.name);
  Print(out, "ranges.domain", t.ranges.domain);
  Print(out, "os.start", t.os_calls.start);
  Print(out, "os.name", t.os_calls.name);
  Print(out, "mpi.start", t.mpi.start);
  Print(out, "mpi.kind", t.mpi.kind);
  Print(out, "mpi.sent", t.mpi.sent);
  Print(out, "sched.time", t.sched.time);
  Print(out, "sched.thread", t.sched.thread);
  Print(out, "samples.time", t.samples.time);
  Print(out, "samples.symbol", t.samples.symbol);
  Print(out, "overheads.start", t.overheads.start);
  Print(out, "overheads.name", t.overheads.name);
  Print(out, "memory.bytes", t.memory.bytes);
  for (const auto& [table, rows] : t.table_rows) out << table << ' ' << rows << '\n';
  for (const Diagnostic& d : t.diagnostics.list()) {
    out << static_cast<int>(d.level) << ' ' << d.table << ' ' << d.text << ' ' << d.count << '\n';
  }
  return out.str();
}

std::int64_t CountOf(const Trace& trace, const std::string& text, const std::string& table) {
  std::int64_t count = 0;
  for (const Diagnostic& d : trace.diagnostics.list()) {
    const bool same_table = table.empty() || d.table == table;
    if (same_table && d.text.find(text) != std::string::npos) count += d.count;
  }
  return count;
}

std::int64_t QueryNumber(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  sqlite3_stmt* statement = nullptr;
  const std::string uri = "file:" + path + "?immutable=1";
  std::int64_t number = -1;
  if (sqlite3_open_v2(uri.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) ==
          SQLITE_OK &&
      sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    number = sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return number;
}

}  // namespace advise::testing
