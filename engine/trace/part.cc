#include "engine/trace/part.h"

#include <algorithm>

namespace advise {
namespace {

using Rows = std::vector<std::uint32_t>;

template <typename T>
void Keep(const std::vector<T>& from, const Rows& rows, std::vector<T>* to) {
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
  Cutter(const Trace& trace, const std::vector<std::uint32_t>& all, std::uint32_t process)
      : from_(trace), process_(process), own_process_(trace.processes.size(), 0) {
    std::size_t turn = 0;
    for (std::uint32_t p = 0; p < trace.processes.size(); ++p) {
      const bool works = std::find(all.begin(), all.end(), p) != all.end();
      own_process_[p] = works ? p == process : all[turn++ % all.size()] == process;
    }
    std::vector<std::uint8_t> used(trace.devices.size(), 0);
    for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
      const std::uint32_t stream = trace.ops.stream[op];
      if (stream != kNone && trace.streams[stream].process == process)
        used[trace.ops.device[op]] = 1;
    }
    const Rows devices = Where(used.size(), [&](std::uint32_t d) { return used[d] != 0; });
    new_device_ = NewPlaces(used.size(), devices);
    Keep(trace.devices, devices, &to_.devices);
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
  bool OwnThread(std::uint32_t thread) const {
    if (thread == kNone) return true;  // the profiler's own
    const std::uint32_t process = from_.threads[thread].process;
    return process != kNone && own_process_[process] != 0;
  }
  bool OwnDevice(std::uint32_t device) const {
    return device == kNone || new_device_[device] != kNone;
  }
  bool OwnStream(std::uint32_t stream) const {
    return stream == kNone || from_.streams[stream].process == process_;
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
    to_.part_of = from_.processes[process_].global_pid;
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
    to_.rank = from_.processes[process_].rank;
    to_.world_size = from_.world_size;
  }

  void Calls() {
    const CallTable& calls = from_.calls;
    const Rows rows =
        Where(calls.size(), [&](std::uint32_t row) { return OwnThread(calls.thread[row]); });
    new_call_ = NewPlaces(calls.size(), rows);
    Keep(calls.start, rows, &to_.calls.start);
    Keep(calls.end, rows, &to_.calls.end);
    Keep(calls.thread, rows, &to_.calls.thread);
    Keep(calls.name, rows, &to_.calls.name);
    Keep(calls.correlation, rows, &to_.calls.correlation);
    Keep(calls.failed, rows, &to_.calls.failed);
  }

  void Ops() {
    const OpTable& ops = from_.ops;
    const Rows rows =
        Where(ops.size(), [&](std::uint32_t op) { return OwnDevice(ops.device[op]); });
    Keep(ops.start, rows, &to_.ops.start);
    Keep(ops.end, rows, &to_.ops.end);
    Keep(ops.kind, rows, &to_.ops.kind);
    Keep(ops.device, rows, &to_.ops.device);
    Keep(ops.stream, rows, &to_.ops.stream);
    Keep(ops.call, rows, &to_.ops.call);
    Keep(ops.detail, rows, &to_.ops.detail);
    Keep(ops.in_graph, rows, &to_.ops.in_graph);
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
    Keep(from_.copies.bytes, copies, &to_.copies.bytes);
    Keep(from_.copies.direction, copies, &to_.copies.direction);
    Keep(from_.copies.source, copies, &to_.copies.source);
    Keep(from_.copies.target, copies, &to_.copies.target);
    Keep(from_.copies.peer, copies, &to_.copies.peer);
    Replace(new_device_, &to_.copies.peer);
    Keep(from_.memsets.bytes, memsets, &to_.memsets.bytes);
    Keep(from_.memsets.memory, memsets, &to_.memsets.memory);
    Collectives(NewPlaces(ops.size(), rows));
  }

  // Those of its kernels: what is linked to none does not say whose it is.
  void Collectives(const std::vector<std::uint32_t>& new_op) {
    const CollectiveTable& table = from_.collectives;
    const Rows rows = Where(table.size(), [&](std::uint32_t row) {
      return table.op[row] != kNone && new_op[table.op[row]] != kNone;
    });
    Keep(table.start, rows, &to_.collectives.start);
    Keep(table.end, rows, &to_.collectives.end);
    Keep(table.kind, rows, &to_.collectives.kind);
    Keep(table.in_bytes, rows, &to_.collectives.in_bytes);
    Keep(table.out_bytes, rows, &to_.collectives.out_bytes);
    Keep(table.group, rows, &to_.collectives.group);
    Keep(table.op, rows, &to_.collectives.op);
    Keep(table.sequence, rows, &to_.collectives.sequence);
    Keep(table.peer, rows, &to_.collectives.peer);
    Replace(new_op, &to_.collectives.op);
  }

  void Waits() {
    const auto own = [&](std::uint32_t call, std::uint32_t stream) {
      return call != kNone ? new_call_[call] != kNone : stream != kNone && OwnStream(stream);
    };
    const SyncTable& syncs = from_.syncs;
    const Rows waits = Where(
        syncs.size(), [&](std::uint32_t row) { return own(syncs.call[row], syncs.stream[row]); });
    Keep(syncs.start, waits, &to_.syncs.start);
    Keep(syncs.end, waits, &to_.syncs.end);
    Keep(syncs.call, waits, &to_.syncs.call);
    Keep(syncs.stream, waits, &to_.syncs.stream);
    Keep(syncs.event_id, waits, &to_.syncs.event_id);
    Replace(new_call_, &to_.syncs.call);
    const EventTable& events = from_.events;
    const Rows records = Where(events.size(), [&](std::uint32_t row) {
      return own(events.call[row], events.stream[row]);
    });
    Keep(events.time, records, &to_.events.time);
    Keep(events.call, records, &to_.events.call);
    Keep(events.stream, records, &to_.events.stream);
    Keep(events.event_id, records, &to_.events.event_id);
    Replace(new_call_, &to_.events.call);
  }

  Rows OfThreads(const std::vector<std::uint32_t>& threads) const {
    return Where(threads.size(), [&](std::uint32_t row) { return OwnThread(threads[row]); });
  }

  void Ranges(const RangeTable& ranges, RangeTable* to) const {
    const Rows rows = OfThreads(ranges.thread);
    Keep(ranges.start, rows, &to->start);
    Keep(ranges.end, rows, &to->end);
    Keep(ranges.thread, rows, &to->thread);
    Keep(ranges.name, rows, &to->name);
    Keep(ranges.domain, rows, &to->domain);
    Keep(ranges.payload, rows, &to->payload);
    Keep(ranges.inputs, rows, &to->inputs);
  }

  void Threads() {
    Ranges(from_.ranges, &to_.ranges);
    Ranges(from_.operators, &to_.operators);
    Ranges(from_.python_frames, &to_.python_frames);
    const Rows os = OfThreads(from_.os_calls.thread);
    Keep(from_.os_calls.start, os, &to_.os_calls.start);
    Keep(from_.os_calls.end, os, &to_.os_calls.end);
    Keep(from_.os_calls.thread, os, &to_.os_calls.thread);
    Keep(from_.os_calls.name, os, &to_.os_calls.name);
    const Rows sched = OfThreads(from_.sched.thread);
    Keep(from_.sched.time, sched, &to_.sched.time);
    Keep(from_.sched.thread, sched, &to_.sched.thread);
    Keep(from_.sched.cpu, sched, &to_.sched.cpu);
    Keep(from_.sched.on, sched, &to_.sched.on);
    const Rows samples = OfThreads(from_.samples.thread);
    Keep(from_.samples.time, samples, &to_.samples.time);
    Keep(from_.samples.thread, samples, &to_.samples.thread);
    Keep(from_.samples.symbol, samples, &to_.samples.symbol);
    Keep(from_.samples.module, samples, &to_.samples.module);
    const Rows overheads = OfThreads(from_.overheads.thread);
    Keep(from_.overheads.start, overheads, &to_.overheads.start);
    Keep(from_.overheads.end, overheads, &to_.overheads.end);
    Keep(from_.overheads.thread, overheads, &to_.overheads.thread);
    Keep(from_.overheads.name, overheads, &to_.overheads.name);
  }

  void Others() {
    const MemoryTable& memory = from_.memory;
    const Rows taken = Where(memory.size(), [&](std::uint32_t row) {
      const std::uint32_t process = memory.process[row];
      return process == kNone ? OwnDevice(memory.device[row]) : process == process_;
    });
    Keep(memory.time, taken, &to_.memory.time);
    Keep(memory.bytes, taken, &to_.memory.bytes);
    Keep(memory.address, taken, &to_.memory.address);
    Keep(memory.memory, taken, &to_.memory.memory);
    Keep(memory.device, taken, &to_.memory.device);
    Keep(memory.process, taken, &to_.memory.process);
    Keep(memory.reserved, taken, &to_.memory.reserved);
    Replace(new_device_, &to_.memory.device);
    const FaultTable& faults = from_.faults;
    const Rows pages =
        Where(faults.size(), [&](std::uint32_t row) { return OwnDevice(faults.device[row]); });
    Keep(faults.start, pages, &to_.faults.start);
    Keep(faults.end, pages, &to_.faults.end);
    Keep(faults.device, pages, &to_.faults.device);
    Keep(faults.count, pages, &to_.faults.count);
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
  std::uint32_t process_;
  std::vector<std::uint8_t> own_process_;  // by process
  std::vector<std::uint32_t> new_device_;  // by device of the whole trace
  std::vector<std::uint32_t> new_call_;    // by call of the whole trace
  Trace to_;
};

}  // namespace

std::vector<std::uint32_t> ProcessesWithOwnGpus(const Trace& trace) {
  std::vector<std::uint32_t> process_of(trace.devices.size(), kNone);
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t stream = trace.ops.stream[op];
    if (stream == kNone) continue;  // moved by the driver: of whoever has the GPU
    const std::uint32_t process = trace.streams[stream].process;
    std::uint32_t& known = process_of[trace.ops.device[op]];
    if (process == kNone || (known != kNone && known != process)) return {};
    known = process;
  }
  std::vector<std::uint32_t> processes;
  for (const std::uint32_t process : process_of) {
    const bool seen = std::find(processes.begin(), processes.end(), process) != processes.end();
    if (process != kNone && !seen) processes.push_back(process);
  }
  if (processes.size() < 2) processes.clear();
  return processes;
}

Trace PartOf(const Trace& trace, const std::vector<std::uint32_t>& all, std::uint32_t process) {
  return Cutter(trace, all, process).Cut();
}

}  // namespace advise
