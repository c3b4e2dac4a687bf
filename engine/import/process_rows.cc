#include "engine/import/process_rows.h"

#include <algorithm>

#include "engine/import/host_calls.h"
#include "engine/import/row_order.h"

namespace advise {
namespace {

bool IsTimed(Nanos start, Nanos end) { return start >= 0 && end >= start; }

std::int64_t SignedBytes(std::uint64_t bytes) {
  return static_cast<std::int64_t>(std::min(bytes, std::uint64_t{1} << 62U));
}

}  // namespace

ProcessRows::ProcessRows(Trace* trace, Gpus* gpus)
    : trace_(trace), gpus_(gpus), process_(static_cast<std::uint32_t>(trace->processes.size())) {
  trace_->processes.emplace_back();
}

// kNone of what is no GPU.
std::uint32_t ProcessRows::DeviceRow(std::uint64_t id) {
  const auto found = known_devices_.find(id);
  if (found == known_devices_.end()) return kNone;
  const Device& device = found->second;
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

void ProcessRows::NameThread(std::uint64_t tid, std::string_view name) {
  trace_->threads[ThreadRow(tid)].name = trace_->strings.Intern(name);
}

bool ProcessRows::AddOp(const TimedRecord& work, OpKind kind, std::size_t detail) {
  const std::uint32_t device = DeviceRow(work.device);
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
  ops.in_graph.push_back(work.in_graph ? 1 : 0);
  ops.stream.push_back(kNone);
  ops.kind.push_back(kind);
  ops.detail.push_back(static_cast<std::uint32_t>(detail));
  return true;
}

void ProcessRows::AddKernel(const TimedRecord& work, const KernelShape& shape) {
  const std::uint32_t number = numbers_.Number(KeyOf(shape));
  if (number == shapes_.size()) {
    shapes_.push_back(static_cast<std::uint32_t>(trace_->shapes.size()));
    trace_->shapes.push_back(shape);
  }
  AddOp(work, OpKind::kKernel, shapes_[number]);
}

void ProcessRows::AddCopy(const TimedRecord& work, const CopyWork& copy) {
  CopyTable& copies = trace_->copies;
  if (!AddOp(work, OpKind::kCopy, copies.size())) return;
  CopyDirection direction = copy.direction;
  std::uint32_t peer = kNone;
  const bool between =
      direction == CopyDirection::kDeviceToDevice || direction == CopyDirection::kPeerToPeer;
  if (between && copy.to_device != work.device) peer = DeviceRow(copy.to_device);
  if (peer != kNone) direction = CopyDirection::kPeerToPeer;
  copies.bytes.push_back(SignedBytes(copy.bytes));
  copies.direction.push_back(direction);
  copies.source.push_back(copy.source);
  copies.target.push_back(copy.target);
  copies.peer.push_back(peer);
  copies.cause.push_back(MigrationCause::kUnknown);
}

void ProcessRows::AddMemset(const TimedRecord& work, std::uint64_t bytes, MemoryKind memory) {
  if (!AddOp(work, OpKind::kMemset, trace_->memsets.size())) return;
  trace_->memsets.bytes.push_back(SignedBytes(bytes));
  trace_->memsets.memory.push_back(memory);
}

void ProcessRows::AddCall(std::uint64_t thread, StringId name, std::uint64_t correlation,
                          Nanos start, Nanos end) {
  if (!IsTimed(start, end)) return;
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

void AssembleRows(Trace* trace) {
  SortSpans(trace->threads.size(), &trace->calls);
  SortSpans(trace->threads.size(), &trace->ranges);
  ReorderRows(OpOrder(trace->ops.start, trace->ops.end), &trace->ops);
  const CallIndex calls(trace->calls, trace->threads, trace->processes.size());
  for (std::size_t op = 0; op < trace->ops.size(); ++op) {
    std::uint32_t& call = trace->ops.call[op];
    call = calls.Find(trace->streams[trace->ops.stream[op]].process, call);
  }
}

}  // namespace advise
