// Reads the Chrome traces that the profilers of JAX and TensorFlow write (HOST.trace.json.gz):
//
//   M  process_name  "/device:GPU:0", "/host:CPU"
//   M  thread_name   "Stream #13(Compute)" of a GPU, "python" of the host
//   X  of a stream, with kernel_details, memcpy_details or memset_details   → ops
//   X  of a thread, cuLaunchKernel and the like                             → calls
//   X  of a thread, anything else                                           → ranges
//
// A GPU's other lines (XLA Modules, Steps) repeat its streams. Frames of Python ("$train.py:12
// step") are not read, as those of PyTorch's profiler are not. Times are microseconds since the
// profiler began. It writes a million events at most: the file says nothing of those that it drops.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <utility>

#include "engine/base/parse_number.h"
#include "engine/import/byte_source.h"
#include "engine/import/formats.h"
#include "engine/import/json_fields.h"
#include "engine/import/json_pieces.h"
#include "engine/import/process_rows.h"

namespace advise::jax {
namespace {

constexpr const char* kRecordJaxHint =
    "record the GPUs, too: with jax.profiler.trace(\"DIR\"): step() in a process that uses them";
constexpr std::int64_t kMostEvents = 1'000'000;  // that the profiler writes (trace viewer's limit)

// The value of a key in "regs:32 static_shared:0 grid:1,1,1"; "" where it is missing.
std::string_view DetailOf(std::string_view details, std::string_view key) {
  while (!details.empty()) {
    const std::size_t end = std::min(details.find(' '), details.size());
    const std::string_view item = details.substr(0, end);
    if (item.size() > key.size() && item.starts_with(key) && item[key.size()] == ':')
      return item.substr(key.size() + 1);
    details.remove_prefix(std::min(end + 1, details.size()));
  }
  return "";
}

std::uint32_t NumberIn(std::string_view details, std::string_view key) {
  return NumberAtStart<std::uint32_t>(DetailOf(details, key));
}

std::array<std::uint32_t, 3> SizesIn(std::string_view details, std::string_view key) {
  std::string_view text = DetailOf(details, key);
  std::array<std::uint32_t, 3> sizes = {};
  for (std::uint32_t& size : sizes) {
    size = NumberAtStart<std::uint32_t>(text);
    text.remove_prefix(std::min(text.find(',') + 1, text.size()));
  }
  return sizes;
}

MemoryKind KindNamed(std::string_view name) {
  if (name == "pageable") return MemoryKind::kPageable;
  if (name == "pinned" || name == "host") return MemoryKind::kPinned;
  if (name == "device") return MemoryKind::kDevice;
  if (name == "array") return MemoryKind::kArray;
  if (name == "managed") return MemoryKind::kManaged;
  if (name == "device_static") return MemoryKind::kDeviceStatic;
  return name == "managed_static" ? MemoryKind::kManagedStatic : MemoryKind::kUnknown;
}

CopyDirection DirectionOfCopy(std::string_view name) {
  if (name.ends_with("H2D")) return CopyDirection::kHostToDevice;
  if (name.ends_with("D2H")) return CopyDirection::kDeviceToHost;
  if (name.ends_with("D2D")) return CopyDirection::kDeviceToDevice;
  if (name.ends_with("P2P")) return CopyDirection::kPeerToPeer;
  return name.ends_with("H2H") ? CopyDirection::kHostToHost : CopyDirection::kUnknown;
}

// "cuLaunchKernel", "cudaMalloc", "hipLaunchKernel"
bool IsCall(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "cu", "hip"}) {
    if (name.size() > prefix.size() && name.starts_with(prefix))
      return name[prefix.size()] >= 'A' && name[prefix.size()] <= 'Z';
  }
  return false;
}

// "correlation_id": "77"
template <typename Args>
std::uint64_t NumberInText(const Args& args, const char* key) {
  std::string_view text;
  if (args[key].get_string().get(text) != simdjson::SUCCESS) return 0;
  return NumberAtStart<std::uint64_t>(text);
}

class TraceReader {
 public:
  explicit TraceReader(Trace* trace) : trace_(trace), rows_(trace, &gpus_) {}

  void Read(JsonPieces* pieces) {
    for (auto key = pieces->Enter('{') ? pieces->NextKey() : std::nullopt; key;
         key = pieces->NextKey()) {
      if (*key != "traceEvents" || !pieces->Enter('[')) {
        pieces->NextValue();
        continue;
      }
      while (pieces->HasMore()) {
        const auto text = pieces->NextValue();
        json::dom::element event;
        if (!text) break;
        if (parser_.parse(text->data(), text->size()).get(event) == simdjson::SUCCESS) {
          ReadEvent(event);
        } else {
          trace_->diagnostics.Add(Level::kWarning, "records that are not valid JSON were skipped");
        }
      }
    }
    rows_.JoinStreams();
    AssembleRows(trace_);
  }

  std::int64_t events() const { return events_; }

 private:
  using Place = std::pair<std::uint64_t, std::uint64_t>;  // pid, tid

  void ReadEvent(const json::dom::element& event) {
    const std::string phase = json::TextAt(event, "ph");
    const Place place(json::NumberAt(event, "pid"), json::NumberAt(event, "tid"));
    if (phase == "M") return ReadName(event, place);
    if (phase != "X") return;
    ++events_;
    const std::string name = json::TextAt(event, "name");
    const auto args = event["args"];
    TimedRecord work;
    work.start = TimeAt(event, "ts");
    work.end = work.start + std::max<Nanos>(TimeAt(event, "dur"), 0);
    work.correlation = NumberInText(args, "correlation_id");
    if (const auto stream = streams_.find(place); stream != streams_.end()) {
      work.device = gpu_of_process_[place.first];
      work.stream = stream->second;
      work.in_graph = !json::TextAt(args, "cuda_graph_node_id").empty();
      AddWork(work, name, args);
    } else if (!gpu_of_process_.contains(place.first)) {
      AddHostEvent(work, place.second, name, args);
    }
  }

  void ReadName(const json::dom::element& event, const Place& place) {
    constexpr std::string_view kGpu = "/device:GPU:";
    constexpr std::string_view kStream = "Stream #";
    const std::string of = json::TextAt(event, "name");
    const std::string name = json::TextAt(event["args"], "name");
    if (of == "process_name" && name.starts_with(kGpu)) {
      Device device;
      device.ordinal = NumberAtStart<std::int64_t>(std::string_view(name).substr(kGpu.size()));
      device.cuda_ordinal = device.report_id = device.ordinal;
      const auto number = static_cast<std::uint64_t>(device.ordinal);
      gpu_of_process_[place.first] = number;
      rows_.AddDevice(number, std::move(device));
    } else if (of == "thread_name" && gpu_of_process_.contains(place.first)) {
      if (name.starts_with(kStream)) {
        streams_[place] =
            NumberAtStart<std::uint64_t>(std::string_view(name).substr(kStream.size()));
      }
    } else if (of == "thread_name" && !name.empty()) {
      rows_.NameThread(place.second, name);
    }
  }

  // -1 where it is missing or no time.
  static Nanos TimeAt(const json::dom::element& event, const char* key) {
    constexpr double kMost = 1e15;  // microseconds: thirty years
    constexpr double kNanosOfMicro = 1e3;
    double time = -1;
    if (event[key].get_double().get(time) != simdjson::SUCCESS || !(time >= 0 && time < kMost))
      return -1;
    return std::llround(time * kNanosOfMicro);
  }

  template <typename Args>
  void AddWork(const TimedRecord& work, const std::string& name, const Args& args) {
    if (const std::string copy = json::TextAt(args, "memcpy_details"); !copy.empty()) {
      const CopyDirection direction = DirectionOfCopy(name);
      if (direction == CopyDirection::kHostToHost) return;
      rows_.AddCopy(work, {.direction = direction,
                           .bytes = NumberAtStart<std::uint64_t>(DetailOf(copy, "size")),
                           .source = KindNamed(DetailOf(copy, "kind_src")),
                           .target = KindNamed(DetailOf(copy, "kind_dst")),
                           .to_device = NumberIn(copy, "dest")});
      return;
    }
    if (name.starts_with("Memset")) {
      std::string memset = json::TextAt(args, "Memset_details");
      if (memset.empty()) memset = json::TextAt(args, "memset_details");
      rows_.AddMemset(work, NumberAtStart<std::uint64_t>(DetailOf(memset, "size")),
                      KindNamed(DetailOf(memset, "kind")));
      return;
    }
    const std::string kernel = json::TextAt(args, "kernel_details");
    KernelShape shape;
    shape.name = shape.short_name = trace_->strings.Intern(name);
    shape.grid = SizesIn(kernel, "grid");
    shape.block = SizesIn(kernel, "block");
    shape.registers = NumberIn(kernel, "regs");
    shape.static_shared_bytes = NumberIn(kernel, "static_shared");
    shape.dynamic_shared_bytes = NumberIn(kernel, "dynamic_shared");
    rows_.AddKernel(work, shape);
  }

  template <typename Args>
  void AddHostEvent(const TimedRecord& event, std::uint64_t thread, const std::string& name,
                    const Args& args) {
    if (IsCall(name)) {
      // "cuGraphLaunch (CudaGraph:12)"
      const StringId call = trace_->strings.Intern(name.substr(0, name.find(' ')));
      rows_.AddCall(thread, call, event.correlation, event.start, event.end);
      return;
    }
    if (name.starts_with('$')) return;
    // jax.profiler.StepTraceAnnotation("train", step_num=3)
    const std::string step = json::TextAt(args, "step_num");
    const std::string said = step.empty() ? name : fmt::format("step {} ({})", step, name);
    rows_.AddRange(thread, trace_->strings.Intern(said), event.start, event.end);
  }

  Trace* trace_;
  Gpus gpus_;
  ProcessRows rows_;
  json::dom::parser parser_;
  std::map<std::uint64_t, std::uint64_t> gpu_of_process_;  // by pid
  std::map<Place, std::uint64_t> streams_;
  std::int64_t events_ = 0;
};

Result<Trace> ReadJaxText(const std::string& path, const ImportOptions& options) {
  const Result<std::string> text = WholeText(path, options);
  if (!text) return tl::unexpected(text.error());
  Trace trace;
  trace.producer = "XProf (JAX, TensorFlow)";
  JsonPieces pieces(*text);
  TraceReader reader(&trace);
  reader.Read(&pieces);
  if (trace.ops.size() == 0) {
    return Fail(pieces.cut_off() ? "the file is cut off before GPU work"
                                 : "the profiler recorded no GPU work",
                path, kRecordJaxHint);
  }
  if (pieces.cut_off())
    trace.diagnostics.Add(Level::kError, "the file is cut off: what comes before was read");
  if (reader.events() >= kMostEvents) {
    trace.diagnostics.Add(Level::kWarning,
                          "the profiler writes a million events at most, and drops the rest: "
                          "record fewer steps");
  }
  trace.table_rows["traceEvents"] = reader.events();
  return trace;
}

bool LooksLikeItsTrace(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  return text.starts_with('{') && has("\"traceEvents\"") && has("\"process_name\"") &&
         (has("\"/host:CPU\"") || has("\"/device:GPU:"));
}

}  // namespace
}  // namespace advise::jax

namespace advise {

bool SniffJaxTrace(std::string_view head, const std::string& path) {
  return jax::LooksLikeItsTrace(UnpackedHead(head, path));
}

Result<Trace> ReadJaxTrace(const std::string& path, const ImportOptions& options) {
  try {
    return jax::ReadJaxText(path, options);
  } catch (const std::bad_alloc&) {
    return Fail("there is not enough memory for this trace", path, "record fewer steps");
  }
}

}  // namespace advise
