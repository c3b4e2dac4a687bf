// Reads what `rocprofv3 --output-format json` writes: one process, with what it did on AMD GPUs.
//
//   agents          CPUs and GPUs                                 → devices
//   strings         names of kinds of records, texts of markers
//   kernel_symbols  kernels by number                             → shapes
//   buffer_records  kernel_dispatch, memory_copy                  → ops
//                   hip_api                                       → calls
//                   marker_api                                    → ranges
//
// Times are nanoseconds since the machine booted: files of one node share a clock. The text is held
// in memory while it is read, and parsed a record at a time, so that one that is broken or cut off
// costs no other.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <new>
#include <utility>

#include "engine/import/byte_source.h"
#include "engine/import/formats.h"
#include "engine/import/host_calls.h"
#include "engine/import/json_pieces.h"
#include "engine/import/keys.h"
#include "engine/import/rocprof/rocprof_fields.h"
#include "engine/import/row_order.h"

namespace advise::rocprof {
namespace {

constexpr std::string_view kTopKey = "rocprofiler-sdk-tool";
constexpr const char* kRecordHint =
    "record it with: rocprofv3 --runtime-trace --output-format json -o run -- COMMAND";
constexpr std::size_t kHeadOfFile = 65536;

CopyDirection DirectionNamed(std::string_view operation) {
  const auto has = [&](const char* way) { return operation.find(way) != std::string_view::npos; };
  if (has("HOST_TO_DEVICE")) return CopyDirection::kHostToDevice;
  if (has("DEVICE_TO_HOST")) return CopyDirection::kDeviceToHost;
  if (has("DEVICE_TO_DEVICE")) return CopyDirection::kDeviceToDevice;
  return has("HOST_TO_HOST") ? CopyDirection::kHostToHost : CopyDirection::kUnknown;
}

class ProcessReader {
 public:
  explicit ProcessReader(Trace* trace)
      : trace_(trace), process_(static_cast<std::uint32_t>(trace->processes.size())) {
    trace_->processes.emplace_back();
  }

  // The parts in the order in which they are written, which is that in which they are needed.
  void Read(JsonPieces* pieces) {
    while (const auto key = pieces->NextKey()) {
      if (*key == "metadata") {
        Parse(pieces, [&](const dom::element& metadata) { ReadMetadata(metadata); });
      } else if (*key == "agents") {
        ForEach(pieces, [&](const dom::element& agent) { AddAgent(agent); });
      } else if (*key == "strings") {
        Parse(pieces, [&](const dom::element& strings) { ReadStrings(strings); });
      } else if (*key == "kernel_symbols") {
        ForEach(pieces, [&](const dom::element& symbol) { AddSymbol(symbol); });
      } else if (*key == "buffer_records" && pieces->Enter('{')) {
        ReadRecords(pieces);
      } else {
        pieces->NextValue();
      }
    }
    JoinStreams();
  }

 private:
  struct Agent {
    bool is_gpu = false;
    Device device;
    std::uint32_t row = kNone;  // in Trace::devices, once it did work
  };
  // Where a row of `ops` ran: by HIP's stream where streams were recorded, else by the queue.
  struct Lane {
    std::uint32_t device = 0;
    std::uint64_t stream = 0;
    std::uint64_t queue = 0;
  };

  template <typename Each>
  void Parse(JsonPieces* pieces, const Each& each) {
    const auto text = pieces->NextValue();
    if (!text) return;
    dom::element element;
    if (parser_.parse(text->data(), text->size()).get(element) == simdjson::SUCCESS) {
      each(element);
    } else {
      trace_->diagnostics.Add(Level::kWarning, "records that are not valid JSON were skipped");
    }
  }

  template <typename Each>
  void ForEach(JsonPieces* pieces, const Each& each) {
    if (!pieces->Enter('[')) {
      pieces->NextValue();
      return;
    }
    while (pieces->HasMore()) Parse(pieces, each);
  }

  void ReadMetadata(const dom::element& metadata) {
    Process& process = trace_->processes[process_];
    if (const std::string host = TextAt(metadata["node"], "hostname"); !host.empty())
      trace_->host = host;
    process.pid = static_cast<std::int64_t>(SmallAt(metadata, "pid"));
    process.global_pid = process.pid;
    const Nanos began = TimeAt(metadata, "init_time");
    trace_->session_ns = std::max<Nanos>(0, TimeAt(metadata, "fini_time") - began);
    std::string_view program;
    if (metadata["command"].at(0).get_string().get(program) == simdjson::SUCCESS)
      process.name = std::filesystem::path(program).filename().string();
  }

  void AddAgent(const dom::element& item) {
    constexpr std::uint64_t kGpu = 2;
    constexpr double kMegahertz = 1e6;
    const std::uint64_t handle = HandleAt(item, "id");
    Agent& agent = agents_[handle];
    agent.is_gpu = NumberAt(item, "type") == kGpu;
    if (!agent.is_gpu) return;
    Device& device = agent.device;
    const std::uint64_t lanes = NumberAt(item, "wave_front_size");
    device.sm_count = static_cast<int>(SmallAt(item, "cu_count"));
    device.clock_hz = static_cast<double>(NumberAt(item, "max_engine_clk_fcompute")) * kMegahertz;
    device.max_threads_per_sm =
        static_cast<int>(std::min<std::uint64_t>(NumberAt(item, "max_waves_per_cu") * lanes, 4096));
    device.name = TextAt(item, "product_name");
    if (device.name.empty()) device.name = TextAt(item, "name");
    device.report_id = static_cast<std::int64_t>(SmallAt(item, "node_id"));
    device.ordinal = static_cast<std::int64_t>(SmallAt(item, "logical_node_type_id"));
    device.cuda_ordinal = device.ordinal;
    ForEachIn(item, "mem_banks", [&](const dom::element& bank) {
      device.memory_bytes += static_cast<double>(NumberAt(bank, "size_in_bytes"));
    });
  }

  void ReadStrings(const dom::element& strings) {
    ForEachIn(strings, "buffer_records", [&](const dom::element& kind) { AddKind(kind); });
    ForEachIn(strings, "marker_api", [&](const dom::element& marker) {
      markers_[NumberAt(marker, "key")] = trace_->strings.Intern(TextAt(marker, "value"));
    });
  }

  // {"kind": "HIP_RUNTIME_API", "operations": ["hipMalloc", …]}: records name both by number.
  void AddKind(const dom::element& item) {
    std::vector<StringId>& names = operations_.emplace_back();
    ForEachIn(item, "operations", [&](const dom::element& operation) {
      std::string_view name;
      if (operation.get_string().get(name) != simdjson::SUCCESS) name = "";
      names.push_back(trace_->strings.Intern(name));
    });
  }

  void AddSymbol(const dom::element& item) {
    const std::uint64_t id = NumberAt(item, "kernel_id");
    std::string plain = TextAt(item, "kernel_name");
    std::string name = TextAt(item, "formatted_kernel_name");
    if (id == 0) return;  // stands for none
    if (name.empty()) name = std::move(plain);
    if (name.ends_with(".kd")) name.resize(name.size() - 3);  // of a kernel's descriptor
    symbols_[id] = trace_->strings.Intern(name);
  }

  void ReadRecords(JsonPieces* pieces) {
    using Add = void (ProcessReader::*)(const dom::element&);
    const std::map<std::string_view, Add> tables = {{"kernel_dispatch", &ProcessReader::AddKernel},
                                                    {"hip_api", &ProcessReader::AddCall},
                                                    {"marker_api", &ProcessReader::AddRange},
                                                    {"memory_copy", &ProcessReader::AddCopy}};
    while (const auto key = pieces->NextKey()) {
      const auto table = tables.find(*key);
      if (table == tables.end()) {
        pieces->NextValue();
        continue;
      }
      std::int64_t rows = 0;
      ForEach(pieces, [&](const dom::element& record) {
        (this->*table->second)(record);
        ++rows;
      });
      if (rows > 0) trace_->table_rows[std::string(*key)] += rows;
    }
  }

  StringId NameOf(const dom::element& record) {
    const std::uint64_t kind = NumberAt(record, "kind");
    const std::uint64_t operation = NumberAt(record, "operation");
    if (kind >= operations_.size() || operation >= operations_[kind].size()) return 0;
    return operations_[kind][operation];
  }

  // kNone of what is no GPU.
  std::uint32_t DeviceRow(std::uint64_t handle) {
    const auto found = agents_.find(handle);
    if (found == agents_.end() || !found->second.is_gpu) return kNone;
    Agent& agent = found->second;
    if (agent.row == kNone) {
      agent.row = static_cast<std::uint32_t>(trace_->devices.size());
      trace_->devices.push_back(agent.device);
    }
    return agent.row;
  }

  // Returns whether the record is whole, and is then a row of `ops` without its kind and detail.
  bool AddOp(const dom::element& record, std::uint64_t agent, std::uint64_t queue) {
    const std::uint64_t correlation = NumberAt(record["correlation_id"], "internal");
    const Nanos start = TimeAt(record, "start_timestamp");
    const Nanos end = TimeAt(record, "end_timestamp");
    const std::uint64_t stream = HandleAt(record, "stream_id");
    const std::uint32_t device = DeviceRow(agent);
    if (device == kNone || start == 0 || end < start) {
      trace_->diagnostics.Add(Level::kWarning, "records without times or a GPU were dropped");
      return false;
    }
    OpTable& ops = trace_->ops;
    ops.start.push_back(start);
    ops.end.push_back(end);
    ops.device.push_back(static_cast<std::uint16_t>(device));
    ops.call.push_back(static_cast<std::uint32_t>(correlation));
    ops.in_graph.push_back(0);
    ops.stream.push_back(kNone);
    lanes_.push_back({device, stream, queue});
    return true;
  }

  void AddKernel(const dom::element& record) {
    const auto dispatch = record["dispatch_info"];
    const std::uint64_t agent = HandleAt(dispatch, "agent_id");
    const std::uint64_t queue = HandleAt(dispatch, "queue_id");
    const std::uint64_t kernel = NumberAt(dispatch, "kernel_id");
    KernelShape shape;
    shape.block = SizesAt(dispatch, "workgroup_size");
    shape.grid = SizesAt(dispatch, "grid_size");  // in threads
    for (std::size_t i = 0; i < shape.grid.size(); ++i) {
      if (shape.block[i] == 0) continue;
      const std::uint64_t threads = shape.grid[i];
      shape.grid[i] = static_cast<std::uint32_t>((threads + shape.block[i] - 1) / shape.block[i]);
    }
    if (!AddOp(record, agent, queue)) return;
    if (const auto found = symbols_.find(kernel); found != symbols_.end())
      shape.name = shape.short_name = found->second;
    const std::uint32_t number = numbers_.Number(KeyOf(shape));
    if (number == shapes_.size()) {
      shapes_.push_back(static_cast<std::uint32_t>(trace_->shapes.size()));
      trace_->shapes.push_back(shape);
    }
    trace_->ops.kind.push_back(OpKind::kKernel);
    trace_->ops.detail.push_back(shapes_[number]);
  }

  void AddCopy(const dom::element& record) {
    CopyDirection direction = DirectionNamed(trace_->strings[NameOf(record)]);
    const std::uint64_t to = HandleAt(record, "dst_agent_id");
    const std::uint64_t from = HandleAt(record, "src_agent_id");
    const std::uint64_t bytes = NumberAt(record, "bytes");
    const bool up = direction == CopyDirection::kHostToDevice;
    if (direction == CopyDirection::kHostToHost || !AddOp(record, up ? to : from, 0)) return;
    std::uint32_t peer = kNone;
    if (direction == CopyDirection::kDeviceToDevice && to != from) {
      peer = DeviceRow(to);
      if (peer != kNone) direction = CopyDirection::kPeerToPeer;
    }
    CopyTable& copies = trace_->copies;
    trace_->ops.kind.push_back(OpKind::kCopy);
    trace_->ops.detail.push_back(static_cast<std::uint32_t>(copies.size()));
    const bool of_host = up || direction == CopyDirection::kDeviceToHost;
    copies.bytes.push_back(static_cast<std::int64_t>(std::min(bytes, std::uint64_t{1} << 62U)));
    copies.direction.push_back(direction);
    // Whether the host's memory is pinned is not recorded.
    copies.source.push_back(up ? MemoryKind::kUnknown : MemoryKind::kDevice);
    copies.target.push_back(of_host && !up ? MemoryKind::kUnknown : MemoryKind::kDevice);
    copies.peer.push_back(peer);
    copies.cause.push_back(MigrationCause::kUnknown);
  }

  std::uint32_t ThreadRow(std::uint64_t tid) {
    const auto [found, is_new] =
        threads_.emplace(tid, static_cast<std::uint32_t>(trace_->threads.size()));
    const auto number = static_cast<std::int64_t>(tid);
    if (is_new)
      trace_->threads.push_back({.global_tid = number, .tid = number, .process = process_});
    return found->second;
  }

  // What the compiler calls around a launch ("__hipPushCallConfiguration") is no call of the
  // program.
  void AddCall(const dom::element& record) {
    const StringId name = NameOf(record);
    const std::uint64_t correlation = NumberAt(record["correlation_id"], "internal");
    const Nanos start = TimeAt(record, "start_timestamp");
    const Nanos end = TimeAt(record, "end_timestamp");
    const std::uint64_t thread = NumberAt(record, "thread_id");
    if (start == 0 || end < start || trace_->strings[name].starts_with("__hip")) return;
    CallTable& calls = trace_->calls;
    calls.start.push_back(start);
    calls.end.push_back(end);
    calls.thread.push_back(ThreadRow(thread));
    calls.name.push_back(name);
    calls.correlation.push_back(static_cast<std::uint32_t>(correlation));
    calls.failed.push_back(0);
  }

  void AddRange(const dom::element& record) {
    const bool is_mark = trace_->strings[NameOf(record)].find("Mark") != std::string::npos;
    const auto text = markers_.find(NumberAt(record["correlation_id"], "internal"));
    const Nanos start = TimeAt(record, "start_timestamp");
    const Nanos end = TimeAt(record, "end_timestamp");
    const std::uint64_t thread = NumberAt(record, "thread_id");
    if (is_mark || text == markers_.end() || start == 0 || end <= start) return;
    RangeTable& ranges = trace_->ranges;
    ranges.start.push_back(start);
    ranges.end.push_back(end);
    ranges.thread.push_back(ThreadRow(thread));
    ranges.name.push_back(text->second);
    ranges.domain.push_back(0);
    ranges.payload.push_back(0);
  }

  void JoinStreams() {
    const bool by_stream = std::any_of(lanes_.begin(), lanes_.end(),
                                       [](const Lane& lane) { return lane.stream != 0; });
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> rows;
    const std::size_t first = trace_->ops.size() - lanes_.size();
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const Lane& lane = lanes_[i];
      const std::uint64_t id = by_stream ? lane.stream : lane.queue;
      const auto [found, is_new] = rows.emplace(std::pair(lane.device, id),
                                                static_cast<std::uint32_t>(trace_->streams.size()));
      if (is_new) {
        trace_->streams.push_back({.process = process_,
                                   .device = lane.device,
                                   .id = static_cast<std::int64_t>(id),
                                   .is_default = by_stream && id == 0});
      }
      trace_->ops.stream[first + i] = found->second;
    }
  }

  Trace* trace_;
  std::uint32_t process_;
  dom::parser parser_;
  std::map<std::uint64_t, Agent> agents_;
  std::vector<std::vector<StringId>> operations_;  // by kind
  std::map<std::uint64_t, StringId> markers_;      // by correlation id
  std::map<std::uint64_t, StringId> symbols_;      // names of kernels
  std::map<std::uint64_t, std::uint32_t> threads_;
  std::vector<Lane> lanes_;  // of the process's rows of `ops`
  ShapeNumbers numbers_;
  std::vector<std::uint32_t> shapes_;  // rows of Trace::shapes by number
};

// Calls and ranges by thread, GPU work by time and with the calls that launched it.
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

Result<std::string> Unpacked(const std::string& path, const ImportOptions& options) {
  auto source = OpenBytes(path, options.jobs > 1, options.how_far);
  if (!source) return tl::unexpected(source.error());
  constexpr std::size_t kPiece = 1 << 22;
  std::string text;
  for (std::size_t filled = 0;; text.resize(filled)) {
    text.resize(filled + kPiece);
    const std::size_t count = (*source)->Read(text.data() + filled, kPiece);
    filled += count;
    if (count > 0) continue;
    text.resize(filled);
    return text;
  }
}

Result<Trace> ReadWhole(const std::string& path, const ImportOptions& options) {
  const Result<std::string> text = Unpacked(path, options);
  if (!text) return tl::unexpected(text.error());
  Trace trace;
  trace.producer = "rocprofv3";
  JsonPieces pieces(*text);
  for (auto key = pieces.Enter('{') ? pieces.NextKey() : std::nullopt; key;
       key = pieces.NextKey()) {
    if (*key != kTopKey || !pieces.Enter('[')) {
      pieces.NextValue();
      continue;
    }
    while (pieces.HasMore() && pieces.Enter('{')) ProcessReader(&trace).Read(&pieces);
  }
  const bool cut_off = pieces.cut_off();
  if (trace.ops.size() == 0) {
    return Fail(cut_off ? "the file is cut off before GPU work" : "rocprofv3 recorded no GPU work",
                path, kRecordHint);
  }
  if (cut_off)
    trace.diagnostics.Add(Level::kError, "the file is cut off: what comes before was read");
  Assemble(&trace);
  return trace;
}

}  // namespace

}  // namespace advise::rocprof

namespace advise {

bool SniffRocprof(std::string_view head, const std::string& path) {
  const auto is_its = [](std::string_view text) {
    JsonPieces pieces(text);
    return pieces.Enter('{') && pieces.NextKey() == rocprof::kTopKey;
  };
  if (!head.starts_with("\x1f\x8b")) return is_its(head);
  auto source = OpenBytes(path);
  if (!source) return false;
  std::string text(rocprof::kHeadOfFile, '\0');
  text.resize((*source)->Read(text.data(), text.size()));
  return is_its(text);
}

Result<Trace> ReadRocprof(const std::string& path, const ImportOptions& options) {
  try {
    return rocprof::ReadWhole(path, options);
  } catch (const std::bad_alloc&) {
    return Fail("there is not enough memory for this file", path,
                "record fewer steps, or a shorter time");
  }
}

}  // namespace advise
