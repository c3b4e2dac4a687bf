// THE model that every importer fills and every metric reads: what happened on GPUs and hosts, as
// columns.
//
// Conventions: times are whole nanoseconds on the trace's own clock; an index column holds kNone
// for "no such row"; a table's columns always have equal length; nothing is stored twice. GPU work
// (kernels, copies, memsets, graphs traced as a whole) shares one table, `ops`, in time order, with
// what is special to a kind in a table of its own.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/units.h"
#include "engine/trace/collectives.h"
#include "engine/trace/counters.h"
#include "engine/trace/diagnostics.h"
#include "engine/trace/monitor.h"
#include "engine/trace/mpi.h"
#include "engine/trace/operator_inputs.h"
#include "engine/trace/profile.h"
#include "engine/trace/server_log.h"
#include "engine/trace/strings.h"
#include "engine/trace/topology.h"

namespace advise {

enum class OpKind : std::uint8_t { kKernel, kCopy, kMemset, kGraph };

// Values as CUPTI numbers them. kPageable is 0, which very old exports also use for "unknown".
enum class MemoryKind : std::uint8_t {
  kPageable,
  kPinned,
  kDevice,
  kArray,
  kManaged,
  kDeviceStatic,
  kManagedStatic,
  kUnknown
};

enum class CopyDirection : std::uint8_t {
  kUnknown,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kPeerToPeer,
  kHostToHost,
  kMigrationToDevice,  // unified memory, moved by the driver: no launching call
  kMigrationToHost,
  kMigrationPeer,
};

inline bool IsMigration(CopyDirection direction) {
  return direction == CopyDirection::kMigrationToDevice ||
         direction == CopyDirection::kMigrationToHost || direction == CopyDirection::kMigrationPeer;
}

// Why the driver moved unified memory, as CUPTI numbers it.
enum class MigrationCause : std::uint8_t {
  kUnknown,
  kUser,         // the program prefetched it
  kFault,        // the GPU or the host touched a page that was not there
  kSpeculative,  // pages around one that was touched
  kEviction,     // the GPU's memory was full
  kAccessCounters,
};

// A physical GPU that the report knows of or that did work.
struct Device {
  std::string name;             // "NVIDIA H100 80GB HBM3", "" when the report does not say
  std::string uuid;             // without "GPU-", may be empty
  std::int64_t report_id = -1;  // the profiler's own number of the GPU, -1 unknown
  // The number that users see: CUDA ordinal of the first process that used it. Where processes call
  // different GPUs the same, the profiler's own number.
  std::int64_t ordinal = 0;
  std::int64_t cuda_ordinal = 0;  // as its first process called it: what the report's tables hold
  int sm_count = 0;               // 0 unknown (so all numbers below)
  double clock_hz = 0;
  double memory_bytes_per_s = 0;
  double memory_bytes = 0;
  double l2_bytes = 0;
  int max_threads_per_sm = 0;
  int compute_major = 0;
  int compute_minor = 0;
  std::string compute_capability() const {
    return compute_major == 0 ? ""
                              : std::to_string(compute_major) + "." + std::to_string(compute_minor);
  }
};

struct Process {
  std::int64_t global_pid = 0;  // as packed in the report; 0 when the format has none
  std::int64_t pid = 0;
  std::string name;
  int rank = -1;             // -1 unknown
  std::uint32_t report = 0;  // -> Trace::joined
};

struct Thread {
  std::int64_t global_tid = 0;
  std::int64_t tid = 0;
  std::uint32_t process = kNone;
  StringId name = 0;
};

struct Stream {
  std::uint32_t process = kNone;
  std::uint32_t device = kNone;
  std::int64_t context = 0;
  std::int64_t id = 0;      // the profiler's stream number inside its context
  bool is_default = false;  // the legacy default ("null") stream of its context
  StringId name = 0;
};

// What two launches of "the same kernel" share. Interned: a shape is stored once.
struct KernelShape {
  StringId name = 0;  // demangled, full
  StringId short_name = 0;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint32_t registers = 0;            // per thread
  std::uint32_t static_shared_bytes = 0;  // per block
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t local_bytes = 0;  // per thread: spills and local arrays
  std::uint64_t Blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  std::uint64_t ThreadsPerBlock() const { return std::uint64_t{block[0]} * block[1] * block[2]; }
};

// GPU work, sorted by (start, end).
struct OpTable {
  std::vector<Nanos> start;
  std::vector<Nanos> end;
  std::vector<OpKind> kind;
  std::vector<std::uint16_t> device;  // -> Trace::devices
  std::vector<std::uint32_t> stream;  // -> Trace::streams; kNone for migrations
  std::vector<std::uint32_t>
      call;  // -> Trace::calls, the call that launched it; kNone when not captured
  std::vector<std::uint32_t>
      detail;  // -> shapes (kernel), copies (copy), memsets (memset), graph id (graph)
  std::vector<std::uint8_t> in_graph;  // 1 when a graph node traced by itself
  std::size_t size() const { return start.size(); }
  Nanos Length(std::uint32_t op) const { return end[op] - start[op]; }
};

struct CopyTable {
  std::vector<std::int64_t> bytes;
  std::vector<CopyDirection> direction;
  std::vector<MemoryKind> source;
  std::vector<MemoryKind> target;
  std::vector<std::uint32_t> peer;    // -> devices, the other GPU of a peer copy; kNone otherwise
  std::vector<MigrationCause> cause;  // of migrations
  std::size_t size() const { return bytes.size(); }
};

struct MemsetTable {
  std::vector<std::int64_t> bytes;
  std::vector<MemoryKind> memory;
  std::size_t size() const { return bytes.size(); }
};

// CUDA/HIP runtime and driver calls on host threads, sorted by (thread, start, -end): each thread
// is one run of rows.
struct CallTable {
  std::vector<Nanos> start;
  std::vector<Nanos> end;
  std::vector<std::uint32_t> thread;
  std::vector<StringId> name;              // without version suffix: "cudaLaunchKernel"
  std::vector<std::uint32_t> correlation;  // as in the report (low 32 bits), for evidence
  std::vector<std::uint8_t>
      failed;  // 1 when the call returned an error (not-ready of queries is no error)
  std::size_t size() const { return start.size(); }
};

// What the profiler says of waits: one row per synchronization record. Sorted by start.
struct SyncTable {
  std::vector<Nanos> start;
  std::vector<Nanos> end;
  std::vector<std::uint32_t> call;     // kNone when unknown
  std::vector<std::uint32_t> stream;   // kNone for whole-device waits
  std::vector<std::int64_t> event_id;  // 0 none
  std::size_t size() const { return start.size(); }
};

// cudaEventRecord, one row a record. Sorted by time.
struct EventTable {
  std::vector<Nanos> time;  // when reached on the GPU; the call's start when not collected
  std::vector<std::uint32_t> call;
  std::vector<std::uint32_t> stream;
  std::vector<std::int64_t> event_id;
  std::size_t size() const { return time.size(); }
};

// Named ranges that the program opened (NVTX, user annotations), sorted by (thread, start, -end).
struct RangeTable {
  std::vector<Nanos> start;
  std::vector<Nanos> end;  // open ranges end with the trace
  std::vector<std::uint32_t> thread;
  std::vector<StringId> name;  // unique suffixes (", op_id = 7", ", seq = 3") removed; see raw
  std::vector<StringId> domain;
  std::vector<std::int64_t> payload;  // integer payload, 0 none
  std::vector<std::uint32_t> inputs;  // -> Trace::operator_inputs, of operators; kNone; no rows at
                                      // all where no sizes were recorded
  std::size_t size() const { return start.size(); }
};

// A framework operator on the host ("aten::copy_"), where the format has such. Same shape as
// ranges; payload is the autograd sequence number that forward and backward share, -1 none.
using OperatorTable = RangeTable;

// Operating-system calls that were long enough to be traced, sorted by (thread, start, -end).
struct OsCallTable {
  std::vector<Nanos> start;
  std::vector<Nanos> end;
  std::vector<std::uint32_t> thread;
  std::vector<StringId> name;
  std::size_t size() const { return start.size(); }
};

// A thread put on or taken off a CPU, sorted by (thread, time).
struct SchedTable {
  std::vector<Nanos> time;
  std::vector<std::uint32_t> thread;
  std::vector<std::uint16_t> cpu;
  std::vector<std::uint8_t> on;  // 1 put on, 0 taken off
  std::size_t size() const { return time.size(); }
};

// CPU samples, sorted by (thread, time). symbol/module are of the innermost frame, 0 when
// unresolved.
struct SampleTable {
  std::vector<Nanos> time;
  std::vector<std::uint32_t> thread;
  std::vector<StringId> symbol;
  std::vector<StringId> module;
  std::size_t size() const { return time.size(); }
};

// Device (and pinned host) memory taken and given back, sorted by time. From the driver, or from
// the caching allocator of a framework: then rows are tensors, and `reserved` is what the allocator
// holds of the driver's memory.
struct MemoryTable {
  std::vector<Nanos> time;
  std::vector<std::int64_t> bytes;  // negative: given back
  std::vector<std::uint64_t> address;
  std::vector<MemoryKind> memory;
  std::vector<std::uint32_t> device;
  std::vector<std::uint32_t> process;
  std::vector<std::int64_t> reserved;  // on the device after this row; empty for the driver's rows
  std::size_t size() const { return time.size(); }
};

// Unified-memory page faults, sorted by start. CPU faults have no duration and no device.
struct FaultTable {
  std::vector<Nanos> start;
  std::vector<Nanos> end;
  std::vector<std::uint32_t> device;  // kNone: a CPU fault
  std::vector<std::uint32_t> count;
  std::size_t size() const { return start.size(); }
};

// The profiler's own work on host threads, and CUDA's lazy loading and compilation, sorted by
// (thread, start).
struct OverheadTable {
  std::vector<Nanos> start;
  std::vector<Nanos> end;
  std::vector<std::uint32_t> thread;  // kNone when not tied to a thread
  std::vector<StringId> name;  // "Buffer flush", "Lazy function loading", "Command buffer full" …
  std::size_t size() const { return start.size(); }
};

// A series of samples of one quantity: GPU metrics, NIC metrics. Times ascend.
struct Series {
  std::string name;  // as the report prints it, without the bracketed unit: "SMs Active"
  std::string unit;  // "percent", "hz", "count", "bytes" …
  std::uint32_t device = kNone;  // -> devices; kNone for a NIC or an unknown GPU
  std::string source;            // NIC or GPU name as printed
  std::string link;              // of a NIC: "InfiniBand", "Ethernet"; "" not said
  std::vector<Nanos> time;
  std::vector<double> value;
};

// One report, with what logs beside it say of the same run.
struct Trace {
  // Where it came from.
  std::string path;
  std::string kind;      // "nsys-sqlite", "kineto", …
  std::string producer;  // "nsys 2025.3.2"
  std::string schema;    // "3.20.3"
  std::string host;
  std::int64_t utc_origin_ns = 0;  // UTC of time 0; 0 unknown
  Nanos session_ns = 0;            // length of the capture session; 0 unknown
  int cpu_cores = 0;               // logical CPUs of the host; 0 unknown
  std::string driver_version;
  // Capture options and environment as recorded; names repeat. Values may be secrets: print allowed
  // names only.
  std::vector<std::pair<std::string, std::string>> capture_options;
  std::vector<std::pair<std::string, std::string>> environment;
  std::map<std::string, std::int64_t> table_rows;  // rows read of each input table that exists
  // What the profiler itself reported (its warnings and errors).
  struct ProfilerMessage {
    Level level = Level::kInfo;
    std::string text;
  };
  std::vector<ProfilerMessage> profiler_messages;

  // Of one rank of a report that holds several (see part.h), as its tables name it: the packed id
  // of its process (0: a whole report), its GPU (-1: all of the process's), and the packed ids of
  // the process's threads that are of other ranks.
  std::int64_t part_of = 0;
  std::int64_t part_device = -1;
  std::vector<std::int64_t> part_without;

  // The reports that the trace was put together from (see together.h); empty: it is of one.
  struct JoinedReport {
    std::string path;
    Nanos later = 0;  // its time 0 on the clock of the trace
  };
  std::vector<JoinedReport> joined;

  StringPool strings;
  std::vector<Device> devices;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Stream> streams;
  std::vector<KernelShape> shapes;
  OpTable ops;
  CopyTable copies;
  MemsetTable memsets;
  CallTable calls;
  SyncTable syncs;
  EventTable events;
  RangeTable ranges;
  OsCallTable os_calls;
  MpiTable mpi;
  SchedTable sched;
  SampleTable samples;
  MemoryTable memory;
  FaultTable faults;
  OverheadTable overheads;
  std::vector<Series> gpu_series;
  std::vector<Series> nic_series;
  OperatorTable operators;   // framework operators; ranges hold what users annotated
  RangeTable python_frames;  // python functions that were traced, "file.py(12): name"
  std::vector<OperatorInputs> operator_inputs;  // of rows of operators, else of ranges
  CollectiveTable collectives;
  std::vector<CommGroup> groups;

  // Of a distributed job; -1 and 0 unknown.
  int rank = -1;
  int world_size = 0;

  // From inputs without a timeline: kernel profilers, monitors, topology tools, NCCL's log, totals,
  // servers.
  std::vector<KernelCounters> counters;
  Profile profile;
  Monitor monitor;
  Topology topology;
  NcclLog nccl;
  ServerLog server;

  // Whether the input has a timeline, or only adds to one.
  bool HasTimeline() const {
    return ops.size() + calls.size() + ranges.size() > 0 || kind == "nsys-sqlite";
  }

  // Of an op that is a copy.
  std::int64_t BytesOfCopy(std::uint32_t op) const { return copies.bytes[ops.detail[op]]; }
  CopyDirection DirectionOfCopy(std::uint32_t op) const { return copies.direction[ops.detail[op]]; }

  Diagnostics diagnostics;

  bool HasTable(const std::string& name) const {
    const auto found = table_rows.find(name);
    return found != table_rows.end() && found->second > 0;
  }
};

// Rows [first, last) of a table: those of one thread where it is sorted by thread, those of some
// time where it is sorted by time.
struct RowRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool empty() const { return first == last; }
  std::size_t size() const { return last - first; }

  // for (const std::uint32_t row : rows)
  struct Iterator {
    std::uint32_t row = 0;
    std::uint32_t operator*() const { return row; }
    Iterator& operator++() {
      ++row;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  Iterator begin() const { return {first}; }
  Iterator end() const { return {last}; }
};

// For a thread column that is sorted: the rows of each of `thread_count` threads. O(n).
std::vector<RowRange> RowsByThread(const std::vector<std::uint32_t>& thread,
                                   std::size_t thread_count);

}  // namespace advise
