// Reads tables of single events, which are a timeline without the host:
//
//   nsys stats -r cuda_gpu_trace    Start (ns),Duration (ns),CorrId,GrdX,…,Device,Ctx,Strm,Name
//   nvprof --print-gpu-trace --csv  "Start","Duration","Grid X",…,"Stream","Name","Correlation_ID"
//   rocprofv3 --kernel-trace        "Kind","Agent_Id",…,"Kernel_Name",…,"Start_Timestamp",…
//   rocprof --timestamp on          "Index","KernelName","gpu-id",…,"BeginNs","EndNs",…
//
// nvprof puts calls of the host into the same table when it is asked for both (--print-api-trace).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "engine/base/call_name.h"
#include "engine/import/formats.h"
#include "engine/import/host_calls.h"
#include "engine/import/keys.h"
#include "engine/import/profiles/printed_tables.h"
#include "engine/import/profiles/totals.h"
#include "engine/import/row_order.h"

namespace advise {
namespace {

bool IsGpuTrace(const PrintedTable& table) {
  return table.Has("start") && table.Find({"duration", "end"}) && table.Has("device") &&
         table.Find({"strm", "stream", "queue"}) && table.Has("name");
}

// "[CUDA memcpy Host-to-Device]", "[CUDA memcpy HtoD]", "[Unified Memory Memcpy DtoH]".
CopyDirection DirectionIn(std::string_view name) {
  const bool migrates = name.find("Unified") != std::string_view::npos;
  const auto has = [&](std::string_view a, std::string_view b) {
    return name.find(a) != std::string_view::npos || name.find(b) != std::string_view::npos;
  };
  if (has("Host-to-Device", "HtoD")) {
    return migrates ? CopyDirection::kMigrationToDevice : CopyDirection::kHostToDevice;
  }
  if (has("Device-to-Host", "DtoH")) {
    return migrates ? CopyDirection::kMigrationToHost : CopyDirection::kDeviceToHost;
  }
  if (has("Peer-to-Peer", "PtoP") || has("Peer-to-peer", "P2P")) return CopyDirection::kPeerToPeer;
  if (has("Device-to-Device", "DtoD")) {
    return migrates ? CopyDirection::kMigrationPeer : CopyDirection::kDeviceToDevice;
  }
  return has("Host-to-Host", "HtoH") ? CopyDirection::kHostToHost : CopyDirection::kUnknown;
}

MemoryKind MemoryNamed(std::string_view word) {
  static constexpr auto kKinds = std::to_array<std::pair<std::string_view, MemoryKind>>(
      {{"pageable", MemoryKind::kPageable},
       {"pinned", MemoryKind::kPinned},
       {"device", MemoryKind::kDevice},
       {"array", MemoryKind::kArray},
       {"managed", MemoryKind::kManaged},
       {"device static", MemoryKind::kDeviceStatic},
       {"managed static", MemoryKind::kManagedStatic}});
  const std::string lower = Lower(word);
  for (const auto& [name, kind] : kKinds) {
    if (name == lower) return kind;
  }
  return MemoryKind::kUnknown;
}

double BytesIn(std::string_view unit) {
  if (unit == "KB") return 1e3;
  if (unit == "MB") return 1e6;
  if (unit == "GB") return 1e9;
  return 1;
}

class GpuTraceReader {
 public:
  GpuTraceReader(const NumberStyle& style, Trace* trace) : style_(style), trace_(trace) {
    trace_->processes.emplace_back();
    trace_->threads.push_back({.process = 0});
  }

  void Read(const PrintedTable& table) {
    const auto start = table.Find({"start"});
    const auto last = table.Find({"end"});
    const auto duration = last ? last : table.Find({"duration"});
    const auto scale_start = NanosecondsOf(table.columns[*start].unit);
    const auto scale_duration = NanosecondsOf(table.columns[*duration].unit);
    for (const PrintedTable::Row& row : table.rows) {
      row_ = {&table, &row};
      const auto from = style_.Read(row.cells[*start]);
      const auto length = style_.Read(row.cells[*duration]);
      const bool early = last && from && length && *length < *from;
      if (!from || !length || !scale_start || !scale_duration || *from < 0 || *length < 0 ||
          early) {
        Note("rows without a start or a duration were dropped");
        continue;
      }
      const auto begin = WholeOf<Nanos>(std::round(*from * *scale_start));
      const auto end = (last ? 0 : begin) + WholeOf<Nanos>(std::round(*length * *scale_duration));
      if (Text({"device"}).empty()) {
        AddCall(begin, end);
      } else {
        AddOp(begin, end);
      }
    }
  }

  void Finish() {
    SortSpans(1, &trace_->calls);
    ReorderRows(OpOrder(trace_->ops.start, trace_->ops.end), &trace_->ops);
    const CallIndex calls(trace_->calls, trace_->threads, 1);
    for (std::uint32_t& call : trace_->ops.call) call = calls.Find(0, call);
    trace_->table_rows["gpu_trace"] = static_cast<std::int64_t>(trace_->ops.size());
    if (trace_->calls.size() == 0) {
      trace_->diagnostics.Add(Level::kInfo,
                              "the table has no calls of the host: what the GPU waited for is "
                              "inferred from its own work alone");
    }
  }

 private:
  void Note(const char* text) { trace_->diagnostics.Add(Level::kWarning, text, "gpu_trace"); }

  std::string_view Text(std::initializer_list<std::string_view> names) const {
    const auto column = row_.first->Find(names);
    return column ? std::string_view(row_.second->cells[*column]) : std::string_view();
  }
  double Number(std::initializer_list<std::string_view> names) const {
    return style_.Read(Text(names)).value_or(0);
  }
  std::uint32_t Whole(std::initializer_list<std::string_view> names) const {
    return static_cast<std::uint32_t>(std::clamp(Number(names), 0.0, 4e9));
  }
  double Bytes(std::initializer_list<std::string_view> names) const {
    const auto column = row_.first->Find(names);
    return column ? Number(names) * BytesIn(row_.first->columns[*column].unit) : 0;
  }

  void AddCall(Nanos start, Nanos end) {
    CallTable& calls = trace_->calls;
    calls.start.push_back(start);
    calls.end.push_back(end);
    calls.thread.push_back(0);
    calls.name.push_back(trace_->strings.Intern(WithoutVersionSuffix(Text({"name"}))));
    calls.correlation.push_back(Whole({"corrid", "correlation_id"}));
    calls.failed.push_back(0);
  }

  // "NVIDIA RTX A4500 (0)": the name and the number.
  std::uint32_t DeviceNumber(std::string_view cell) {
    const auto [found, is_new] =
        devices_.emplace(cell, static_cast<std::uint32_t>(trace_->devices.size()));
    if (!is_new) return found->second;
    Device device;
    const std::size_t open = cell.rfind(" (");
    if (open != std::string_view::npos && cell.ends_with(')')) {
      const auto number = NumberOf(cell.substr(open + 2, cell.size() - open - 3));
      device.ordinal = WholeOf<std::int64_t>(number.value_or(0));
      cell = cell.substr(0, open);
    }
    if (row_.first->by_rocprof) {  // "Agent 4": not which GPU
      const std::size_t digit = std::min(cell.find_first_of("0123456789"), cell.size());
      device.ordinal = WholeOf<std::int64_t>(NumberOf(cell.substr(digit)).value_or(0));
      cell = "";
    }
    device.name = cell;
    device.cuda_ordinal = device.ordinal;
    trace_->devices.push_back(std::move(device));
    return found->second;
  }

  std::uint32_t StreamNumberOf(std::uint32_t device) {
    const auto context = WholeOf<std::int64_t>(Number({"ctx", "context"}));
    const auto id = WholeOf<std::int64_t>(Number({"strm", "stream", "queue"}));
    const auto key = std::tuple(device, context, id);
    const auto [found, is_new] =
        streams_.emplace(key, static_cast<std::uint32_t>(trace_->streams.size()));
    if (is_new) {
      constexpr std::int64_t kDefaultStream = 7;  // as both tools number it
      trace_->streams.push_back({.process = 0,
                                 .device = device,
                                 .context = context,
                                 .id = id,
                                 .is_default = id == kDefaultStream});
    }
    return found->second;
  }

  void AddOp(Nanos start, Nanos end) {
    OpTable& ops = trace_->ops;
    const std::string_view name = Text({"name"});
    const bool is_copy = name.find("memcpy") != std::string_view::npos ||
                         name.find("Memcpy") != std::string_view::npos;
    const bool in_brackets = name.starts_with("[");
    const std::uint32_t device = DeviceNumber(Text({"device"}));
    ops.start.push_back(start);
    ops.end.push_back(end);
    ops.device.push_back(static_cast<std::uint16_t>(device));
    ops.call.push_back(Whole({"corrid", "correlation_id"}));
    ops.in_graph.push_back(0);
    CopyDirection direction = CopyDirection::kUnknown;
    if (in_brackets && is_copy) {
      direction = DirectionIn(name);
      ops.kind.push_back(OpKind::kCopy);
      ops.detail.push_back(AddCopy(direction));
    } else if (in_brackets && name.find("memset") != std::string_view::npos) {
      ops.kind.push_back(OpKind::kMemset);
      ops.detail.push_back(static_cast<std::uint32_t>(trace_->memsets.size()));
      trace_->memsets.bytes.push_back(WholeOf<std::int64_t>(std::round(Bytes({"bytes", "size"}))));
      trace_->memsets.memory.push_back(MemoryNamed(Text({"srcmemkd", "srcmemtype"})));
    } else {
      ops.kind.push_back(OpKind::kKernel);
      ops.detail.push_back(ShapeNumber(name));
    }
    const bool migrates = direction == CopyDirection::kMigrationToDevice ||
                          direction == CopyDirection::kMigrationToHost ||
                          direction == CopyDirection::kMigrationPeer;
    ops.stream.push_back(migrates ? kNone : StreamNumberOf(device));
  }

  std::uint32_t AddCopy(CopyDirection direction) {
    CopyTable& copies = trace_->copies;
    copies.bytes.push_back(WholeOf<std::int64_t>(std::round(Bytes({"bytes", "size"}))));
    copies.direction.push_back(direction);
    copies.source.push_back(MemoryNamed(Text({"srcmemkd", "srcmemtype"})));
    copies.target.push_back(MemoryNamed(Text({"dstmemkd", "dstmemtype"})));
    copies.peer.push_back(kNone);
    copies.cause.push_back(MigrationCause::kUnknown);
    return static_cast<std::uint32_t>(copies.size() - 1);
  }

  // AMD counts threads.
  std::array<std::uint32_t, 3> BlocksOf(const std::array<std::uint32_t, 3>& block) const {
    const std::array<std::uint32_t, 3> threads = {Whole({"threads x"}), Whole({"threads y"}),
                                                  Whole({"threads z"})};
    std::array<std::uint32_t, 3> blocks = {1, 1, 1};
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (block[i] > 0) blocks[i] = std::max(1U, (threads[i] + block[i] - 1) / block[i]);
    return blocks;
  }

  std::uint32_t ShapeNumber(std::string_view name) {
    // nvprof appends its own number of the launch: "kernel(int) [107]".
    const std::size_t open = name.rfind(" [");
    if (open != std::string_view::npos && name.ends_with(']') &&
        NumberOf(name.substr(open + 2, name.size() - open - 3))) {
      name = name.substr(0, open);
    }
    KernelShape shape;
    shape.name = shape.short_name = trace_->strings.Intern(name);
    shape.grid = {Whole({"grdx", "grid x"}), Whole({"grdy", "grid y"}), Whole({"grdz", "grid z"})};
    shape.block = {Whole({"blkx", "block x"}), Whole({"blky", "block y"}),
                   Whole({"blkz", "block z"})};
    if (row_.first->by_rocprof) shape.grid = BlocksOf(shape.block);
    shape.registers = Whole({"reg/trd", "registers per thread"});
    shape.static_shared_bytes =
        WholeOf<std::uint32_t>(std::round(Bytes({"stcsmem", "static smem"})));
    shape.dynamic_shared_bytes =
        WholeOf<std::uint32_t>(std::round(Bytes({"dymsmem", "dynamic smem"})));
    const std::uint32_t number = numbers_.Number(KeyOf(shape));
    if (number == trace_->shapes.size()) trace_->shapes.push_back(shape);
    return number;
  }

  const NumberStyle& style_;
  Trace* trace_;
  std::pair<const PrintedTable*, const PrintedTable::Row*> row_;
  std::map<std::string, std::uint32_t, std::less<>> devices_;
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, std::uint32_t> streams_;
  ShapeNumbers numbers_;
};

}  // namespace

bool SniffGpuTrace(std::string_view head) {
  const auto printed = PrintedTablesOf(head);
  return std::any_of(printed.tables.begin(), printed.tables.end(), IsGpuTrace);
}

std::optional<Error> ReadGpuTrace(std::string_view text, const std::string& path, Trace* trace) {
  const PrintedTables printed = PrintedTablesOf(text);
  GpuTraceReader reader(printed.style, trace);
  for (const PrintedTable& table : printed.tables) {
    if (!IsGpuTrace(table)) continue;
    const bool by_nvprof = table.Has("correlation_id") || table.Has("registers per thread");
    trace->producer = table.by_rocprof ? "rocprof" : by_nvprof ? "nvprof" : "nsys stats";
    reader.Read(table);
  }
  if (printed.cut_short > 0) {
    trace->diagnostics.Add(Level::kWarning, "rows that were cut short were skipped", "gpu_trace",
                           printed.cut_short);
  }
  if (trace->ops.size() == 0) {
    return Error{"the table of GPU work holds no rows", path, "did the program reach the GPU?"};
  }
  reader.Finish();
  AddTotals(printed, trace);
  return std::nullopt;
}

}  // namespace advise
