// Reads what rocmProfileData's tracer writes (runTracer.sh; SQLite):
//
//   rocpd_api          calls of HIP → calls; "UserMarker" with its text → ranges
//   rocpd_op           what GPUs did → ops
//   rocpd_api_ops      which call launched which op
//   rocpd_kernelapi    sizes and streams of launches
//   rocpd_copyapi      bytes of copies
//   rocpd_string, rocpd_ustring    names; texts of markers in later versions
//
// Times are nanoseconds since the machine booted. GPUs have numbers and no names.
#include "engine/import/rocprof/rpd.h"

#include <charconv>
#include <optional>

#include "engine/import/process_rows.h"
#include "engine/import/sqlite/by_id.h"
#include "engine/import/sqlite/sqlite_scan.h"

namespace advise::rocprof {
namespace {

using sqlite::ById;
using sqlite::Reader;
using sqlite::Scan;

struct Api {
  ProcessRows* rows = nullptr;
  std::uint64_t number = 0;  // ids are beyond 32 bits
};
struct Launch {
  std::array<std::uint32_t, 3> grid = {};
  std::array<std::uint32_t, 3> block = {};
  std::uint32_t shared_bytes = 0;
  std::uint64_t stream = 0;
};

// "0x7f9f3915ad70"
std::uint64_t AddressIn(std::string_view text) {
  std::uint64_t address = 0;
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::from_chars(text.data(), text.data() + text.size(), address, 16);
  return address;
}

// "CopyHostToDevice", "CopyHostToDevice2D"
CopyDirection DirectionOfRpd(std::string_view type) {
  if (type.starts_with("CopyHostToDevice")) return CopyDirection::kHostToDevice;
  if (type.starts_with("CopyDeviceToHost")) return CopyDirection::kDeviceToHost;
  return type.starts_with("CopyDeviceToDevice") ? CopyDirection::kDeviceToDevice
                                                : CopyDirection::kUnknown;
}

class RpdReader {
 public:
  RpdReader(Reader& reader, Trace* trace) : reader_(reader), trace_(trace) {}

  void Read() {
    ReadTexts("rocpd_string", &strings_);
    ReadTexts("rocpd_ustring", &texts_);
    ReadApis();
    ReadLaunches();
    ReadLinks();
    ReadOps();
    for (auto& [pid, rows] : processes_) rows.JoinStreams();
    AssembleRows(trace_);
  }

 private:
  void ReadTexts(std::string_view table, ById<StringId>* into) {
    Scan scan(reader_, table, {"id", "string"});
    scan.ForEach([&] { into->Add(scan.Int(0), trace_->strings.Intern(scan.Text(1))); });
    into->Sort();
  }

  static StringId TextOf(const ById<StringId>& texts, std::int64_t id) {
    const StringId* const found = texts.Find(id);
    return found == nullptr ? 0 : *found;
  }

  ProcessRows& RowsOf(std::int64_t pid) {
    const auto [found, is_new] = processes_.try_emplace(pid, trace_, &gpus_);
    if (is_new) found->second.process().pid = found->second.process().global_pid = pid;
    return found->second;
  }

  void ReadApis() {
    const bool texts_apart = reader_.source.Has("rocpd_ustring");
    Scan scan(reader_, kRpdTable, {"id", "pid", "tid", "start", "end", "apiName_id", "args_id"});
    scan.ForEach([&] {
      ProcessRows& rows = RowsOf(scan.Int(1));
      const auto thread = static_cast<std::uint64_t>(scan.Int(2));
      const std::uint64_t number = ++apis_read_;
      apis_.Add(scan.Int(0), {&rows, number});
      const StringId name = TextOf(strings_, scan.Int(5));
      if (trace_->strings[name] == "UserMarker") {
        const StringId text = TextOf(texts_apart ? texts_ : strings_, scan.Int(6));
        rows.AddRange(thread, text, scan.Int(3), scan.Int(4));
      } else {
        rows.AddCall(thread, name, number, scan.Int(3), scan.Int(4));
      }
    });
    apis_.Sort();
  }

  void ReadLaunches() {
    Scan kernels(reader_, "rocpd_kernelapi",
                 {"api_ptr_id", "gridX", "gridY", "gridZ|gridz", "workgroupX", "workgroupY",
                  "workgroupZ", "groupSegmentSize", "stream"});
    kernels.ForEach([&] {
      const auto sizes = [&](int first) {
        return std::array<std::uint32_t, 3>{kernels.Unsigned(first), kernels.Unsigned(first + 1),
                                            kernels.Unsigned(first + 2)};
      };
      launches_.Add(kernels.Int(0),
                    {sizes(1), sizes(4), kernels.Unsigned(7), AddressIn(kernels.Text(8))});
    });
    launches_.Sort();
    Scan copies(reader_, "rocpd_copyapi",
                {"api_ptr_id", "size", "stream", "dstDevice", "srcDevice"});
    copies.ForEach([&] {
      // Copies inside a GPU name GPU 0 twice, whichever it was.
      const bool between = copies.Int(3) != copies.Int(4);
      copies_.Add(
          copies.Int(0),
          {static_cast<std::uint64_t>(std::max<std::int64_t>(copies.Int(1), 0)),
           AddressIn(copies.Text(2)),
           between ? std::optional(static_cast<std::uint64_t>(copies.Int(3))) : std::nullopt});
    });
    copies_.Sort();
  }

  void ReadLinks() {
    Scan scan(reader_, "rocpd_api_ops", {"op_id", "api_id"});
    scan.ForEach([&] { api_of_op_.Add(scan.Int(0), scan.Int(1)); });
    api_of_op_.Sort();
  }

  void ReadOps() {
    Scan scan(reader_, "rocpd_op",
              {"id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"});
    scan.ForEach([&] {
      const std::int64_t* const api_id = api_of_op_.Find(scan.Int(0));
      const Api* const api = api_id == nullptr ? nullptr : apis_.Find(*api_id);
      ProcessRows& rows = api != nullptr       ? *api->rows
                          : processes_.empty() ? RowsOf(0)
                                               : processes_.begin()->second;
      TimedRecord work;
      work.start = scan.Int(3);
      work.end = scan.Int(4);
      work.device = static_cast<std::uint64_t>(scan.Int(1));
      work.queue = static_cast<std::uint64_t>(scan.Int(2));
      if (api != nullptr) work.correlation = api->number;
      rows.AddDevice(work.device, DeviceNumbered(scan.Int(1)));
      AddOp(rows, work, api_id == nullptr ? 0 : *api_id, TextOf(strings_, scan.Int(5)),
            trace_->strings[TextOf(strings_, scan.Int(6))]);
    });
  }

  static Device DeviceNumbered(std::int64_t number) {
    Device device;
    device.ordinal = device.cuda_ordinal = device.report_id = number;
    return device;
  }

  // `type`: "KernelExecution", "Task", "CopyHostToDevice", "FillBuffer"; barriers are no work.
  void AddOp(ProcessRows& rows, TimedRecord work, std::int64_t api, StringId name,
             std::string_view type) {
    if (type.starts_with("Copy")) {
      const CopySize* const size = copies_.Find(api);
      if (size != nullptr) work.stream = size->stream;
      return rows.AddCopy(
          work,
          {.direction = DirectionOfRpd(type),
           .bytes = size == nullptr ? 0 : size->bytes,
           .to_device = size == nullptr ? work.device : size->to_device.value_or(work.device)});
    }
    if (type.starts_with("FillBuffer")) return rows.AddMemset(work, 0, MemoryKind::kDevice);
    if (!type.starts_with("Kernel") && !type.starts_with("Task")) return;
    KernelShape shape;
    shape.name = shape.short_name = name;
    if (const Launch* const launch = launches_.Find(api)) {
      work.stream = launch->stream;
      shape.grid = launch->grid;
      shape.block = launch->block;
      shape.dynamic_shared_bytes = launch->shared_bytes;
    }
    rows.AddKernel(work, shape);
  }

  struct CopySize {
    std::uint64_t bytes = 0;
    std::uint64_t stream = 0;
    std::optional<std::uint64_t> to_device;  // of copies between two GPUs
  };

  Reader& reader_;
  Trace* trace_;
  Gpus gpus_;
  std::map<std::int64_t, ProcessRows> processes_;  // by pid
  std::uint64_t apis_read_ = 0;
  ById<StringId> strings_;
  ById<StringId> texts_;
  ById<Api> apis_;
  ById<Launch> launches_;  // by call
  ById<CopySize> copies_;  // by call
  ById<std::int64_t> api_of_op_;
};

}  // namespace

Result<Trace> ReadRpd(const sqlite::Source& source) {
  Trace trace;
  trace.producer = "rocmProfileData";
  trace.schema = "unknown";
  for (const Diagnostic& d : source.diagnostics.list())
    trace.diagnostics.Add(d.level, d.text, d.table, d.count);
  const SQLite::Database database = sqlite::Connect(source);
  sqlite::ReadLog log;
  Reader reader{source, database.getHandle(), log};
  RpdReader(reader, &trace).Read();
  for (const Diagnostic& d : log.diagnostics.list())
    trace.diagnostics.Add(d.level, d.text, d.table, d.count);
  trace.table_rows = log.rows;
  if (trace.ops.size() > 0) return trace;
  return Fail(source.is_damaged ? "the database is damaged or cut off: no GPU work can be read"
                                : "rocmProfileData recorded no GPU work",
              source.path, "record it with: runTracer.sh -o run.rpd COMMAND");
}

}  // namespace advise::rocprof
