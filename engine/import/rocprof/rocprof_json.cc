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
#include <map>
#include <new>

#include "engine/import/byte_source.h"
#include "engine/import/formats.h"
#include "engine/import/json_pieces.h"
#include "engine/import/rocprof/rocprof_fields.h"
#include "engine/import/rocprof/rocprof_rows.h"

namespace advise::rocprof {
namespace {

constexpr std::string_view kTopKey = "rocprofiler-sdk-tool";

class ProcessReader {
 public:
  ProcessReader(Trace* trace, Gpus* gpus) : trace_(trace), rows_(trace, gpus) {}

  // The parts in the order in which they are written, which is that in which they are needed.
  void Read(JsonPieces* pieces) {
    while (const auto key = pieces->NextKey()) {
      if (*key == "metadata") {
        Parse(pieces, [&](const dom::element& metadata) { ReadMetadata(metadata); });
      } else if (*key == "agents") {
        ForEach(pieces, [&](const dom::element& agent) {
          rows_.AddAgent(HandleAt(agent, "id"), AgentOf(agent));
        });
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
    rows_.JoinStreams();
  }

 private:
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
    Process& process = rows_.process();
    if (const std::string host = TextAt(metadata["node"], "hostname"); !host.empty()) {
      trace_->host = host;
      rows_.SetHost(host);
    }
    process.pid = static_cast<std::int64_t>(SmallAt(metadata, "pid"));
    process.global_pid = process.pid;
    const Nanos began = TimeAt(metadata, "init_time");
    trace_->session_ns = std::max<Nanos>(0, TimeAt(metadata, "fini_time") - began);
    std::string_view program;
    if (metadata["command"].at(0).get_string().get(program) == simdjson::SUCCESS)
      process.name = std::filesystem::path(program).filename().string();
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
    if (id == 0) return;  // stands for none
    rows_.AddKernelName(id, TextAt(item, "formatted_kernel_name"), TextAt(item, "kernel_name"));
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

  static TimedRecord WorkOf(const dom::element& record) {
    TimedRecord work;
    work.start = KnownTime(TimeAt(record, "start_timestamp"));
    work.end = TimeAt(record, "end_timestamp");
    work.stream = HandleAt(record, "stream_id");
    work.correlation = NumberAt(record["correlation_id"], "internal");
    return work;
  }

  void AddKernel(const dom::element& record) {
    const auto info = record["dispatch_info"];
    TimedRecord work = WorkOf(record);
    work.device = HandleAt(info, "agent_id");
    work.queue = HandleAt(info, "queue_id");
    rows_.AddDispatch(work, {.kernel = NumberAt(info, "kernel_id"),
                             .block = SizesAt(info, "workgroup_size"),
                             .threads = SizesAt(info, "grid_size")});
  }

  void AddCopy(const dom::element& record) {
    const std::string way(trace_->strings[NameOf(record)]);
    rows_.AddCopyRecord(WorkOf(record), {.way = way,
                                         .from = HandleAt(record, "src_agent_id"),
                                         .to = HandleAt(record, "dst_agent_id"),
                                         .bytes = NumberAt(record, "bytes")});
  }

  void AddCall(const dom::element& record) {
    const TimedRecord call = WorkOf(record);
    rows_.AddHipCall(NumberAt(record, "thread_id"), NameOf(record), call.correlation, call.start,
                     call.end);
  }

  void AddRange(const dom::element& record) {
    const bool is_mark = trace_->strings[NameOf(record)].find("Mark") != std::string::npos;
    const TimedRecord range = WorkOf(record);
    const auto text = markers_.find(range.correlation);
    if (is_mark || text == markers_.end()) return;
    rows_.AddRange(NumberAt(record, "thread_id"), text->second, range.start, range.end);
  }

  Trace* trace_;
  Rows rows_;
  dom::parser parser_;
  std::vector<std::vector<StringId>> operations_;  // by kind
  std::map<std::uint64_t, StringId> markers_;      // by correlation id
};

Result<Trace> ReadWhole(const std::string& path, const ImportOptions& options) {
  const Result<std::string> text = WholeText(path, options);
  if (!text) return tl::unexpected(text.error());
  Trace trace;
  trace.producer = "rocprofv3";
  Gpus gpus;
  JsonPieces pieces(*text);
  for (auto key = pieces.Enter('{') ? pieces.NextKey() : std::nullopt; key;
       key = pieces.NextKey()) {
    if (*key != kTopKey || !pieces.Enter('[')) {
      pieces.NextValue();
      continue;
    }
    while (pieces.HasMore() && pieces.Enter('{')) ProcessReader(&trace, &gpus).Read(&pieces);
  }
  const bool cut_off = pieces.cut_off();
  if (trace.ops.size() == 0) {
    return Fail(cut_off ? "the file is cut off before GPU work" : "rocprofv3 recorded no GPU work",
                path, kRecordHint);
  }
  if (cut_off)
    trace.diagnostics.Add(Level::kError, "the file is cut off: what comes before was read");
  AssembleRows(&trace);
  return trace;
}

}  // namespace

}  // namespace advise::rocprof

namespace advise {

bool SniffRocprof(std::string_view head, const std::string& path) {
  const std::string text = UnpackedHead(head, path);
  JsonPieces pieces(text);
  return pieces.Enter('{') && pieces.NextKey() == rocprof::kTopKey;
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
