// The order of steps matters: names, then threads and processes, then devices and streams (they
// need processes), then joins (they need sorted calls), then what needs the end of the trace.
// Nothing here depends on how many readers there were: tasks are merged in a fixed order.
#include "engine/import/nsys/nsys_sqlite_assemble.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string_view>

#include "engine/base/call_name.h"
#include "engine/base/is_in.h"
#include "engine/base/side_by_side.h"
#include "engine/import/host_calls.h"
#include "engine/import/nsys/nsys_sqlite_devices.h"
#include "engine/import/nsys/nsys_sqlite_names.h"
#include "engine/import/repeated_rows.h"
#include "engine/import/row_order.h"

namespace advise::nsys {
namespace {

class Assembler {
 public:
  Assembler(AllRows& all, Trace& trace, int jobs)
      : all_(all), trace_(trace), jobs_(static_cast<std::size_t>(jobs)) {}

  void DropRepeated();
  void ResolveNames(Reader& reader);
  void ListProcessesAndThreads();
  void ListDevicesAndStreams();
  void MoveTables();
  void JoinCalls();
  void JoinCollectives();
  void JoinConstructs();
  void CloseOpenRanges();
  void MergeLogs();

 private:
  // What a task's stream number means in the trace.
  struct StreamRows {
    std::vector<std::uint32_t> stream;  // kNone for a device only
    std::vector<std::uint32_t> device;
    std::vector<std::uint32_t> process;
  };

  template <typename Visit>
  void ForEachLog(Visit visit) {
    visit(all_.system.log);
    for (const ReadLog& log : all_.gpu_logs) visit(log);
    visit(all_.calls.log);
    visit(all_.waits.log);
    visit(all_.ranges.log);
    visit(all_.nccl.log);
    visit(all_.directives.log);
    visit(all_.os_calls.log);
    visit(all_.mpi.log);
    visit(all_.sched.log);
    visit(all_.samples.log);
    visit(all_.overheads.log);
    visit(all_.memory.log);
    visit(all_.series.log);
  }

  std::int64_t Owner(std::int64_t process_key) const {
    return process_key == 0 ? unnamed_process_ : process_key;
  }
  void MapThreads(const ThreadKeys& keys, std::vector<std::uint32_t>& column) const;
  StreamRows MapStreams(const StreamKeys& keys) const;
  bool RunTogether(const std::vector<ProcessDevice>& uses) const;
  void SetRanks();
  void MapGpuSeries();

  AllRows& all_;
  Trace& trace_;
  std::size_t jobs_;
  std::map<std::int64_t, StringId> thread_names_;
  std::map<std::int64_t, std::uint32_t> process_rows_;  // by globalPid
  std::vector<std::int64_t> thread_keys_;               // sorted, as Trace::threads
  std::int64_t unnamed_process_ = 0;  // whom work belongs to whose row names no process
  DeviceMap devices_;
  std::map<StreamKey, std::uint32_t> stream_rows_;
  StreamRows gpu_streams_;
  StreamRows wait_streams_;
};

// Where work of the GPU is listed twice, all else may be.
void Assembler::DropRepeated() {
  if (all_.gpu.listed_twice == 0) return;
  trace_.diagnostics.Add(Level::kWarning, kRowsListedTwice, "GPU work",
                         static_cast<std::int64_t>(all_.gpu.listed_twice));
  DropListedTwice(all_.ranges.rows.ranges.start, &all_.ranges.rows.ranges);
  DropListedTwice(all_.os_calls.rows.calls.start, &all_.os_calls.rows.calls);
  DropListedTwice(all_.sched.rows.sched.time, &all_.sched.rows.sched);
  DropListedTwice(all_.samples.rows.samples.time, &all_.samples.rows.samples);
  DropListedTwice(all_.overheads.rows.overheads.start, &all_.overheads.rows.overheads);
  DropListedTwice(all_.memory.rows.memory.time, &all_.memory.rows.memory);
  DropListedTwice(all_.memory.rows.faults.start, &all_.memory.rows.faults);
  DropListedTwice(all_.waits.rows.syncs.start, &all_.waits.rows.syncs);
}

void Assembler::ResolveNames(Reader& reader) {
  StringIdSet wanted;
  ForEachLog([&](const ReadLog& log) { wanted.Add(log.string_ids); });
  StringPool& pool = trace_.strings;
  const StringTable table(reader, wanted, pool);

  const Names gpu(table, {}, pool);  // all of them from the table
  for (KernelShape& shape : all_.gpu.shapes) {
    shape.name = gpu(shape.name);
    shape.short_name = gpu(shape.short_name);
  }
  std::vector<StringId>& calls = all_.calls.rows.calls.name;
  Names(table, all_.calls.log, pool).Replace(calls);
  Rename(calls, pool, WithoutVersionSuffix);

  const Names ranges(table, all_.ranges.log, pool);
  RangeTable& range_table = all_.ranges.rows.ranges;
  ranges.Replace(range_table.name);
  ranges.Replace(range_table.domain);
  ReadSizes(pool, &all_.ranges.rows);
  Rename(range_table.name, pool, WithoutUniqueSuffix);
  const Names nccl(table, all_.nccl.log, pool);
  for (NcclRows::Call& call : all_.nccl.rows.calls) call.name = nccl(call.name);
  const Names directives(table, all_.directives.log, pool);
  for (DirectiveRows::Directive& directive : all_.directives.rows.directives) {
    directive.file = directives(directive.file);
    directive.variable = directives(directive.variable);
  }

  Names(table, all_.os_calls.log, pool).Replace(all_.os_calls.rows.calls.name);
  Names(table, all_.mpi.log, pool).Replace(all_.mpi.rows.calls.name);
  const Names samples(table, all_.samples.log, pool);
  samples.Replace(all_.samples.rows.samples.symbol);
  samples.Replace(all_.samples.rows.samples.module);
  Names(table, all_.overheads.log, pool).Replace(all_.overheads.rows.overheads.name);

  const Names system(table, all_.system.log, pool);
  for (const auto& [tid, name] : all_.system.rows.thread_names) thread_names_[tid] = system(name);
  // Names that the program gave itself win.
  for (const auto& [tid, name] : all_.ranges.rows.thread_names) thread_names_[tid] = ranges(name);
}

void Assembler::ListProcessesAndThreads() {
  std::set<std::int64_t> threads;
  for (const ThreadKeys* keys :
       {&all_.calls.rows.threads, &all_.ranges.rows.threads, &all_.nccl.rows.threads,
        &all_.directives.rows.threads, &all_.os_calls.rows.threads, &all_.mpi.rows.threads,
        &all_.sched.rows.threads, &all_.samples.rows.threads, &all_.overheads.rows.threads}) {
    threads.insert(keys->keys().begin(), keys->keys().end());
  }
  // Trimmed reports may lack globalPid: with one process that makes calls, all work is its own.
  std::set<std::int64_t> callers;
  for (const std::int64_t tid : all_.calls.rows.threads.keys()) callers.insert(ProcessKey(tid));
  if (callers.size() == 1) unnamed_process_ = *callers.begin();

  std::set<std::int64_t> processes;
  for (const std::int64_t tid : threads) processes.insert(ProcessKey(tid));
  for (const StreamKeys* keys :
       {&all_.gpu.streams, &all_.waits.rows.streams, &all_.memory.rows.devices}) {
    for (const StreamKey& key : keys->keys()) processes.insert(Owner(key.process));
  }
  for (const std::int64_t key : processes) {
    process_rows_[key] = static_cast<std::uint32_t>(trace_.processes.size());
    const auto name = all_.system.rows.process_names.find(key);
    trace_.processes.push_back(
        {.global_pid = key,
         .pid = PidOf(key),
         .name = name == all_.system.rows.process_names.end() ? "" : name->second});
  }
  for (const std::int64_t key : threads) {
    const auto name = thread_names_.find(key);
    trace_.threads.push_back({.global_tid = key,
                              .tid = TidOf(key),
                              .process = process_rows_.at(ProcessKey(key)),
                              .name = name == thread_names_.end() ? 0 : name->second});
  }
  thread_keys_.assign(threads.begin(), threads.end());
  SetRanks();
}

// From MPI_RANKS, else from a thread that the program named "MPI Rank 3" (reports up to 2022).
void Assembler::SetRanks() {
  constexpr std::string_view kRankName = "MPI Rank ";
  for (const auto& [tid, name] : thread_names_) {
    const std::string& text = trace_.strings[name];
    const auto process = process_rows_.find(ProcessKey(tid));
    if (!text.starts_with(kRankName) || process == process_rows_.end()) continue;
    std::from_chars(text.data() + kRankName.size(), text.data() + text.size(),
                    trace_.processes[process->second].rank);
  }
  for (const auto& [key, rank] : all_.system.rows.ranks) {
    const auto process = process_rows_.find(key);
    if (process != process_rows_.end()) trace_.processes[process->second].rank = rank;
  }
}

// Whether most of what these run has work of another one beside it; more than processes that take
// turns show at the borders of their turns.
bool Assembler::RunTogether(const std::vector<ProcessDevice>& uses) const {
  constexpr Nanos kPart = 10;     // at least one in so many nanoseconds of their work
  std::vector<std::size_t> user;  // by stream key
  for (const StreamKey& key : all_.gpu.streams.keys()) {
    const auto use =
        std::find(uses.begin(), uses.end(), ProcessDevice{Owner(key.process), key.device});
    user.push_back(static_cast<std::size_t>(use - uses.begin()));
  }
  std::vector<Nanos> until(uses.size(), std::numeric_limits<Nanos>::min());
  Nanos busy = 0, together = 0;
  const OpTable& ops = all_.gpu.ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::size_t own = user[ops.stream[i]];
    if (own == uses.size() || ops.kind[i] != OpKind::kKernel) continue;
    const Nanos start = std::max(ops.start[i], until[own]);
    if (ops.end[i] <= start) continue;
    until[own] = ops.end[i];
    busy += ops.end[i] - start;
    Nanos others = start;
    for (std::size_t u = 0; u < uses.size(); ++u) {
      if (u != own) others = std::max(others, until[u]);
    }
    together += std::min(others, ops.end[i]) - start;
  }
  return together > 0 && together >= busy / kPart;
}

void Assembler::ListDevicesAndStreams() {
  std::map<ProcessDevice, bool> uses;
  for (const StreamKeys* keys : {&all_.waits.rows.streams, &all_.memory.rows.devices}) {
    for (const StreamKey& key : keys->keys()) {
      uses.emplace(ProcessDevice{Owner(key.process), key.device}, false);
    }
  }
  for (const StreamKey& key : all_.gpu.streams.keys()) {
    uses[{Owner(key.process), key.device}] = true;
  }
  const auto together = [this](const std::vector<ProcessDevice>& of) { return RunTogether(of); };
  devices_ = ResolveDevices(all_.system.rows, uses, together, trace_.diagnostics);
  trace_.devices = devices_.devices;

  std::set<StreamKey> streams;
  for (const StreamKeys* keys : {&all_.gpu.streams, &all_.waits.rows.streams}) {
    for (StreamKey key : keys->keys()) {
      key.process = Owner(key.process);
      if (key.stream != kNoStream) streams.insert(key);
    }
  }
  for (const StreamKey& key : streams) {
    stream_rows_[key] = static_cast<std::uint32_t>(trace_.streams.size());
    const NamedStream named(PidOf(key.process), key.context, key.stream);
    const auto name = all_.system.rows.stream_names.find(named);
    const bool has_name = name != all_.system.rows.stream_names.end();
    trace_.streams.push_back(
        {.process = process_rows_.at(key.process),
         .device = devices_.of.at({key.process, key.device}),
         .context = key.context,
         .id = key.stream,
         .is_default = all_.system.rows.default_streams.contains(named),
         .name = has_name ? trace_.strings.Intern(name->second) : StringId{0}});
  }
  gpu_streams_ = MapStreams(all_.gpu.streams);
  wait_streams_ = MapStreams(all_.waits.rows.streams);
}

Assembler::StreamRows Assembler::MapStreams(const StreamKeys& keys) const {
  StreamRows rows;
  for (StreamKey key : keys.keys()) {
    key.process = Owner(key.process);
    const auto stream = stream_rows_.find(key);
    rows.stream.push_back(stream == stream_rows_.end() ? kNone : stream->second);
    rows.device.push_back(devices_.of.at({key.process, key.device}));
    rows.process.push_back(process_rows_.at(key.process));
  }
  return rows;
}

void Assembler::MapThreads(const ThreadKeys& keys, std::vector<std::uint32_t>& column) const {
  std::vector<std::uint32_t> rows;
  for (const std::int64_t key : keys.keys()) {
    const auto place = std::lower_bound(thread_keys_.begin(), thread_keys_.end(), key);
    rows.push_back(static_cast<std::uint32_t>(place - thread_keys_.begin()));
  }
  MapColumn(rows, &column);
}

void Assembler::MapGpuSeries() {
  trace_.gpu_series = std::move(all_.series.rows.gpu);
  const auto& listed = trace_.devices;
  std::set<std::uint32_t> sampled;
  for (const Series& series : trace_.gpu_series) sampled.insert(series.device);
  for (Series& series : trace_.gpu_series) {
    const auto device = std::find_if(listed.begin(), listed.end(), [&](const Device& d) {
      return d.report_id == std::int64_t{series.device};
    });
    const bool is_only_one = listed.size() == 1 && sampled.size() == 1;
    if (series.source.empty()) series.source = "GPU " + std::to_string(series.device);
    series.device = device != listed.end() ? static_cast<std::uint32_t>(device - listed.begin())
                                           : (is_only_one && listed[0].report_id < 0 ? 0 : kNone);
  }
}

void Assembler::MoveTables() {
  trace_.shapes = std::move(all_.gpu.shapes);
  trace_.ops = std::move(all_.gpu.ops);
  trace_.copies = std::move(all_.gpu.copies);
  trace_.memsets = std::move(all_.gpu.memsets);
  MapColumn(gpu_streams_.device, &trace_.copies.peer);
  MapThreads(all_.calls.rows.threads, all_.calls.rows.calls.thread);
  trace_.calls = std::move(all_.calls.rows.calls);
  MapThreads(all_.ranges.rows.threads, all_.ranges.rows.ranges.thread);
  trace_.ranges = std::move(all_.ranges.rows.ranges);
  trace_.operator_inputs = all_.ranges.rows.inputs.Take();
  SplitOperators(&trace_);
  MapThreads(all_.os_calls.rows.threads, all_.os_calls.rows.calls.thread);
  trace_.os_calls = std::move(all_.os_calls.rows.calls);
  MapThreads(all_.mpi.rows.threads, all_.mpi.rows.calls.thread);
  trace_.mpi = std::move(all_.mpi.rows.calls);
  MapThreads(all_.sched.rows.threads, all_.sched.rows.sched.thread);
  trace_.sched = std::move(all_.sched.rows.sched);
  MapThreads(all_.samples.rows.threads, all_.samples.rows.samples.thread);
  trace_.samples = std::move(all_.samples.rows.samples);
  MapThreads(all_.overheads.rows.threads, all_.overheads.rows.overheads.thread);
  trace_.overheads = std::move(all_.overheads.rows.overheads);
  trace_.syncs = std::move(all_.waits.rows.syncs);
  trace_.events = std::move(all_.waits.rows.events);

  const StreamRows devices = MapStreams(all_.memory.rows.devices);
  trace_.memory = std::move(all_.memory.rows.memory);
  for (std::uint32_t& device : trace_.memory.device) {
    trace_.memory.process.push_back(devices.process[device]);
    device = devices.device[device];
  }
  trace_.faults = std::move(all_.memory.rows.faults);
  MapColumn(devices.device, &trace_.faults.device);
  MapGpuSeries();
  trace_.nic_series = std::move(all_.series.rows.nic);
}

void Assembler::JoinCalls() {
  const std::size_t twice = DropCallsListedTwice(&trace_.calls);
  if (twice > 0 && all_.gpu.listed_twice == 0) {
    trace_.diagnostics.Add(Level::kInfo, kCallsListedTwice, cupti::kCalls,
                           static_cast<std::int64_t>(twice));
  }
  const CallIndex index(trace_.calls, trace_.threads, trace_.processes.size());
  OpTable& ops = trace_.ops;
  ops.device.resize(ops.size());
  constexpr std::size_t kPart = 500'000;  // rows
  SideBySide((ops.size() + kPart - 1) / kPart, jobs_, [&](std::size_t part) {
    for (std::size_t i = part * kPart; i < std::min(ops.size(), (part + 1) * kPart); ++i) {
      const std::uint32_t key = ops.stream[i];
      ops.call[i] = index.Find(gpu_streams_.process[key], ops.call[i]);
      ops.device[i] = static_cast<std::uint16_t>(gpu_streams_.device[key]);
      ops.stream[i] = gpu_streams_.stream[key];
    }
  });
  SyncTable& syncs = trace_.syncs;
  for (std::size_t i = 0; i < syncs.size(); ++i) {
    const std::uint32_t key = syncs.stream[i];
    syncs.call[i] = index.Find(wait_streams_.process[key], syncs.call[i]);
    syncs.stream[i] = wait_streams_.stream[key];
  }
  EventTable& events = trace_.events;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::uint32_t key = events.stream[i];
    const std::uint32_t call = index.Find(wait_streams_.process[key], events.call[i]);
    if (events.time[i] == kNoTime && call == kNone) continue;
    events.time[kept] = events.time[i] == kNoTime ? trace_.calls.start[call] : events.time[i];
    events.call[kept] = call;
    events.stream[kept] = wait_streams_.stream[key];
    events.event_id[kept] = events.event_id[i];
    ++kept;
  }
  if (kept < events.size()) {
    trace_.diagnostics.Add(Level::kInfo, "events without a time and without a call were dropped",
                           "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                           static_cast<std::int64_t>(events.size() - kept));
  }
  ForEachColumn<EventTable>([&](auto column) { (events.*column).resize(kept); });
  ReorderRows(OrderBy(events.time), &events);
  if (all_.gpu.listed_twice > 0) DropListedTwice(events.time, &events);
}

void Assembler::JoinCollectives() {
  std::vector<std::uint32_t> threads;
  for (const NcclRows::Call& call : all_.nccl.rows.calls) threads.push_back(call.thread);
  MapThreads(all_.nccl.rows.threads, threads);
  for (std::size_t i = 0; i < threads.size(); ++i) all_.nccl.rows.calls[i].thread = threads[i];
  JoinNccl(std::move(all_.nccl.rows.calls), trace_);
}

void Assembler::JoinConstructs() {
  std::vector<DirectiveRows::Directive>& directives = all_.directives.rows.directives;
  std::vector<std::uint32_t> threads;
  for (const DirectiveRows::Directive& directive : directives) threads.push_back(directive.thread);
  MapThreads(all_.directives.rows.threads, threads);
  for (std::size_t i = 0; i < threads.size(); ++i) directives[i].thread = threads[i];
  JoinDirectives(directives, trace_);
}

void Assembler::CloseOpenRanges() {
  std::vector<Nanos>& ends = trace_.ranges.end;
  if (!IsIn(kOpenEnd, ends)) return;
  Nanos last = std::numeric_limits<Nanos>::min();
  for (const std::vector<Nanos>* times :
       {&trace_.ops.end, &trace_.calls.end, &trace_.syncs.end, &trace_.os_calls.end,
        &trace_.mpi.end, &trace_.overheads.end, &trace_.ranges.start, &ends}) {
    for (const Nanos time : *times) {
      if (time != kOpenEnd) last = std::max(last, time);
    }
  }
  std::int64_t open = 0;
  for (Nanos& end : ends) {
    if (end != kOpenEnd) continue;
    end = last;
    ++open;
  }
  trace_.diagnostics.Add(Level::kInfo, "ranges were still open and end with the trace",
                         "NVTX_EVENTS", open);
}

void Assembler::MergeLogs() {
  ForEachLog([&](const ReadLog& log) {
    for (const Diagnostic& d : log.diagnostics.list()) {
      trace_.diagnostics.Add(d.level, d.text, d.table, d.count);
    }
    for (const auto& [table, rows] : log.rows) trace_.table_rows[table] += rows;
  });
}

}  // namespace

void Assemble(AllRows all, Reader& reader, int jobs, Trace& trace) {
  Assembler assembler(all, trace, jobs);
  assembler.DropRepeated();
  assembler.ResolveNames(reader);
  assembler.ListProcessesAndThreads();
  assembler.ListDevicesAndStreams();
  assembler.MoveTables();
  assembler.JoinCalls();
  assembler.JoinCollectives();
  assembler.CloseOpenRanges();
  assembler.JoinConstructs();
  JoinMpi(trace);
  assembler.MergeLogs();
}

}  // namespace advise::nsys
