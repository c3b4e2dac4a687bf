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

#include <algorithm>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/import/nsys/nsys_sqlite_scan.h"
#include "engine/import/operator_inputs.h"
#include "engine/trace/tables.h"

namespace advise::nsys {

// Packed ids: <hardware:8><vm:8><process:24><thread:24>.
inline constexpr std::int64_t ProcessKey(std::int64_t global_id) {
  return global_id & ~0xff'ffffLL;
}
inline constexpr std::int64_t PidOf(std::int64_t global_id) {
  return (global_id >> 24) & 0xff'ffff;
}
inline constexpr std::int64_t TidOf(std::int64_t global_id) { return global_id & 0xff'ffff; }

inline constexpr std::int64_t kNoStream = 0xffff'ffff;  // as CUPTI writes "not applicable"

// A stream, or with `stream` = kNoStream just a device of a process.
struct StreamKey {
  std::int64_t process = 0;  // as ProcessKey; 0 when the report does not say
  std::int64_t device = 0;   // CUDA ordinal inside the process
  std::int64_t context = 0;
  std::int64_t stream = kNoStream;
  auto operator<=>(const StreamKey&) const = default;
};

struct KeyHash {
  std::size_t operator()(std::int64_t key) const {
    return static_cast<std::size_t>(key) * 0x9e37'79b9'7f4a'7c15ULL;
  }
  std::size_t operator()(const StreamKey& key) const {
    std::size_t hash = 0;
    for (const std::int64_t part : {key.process, key.device, key.context, key.stream}) {
      hash = (hash ^ (*this)(part)) * 0x9e37'79b9'7f4a'7c15ULL;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

// Numbers for keys. The last key is remembered: rows of one thread or stream come in runs.
template <typename Key>
class Dictionary {
 public:
  std::uint32_t Number(const Key& key) {
    if (!keys_.empty() && keys_[last_] == key) return last_;
    const auto [found, is_new] = numbers_.emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) keys_.push_back(key);
    return last_ = found->second;
  }
  const std::vector<Key>& keys() const { return keys_; }

  // Puts the keys into order and rewrites `numbers` (kNone stays). Call when all keys are known.
  void SortKeys(std::initializer_list<std::vector<std::uint32_t>*> columns) {
    std::vector<std::uint32_t> order(keys_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return keys_[a] < keys_[b]; });
    std::vector<std::uint32_t> rank(order.size());
    std::vector<Key> sorted;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = i;
      sorted.push_back(keys_[order[i]]);
    }
    keys_ = std::move(sorted);
    numbers_.clear();
    last_ = 0;
    for (std::vector<std::uint32_t>* column : columns) {
      for (std::uint32_t& number : *column) {
        if (number != kNone) number = rank[number];
      }
    }
  }

 private:
  std::vector<Key> keys_;
  std::unordered_map<Key, std::uint32_t, KeyHash> numbers_;
  std::uint32_t last_ = 0;
};

using ThreadKeys = Dictionary<std::int64_t>;
using StreamKeys = Dictionary<StreamKey>;

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
  OpTable ops;  // `device` is empty
  CopyTable copies;
  MemsetTable memsets;
  std::vector<KernelShape> shapes;
  StreamKeys streams;
};
inline constexpr std::string_view kKernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";
// Kernels make the largest table by far: its rows are read in parts side by side. The last part
// reads the other tables, too.
struct GpuPart {
  std::size_t number = 0;
  std::size_t of = 1;
};
GpuRows ReadGpuRows(Reader& reader, GpuPart part);  // in the order of the tables
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

// nsys_sqlite_host.cc
struct OsCallRows {
  OsCallTable calls;  // sorted
  ThreadKeys threads;
};
OsCallRows ReadOsCalls(Reader& reader);

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
