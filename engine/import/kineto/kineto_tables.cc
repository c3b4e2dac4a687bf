// A sample kernel event, as PyTorch 2.5 writes it:
//   {"ph": "X", "cat": "kernel", "name": "void gemm…", "pid": 0, "tid": 7, "ts": 61659.938,
//    "dur": 10.464, "args": {"External id": 1541, "device": 0, "context": 1, "stream": 7,
//    "correlation": 56581, "registers per thread": 32, "shared memory": 2112,
//    "grid": [1568, 1, 4], "block": [256, 1, 1], …}}
//
// GPU or host is told by `cat`, never by pid: process ids in containers are as small as the numbers
// of GPUs. Not read: arrows (ac2g, fwdbwd), GPU copies of annotations, estimated occupancy.
#include "engine/import/kineto/kineto_tables.h"

#include <algorithm>

#include "engine/base/call_name.h"
#include "engine/import/kineto/kineto_names.h"

namespace advise::kineto {
namespace {

constexpr Nanos kLongestEvent = static_cast<Nanos>(7) * 24 * 3600 * 1'000'000'000;
constexpr std::int64_t kDeviceLimit = 4096;  // ordinals beyond are damage

// The number in "7", "stream 7"; of any other text one that is its own.
std::int64_t IdOf(std::string_view text) {
  if (const auto number = ParseInt(text)) return *number;
  const std::size_t digits = text.find_last_not_of("0123456789") + 1;
  if (digits < text.size()) {
    if (const auto number = ParseInt(text.substr(digits))) return *number;
  }
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3ULL;
  return static_cast<std::int64_t>(hash >> 24);
}

// The argument's number; the id in `text` where there is none.
std::int64_t NumberOr(const Event& event, Arg arg, std::string_view text) {
  const auto number = event.Has(arg) ? ParseInt(event.Text(arg)) : std::nullopt;
  return number ? *number : IdOf(text);
}

std::int64_t DeviceOf(const Event& event) { return NumberOr(event, Arg::kDevice, event.pid); }

// Builds of PyTorch without Kineto, those of some distributions among them, write operators with
// neither category nor process: they saw no GPU.
Category CategoryIn(const Event& event) {
  const bool is_host_function = event.category_text.empty() && event.pid == "CPU functions";
  return is_host_function ? Category::kOperator : event.category;
}

std::uint32_t Low32(std::int64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

void Tables::OnEvent(const Event& event) {
  if (event.phase == "M") return Metadata(event);
  if (event.category == Category::kInstant) {
    ++known_;
    if (event.name == "[memory]") Memory(event);
    return;
  }
  if (event.phase != "X") return;
  const Category category = CategoryIn(event);
  if (category == Category::kUnknown) {
    ++unknown_[std::string(event.category_text)];
    return;
  }
  ++known_;
  if (category == Category::kOtherDevice) {
    ++other_devices_;
    return;
  }
  if (category == Category::kCounterRange) {
    ++counter_ranges_;
    return;
  }
  Nanos start = 0;
  Nanos end = 0;
  if (category == Category::kIgnored || !Span(event, &start, &end)) return;
  ++rows_[static_cast<std::size_t>(category)];
  switch (category) {
    case Category::kOperator: {
      if (IsAnnotation(event.name)) {
        AddSpan(event, start, end, 0, &trace_.ranges);
        break;
      }
      AddSpan(event, start, end, event.Int(Arg::kSequenceNumber, -1), &trace_.operators);
      CountNumbered(event.Int(Arg::kExternalId, 0));
      if (event.Has(Arg::kInputSizes)) AddInputs(event);
      if (event.Has(Arg::kCollective)) {
        AddCollective(event, {.start = start, .end = end, .thread = ThreadOf(event)});
      }
      break;
    }
    case Category::kAnnotation:
      AddSpan(event, start, end, 0, &trace_.ranges);
      break;
    case Category::kPython:
      AddSpan(event, start, end, 0, &trace_.python_frames);
      break;
    case Category::kCall: {
      CallTable& calls = trace_.calls;
      calls.start.push_back(start);
      calls.end.push_back(end);
      calls.thread.push_back(ThreadOf(event));
      calls.name.push_back(Name(WithoutVersionSuffix(event.name)));
      calls.correlation.push_back(LinkOf(event, &calls.correlation));
      calls.failed.push_back(0);
      break;
    }
    case Category::kKernel:
    case Category::kCopy:
    case Category::kMemset:
      GpuWork(event, start, end);
      break;
    case Category::kSync:
    case Category::kEventRecord:
      Wait(event, start, end);
      break;
    case Category::kOverhead:
      trace_.overheads.start.push_back(start);
      trace_.overheads.end.push_back(end);
      trace_.overheads.thread.push_back(kNone);
      trace_.overheads.name.push_back(Name(event.name));
      break;
    default:
      break;
  }
}

// False, and counted, when the event has no time that can be used.
bool Tables::Span(const Event& event, Nanos* start, Nanos* end) {
  const auto begin = ParseMicroseconds(event.start);
  const auto length =
      event.duration.empty() ? std::optional<Nanos>(0) : ParseMicroseconds(event.duration);
  if (!begin || !length) {
    ++untimed_;
    return false;
  }
  if (*length < 0) {
    ++backward_time_;
    return false;
  }
  if (*length > kLongestEvent) {
    ++absurd_;
    return false;
  }
  *start = *begin;
  *end = *begin + *length;
  return true;
}

// PyTorch numbers operators one by one, whatever is written of them later.
void Tables::CountNumbered(std::int64_t number) {
  if (number <= 0) return;
  first_number_ = numbered_ == 0 ? number : std::min(first_number_, number);
  last_number_ = std::max(last_number_, number);
  ++numbered_;
}

// The event's correlation. Some writers tie GPU work to its call by "External id" alone; others
// number operators so: whether it serves is known at the end of the file.
std::uint32_t Tables::LinkOf(const Event& event, std::vector<std::uint32_t>* column) {
  const std::uint32_t correlation = Low32(event.Int(Arg::kCorrelation, 0));
  if (correlation != 0) {
    has_correlations_ = true;
    return correlation;
  }
  const std::uint32_t external = Low32(event.Int(Arg::kExternalId, 0));
  if (external != 0) external_links_.emplace_back(column, column->size());
  return external;
}

StringId Tables::Name(std::string_view raw) {
  if (raw.find('\\') == std::string_view::npos) return trace_.strings.Intern(raw);
  return trace_.strings.Intern(Unescaped(raw));
}

std::uint32_t Tables::ThreadOf(const Event& event) {
  // Most events are of the thread of the one before.
  if (last_thread_ == kNone || event.pid != last_pid_ || event.tid != last_tid_) {
    last_pid_ = event.pid;
    last_tid_ = event.tid;
    last_thread_ = threads_.Number({IdOf(event.pid), IdOf(event.tid)});
  }
  return last_thread_;
}

std::uint32_t Tables::StreamOf(const Event& event) {
  return streams_.Number({.device = DeviceOf(event),
                          .context = event.Int(Arg::kContext, 0),
                          .stream = NumberOr(event, Arg::kStream, event.tid)});
}

void Tables::Metadata(const Event& event) {
  const std::string_view raw = event.Text(Arg::kName);
  if (raw.empty()) return;
  const std::string name = Unescaped(raw);
  if (event.name == "process_name") process_names_.emplace(IdOf(event.pid), name);
  if (event.name == "thread_name") {
    thread_names_.emplace(ThreadKey{IdOf(event.pid), IdOf(event.tid)}, name);
  }
}

void Tables::GpuWork(const Event& event, Nanos start, Nanos end) {
  const std::int64_t device = DeviceOf(event);
  if (device < 0 || device >= kDeviceLimit) {
    trace_.diagnostics.Add(Level::kWarning, "events with an impossible device number were dropped");
    return;
  }
  OpTable& ops = trace_.ops;
  std::uint32_t detail = 0;
  OpKind kind = OpKind::kKernel;
  if (event.category == Category::kKernel) {
    detail = ShapeOf(event);
    if (event.Has(Arg::kCollective)) {
      AddCollective(event,
                    {.start = start, .end = end, .op = static_cast<std::uint32_t>(ops.size())});
    }
  } else if (event.category == Category::kCopy) {
    kind = OpKind::kCopy;
    detail = static_cast<std::uint32_t>(trace_.copies.size());
    const CopyName copy = ParseCopyName(event.name);
    const std::int64_t to = event.Int(Arg::kToDevice, -1);
    const std::int64_t from = event.Int(Arg::kFromDevice, -1);
    const std::int64_t peer = to >= 0 && to != device ? to : from;
    trace_.copies.bytes.push_back(event.Int(Arg::kBytes, 0));
    trace_.copies.direction.push_back(copy.direction);
    trace_.copies.source.push_back(copy.source);
    trace_.copies.target.push_back(copy.target);
    trace_.copies.peer.push_back(peer >= 0 && peer != device && peer < kDeviceLimit ? Low32(peer)
                                                                                    : kNone);
    trace_.copies.cause.push_back(MigrationCause::kUnknown);
  } else {
    kind = OpKind::kMemset;
    detail = static_cast<std::uint32_t>(trace_.memsets.size());
    trace_.memsets.bytes.push_back(event.Int(Arg::kBytes, 0));
    trace_.memsets.memory.push_back(ParseMemsetName(event.name));
  }
  ops.start.push_back(start);
  ops.end.push_back(end);
  ops.kind.push_back(kind);
  ops.stream.push_back(StreamOf(event));
  ops.call.push_back(LinkOf(event, &ops.call));
  ops.detail.push_back(detail);
  nodes_.push_back(Low32(event.Int(Arg::kGraphNode, 0)));
  ops.in_graph.push_back(nodes_.back() != 0 ? 1 : 0);
}

std::uint32_t Tables::ShapeOf(const Event& event) {
  const auto size = [&](Arg arg) { return Low32(std::max<std::int64_t>(0, event.Int(arg, 0))); };
  KernelShape shape;
  shape.name = shape.short_name = Name(event.name);
  shape.grid = event.grid;
  shape.block = event.block;
  shape.registers = size(Arg::kRegisters);
  shape.dynamic_shared_bytes = size(Arg::kSharedMemory);  // static and dynamic in one
  const std::uint32_t number = shapes_.Number(KeyOf(shape));
  if (number == trace_.shapes.size()) trace_.shapes.push_back(shape);
  return number;
}

void Tables::Wait(const Event& event, Nanos start, Nanos end) {
  const std::int64_t device = DeviceOf(event);
  const StreamKey key{.device = device,
                      .context = event.Int(Arg::kContext, 0),
                      .stream = event.Int(Arg::kStream, -1)};
  const std::uint32_t stream = key.stream < 0 ? kNone : streams_.Number(key);
  const std::int64_t event_id = std::max<std::int64_t>(0, event.Int(Arg::kEventId, 0));
  if (event.category == Category::kEventRecord) {
    trace_.events.time.push_back(start);
    trace_.events.call.push_back(LinkOf(event, &trace_.events.call));
    trace_.events.stream.push_back(stream);
    trace_.events.event_id.push_back(event_id);
    return;
  }
  trace_.syncs.start.push_back(start);
  trace_.syncs.end.push_back(end);
  trace_.syncs.call.push_back(LinkOf(event, &trace_.syncs.call));
  trace_.syncs.stream.push_back(stream);
  trace_.syncs.event_id.push_back(event_id);
}

// What the caching allocator hands out; rows of host memory (device type 0) are left out.
void Tables::Memory(const Event& event) {
  const auto time = ParseMicroseconds(event.start);
  const std::int64_t device = event.Int(Arg::kDeviceId, -1);
  if (event.Int(Arg::kDeviceType, 1) == 0 || device < 0 || device >= kDeviceLimit) return;
  if (!time || !event.Has(Arg::kBytes)) {
    ++untimed_;
    return;
  }
  ++rows_[static_cast<std::size_t>(Category::kInstant)];
  MemoryTable& memory = trace_.memory;
  memory.time.push_back(*time);
  memory.bytes.push_back(event.Int(Arg::kBytes, 0));
  memory.address.push_back(static_cast<std::uint64_t>(event.Int(Arg::kAddress, 0)));
  memory.memory.push_back(MemoryKind::kDevice);
  memory.device.push_back(Low32(device));
  memory.process.push_back(ThreadOf(event));
  memory.reserved.push_back(event.Int(Arg::kTotalReserved, -1));
  memory_levels_.push_back(event.Int(Arg::kTotalAllocated, -1));
}

void Tables::AddSpan(const Event& event, Nanos start, Nanos end, std::int64_t payload,
                     RangeTable* ranges) {
  ranges->start.push_back(start);
  ranges->end.push_back(end);
  ranges->thread.push_back(ThreadOf(event));
  ranges->name.push_back(Name(event.name));
  ranges->domain.push_back(0);
  ranges->payload.push_back(payload);
}

// Rows before and between those with sizes have none.
void Tables::AddInputs(const Event& event) {
  if (!KeepsInputs(event.name)) return;
  const std::uint32_t list =
      inputs_.Intern(event.Text(Arg::kInputSizes), event.Text(Arg::kInputTypes),
                     event.Text(Arg::kInputStrides), event.Text(Arg::kInputValues));
  if (list == kNone) return;
  trace_.operators.inputs.resize(trace_.operators.size(), kNone);
  trace_.operators.inputs.back() = list;
}

}  // namespace advise::kineto
