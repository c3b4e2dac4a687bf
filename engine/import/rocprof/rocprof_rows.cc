#include "engine/import/rocprof/rocprof_rows.h"

#include <algorithm>

#include "engine/import/host_calls.h"
#include "engine/import/rocprof/rocprof_fields.h"
#include "engine/import/row_order.h"

namespace advise::rocprof {
namespace {

CopyDirection DirectionNamed(std::string_view way) {
  const auto has = [&](std::string_view words, std::string_view name) {
    return way.find(words) != std::string_view::npos || way.find(name) != std::string_view::npos;
  };
  if (has("HOST_TO_DEVICE", "HostToDevice")) return CopyDirection::kHostToDevice;
  if (has("DEVICE_TO_HOST", "DeviceToHost")) return CopyDirection::kDeviceToHost;
  if (has("DEVICE_TO_DEVICE", "DeviceToDevice")) return CopyDirection::kDeviceToDevice;
  return has("HOST_TO_HOST", "HostToHost") ? CopyDirection::kHostToHost : CopyDirection::kUnknown;
}

bool IsTimed(Nanos start, Nanos end) { return start > 0 && end >= start; }

}  // namespace

Agent AgentOf(const dom::element& record) {
  constexpr std::uint64_t kGpu = 2;
  constexpr double kMegahertz = 1e6;
  Agent agent;
  agent.is_gpu = NumberAt(record, "type") == kGpu;
  Device& device = agent.device;
  const std::uint64_t lanes = NumberAt(record, "wave_front_size");
  device.sm_count = static_cast<int>(SmallAt(record, "cu_count"));
  device.clock_hz = static_cast<double>(NumberAt(record, "max_engine_clk_fcompute")) * kMegahertz;
  device.max_threads_per_sm =
      static_cast<int>(std::min<std::uint64_t>(NumberAt(record, "max_waves_per_cu") * lanes, 4096));
  device.name = TextAt(record, "product_name");
  if (device.name.empty()) device.name = TextAt(record, "name");
  device.report_id = static_cast<std::int64_t>(SmallAt(record, "node_id"));
  device.ordinal = static_cast<std::int64_t>(SmallAt(record, "logical_node_type_id"));
  device.cuda_ordinal = device.ordinal;
  ForEachIn(record, "mem_banks", [&](const dom::element& bank) {
    device.memory_bytes += static_cast<double>(NumberAt(bank, "size_in_bytes"));
  });
  return agent;
}

ProcessRows::ProcessRows(Trace* trace, Gpus* gpus)
    : trace_(trace), gpus_(gpus), process_(static_cast<std::uint32_t>(trace->processes.size())) {
  trace_->processes.emplace_back();
}

void ProcessRows::AddKernelName(std::uint64_t id, std::string_view name, std::string_view plain) {
  constexpr std::string_view kDescriptor = ".kd";
  if (name.empty()) name = plain;
  if (name.ends_with(kDescriptor)) name.remove_suffix(kDescriptor.size());
  kernels_[id] = trace_->strings.Intern(name);
}

// kNone of what is no GPU. GPUs are listed once they did work.
std::uint32_t ProcessRows::DeviceRow(std::uint64_t id) {
  const auto found = agents_.find(id);
  if (found == agents_.end() || !found->second.is_gpu) return kNone;
  const Device& device = found->second.device;
  const auto [row, is_new] = gpus_->emplace(std::pair(host_, device.report_id),
                                            static_cast<std::uint32_t>(trace_->devices.size()));
  if (is_new) trace_->devices.push_back(device);
  return row->second;
}

std::uint32_t ProcessRows::ThreadRow(std::uint64_t tid) {
  const auto [found, is_new] =
      threads_.emplace(tid, static_cast<std::uint32_t>(trace_->threads.size()));
  const auto number = static_cast<std::int64_t>(tid);
  if (is_new) trace_->threads.push_back({.global_tid = number, .tid = number, .process = process_});
  return found->second;
}

bool ProcessRows::AddOp(const Work& work, OpKind kind, std::size_t detail) {
  const std::uint32_t device = DeviceRow(work.agent);
  if (device == kNone || !IsTimed(work.start, work.end)) {
    trace_->diagnostics.Add(Level::kWarning, "records without times or a GPU were dropped");
    return false;
  }
  OpTable& ops = trace_->ops;
  lanes_.push_back({static_cast<std::uint32_t>(ops.size()), device, work.stream, work.queue});
  ops.start.push_back(work.start);
  ops.end.push_back(work.end);
  ops.device.push_back(static_cast<std::uint16_t>(device));
  ops.call.push_back(static_cast<std::uint32_t>(work.correlation));
  ops.in_graph.push_back(0);
  ops.stream.push_back(kNone);
  ops.kind.push_back(kind);
  ops.detail.push_back(static_cast<std::uint32_t>(detail));
  return true;
}

void ProcessRows::Add(const Work& work, const Dispatch& dispatch) {
  KernelShape shape;
  shape.block = dispatch.block;
  shape.grid = dispatch.threads;
  for (std::size_t i = 0; i < shape.grid.size(); ++i) {
    if (shape.block[i] == 0) continue;
    const std::uint64_t threads = shape.grid[i];
    shape.grid[i] = static_cast<std::uint32_t>((threads + shape.block[i] - 1) / shape.block[i]);
  }
  if (const auto found = kernels_.find(dispatch.kernel); found != kernels_.end())
    shape.name = shape.short_name = found->second;
  const std::uint32_t number = numbers_.Number(KeyOf(shape));
  if (number == shapes_.size()) {
    shapes_.push_back(static_cast<std::uint32_t>(trace_->shapes.size()));
    trace_->shapes.push_back(shape);
  }
  AddOp(work, OpKind::kKernel, shapes_[number]);
}

void ProcessRows::Add(const Work& work, const CopyRecord& copy) {
  CopyDirection direction = DirectionNamed(copy.way);
  if (direction == CopyDirection::kHostToHost) return;
  const bool up = direction == CopyDirection::kHostToDevice;
  Work placed = work;
  placed.agent = up ? copy.to : copy.from;
  CopyTable& copies = trace_->copies;
  if (!AddOp(placed, OpKind::kCopy, copies.size())) return;
  std::uint32_t peer = kNone;
  if (direction == CopyDirection::kDeviceToDevice && copy.to != copy.from) {
    peer = DeviceRow(copy.to);
    if (peer != kNone) direction = CopyDirection::kPeerToPeer;
  }
  const bool of_host = up || direction == CopyDirection::kDeviceToHost;
  copies.bytes.push_back(static_cast<std::int64_t>(std::min(copy.bytes, std::uint64_t{1} << 62U)));
  copies.direction.push_back(direction);
  // Whether the host's memory is pinned is not recorded.
  copies.source.push_back(up ? MemoryKind::kUnknown : MemoryKind::kDevice);
  copies.target.push_back(of_host && !up ? MemoryKind::kUnknown : MemoryKind::kDevice);
  copies.peer.push_back(peer);
  copies.cause.push_back(MigrationCause::kUnknown);
}

void ProcessRows::AddCall(std::uint64_t thread, StringId name, std::uint64_t correlation,
                          Nanos start, Nanos end) {
  if (!IsTimed(start, end) || trace_->strings[name].starts_with("__hip")) return;
  CallTable& calls = trace_->calls;
  calls.start.push_back(start);
  calls.end.push_back(end);
  calls.thread.push_back(ThreadRow(thread));
  calls.name.push_back(name);
  calls.correlation.push_back(static_cast<std::uint32_t>(correlation));
  calls.failed.push_back(0);
}

void ProcessRows::AddRange(std::uint64_t thread, StringId name, Nanos start, Nanos end) {
  if (!IsTimed(start, end) || end == start) return;
  RangeTable& ranges = trace_->ranges;
  ranges.start.push_back(start);
  ranges.end.push_back(end);
  ranges.thread.push_back(ThreadRow(thread));
  ranges.name.push_back(name);
  ranges.domain.push_back(0);
  ranges.payload.push_back(0);
}

void ProcessRows::JoinStreams() {
  const bool by_stream =
      std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.stream != 0; });
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> rows;
  for (const Lane& lane : lanes_) {
    const std::uint64_t id = by_stream ? lane.stream : lane.queue;
    const auto [found, is_new] = rows.emplace(std::pair(lane.device, id),
                                              static_cast<std::uint32_t>(trace_->streams.size()));
    if (is_new) {
      trace_->streams.push_back({.process = process_,
                                 .device = lane.device,
                                 .id = static_cast<std::int64_t>(id),
                                 .is_default = by_stream && id == 0});
    }
    trace_->ops.stream[lane.op] = found->second;
  }
}

void Assemble(Trace* trace) {
  SortSpans(trace->threads.size(), &trace->calls);
  SortSpans(trace->threads.size(), &trace->ranges);
  ReorderRows(OpOrder(trace->ops.start, trace->ops.end), &trace->ops);
  const CallIndex calls(trace->calls, trace->threads, trace->processes.size());
  for (std::size_t op = 0; op < trace->ops.size(); ++op) {
    std::uint32_t& call = trace->ops.call[op];
    call = calls.Find(trace->streams[trace->ops.stream[op]].process, call);
  }
}

}  // namespace advise::rocprof
