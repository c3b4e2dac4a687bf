#include "engine/trace/part.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/base/is_in.h"
#include "engine/trace/columns.h"

namespace advise {
namespace {

using Rows = std::vector<std::uint32_t>;

template <typename T>
void KeepColumn(const std::vector<T>& from, const Rows& rows, std::vector<T>* to) {
  if (from.empty()) return;  // a column that this report does not have
  to->reserve(rows.size());
  for (const std::uint32_t row : rows) to->push_back(from[row]);
}

// Rows of which `wanted` is true.
template <typename Wanted>
Rows Where(std::size_t size, const Wanted& wanted) {
  Rows rows;
  for (std::uint32_t row = 0; row < size; ++row) {
    if (wanted(row)) rows.push_back(row);
  }
  return rows;
}

bool Contains(const Rows& rows, std::uint32_t row) { return IsIn(row, rows); }

// Where each kept row went; kNone for the others.
std::vector<std::uint32_t> NewPlaces(std::size_t size, const Rows& rows) {
  std::vector<std::uint32_t> places(size, kNone);
  for (std::uint32_t i = 0; i < rows.size(); ++i) places[rows[i]] = i;
  return places;
}

void Replace(const std::vector<std::uint32_t>& places, std::vector<std::uint32_t>* column) {
  for (std::uint32_t& row : *column) row = row == kNone ? kNone : places[row];
}

// Whose processes without GPU work are, as far as it shows: a worker rests when a batch is ready,
// and at that moment the process that waited for it goes on.
class Helpers {
 public:
  Helpers(const Trace& trace, const Rows& working, const HelperLimits& limits)
      : trace_(trace), limits_(limits) {
    const OsCallTable& os = trace.os_calls;
    for (std::uint32_t row = 0; row < os.size(); ++row) {
      if (IsRest(row) && Contains(working, ProcessOf(row)))
        goes_on_.emplace_back(os.end[row], ProcessOf(row));
    }
    std::sort(goes_on_.begin(), goes_on_.end());
    for (std::uint32_t row = 0; row < os.size() && !goes_on_.empty(); ++row) {
      const std::uint32_t process = ProcessOf(row);
      if (!IsRest(row) || Contains(working, process)) continue;
      const std::uint32_t owner = GoesOnClosestTo(os.start[row]);
      if (owner != kNone) ++votes_[process][owner];
    }
  }

  // The process of `working` that goes on with this one far more often than any other; kNone where
  // none does.
  std::uint32_t OwnerOf(std::uint32_t process) const {
    const auto found = votes_.find(process);
    if (found == votes_.end()) return kNone;
    std::uint32_t owner = kNone;
    std::size_t most = 0;
    std::size_t second = 0;
    for (const auto& [working, votes] : found->second) {
      if (votes > most) owner = working;
      second = std::max(second, std::min(most, votes));
      most = std::max(most, votes);
    }
    return most >= limits_.least_times &&
                   static_cast<double>(most) >= limits_.far_more * static_cast<double>(second)
               ? owner
               : kNone;
  }

 private:
  // Whichever of both hands over the batch may be recorded first.
  std::uint32_t GoesOnClosestTo(Nanos rest) const {
    const auto next =
        std::lower_bound(goes_on_.begin(), goes_on_.end(), std::pair(rest, std::uint32_t{0}));
    const Nanos after = next == goes_on_.end() ? limits_.at_once + 1 : next->first - rest;
    const Nanos before =
        next == goes_on_.begin() ? limits_.at_once + 1 : rest - std::prev(next)->first;
    if (std::min(before, after) > limits_.at_once) return kNone;
    return before < after ? std::prev(next)->second : next->second;
  }

  bool IsRest(std::uint32_t row) const {
    return trace_.os_calls.end[row] - trace_.os_calls.start[row] >= limits_.rest &&
           trace_.os_calls.thread[row] != kNone && ProcessOf(row) != kNone;
  }
  std::uint32_t ProcessOf(std::uint32_t row) const {
    const std::uint32_t thread = trace_.os_calls.thread[row];
    return thread == kNone ? kNone : trace_.threads[thread].process;
  }

  const Trace& trace_;
  const HelperLimits& limits_;
  std::vector<std::pair<Nanos, std::uint32_t>> goes_on_;  // end of a wait of a working process
  std::map<std::uint32_t, std::map<std::uint32_t, std::size_t>> votes_;
};

class Cutter {
 public:
  Cutter(const Trace& trace, const std::vector<RankPlace>& all, const RankPlace& place,
         const HelperLimits& limits)
      : from_(trace), place_(place), limits_(limits) {
    OwnThreads(all);
    std::vector<std::uint8_t> used(trace.devices.size(), 0);
    for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
      const std::uint32_t stream = trace.ops.stream[op];
      const std::uint32_t device = trace.ops.device[op];
      if (stream == kNone || (place.device != kNone && device != place.device)) continue;
      if (trace.streams[stream].process == place.process) used[device] = 1;
    }
    const Rows devices = Where(used.size(), [&](std::uint32_t d) { return used[d] != 0; });
    new_device_ = NewPlaces(used.size(), devices);
    KeepColumn(trace.devices, devices, &to_.devices);
  }

  Trace Cut() {
    Head();
    Calls();
    Ops();
    Waits();
    Threads();
    Others();
    return std::move(to_);
  }

 private:
  void OwnThreads(const std::vector<RankPlace>& all) {
    Rows working;
    for (const RankPlace& one : all) {
      if (!Contains(working, one.process)) working.push_back(one.process);
    }
    const std::vector<std::uint32_t> owners = OwnersOfProcesses(working);
    for (const Thread& thread : from_.threads) {
      own_thread_.push_back(thread.process != kNone && owners[thread.process] == place_.process);
    }
    if (place_.device == kNone) return;
    // Threads that launch on other GPUs alone are those of other ranks.
    std::vector<std::uint8_t> serves(from_.threads.size(), 0), elsewhere(serves);
    for (std::uint32_t op = 0; op < from_.ops.size(); ++op) {
      const std::uint32_t call = from_.ops.call[op];
      if (call == kNone || from_.calls.thread[call] == kNone) continue;
      const bool here = from_.ops.device[op] == place_.device;
      (here ? serves : elsewhere)[from_.calls.thread[call]] = 1;
    }
    for (std::uint32_t t = 0; t < own_thread_.size(); ++t) {
      if (own_thread_[t] == 0 || serves[t] != 0 || elsewhere[t] == 0) continue;
      own_thread_[t] = 0;
      to_.part_without.push_back(from_.threads[t].global_tid);
    }
  }

  // By process: which of `working` it belongs to. Ranks are started alike: one that shows no owner
  // goes to whoever has the fewest, those with the most calls first.
  std::vector<std::uint32_t> OwnersOfProcesses(const Rows& working) const {
    const Helpers helpers(from_, working, limits_);
    std::vector<std::uint32_t> owners(from_.processes.size(), kNone);
    std::vector<std::size_t> calls(owners.size(), 0);
    for (const std::uint32_t thread : from_.os_calls.thread) {
      const std::uint32_t process = thread == kNone ? kNone : from_.threads[thread].process;
      if (process != kNone) ++calls[process];
    }
    std::map<std::uint32_t, std::size_t> count;
    Rows open;
    for (std::uint32_t p = 0; p < owners.size(); ++p) {
      owners[p] = Contains(working, p) ? p : helpers.OwnerOf(p);
      if (owners[p] == kNone) {
        open.push_back(p);
      } else {
        ++count[owners[p]];
      }
    }
    std::stable_sort(open.begin(), open.end(), [&](auto a, auto b) { return calls[a] > calls[b]; });
    for (const std::uint32_t p : open) {
      owners[p] = *std::min_element(working.begin(), working.end(),
                                    [&](auto a, auto b) { return count[a] < count[b]; });
      ++count[owners[p]];
    }
    return owners;
  }

  bool OwnThread(std::uint32_t thread) const {
    return thread == kNone || own_thread_[thread] != 0;  // none: the profiler's own
  }
  bool OwnDevice(std::uint32_t device) const {
    return device == kNone || new_device_[device] != kNone;
  }
  bool OwnStream(std::uint32_t stream) const {
    return stream == kNone || from_.streams[stream].process == place_.process;
  }

  void Head() {
    to_.path = from_.path;
    to_.kind = from_.kind;
    to_.producer = from_.producer;
    to_.schema = from_.schema;
    to_.host = from_.host;
    to_.utc_origin_ns = from_.utc_origin_ns;
    to_.session_ns = from_.session_ns;
    to_.cpu_cores = from_.cpu_cores;
    to_.driver_version = from_.driver_version;
    to_.capture_options = from_.capture_options;
    to_.environment = from_.environment;
    to_.table_rows = from_.table_rows;
    to_.profiler_messages = from_.profiler_messages;
    to_.part_of = from_.processes[place_.process].global_pid;
    if (place_.device != kNone) to_.part_device = from_.devices[place_.device].cuda_ordinal;
    to_.strings = from_.strings.Copy();
    to_.processes = from_.processes;
    to_.threads = from_.threads;
    to_.shapes = from_.shapes;
    to_.operator_inputs = from_.operator_inputs;
    to_.streams = from_.streams;
    for (Stream& stream : to_.streams) {
      if (stream.device != kNone) stream.device = new_device_[stream.device];
    }
    to_.diagnostics = from_.diagnostics;
    to_.groups = from_.groups;
    // A number that a process has is that of none of its GPUs.
    to_.rank = place_.device == kNone ? from_.processes[place_.process].rank : -1;
    to_.world_size = from_.world_size;
  }

  void Calls() {
    const CallTable& calls = from_.calls;
    const Rows rows =
        Where(calls.size(), [&](std::uint32_t row) { return OwnThread(calls.thread[row]); });
    new_call_ = NewPlaces(calls.size(), rows);
    KeepRows(calls, rows, &to_.calls);
  }

  void Ops() {
    const OpTable& ops = from_.ops;
    const Rows rows =
        Where(ops.size(), [&](std::uint32_t op) { return OwnDevice(ops.device[op]); });
    KeepRows(ops, rows, &to_.ops);
    for (std::uint16_t& device : to_.ops.device) {
      device = static_cast<std::uint16_t>(new_device_[device]);
    }
    Replace(new_call_, &to_.ops.call);
    Rows copies, memsets;
    for (std::uint32_t op = 0; op < to_.ops.size(); ++op) {
      Rows* kept = to_.ops.kind[op] == OpKind::kCopy     ? &copies
                   : to_.ops.kind[op] == OpKind::kMemset ? &memsets
                                                         : nullptr;
      if (kept == nullptr) continue;
      kept->push_back(to_.ops.detail[op]);
      to_.ops.detail[op] = static_cast<std::uint32_t>(kept->size() - 1);
    }
    KeepRows(from_.copies, copies, &to_.copies);
    Replace(new_device_, &to_.copies.peer);
    KeepRows(from_.memsets, memsets, &to_.memsets);
    Collectives(NewPlaces(ops.size(), rows));
  }

  // Those of its kernels: what is linked to none does not say whose it is.
  void Collectives(const std::vector<std::uint32_t>& new_op) {
    const CollectiveTable& table = from_.collectives;
    const Rows rows = Where(table.size(), [&](std::uint32_t row) {
      return table.op[row] != kNone && new_op[table.op[row]] != kNone;
    });
    KeepRows(table, rows, &to_.collectives);
    Replace(new_op, &to_.collectives.op);
  }

  void Waits() {
    const auto own = [&](std::uint32_t call, std::uint32_t stream) {
      return call != kNone ? new_call_[call] != kNone : stream != kNone && OwnStream(stream);
    };
    const SyncTable& syncs = from_.syncs;
    const Rows waits = Where(
        syncs.size(), [&](std::uint32_t row) { return own(syncs.call[row], syncs.stream[row]); });
    KeepRows(syncs, waits, &to_.syncs);
    Replace(new_call_, &to_.syncs.call);
    const EventTable& events = from_.events;
    const Rows records = Where(events.size(), [&](std::uint32_t row) {
      return own(events.call[row], events.stream[row]);
    });
    KeepRows(events, records, &to_.events);
    Replace(new_call_, &to_.events.call);
  }

  Rows OfThreads(const std::vector<std::uint32_t>& threads) const {
    return Where(threads.size(), [&](std::uint32_t row) { return OwnThread(threads[row]); });
  }

  void Ranges(const RangeTable& ranges, RangeTable* to) const {
    const Rows rows = OfThreads(ranges.thread);
    KeepRows(ranges, rows, to);
  }

  void Threads() {
    Ranges(from_.ranges, &to_.ranges);
    Ranges(from_.operators, &to_.operators);
    Ranges(from_.python_frames, &to_.python_frames);
    const Rows os = OfThreads(from_.os_calls.thread);
    KeepRows(from_.os_calls, os, &to_.os_calls);
    const Rows mpi = OfThreads(from_.mpi.thread);
    KeepRows(from_.mpi, mpi, &to_.mpi);
    const Rows sched = OfThreads(from_.sched.thread);
    KeepRows(from_.sched, sched, &to_.sched);
    const Rows samples = OfThreads(from_.samples.thread);
    KeepRows(from_.samples, samples, &to_.samples);
    const Rows overheads = OfThreads(from_.overheads.thread);
    KeepRows(from_.overheads, overheads, &to_.overheads);
  }

  void Others() {
    const MemoryTable& memory = from_.memory;
    const Rows taken = Where(memory.size(), [&](std::uint32_t row) {
      const std::uint32_t process = memory.process[row];
      if (process != kNone && process != place_.process) return false;
      // A process has a little on GPUs on which it does no work, too.
      return OwnDevice(memory.device[row]) || (process != kNone && place_.device == kNone);
    });
    KeepRows(memory, taken, &to_.memory);
    Replace(new_device_, &to_.memory.device);
    const FaultTable& faults = from_.faults;
    const Rows pages =
        Where(faults.size(), [&](std::uint32_t row) { return OwnDevice(faults.device[row]); });
    KeepRows(faults, pages, &to_.faults);
    Replace(new_device_, &to_.faults.device);
    for (const Series& series : from_.gpu_series) {
      if (!OwnDevice(series.device)) continue;
      to_.gpu_series.push_back(series);
      if (series.device != kNone) to_.gpu_series.back().device = new_device_[series.device];
    }
    to_.nic_series = from_.nic_series;
    to_.counters = from_.counters;
    to_.monitor = from_.monitor;
    to_.topology = from_.topology;
    to_.nccl = from_.nccl;
  }

  const Trace& from_;
  RankPlace place_;
  const HelperLimits& limits_;
  std::vector<std::uint8_t> own_thread_;   // by thread
  std::vector<std::uint32_t> new_device_;  // by device of the whole trace
  std::vector<std::uint32_t> new_call_;    // by call of the whole trace
  Trace to_;
};

}  // namespace

std::vector<std::uint32_t> OwnersOfGpus(const Trace& trace) {
  std::vector<std::uint32_t> owners(trace.devices.size(), kNone);
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t stream = trace.ops.stream[op];
    if (stream == kNone) continue;  // moved by the driver: of whoever has the GPU
    const std::uint32_t process = trace.streams[stream].process;
    std::uint32_t& known = owners[trace.ops.device[op]];
    if (process == kNone || (known != kNone && known != process)) return {};
    known = process;
  }
  return owners;
}

Trace PartOf(const Trace& trace, const std::vector<RankPlace>& all, const RankPlace& place,
             const HelperLimits& limits) {
  return Cutter(trace, all, place, limits).Cut();
}

}  // namespace advise
