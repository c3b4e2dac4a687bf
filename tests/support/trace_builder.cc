#include "tests/support/trace_builder.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace advise {

TraceBuilder::TraceBuilder() {
  devices_.emplace_back();
  Process("python").Thread("main").Device("Test GPU", 100);
}

TraceBuilder::TraceBuilder(const TraceBuilder&) = default;
TraceBuilder::TraceBuilder(TraceBuilder&&) noexcept = default;
TraceBuilder& TraceBuilder::operator=(const TraceBuilder&) = default;
TraceBuilder& TraceBuilder::operator=(TraceBuilder&&) noexcept = default;
TraceBuilder::~TraceBuilder() = default;

template <typename T>
std::uint32_t TraceBuilder::Place(std::vector<T>* list, const T& item) {
  const auto at = std::find(list->begin(), list->end(), item);
  if (at != list->end()) return static_cast<std::uint32_t>(at - list->begin());
  list->push_back(item);
  return static_cast<std::uint32_t>(list->size() - 1);
}

TraceBuilder& TraceBuilder::Process(const std::string& name, int rank) {
  process_ = Place(&processes_, {name, rank});
  return *this;
}

TraceBuilder& TraceBuilder::Thread(const std::string& name) {
  thread_ = Place(&threads_, {process_, name});
  return *this;
}

TraceBuilder& TraceBuilder::Device(const std::string& name, int sm_count) {
  devices_[device_].name = name;
  devices_[device_].sm_count = sm_count;
  return *this;
}

TraceBuilder& TraceBuilder::OnDevice(std::uint32_t device) {
  while (devices_.size() <= device) {
    const advise::Device like = devices_.front();
    devices_.push_back(like);
    devices_.back().cuda_ordinal = devices_.back().ordinal = devices_.back().report_id =
        static_cast<std::int64_t>(devices_.size()) - 1;
  }
  device_ = device;
  return *this;
}

TraceBuilder& TraceBuilder::OnStream(std::int64_t id) {
  stream_ = id;
  return *this;
}

TraceBuilder& TraceBuilder::OnDefaultStream() { return OnStream(kDefaultStream); }

TraceBuilder& TraceBuilder::WithoutModel() {
  model_ = false;
  return *this;
}

TraceBuilder& TraceBuilder::Cores(int cores) {
  cores_ = cores;
  return *this;
}

TraceBuilder& TraceBuilder::Launch(const std::string& kernel, Interval call, Interval op,
                                   Look look) {
  return LaunchBy("cudaLaunchKernel", kernel, call, op, look);
}

TraceBuilder& TraceBuilder::LaunchBy(const std::string& by, const std::string& kernel,
                                     Interval call, Interval op, Look look) {
  return AddKernel(kernel, op, look, AddCall(by, call));
}

TraceBuilder& TraceBuilder::Kernel(const std::string& kernel, Interval op, Look look) {
  return AddKernel(kernel, op, look, kNone);
}

TraceBuilder& TraceBuilder::Graph(std::uint32_t id, Interval call, Interval op) {
  AddOp(op, OpKind::kGraph).call = AddCall("cudaGraphLaunch", call);
  ops_.back().graph = id;
  return *this;
}

TraceBuilder& TraceBuilder::GraphNodes(const std::string& kernel, Interval call,
                                       const std::vector<Interval>& nodes) {
  const std::uint32_t row = AddCall("cudaGraphLaunch", call);
  for (const Interval& node : nodes) {
    AddKernel(kernel, node, {}, row);
    ops_.back().in_graph = 1;
  }
  return *this;
}

TraceBuilder& TraceBuilder::CopyToGpu(std::int64_t bytes, MemoryKind host, Interval call,
                                      Interval op, const std::string& by) {
  return AddCopy(bytes, CopyDirection::kHostToDevice, host, MemoryKind::kDevice, AddCall(by, call),
                 op);
}

TraceBuilder& TraceBuilder::CopyFromGpu(std::int64_t bytes, MemoryKind host, Interval call,
                                        Interval op, const std::string& by) {
  return AddCopy(bytes, CopyDirection::kDeviceToHost, MemoryKind::kDevice, host, AddCall(by, call),
                 op);
}

TraceBuilder& TraceBuilder::CopyOnGpu(std::int64_t bytes, Interval call, Interval op) {
  return AddCopy(bytes, CopyDirection::kDeviceToDevice, MemoryKind::kDevice, MemoryKind::kDevice,
                 AddCall("cudaMemcpyAsync", call), op);
}

TraceBuilder& TraceBuilder::MigrateToGpu(std::int64_t bytes, Interval op, MigrationCause cause) {
  return Migrate(bytes, CopyDirection::kMigrationToDevice, op, cause);
}

TraceBuilder& TraceBuilder::MigrateToHost(std::int64_t bytes, Interval op, MigrationCause cause) {
  return Migrate(bytes, CopyDirection::kMigrationToHost, op, cause);
}

TraceBuilder& TraceBuilder::Memset(std::int64_t bytes, Interval call, Interval op,
                                   const std::string& by) {
  AddOp(op, OpKind::kMemset).call = AddCall(by, call);
  ops_.back().bytes = bytes;
  return *this;
}

TraceBuilder& TraceBuilder::Call(const std::string& name, Interval when) {
  AddCall(name, when);
  return *this;
}

TraceBuilder& TraceBuilder::Sync(Interval when, const std::string& by) { return Call(by, when); }

TraceBuilder& TraceBuilder::Range(const std::string& name, Interval when) {
  ranges_.push_back({thread_, when, name});
  return *this;
}

TraceBuilder& TraceBuilder::OsCall(const std::string& name, Interval when) {
  os_calls_.push_back({thread_, when, name});
  return *this;
}

TraceBuilder& TraceBuilder::Sample(const std::string& function, Nanos when) {
  samples_.push_back({thread_, {when, when}, function});
  return *this;
}

TraceBuilder& TraceBuilder::Mpi(const std::string& name, Interval when, std::int64_t sent,
                                std::int64_t received, std::int32_t peer) {
  mpi_.push_back({{thread_, when, name}, sent, received, peer});
  return *this;
}

TraceBuilder& TraceBuilder::Overhead(const std::string& name, Interval when) {
  overheads_.push_back({thread_, when, name});
  return *this;
}

TraceBuilder& TraceBuilder::RecordedBy(const std::string& profiler) {
  producer_ = profiler;
  return *this;
}

TraceBuilder& TraceBuilder::WithoutRanges() {
  ranges_.clear();
  return *this;
}

std::uint32_t TraceBuilder::AddCall(const std::string& name, Interval when) {
  calls_.push_back({thread_, when, name});
  return static_cast<std::uint32_t>(calls_.size() - 1);
}

TraceBuilder::OpRow& TraceBuilder::AddOp(Interval when, OpKind kind) {
  OpRow op;
  op.when = when;
  op.kind = kind;
  op.device = device_;
  op.stream = Place(&streams_, {process_, device_, stream_});
  ops_.push_back(op);
  return ops_.back();
}

TraceBuilder& TraceBuilder::AddKernel(const std::string& name, Interval when, Look look,
                                      std::uint32_t call) {
  OpRow& op = AddOp(when, OpKind::kKernel);
  op.kernel = name;
  op.look = look;
  op.call = call;
  return *this;
}

TraceBuilder& TraceBuilder::AddCopy(std::int64_t bytes, CopyDirection direction, MemoryKind source,
                                    MemoryKind target, std::uint32_t call, Interval when) {
  OpRow& op = AddOp(when, OpKind::kCopy);
  op.bytes = bytes;
  op.direction = direction;
  op.source = source;
  op.target = target;
  op.call = call;
  return *this;
}

TraceBuilder& TraceBuilder::Migrate(std::int64_t bytes, CopyDirection direction, Interval when,
                                    MigrationCause cause) {
  AddCopy(bytes, direction, MemoryKind::kManaged, MemoryKind::kManaged, kNone, when);
  ops_.back().stream = kNone;
  ops_.back().cause = cause;
  return *this;
}

// How it makes tables of its rows.
template <typename Change>
void TraceBuilder::ForEachTime(Change change) {
  const auto all = [&](auto* rows) {
    for (auto& row : *rows) row.when = {change(row.when.start), change(row.when.end)};
  };
  all(&calls_);
  all(&ops_);
  all(&ranges_);
  all(&os_calls_);
  all(&mpi_);
  all(&overheads_);
  all(&samples_);
}

TraceBuilder& TraceBuilder::Stretch(Nanos factor) {
  ForEachTime([factor](Nanos t) { return t * factor; });
  return *this;
}

TraceBuilder& TraceBuilder::Shift(Nanos by) {
  ForEachTime([by](Nanos t) { return t + by; });
  return *this;
}

TraceBuilder& TraceBuilder::SwapDevices(std::uint32_t a, std::uint32_t b) {
  const auto swapped = [a, b](std::uint32_t d) { return d == a ? b : d == b ? a : d; };
  for (OpRow& op : ops_) op.device = swapped(op.device);
  for (auto& stream : streams_) std::get<1>(stream) = swapped(std::get<1>(stream));
  return *this;
}

TraceBuilder& TraceBuilder::Twice() {
  const auto twice = [](auto* list, auto change) {
    const std::size_t count = list->size();
    for (std::size_t i = 0; i < count; ++i) {
      list->push_back((*list)[i]);
      change(&list->back());
    }
  };
  const auto processes = static_cast<std::uint32_t>(processes_.size());
  const auto threads = static_cast<std::uint32_t>(threads_.size());
  const auto streams = static_cast<std::uint32_t>(streams_.size());
  const auto devices = static_cast<std::uint32_t>(devices_.size());
  const auto calls = static_cast<std::uint32_t>(calls_.size());
  const auto on_host = [&](auto* row) { row->thread += threads; };
  const auto ranks =
      static_cast<int>(std::count_if(processes_.begin(), processes_.end(),
                                     [](const auto& process) { return process.second >= 0; }));
  twice(&processes_, [&](auto* process) {
    if (process->second >= 0) process->second += ranks;
  });
  twice(&threads_, [&](auto* thread) { thread->first += processes; });
  twice(&streams_, [&](auto* stream) {
    std::get<0>(*stream) += processes;
    std::get<1>(*stream) += devices;
  });
  twice(&devices_, [&](auto* device) {
    device->cuda_ordinal += devices;
    device->ordinal += devices;
    device->report_id += devices;
  });
  twice(&calls_, on_host);
  twice(&ops_, [&](OpRow* op) {
    op->device += devices;
    if (op->stream != kNone) op->stream += streams;
    if (op->call != kNone) op->call += calls;
  });
  twice(&ranges_, on_host);
  twice(&os_calls_, on_host);
  twice(&overheads_, on_host);
  twice(&samples_, on_host);
  twice(&mpi_, on_host);
  return *this;
}

template <typename Row>
std::vector<std::uint32_t> TraceBuilder::ByThread(const std::vector<Row>& rows) {
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) {
      return std::tuple(rows[i].thread, rows[i].when.start, -rows[i].when.end);
    };
    return key(a) < key(b);
  });
  return order;
}

void TraceBuilder::BuildPlaces(Trace* trace) const {
  trace->path = "story.sqlite";
  trace->kind = "nsys-sqlite";
  trace->cpu_cores = cores_;
  trace->devices = devices_;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    const auto id = static_cast<std::int64_t>(p + 1);
    trace->processes.push_back({id << 24, id, processes_[p].first, processes_[p].second});
  }
  std::vector<bool> has_main(processes_.size(), false);
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    const auto id = static_cast<std::int64_t>(t + 100);
    const std::uint32_t process = threads_[t].first;
    const bool main = !has_main[process];  // the first that is named
    has_main[process] = true;
    trace->threads.push_back({id, main ? trace->processes[process].pid : id, process,
                              trace->strings.Intern(threads_[t].second)});
  }
  for (const auto& [process, device, id] : streams_) {
    Stream stream;
    stream.process = process;
    stream.device = device;
    stream.context = 1;
    stream.id = id;
    stream.is_default = id == kDefaultStream;
    trace->streams.push_back(stream);
  }
}

std::vector<std::uint32_t> TraceBuilder::BuildCalls(Trace* trace) const {
  std::vector<std::uint32_t> row_of_call(calls_.size());
  for (const std::uint32_t i : ByThread(calls_)) {
    row_of_call[i] = static_cast<std::uint32_t>(trace->calls.size());
    trace->calls.start.push_back(calls_[i].when.start);
    trace->calls.end.push_back(calls_[i].when.end);
    trace->calls.thread.push_back(calls_[i].thread);
    trace->calls.name.push_back(trace->strings.Intern(calls_[i].name));
    trace->calls.correlation.push_back(i + 1);
    trace->calls.failed.push_back(0);
  }
  const auto named = [trace](const std::vector<NamedRow>& rows, auto* table) {
    for (const std::uint32_t i : ByThread(rows)) {
      table->start.push_back(rows[i].when.start);
      table->end.push_back(rows[i].when.end);
      table->thread.push_back(rows[i].thread);
      table->name.push_back(trace->strings.Intern(rows[i].name));
    }
  };
  named(ranges_, &trace->ranges);
  trace->ranges.domain.assign(ranges_.size(), 0);
  trace->ranges.payload.assign(ranges_.size(), 0);
  named(os_calls_, &trace->os_calls);
  named(overheads_, &trace->overheads);
  for (const std::uint32_t i : ByThread(samples_)) {
    trace->samples.time.push_back(samples_[i].when.start);
    trace->samples.thread.push_back(samples_[i].thread);
    trace->samples.symbol.push_back(trace->strings.Intern(samples_[i].name));
    trace->samples.module.push_back(trace->strings.Intern("/usr/bin/program"));
  }
  for (const std::uint32_t i : ByThread(mpi_)) {
    const MpiRow& row = mpi_[i];
    trace->mpi.start.push_back(row.when.start);
    trace->mpi.end.push_back(row.when.end);
    trace->mpi.thread.push_back(row.thread);
    trace->mpi.name.push_back(trace->strings.Intern(row.name));
    trace->mpi.kind.push_back(MpiKindOf(row.name));
    trace->mpi.sent.push_back(row.sent);
    trace->mpi.received.push_back(row.received);
    trace->mpi.peer.push_back(row.peer);
    trace->mpi.tag.push_back(-1);
  }
  return row_of_call;
}

void TraceBuilder::BuildOps(const std::vector<std::uint32_t>& row_of_call, Trace* trace) const {
  std::vector<std::uint32_t> order(ops_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(ops_[a].when.start, ops_[a].when.end) <
           std::pair(ops_[b].when.start, ops_[b].when.end);
  });
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>,
           std::uint32_t>
      shapes;
  for (const std::uint32_t i : order) {
    const OpRow& op = ops_[i];
    trace->ops.start.push_back(op.when.start);
    trace->ops.end.push_back(op.when.end);
    trace->ops.kind.push_back(op.kind);
    trace->ops.device.push_back(static_cast<std::uint16_t>(op.device));
    trace->ops.stream.push_back(op.stream);
    trace->ops.call.push_back(op.call == kNone ? kNone : row_of_call[op.call]);
    trace->ops.in_graph.push_back(op.in_graph);
    std::uint32_t detail = op.graph;
    if (op.kind == OpKind::kKernel) {
      const auto [at, is_new] = shapes.try_emplace(
          {op.kernel, op.look.blocks, op.look.threads, op.look.local_bytes, op.look.registers},
          static_cast<std::uint32_t>(trace->shapes.size()));
      detail = at->second;
      if (is_new) {
        KernelShape shape;
        shape.name = shape.short_name = trace->strings.Intern(op.kernel);
        shape.grid = {op.look.blocks, 1, 1};
        shape.block = {op.look.threads, 1, 1};
        shape.local_bytes = op.look.local_bytes;
        shape.registers = op.look.registers;
        trace->shapes.push_back(shape);
      }
    } else if (op.kind == OpKind::kCopy) {
      detail = static_cast<std::uint32_t>(trace->copies.size());
      trace->copies.bytes.push_back(op.bytes);
      trace->copies.direction.push_back(op.direction);
      trace->copies.source.push_back(op.source);
      trace->copies.target.push_back(op.target);
      trace->copies.peer.push_back(kNone);
      trace->copies.cause.push_back(op.cause);
    } else if (op.kind == OpKind::kMemset) {
      detail = static_cast<std::uint32_t>(trace->memsets.size());
      trace->memsets.bytes.push_back(op.bytes);
      trace->memsets.memory.push_back(MemoryKind::kDevice);
    }
    trace->ops.detail.push_back(detail);
  }
}

Trace TraceBuilder::Build() const {
  Trace trace;
  trace.producer = producer_;
  BuildPlaces(&trace);
  BuildOps(BuildCalls(&trace), &trace);
  if (model_ && !ranges_.empty()) {  // a kernel of it, which never runs
    KernelShape shape;
    shape.name = shape.short_name = trace.strings.Intern("softmax_of_model");
    trace.shapes.push_back(shape);
  }
  return trace;
}

}  // namespace advise
