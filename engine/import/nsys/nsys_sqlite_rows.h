// What the reading tasks hand over: our tables, with the report's own keys still behind their index
// columns. Each task numbers the threads and streams that it meets in key order, so that merging
// the tasks' numbers (nsys_sqlite_assemble) keeps every sorted table sorted.
//
//   column              until assembled
//   thread              index into the task's `threads` (packed globalTid)
//   stream, device      index into the task's `streams` (process, device, context, stream)
//   call                correlation id, 0 none
//   name, symbol …      NameRef
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "engine/import/keys.h"
#include "engine/import/nsys/nsys_sqlite_strings.h"
#include "engine/import/operator_sizes.h"
#include "engine/import/sqlite/sqlite_scan.h"
#include "engine/lookup/cupti.h"
#include "engine/trace/tables.h"

namespace advise::nsys {

using cupti::PidOf;
using cupti::TidOf;
using sqlite::ReadLog;
using sqlite::Scan;
using sqlite::Source;
using sqlite::TablePart;
inline constexpr std::int64_t ProcessKey(std::int64_t global_id) {
  return cupti::ProcessOf(global_id);
}

using ThreadKeys = Dictionary<std::int64_t>;  // packed globalTid

// The thread of a row, kNone for NULL.
inline std::uint32_t ThreadNumber(const Scan& scan, int column, ThreadKeys& threads) {
  return scan.IsNull(column) ? kNone : threads.Number(scan.Int(column));
}

// The stream of a row from deviceId, contextId, streamId, correlationId, globalPid at `column` on.
inline std::uint32_t StreamNumber(const Scan& scan, int column, StreamKeys& streams) {
  return streams.Number({.process = ProcessKey(scan.Int(column + 4)),
                         .device = scan.Int(column),
                         .context = scan.Int(column + 1),
                         .stream = scan.Int(column + 2)});
}

// NULL and unheard-of kinds are unknown.
inline MemoryKind MemoryKindOf(const Scan& scan, int column) {
  const std::int64_t kind = scan.Int(column);
  return scan.IsNull(column) || kind < 0 || kind > 7 ? MemoryKind::kUnknown
                                                     : static_cast<MemoryKind>(kind);
}

// nsys_sqlite_gpu.cc
struct GpuRows {
  OpTable ops;                       // `device` is empty
  std::vector<std::uint32_t> nodes;  // of graphs, by op, 0 none; empty once joined
  std::size_t listed_twice = 0;      // ops that were dropped for that
  CopyTable copies;
  MemsetTable memsets;
  std::vector<KernelShape> shapes;
  StreamKeys streams;
};
inline constexpr std::string_view kKernelTable = cupti::kKernels;
// Kernels make the largest table by far: its rows are read in parts side by side. The last part
// reads the other tables, too.
GpuRows ReadGpuRows(Reader& reader, TablePart part);  // in the order of the tables
// Sorted. On up to `jobs` threads.
GpuRows JoinGpuRows(std::vector<GpuRows> parts, int jobs);

// nsys_sqlite_calls.cc
struct CallRows {
  CallTable calls;  // sorted
  ThreadKeys threads;
};
CallRows ReadCalls(Reader& reader);

struct WaitRows {
  SyncTable syncs;    // sorted
  EventTable events;  // kNoTime where the report has no time; unsorted
  StreamKeys streams;
};
inline constexpr Nanos kNoTime = std::numeric_limits<Nanos>::min();
WaitRows ReadWaits(Reader& reader);

// nsys_sqlite_nvtx.cc
struct RangeRows {
  RangeTable ranges;  // sorted; `end` of open ranges is kOpenEnd
  ThreadKeys threads;
  std::map<std::int64_t, NameRef> thread_names;  // by globalTid
  InputLists inputs;                             // of rows whose text names the operator's sizes
};
inline constexpr Nanos kOpenEnd = std::numeric_limits<Nanos>::max();
RangeRows ReadRanges(Reader& reader);
// "aten::add" of "aten::add, seq = 3, op_id = 7, sizes = [[2]]": without what PyTorch appends to
// make each name unique.
std::string_view WithoutUniqueSuffix(std::string_view name);
// "aten::mm", "autograd::engine::evaluate_function: MmBackward0", "MmBackward0": PyTorch's own,
// which torch.autograd.profiler.emit_nvtx writes as ranges.
bool IsOperatorName(std::string_view name);
// Moves ranges that are operators to the table of operators; payloads are then sequence numbers.
void SplitOperators(Trace* trace);

// nsys_sqlite_nccl.cc
struct NcclRows {
  struct Call {
    Nanos start = 0, end = 0;
    std::uint32_t thread = kNone;
    NameRef name = kNone;
    std::uint64_t communicator = 0;
    std::int64_t bytes = -1;  // -1: the call moves nothing, or does not say
    int ranks = 0;            // of calls that make a communicator
  };
  std::vector<Call> calls;
  ThreadKeys threads;
};
NcclRows ReadNccl(Reader& reader);
// Fills the trace's collectives and groups. `calls` have the trace's own threads and names; ranges,
// calls and ops are joined. O(ops log calls).
void JoinNccl(std::vector<NcclRows::Call> calls, Trace& trace);

// nsys_sqlite_openacc.cc
struct DirectiveRows {
  struct Directive {
    Nanos start = 0, end = 0;
    std::uint32_t thread = kNone;
    NameRef file = kNone, variable = kNone;
    std::string_view model, words;  // "OpenACC", "upload": texts that stay
    std::int64_t line = 0, bytes = 0;
  };
  std::vector<Directive> directives;
  ThreadKeys threads;
};
// nsys_sqlite_openmp.cc
void AppendOpenMp(Reader& reader, DirectiveRows& rows);
DirectiveRows ReadDirectives(Reader& reader);
// Adds them to the trace's ranges. They have the trace's own threads and names.
void JoinDirectives(const std::vector<DirectiveRows::Directive>& directives, Trace& trace);

// nsys_sqlite_host.cc
struct OsCallRows {
  OsCallTable calls;  // sorted
  ThreadKeys threads;
};
OsCallRows ReadOsCalls(Reader& reader);

// nsys_sqlite_mpi.cc
struct MpiRows {
  MpiTable calls;  // in the order of the tables; `sent` is the size that the row names
  ThreadKeys threads;
};
MpiRows ReadMpi(Reader& reader);
// Sorts and completes the trace's calls of MPI, which have its own threads and names, and takes
// those among its ranges.
void JoinMpi(Trace& trace);

struct SchedRows {
  SchedTable sched;  // sorted
  ThreadKeys threads;
};
SchedRows ReadSched(Reader& reader);

struct SampleRows {
  SampleTable samples;  // sorted
  ThreadKeys threads;
};
SampleRows ReadSamples(Reader& reader);

struct OverheadRows {
  OverheadTable overheads;  // sorted
  ThreadKeys threads;
};
OverheadRows ReadOverheads(Reader& reader);

// nsys_sqlite_memory.cc
struct MemoryRows {
  MemoryTable memory;  // sorted; `process` is empty
  FaultTable faults;   // sorted
  StreamKeys devices;
};
MemoryRows ReadMemory(Reader& reader);

// nsys_sqlite_metrics.cc
struct SeriesRows {
  std::vector<Series> gpu;  // `device` is the report's GPU id, kNone unknown
  std::vector<Series> nic;
};
SeriesRows ReadSeries(Reader& reader);

}  // namespace advise::nsys
