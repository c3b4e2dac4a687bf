#include "engine/trace/part.h"

#include <algorithm>

namespace advise {
namespace {

using Rows = std::vector<std::uint32_t>;

template <typename T>
void KeepColumn(const std::vector<T>& from, const Rows& rows, std::vector<T>* to) {
  if (from.empty()) return;  // a column that this report does not have
  to->reserve(rows.size());
  for (const std::uint32_t row : rows) to->push_back(from[row]);
}

template <typename Table, typename... Values>
void Keep(const Table& from, const Rows& rows, Table* to, std::vector<Values> Table::*... columns) {
  (KeepColumn(from.*columns, rows, &(to->*columns)), ...);
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

bool Contains(const Rows& rows, std::uint32_t row) {
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

// Where each kept row went; kNone for the others.
std::vector<std::uint32_t> NewPlaces(std::size_t size, const Rows& rows) {
  std::vector<std::uint32_t> places(size, kNone);
  for (std::uint32_t i = 0; i < rows.size(); ++i) places[rows[i]] = i;
  return places;
}

void Replace(const std::vector<std::uint32_t>& places, std::vector<std::uint32_t>* column) {
  for (std::uint32_t& row : *column) row = row == kNone ? kNone : places[row];
}

class Cutter {
 public:
  Cutter(const Trace& trace, const std::vector<RankPlace>& all, const RankPlace& place)
      : from_(trace), place_(place) {
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
    std::vector<std::uint8_t> own(from_.processes.size(), 0);
    std::size_t turn = 0;
    for (std::uint32_t p = 0; p < own.size(); ++p) {
      own[p] = (Contains(working, p) ? p : working[turn++ % working.size()]) == place_.process;
    }
    for (const Thread& thread : from_.threads) {
      own_thread_.push_back(thread.process != kNone && own[thread.process] != 0);
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
    Keep(calls, rows, &to_.calls, &CallTable::start, &CallTable::end, &CallTable::thread,
         &CallTable::name, &CallTable::correlation, &CallTable::failed);
  }

  void Ops() {
    const OpTable& ops = from_.ops;
    const Rows rows =
        Where(ops.size(), [&](std::uint32_t op) { return OwnDevice(ops.device[op]); });
    Keep(ops, rows, &to_.ops, &OpTable::start, &OpTable::end, &OpTable::kind, &OpTable::device,
         &OpTable::stream, &OpTable::call, &OpTable::detail, &OpTable::in_graph);
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
    Keep(from_.copies, copies, &to_.copies, &CopyTable::bytes, &CopyTable::direction,
         &CopyTable::source, &CopyTable::target, &CopyTable::peer);
    Replace(new_device_, &to_.copies.peer);
    Keep(from_.memsets, memsets, &to_.memsets, &MemsetTable::bytes, &MemsetTable::memory);
    Collectives(NewPlaces(ops.size(), rows));
  }

  // Those of its kernels: what is linked to none does not say whose it is.
  void Collectives(const std::vector<std::uint32_t>& new_op) {
    const CollectiveTable& table = from_.collectives;
    const Rows rows = Where(table.size(), [&](std::uint32_t row) {
      return table.op[row] != kNone && new_op[table.op[row]] != kNone;
    });
    Keep(table, rows, &to_.collectives, &CollectiveTable::start, &CollectiveTable::end,
         &CollectiveTable::kind, &CollectiveTable::in_bytes, &CollectiveTable::out_bytes,
         &CollectiveTable::group, &CollectiveTable::op, &CollectiveTable::sequence,
         &CollectiveTable::peer);
    Replace(new_op, &to_.collectives.op);
  }

  void Waits() {
    const auto own = [&](std::uint32_t call, std::uint32_t stream) {
      return call != kNone ? new_call_[call] != kNone : stream != kNone && OwnStream(stream);
    };
    const SyncTable& syncs = from_.syncs;
    const Rows waits = Where(
        syncs.size(), [&](std::uint32_t row) { return own(syncs.call[row], syncs.stream[row]); });
    Keep(syncs, waits, &to_.syncs, &SyncTable::start, &SyncTable::end, &SyncTable::call,
         &SyncTable::stream, &SyncTable::event_id);
    Replace(new_call_, &to_.syncs.call);
    const EventTable& events = from_.events;
    const Rows records = Where(events.size(), [&](std::uint32_t row) {
      return own(events.call[row], events.stream[row]);
    });
    Keep(events, records, &to_.events, &EventTable::time, &EventTable::call, &EventTable::stream,
         &EventTable::event_id);
    Replace(new_call_, &to_.events.call);
  }

  Rows OfThreads(const std::vector<std::uint32_t>& threads) const {
    return Where(threads.size(), [&](std::uint32_t row) { return OwnThread(threads[row]); });
  }

  void Ranges(const RangeTable& ranges, RangeTable* to) const {
    const Rows rows = OfThreads(ranges.thread);
    Keep(ranges, rows, to, &RangeTable::start, &RangeTable::end, &RangeTable::thread,
         &RangeTable::name, &RangeTable::domain, &RangeTable::payload, &RangeTable::inputs);
  }

  void Threads() {
    Ranges(from_.ranges, &to_.ranges);
    Ranges(from_.operators, &to_.operators);
    Ranges(from_.python_frames, &to_.python_frames);
    const Rows os = OfThreads(from_.os_calls.thread);
    Keep(from_.os_calls, os, &to_.os_calls, &OsCallTable::start, &OsCallTable::end,
         &OsCallTable::thread, &OsCallTable::name);
    const Rows sched = OfThreads(from_.sched.thread);
    Keep(from_.sched, sched, &to_.sched, &SchedTable::time, &SchedTable::thread, &SchedTable::cpu,
         &SchedTable::on);
    const Rows samples = OfThreads(from_.samples.thread);
    Keep(from_.samples, samples, &to_.samples, &SampleTable::time, &SampleTable::thread,
         &SampleTable::symbol, &SampleTable::module);
    const Rows overheads = OfThreads(from_.overheads.thread);
    Keep(from_.overheads, overheads, &to_.overheads, &OverheadTable::start, &OverheadTable::end,
         &OverheadTable::thread, &OverheadTable::name);
  }

  void Others() {
    const MemoryTable& memory = from_.memory;
    const Rows taken = Where(memory.size(), [&](std::uint32_t row) {
      const std::uint32_t process = memory.process[row];
      if (process != kNone && process != place_.process) return false;
      // A process has a little on GPUs on which it does no work, too.
      return OwnDevice(memory.device[row]) || (process != kNone && place_.device == kNone);
    });
    Keep(memory, taken, &to_.memory, &MemoryTable::time, &MemoryTable::bytes, &MemoryTable::address,
         &MemoryTable::memory, &MemoryTable::device, &MemoryTable::process, &MemoryTable::reserved);
    Replace(new_device_, &to_.memory.device);
    const FaultTable& faults = from_.faults;
    const Rows pages =
        Where(faults.size(), [&](std::uint32_t row) { return OwnDevice(faults.device[row]); });
    Keep(faults, pages, &to_.faults, &FaultTable::start, &FaultTable::end, &FaultTable::device,
         &FaultTable::count);
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

Trace PartOf(const Trace& trace, const std::vector<RankPlace>& all, const RankPlace& place) {
  return Cutter(trace, all, place).Cut();
}

}  // namespace advise
