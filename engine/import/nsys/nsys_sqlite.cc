// The tables are read by a few tasks side by side, each a group of tables that belong together:
//
//   nsys_sqlite_gpu      kernels, copies, memsets, graph launches  → ops and its details
//   nsys_sqlite_calls    runtime and driver calls; waits, events   → calls, syncs, events
//   nsys_sqlite_nvtx     NVTX                                      → ranges
//   nsys_sqlite_nccl     payloads of NCCL's ranges                 → collectives, groups
//   nsys_sqlite_openacc  directives of OpenACC                     → ranges
//   nsys_sqlite_openmp   regions of OpenMP on the host              → ranges
//   nsys_sqlite_host     OS calls, scheduling, samples, overhead   → os_calls, sched, …
//   nsys_sqlite_mpi      calls of MPI                              → mpi
//   nsys_sqlite_memory   memory usage, page faults                 → memory, faults
//   nsys_sqlite_metrics  sampled metrics                           → gpu_series, nic_series
//   nsys_sqlite_system   machine, capture, names                   → the trace's own fields
//
// and joined by nsys_sqlite_assemble. Which tables and columns exist is asked, never concluded from
// the schema version. What is not read, and why: docs/design/what-is-not-read.md.
#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <new>
#include <numeric>
#include <thread>

#include "engine/import/formats.h"
#include "engine/import/nsys/nsys_sqlite_assemble.h"

namespace advise {
namespace nsys {
namespace {

using sqlite::Connect;
using sqlite::FileState;
using sqlite::PageFile;
using sqlite::PageTables;
using sqlite::RowLimit;
using sqlite::TaskRows;

struct Task {
  std::string_view table;  // the largest that it reads, for sharing out work
  ReadLog& log;
  std::function<void(Reader&)> read;
  std::size_t part_of = 1;  // it reads one of so many parts of the table
};

template <typename Rows>
Task TaskFor(std::string_view table, Logged<Rows>& into, Rows (*read)(Reader&)) {
  return {table, into.log, [&into, read](Reader& reader) { into.rows = read(reader); }};
}

// Runs the tasks on `databases.size()` threads, the longest first. Rethrows what a task throws.
void RunTasks(const Source& source, const PageTables* pages, std::vector<Task>& tasks,
              std::vector<SQLite::Database>& databases, HowFar* how_far) {
  ReadLog unused;
  const Reader sizes{source, databases.front().getHandle(), unused};
  std::vector<std::pair<std::size_t, std::size_t>> order;  // (rows, task)
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    order.emplace_back(RowLimit(sizes, tasks[i].table) / tasks[i].part_of, i);
  }
  std::sort(order.rbegin(), order.rend());
  if (how_far != nullptr) {
    std::uint64_t rows = 0;
    for (const auto& [of_task, task] : order) rows += of_task;
    how_far->Begin(HowFar::Unit::kRows, rows);
  }

  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(databases.size());
  const auto work = [&](std::size_t worker) {
    try {
      for (std::size_t i = next++; i < order.size(); i = next++) {
        Task& task = tasks[order[i].second];
        TaskRows rows(how_far, task.table, order[i].first);
        Reader reader{source, databases[worker].getHandle(), task.log, pages, &rows};
        task.read(reader);
        rows.End();
      }
    } catch (...) {
      failures[worker] = std::current_exception();
      next = order.size();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t worker = 1; worker < databases.size(); ++worker) {
      others.emplace_back(work, worker);
    }
    work(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

// Nothing when the tables are those of an nsys export.
std::optional<Error> OtherProgram(const Source& source) {
  const std::string& path = source.path;
  if (source.tables.empty()) {
    return Error{"the database has no tables", path, "export the report again"};
  }
  for (const char* table :
       {"StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA", "TARGET_INFO_SESSION_START_TIME"}) {
    if (source.Has(table)) return {};
  }
  std::string program;
  if (source.Has("StringTable") || source.Has("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL")) {
    program = "nvprof or the Visual Profiler";
  } else if (source.Has("read_only_kernels") || source.Has("read_only_op_instances")) {
    program = "DLProf";
  } else {
    program = fmt::format("with the table {}", source.tables.begin()->first);
  }
  return Error{
      fmt::format("a database of another program ({}), not an Nsight Systems export", program),
      path, "capture with: nsys profile; then: nsys export --type sqlite REPORT.nsys-rep"};
}

// Into how many parts the kernels are cut: depends on the report alone, as all that is read.
std::size_t PartsOf(const Source& source, SQLite::Database& database) {
  constexpr std::size_t kRowsOfPart = 1'000'000;
  constexpr std::size_t kMostParts = 16;
  ReadLog unused;
  const Reader sizes{source, database.getHandle(), unused};
  return std::clamp<std::size_t>(RowLimit(sizes, kKernelTable) / kRowsOfPart, 1, kMostParts);
}

// Keeps other programs that use SQLite from writing until the connection goes, where the system has
// locks; all tables are then of one time. A wish: without it, tables are read as they are.
void HoldStill(SQLite::Database& database) {
  sqlite3_exec(database.getHandle(), "BEGIN; SELECT count(*) FROM sqlite_master", nullptr, nullptr,
               nullptr);
}

// `by_pages`: whether large tables may be read from their pages, else by SQLite. Throws Unusual,
// with `by_pages` only.
Result<Trace> ImportSource(const Source& source, const ImportOptions& options, bool by_pages) {
  const FileState before(source.path);
  Trace trace;
  trace.path = source.path;
  AllRows all;
  std::vector<Task> tasks = {
      TaskFor("NVTX_EVENTS", all.ranges, ReadRanges),
      TaskFor("NVTX_PAYLOAD_SCHEMA_ENTRIES", all.nccl, ReadNccl),
      TaskFor("CUPTI_ACTIVITY_KIND_OPENACC_DATA", all.directives, ReadDirectives),
      TaskFor("OSRT_API", all.os_calls, ReadOsCalls),
      TaskFor("MPI_P2P_EVENTS", all.mpi, ReadMpi),
      TaskFor("CUPTI_ACTIVITY_KIND_RUNTIME", all.calls, ReadCalls),
      TaskFor("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", all.waits, ReadWaits),
      TaskFor("SCHED_EVENTS", all.sched, ReadSched),
      TaskFor("SAMPLING_CALLCHAINS", all.samples, ReadSamples),
      TaskFor("GPU_METRICS", all.series, ReadSeries),
      TaskFor("PROFILER_OVERHEAD", all.overheads, ReadOverheads),
      TaskFor("CUDA_GPU_MEMORY_USAGE_EVENTS", all.memory, ReadMemory),
  };
  tasks.push_back({"ThreadNames", all.system.log,
                   [&](Reader& reader) { all.system.rows = ReadSystem(reader, trace); }});
  std::vector<SQLite::Database> databases;
  databases.push_back(Connect(source));
  HoldStill(databases.front());
  const auto file = by_pages ? PageFile::Open(source.path) : nullptr;
  std::optional<PageTables> pages;
  if (file != nullptr) pages.emplace(*file, databases.front().getHandle());
  std::vector<Logged<GpuRows>> parts(PartsOf(source, databases.front()));
  for (std::size_t number = 0; number < parts.size(); ++number) {
    tasks.push_back({kKernelTable, parts[number].log,
                     [&parts, number](Reader& reader) {
                       parts[number].rows = ReadGpuRows(reader, {number, parts.size()});
                     },
                     parts.size()});
  }
  const int jobs = std::clamp(options.jobs, 1, static_cast<int>(tasks.size()));
  for (int job = 1; job < jobs; ++job) databases.push_back(Connect(source));
  RunTasks(source, pages ? &*pages : nullptr, tasks, databases, options.how_far);
  std::vector<GpuRows> gpu;
  for (Logged<GpuRows>& part : parts) {
    gpu.push_back(std::move(part.rows));
    all.gpu_logs.push_back(std::move(part.log));
  }
  all.gpu = JoinGpuRows(std::move(gpu), jobs);

  ReadLog log;  // of the names, which are read last
  Reader reader{source, databases.front().getHandle(), log};
  for (const Diagnostic& d : source.diagnostics.list()) {
    trace.diagnostics.Add(d.level, d.text, d.table, d.count);
  }
  Assemble(std::move(all), reader, jobs, trace);
  for (const Diagnostic& d : log.diagnostics.list()) {
    trace.diagnostics.Add(d.level, d.text, d.table, d.count);
  }
  if (!(FileState(source.path) == before)) {
    trace.diagnostics.Add(Level::kWarning,
                          "the file was written or replaced while it was read: rows may be missing "
                          "or wrong; read it again when its writer is done");
  }
  for (const auto& [table, rows] : log.rows) trace.table_rows[table] += rows;
  std::int64_t rows_read = 0;
  for (const auto& [table, rows] : trace.table_rows) rows_read += rows;
  const auto& problems = trace.diagnostics.list();
  const bool is_damaged = std::any_of(problems.begin(), problems.end(),
                                      [](const Diagnostic& d) { return d.level == Level::kError; });
  if (rows_read == 0 && is_damaged) {
    return Fail("the database is damaged: no table could be read", source.path,
                "export the report again");
  }
  for (const auto& [table, columns] : source.tables) {
    if (!table.starts_with("ENUM_")) trace.table_rows.emplace(table, 0);
  }
  return trace;
}

}  // namespace
}  // namespace nsys

bool SniffNsysSqlite(std::string_view head, const std::string& /*path*/) {
  return sqlite::IsDatabase(head);
}

Result<Trace> ReadNsysSqlite(const std::string& path, const ImportOptions& options) {
  try {
    Result<sqlite::Source> source = sqlite::OpenSource(path);
    if (!source) return tl::unexpected(source.error());
    if (const auto error = nsys::OtherProgram(*source)) return tl::unexpected(*error);
    const bool by_pages = !source->is_damaged && source->diagnostics.list().empty();
    try {
      return nsys::ImportSource(*source, options, by_pages);
    } catch (const sqlite::Unusual&) {
      return nsys::ImportSource(*source, options, false);
    }
  } catch (const SQLite::Exception& error) {
    return Fail(std::string("the database cannot be read: ") + error.what(), path,
                "export the report again");
  } catch (const std::bad_alloc&) {
    return Fail("there is not enough memory for this report", path,
                "export a part of it: nsys export --type sqlite --times START/END");
  }
}

}  // namespace advise
