// Reads the databases that rocprofv3 writes by default since ROCm 7, and rocprof-sys on request
// (rocpd, SQLite). Each process
// has a set of tables of its own, whose names end in the id of the set; databases that were merged
// hold several.
//
//   info_node, info_process, info_agent    the machine, the process, CPUs and GPUs
//   info_kernel_symbol                     names of kernels
//   kernel_dispatch, memory_copy           → ops
//   region                                 calls of HIP → calls; markers → ranges
//   event                                  of each row: its kind, the call behind it, its message
//
// Versions differ in where a row's times and place stand: in the row, or in the tables of
// timestamps and tracks. Which columns exist is asked, never concluded from the version. Times are
// nanoseconds since the machine booted.
#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <new>
#include <optional>
#include <unordered_map>

#include "engine/import/formats.h"
#include "engine/import/rocprof/rocprof_fields.h"
#include "engine/import/rocprof/rocprof_rows.h"
#include "engine/import/rocprof/rpd.h"
#include "engine/import/sqlite/by_id.h"
#include "engine/import/sqlite/sqlite_scan.h"

namespace advise::rocprof {
namespace {

using sqlite::ById;
using sqlite::Reader;
using sqlite::Scan;

constexpr std::string_view kPrefix = "rocpd_";
constexpr std::string_view kFirstTable = "rocpd_info_process";  // a set has one

enum class EventKind : std::uint8_t { kOther, kHip, kMarker, kFunction };

// "HIP_RUNTIME_API", "MARKER_CORE_API" of rocprofv3; "rocm_hip_api", "rocm_marker_api", "host" of
// rocprof-sys, which writes functions of the program as well.
EventKind EventKindOf(std::string_view category) {
  const auto has = [&](std::string_view part) {
    return category.find(part) != std::string_view::npos;
  };
  if (category.starts_with("HIP") || has("hip_api")) return EventKind::kHip;
  if (has("MARKER") || has("marker_api")) return EventKind::kMarker;
  const bool function = category == "host" || category == "user" || category == "python";
  return function ? EventKind::kFunction : EventKind::kOther;
}

struct Event {
  std::uint32_t correlation = 0;
  EventKind kind = EventKind::kOther;
};
struct Track {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t agent = 0;
  std::int64_t queue = 0;
  std::int64_t stream = 0;
};

// The columns that all rows with times begin with.
enum TimedColumn : int {
  kStart,
  kEnd,
  kStartId,
  kEndId,
  kPid,
  kTid,
  kAgent,
  kQueue,
  kStream,
  kTrackId,
  kEventId,
  kFirstOwn
};

class SetReader {
 public:
  SetReader(Reader& reader, std::string_view id, Trace* trace, Gpus* gpus)
      : reader_(reader), id_(id), trace_(trace), gpus_(gpus) {}

  void Read() {
    ReadSchema();
    ReadStrings();
    ReadProcesses();
    ReadAgents();
    ReadKernelNames();
    ReadPlaces();
    ReadEvents();
    ReadKernels();
    ReadCopies();
    ReadRegions();
    for (auto& [pid, rows] : processes_) rows.JoinStreams();
  }

 private:
  std::string Table(std::string_view name) const {
    return fmt::format("{}{}{}", kPrefix, name, id_);
  }

  void ReadSchema() {
    Scan scan(reader_, Table("metadata"), {"tag", "value"});
    while (scan.Next()) {
      if (scan.Text(0) == "schema_version") trace_->schema = scan.Text(1);
    }
  }

  void ReadStrings() {
    Scan scan(reader_, Table("string"), {"id", "string"});
    scan.ForEach([&] { strings_.Add(scan.Int(0), trace_->strings.Intern(scan.Text(1))); });
    strings_.Sort();
  }

  void ReadProcesses() {
    std::unordered_map<std::int64_t, std::string> hosts;
    Scan nodes(reader_, Table("info_node"), {"id", "hostname"});
    while (nodes.Next()) hosts[nodes.Int(0)] = nodes.Text(1);
    Scan scan(reader_, Table("info_process"),
              {"id", "pid", "nid", "init", "fini", "command", "environment"});
    while (scan.Next()) {
      Rows& rows = processes_.try_emplace(scan.Int(0), trace_, gpus_).first->second;
      Process& process = rows.process();
      process.pid = process.global_pid = scan.Int(1);
      const std::string_view command = scan.Text(5);
      process.name =
          std::filesystem::path(command.substr(0, command.find(' '))).filename().string();
      const std::string& host = hosts[scan.Int(2)];
      if (trace_->host.empty()) trace_->host = host;
      rows.SetHost(host);
      const Nanos length = scan.Int(4) - scan.Int(3);
      if (scan.Int(3) > 0) trace_->session_ns = std::max(trace_->session_ns, length);
      ReadEnvironment(scan.Text(6));
    }
  }

  void ReadEnvironment(std::string_view text) {
    dom::object variables;
    if (parser_.parse(text.data(), text.size()).get_object().get(variables) != simdjson::SUCCESS)
      return;
    for (const auto [name, value] : variables) {
      std::string_view content;
      if (value.get_string().get(content) == simdjson::SUCCESS)
        trace_->environment.emplace_back(name, content);
    }
  }

  void ReadAgents() {
    Scan scan(reader_, Table("info_agent"),
              {"id", "pid", "type", "absolute_index", "type_index", "product_name", "model_name",
               "name", "extdata"});
    while (scan.Next()) {
      Agent agent;
      dom::element details;
      const std::string_view text = scan.Text(8);
      if (parser_.parse(text.data(), text.size()).get(details) == simdjson::SUCCESS)
        agent = AgentOf(details);
      agent.is_gpu = scan.Text(2) == "GPU";
      Device& device = agent.device;
      device.report_id = scan.Int(3);
      device.ordinal = device.cuda_ordinal = scan.Int(4);
      for (const int column : {5, 6, 7}) {
        if (device.name.empty()) device.name = scan.Text(column);
      }
      if (Rows* const rows = RowsOf(scan.Int(1)))
        rows->AddAgent(static_cast<std::uint64_t>(scan.Int(0)), std::move(agent));
    }
  }

  void ReadKernelNames() {
    Scan scan(reader_, Table("info_kernel_symbol"), {"id", "pid", "display_name", "kernel_name"});
    while (scan.Next()) {
      if (Rows* const rows = RowsOf(scan.Int(1))) {
        rows->AddKernelName(static_cast<std::uint64_t>(scan.Int(0)), scan.Text(2), scan.Text(3));
      }
    }
  }

  void ReadPlaces() {
    Scan tracks(reader_, Table("track"), {"id", "pid", "tid", "agent_id", "queue_id", "stream_id"});
    while (tracks.Next()) {
      tracks_.Add(tracks.Int(0),
                  {tracks.Int(1), tracks.Int(2), tracks.Int(3), tracks.Int(4), tracks.Int(5)});
    }
    tracks_.Sort();
    Scan times(reader_, Table("timestamp"), {"id", "value"});
    times.ForEach([&] { times_.Add(times.Int(0), times.Int(1)); });
    times_.Sort();
  }

  void ReadEvents() {
    std::unordered_map<std::int64_t, EventKind> kinds;  // by category
    std::string markers;
    const auto add_kind = [&](std::int64_t category, std::string_view name) {
      const EventKind kind = EventKindOf(name);
      if (name == "rocm_kernel_dispatch" || name == "rocm_hip_api")
        trace_->producer = "rocprof-sys";
      if (kind != EventKind::kOther) kinds[category] = kind;
      if (kind == EventKind::kMarker)
        markers += fmt::format("{}{}", markers.empty() ? "" : ", ", category);
    };
    const bool named_apart = reader_.source.Has(Table("info_category"));
    Scan names(reader_, Table(named_apart ? "info_category" : "string"), {"id", "name|string"});
    while (names.Next()) add_kind(names.Int(0), names.Text(1));
    Scan scan(reader_, Table("event"), {"id", "stack_id", "category_id"});
    scan.ForEach([&] {
      const auto kind = kinds.find(scan.Int(2));
      events_.Add(scan.Int(0), {static_cast<std::uint32_t>(scan.Int(1)),
                                kind == kinds.end() ? EventKind::kOther : kind->second});
    });
    events_.Sort();
    if (!markers.empty()) ReadMessages(fmt::format("WHERE category_id IN ({})", markers));
  }

  void ReadMessages(const std::string& condition) {
    Scan scan(reader_, Table("event"), {"id", "extdata"}, condition);
    while (scan.Next()) {
      const std::string_view text = scan.Text(1);
      dom::element details;
      if (parser_.parse(text.data(), text.size()).get(details) != simdjson::SUCCESS) continue;
      const std::string message = TextAt(details, "message");
      if (!message.empty()) messages_.Add(scan.Int(0), trace_->strings.Intern(message));
    }
    messages_.Sort();
  }

  Rows* RowsOf(std::int64_t process) {
    const auto found = processes_.find(process);
    return found == processes_.end() ? nullptr : &found->second;
  }

  std::int64_t TimeOf(const Scan& scan, TimedColumn column, TimedColumn id) const {
    if (!scan.IsNull(column)) return scan.Int(column);
    const std::int64_t* const time = times_.Find(scan.Int(id));
    return time == nullptr ? 0 : *time;
  }

  Track TrackOf(const Scan& scan) const {
    const Track* const track = scan.IsNull(kTrackId) ? nullptr : tracks_.Find(scan.Int(kTrackId));
    if (track != nullptr) return *track;
    return {scan.Int(kPid), scan.Int(kTid), scan.Int(kAgent), scan.Int(kQueue), scan.Int(kStream)};
  }

  // Calls `each(rows, work, track, event)` for each row of a table with times.
  template <typename Each>
  void ForEachTimed(Scan& scan, Each each) {
    scan.ForEach([&] {
      const Track track = TrackOf(scan);
      Rows* const rows = RowsOf(track.process);
      if (rows == nullptr) return scan.Drop("records without a process were dropped");
      const Event* const found = events_.Find(scan.Int(kEventId));
      const Event event = found == nullptr ? Event() : *found;
      const TimedRecord work = {.start = KnownTime(TimeOf(scan, kStart, kStartId)),
                                .end = TimeOf(scan, kEnd, kEndId),
                                .device = static_cast<std::uint64_t>(track.agent),
                                .stream = static_cast<std::uint64_t>(track.stream),
                                .queue = static_cast<std::uint64_t>(track.queue),
                                .correlation = event.correlation};
      each(*rows, work, static_cast<std::uint64_t>(track.thread), event);
    });
  }

  void ReadKernels() {
    Scan scan(
        reader_, Table("kernel_dispatch"),
        {"start", "end", "start_id", "end_id", "pid", "tid", "agent_id", "queue_id", "stream_id",
         "track_id", "event_id", "kernel_id", "workgroup_size_x", "workgroup_size_y",
         "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z"});
    const auto sizes = [&](int first) {
      return std::array<std::uint32_t, 3>{scan.Unsigned(first), scan.Unsigned(first + 1),
                                          scan.Unsigned(first + 2)};
    };
    ForEachTimed(scan, [&](Rows& rows, const TimedRecord& work, std::uint64_t, const Event&) {
      rows.AddDispatch(work, {.kernel = static_cast<std::uint64_t>(scan.Int(kFirstOwn)),
                              .block = sizes(kFirstOwn + 1),
                              .threads = sizes(kFirstOwn + 4)});
    });
  }

  void ReadCopies() {
    Scan scan(
        reader_, Table("memory_copy"),
        {"start", "end", "start_id", "end_id", "pid", "tid", "agent_id", "queue_id", "stream_id",
         "track_id", "event_id", "name_id", "src_agent_id", "dst_agent_id", "size"});
    ForEachTimed(scan, [&](Rows& rows, const TimedRecord& work, std::uint64_t, const Event&) {
      const StringId* const way = strings_.Find(scan.Int(kFirstOwn));
      const std::string name(way == nullptr ? "" : trace_->strings[*way]);
      rows.AddCopyRecord(work, {.way = name,
                                .from = static_cast<std::uint64_t>(scan.Int(kFirstOwn + 1)),
                                .to = static_cast<std::uint64_t>(scan.Int(kFirstOwn + 2)),
                                .bytes = static_cast<std::uint64_t>(
                                    std::max<std::int64_t>(0, scan.Int(kFirstOwn + 3)))});
    });
  }

  void ReadRegions() {
    Scan scan(reader_, Table("region"),
              {"start", "end", "start_id", "end_id", "pid", "tid", "agent_id", "queue_id",
               "stream_id", "track_id", "event_id", "name_id"});
    ForEachTimed(
        scan, [&](Rows& rows, const TimedRecord& work, std::uint64_t thread, const Event& event) {
          const StringId* name = strings_.Find(scan.Int(kFirstOwn));
          if (event.kind == EventKind::kHip && name != nullptr)
            return rows.AddHipCall(thread, *name, work.correlation, work.start, work.end);
          if (event.kind == EventKind::kMarker) name = TextOfMarker(scan.Int(kEventId), name);
          if (event.kind != EventKind::kOther && name != nullptr)
            rows.AddRange(thread, *name, work.start, work.end);
        });
  }

  // rocprofv3 names the call ("roctxRangePushA") and keeps the text apart; rocprof-sys names the
  // region by its text.
  const StringId* TextOfMarker(std::int64_t event, const StringId* name) const {
    const StringId* const message = messages_.Find(event);
    if (message != nullptr || name == nullptr) return message;
    return trace_->strings[*name].starts_with("roctx") ? nullptr : name;
  }

  Reader& reader_;
  std::string id_;  // "_0000d3a1…": how the names of its tables end
  Trace* trace_;
  Gpus* gpus_;
  dom::parser parser_;
  std::map<std::int64_t, Rows> processes_;
  ById<StringId> strings_;
  ById<StringId> messages_;  // of markers, by event
  ById<Event> events_;
  ById<Track> tracks_;
  ById<std::int64_t> times_;
};

Result<Trace> ReadDatabase(const sqlite::Source& source) {
  Trace trace;
  trace.producer = "rocprofv3";
  trace.schema = "unknown";  // until the database says
  for (const Diagnostic& d : source.diagnostics.list())
    trace.diagnostics.Add(d.level, d.text, d.table, d.count);
  const SQLite::Database database = sqlite::Connect(source);
  sqlite::ReadLog log;
  Reader reader{source, database.getHandle(), log};
  Gpus gpus;
  for (const auto& [table, columns] : source.tables) {
    if (table.starts_with(kFirstTable))
      SetReader(reader, std::string_view(table).substr(kFirstTable.size()), &trace, &gpus).Read();
  }
  for (const Diagnostic& d : log.diagnostics.list())
    trace.diagnostics.Add(d.level, d.text, d.table, d.count);
  trace.table_rows = log.rows;
  if (trace.ops.size() == 0 && source.is_damaged)
    return Fail("the database is damaged or cut off: no GPU work can be read", source.path,
                "copy the file again");
  if (trace.ops.size() == 0)
    return Fail("rocprofv3 recorded no GPU work", source.path, kRecordHint);
  AssembleRows(&trace);
  return trace;
}

}  // namespace
}  // namespace advise::rocprof

namespace advise {

bool SniffRocprofDatabase(std::string_view head, const std::string& path) {
  return sqlite::IsDatabase(head) && (sqlite::HasTableNamed(path, rocprof::kFirstTable) ||
                                      sqlite::HasTableNamed(path, rocprof::kRpdTable));
}

Result<Trace> ReadRocprofDatabase(const std::string& path, const ImportOptions& /*options*/) {
  try {
    const auto source = sqlite::OpenSource(path);
    if (!source) return tl::unexpected(source.error());
    return source->Has(rocprof::kRpdTable) ? rocprof::ReadRpd(*source)
                                           : rocprof::ReadDatabase(*source);
  } catch (const SQLite::Exception& error) {
    return Fail(std::string("the database cannot be read: ") + error.what(), path,
                "copy the file again");
  } catch (const std::bad_alloc&) {
    return Fail("there is not enough memory for this file", path,
                "record fewer steps, or a shorter time");
  }
}

}  // namespace advise
