// GPU work.
//
//   CUPTI_ACTIVITY_KIND_KERNEL       one row a kernel  → ops (kKernel) + shapes
//   CUPTI_ACTIVITY_KIND_MEMCPY       one row a copy    → ops (kCopy)   + copies
//   CUPTI_ACTIVITY_KIND_MEMSET       one row a memset  → ops (kMemset) + memsets
//   CUPTI_ACTIVITY_KIND_GRAPH_TRACE  one row a launch  → ops (kGraph), detail = graphId
//
//   start, end        ns on the session clock
//   deviceId          CUDA ordinal as the process sees it, resolved in nsys_sqlite_devices
//   correlationId     joins the launching call inside one process (globalPid); 0 = no call
//   graphNodeId       set on rows that a graph launch produced, one correlation for many rows
//   copyKind          11, 12, 13, 14 are migrations of unified memory: no stream, no call
//   migrationCause    why such memory moved
//   demangledName …   StringIds ids
//
// A sample kernel row: 155357600000|155357640000|0|1|7|5123|281476838981632|…|128|1|1|256|1|1|…
// Known gap: a graph traced as a whole hides what ran inside it.
#include <fmt/format.h>

#include <array>
#include <functional>

#include "engine/base/side_by_side.h"
#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/import/repeated_rows.h"

namespace advise::nsys {
namespace {

constexpr std::int64_t kGpuLimit = 4096;  // ordinals beyond are damage

// The columns that all four tables start with.
enum Common { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kProcess, kNode, kOwn };

// Appends a row's common columns; false when the row was dropped. Rows of no stream have no call.
bool AppendOp(Scan& scan, OpKind kind, GpuRows& rows, bool has_stream = true) {
  Nanos start = 0;
  Nanos end = 0;
  if (!scan.Span(kStart, start, end)) return false;
  StreamKey key{.process = ProcessKey(scan.Int(kProcess)), .device = scan.Int(kDevice)};
  if (has_stream) {
    key.context = scan.Int(kContext);
    key.stream = scan.Int(kStream);
  }
  if (key.device < 0 || key.device >= kGpuLimit) {
    scan.Drop("rows with an impossible device number were dropped");
    return false;
  }
  rows.ops.start.push_back(start);
  rows.ops.end.push_back(end);
  rows.ops.kind.push_back(kind);
  rows.ops.stream.push_back(rows.streams.Number(key));
  rows.ops.call.push_back(has_stream ? static_cast<std::uint32_t>(scan.Int(kCorrelation)) : 0);
  rows.ops.in_graph.push_back(scan.Int(kNode) != 0);
  rows.nodes.push_back(static_cast<std::uint32_t>(scan.Int(kNode)));
  return true;
}

void ReadKernels(Scan& scan, GpuRows& rows) {
  enum { kName = kOwn, kShortName, kMangledName, kSizes };
  ShapeNumbers numbers;
  std::vector<std::uint8_t> is_empty;  // by shape
  scan.ForEach([&] {
    if (!AppendOp(scan, OpKind::kKernel, rows)) return;
    ShapeKey key;
    for (int i = 0; i < 10; ++i) key.parts[i + 2] = scan.Unsigned(kSizes + i);
    NameRef short_name = scan.PeekName(kShortName);
    if (short_name == kNone) short_name = scan.PeekName(kMangledName);
    const NameRef name = scan.PeekName(kName);
    key.parts[0] = name == kNone ? short_name : name;
    key.parts[1] = short_name == kNone ? name : short_name;
    const std::uint32_t shape = numbers.Number(key);
    if (shape == rows.shapes.size()) {
      const auto& p = key.parts;
      rows.shapes.push_back({.name = scan.Want(p[0]),
                             .short_name = scan.Want(p[1]),
                             .grid = {p[2], p[3], p[4]},
                             .block = {p[5], p[6], p[7]},
                             .registers = p[8],
                             .static_shared_bytes = p[9],
                             .dynamic_shared_bytes = p[10],
                             .local_bytes = p[11]});
      const KernelShape& added = rows.shapes.back();
      is_empty.push_back(added.Blocks() == 0 || added.ThreadsPerBlock() == 0);
    }
    if (is_empty[shape] != 0) scan.Note(Level::kWarning, "kernels have an empty grid or block");
    rows.ops.detail.push_back(shape);
  });
}

CopyDirection DirectionOf(std::int64_t kind, bool between_devices) {
  for (const cupti::CopyKind& known : cupti::kCopyKinds) {
    if (known.number != kind) continue;
    const bool is_peer = between_devices && known.direction == CopyDirection::kDeviceToDevice;
    return is_peer ? CopyDirection::kPeerToPeer : known.direction;
  }
  return CopyDirection::kUnknown;
}

// NULL, as of copies that are no migrations, and unheard-of causes are unknown.
MigrationCause MigrationCauseOf(const Scan& scan, int column) {
  const std::int64_t cause = scan.Int(column);
  const bool known = !scan.IsNull(column) && cause >= 0 &&
                     cause <= static_cast<std::int64_t>(MigrationCause::kAccessCounters);
  return known ? static_cast<MigrationCause>(cause) : MigrationCause::kUnknown;
}

void ReadCopies(Scan& scan, GpuRows& rows) {
  enum { kBytes = kOwn, kKind, kSource, kTarget, kSourceDevice, kTargetDevice, kCause };
  scan.ForEach([&] {
    const bool has_peer = !scan.IsNull(kSourceDevice) && !scan.IsNull(kTargetDevice);
    const std::int64_t from = scan.Int(kSourceDevice);
    const std::int64_t to = scan.Int(kTargetDevice);
    const CopyDirection direction = DirectionOf(scan.Int(kKind), has_peer && from != to);
    if (!AppendOp(scan, OpKind::kCopy, rows, !IsMigration(direction))) return;
    rows.copies.bytes.push_back(scan.Int(kBytes));
    rows.copies.direction.push_back(direction);
    rows.copies.source.push_back(MemoryKindOf(scan, kSource));
    rows.copies.target.push_back(MemoryKindOf(scan, kTarget));
    std::uint32_t peer = kNone;
    const std::int64_t other = from == scan.Int(kDevice) ? to : from;
    if (has_peer && from != to && other >= 0 && other < kGpuLimit) {
      peer = rows.streams.Number({.process = ProcessKey(scan.Int(kProcess)), .device = other});
    }
    rows.copies.peer.push_back(peer);
    rows.copies.cause.push_back(MigrationCauseOf(scan, kCause));
    rows.ops.detail.push_back(static_cast<std::uint32_t>(rows.copies.size() - 1));
  });
}

void ReadMemsets(Scan& scan, GpuRows& rows) {
  scan.ForEach([&] {
    if (!AppendOp(scan, OpKind::kMemset, rows)) return;
    rows.memsets.bytes.push_back(scan.Int(kOwn));
    rows.memsets.memory.push_back(MemoryKindOf(scan, kOwn + 1));
    rows.ops.detail.push_back(static_cast<std::uint32_t>(rows.memsets.size() - 1));
  });
}

void ReadGraphs(Scan& scan, GpuRows& rows) {
  scan.ForEach([&] {
    if (AppendOp(scan, OpKind::kGraph, rows)) rows.ops.detail.push_back(scan.Unsigned(kOwn));
  });
}

// What the numbers of a part's streams and shapes are in the whole table.
struct PartNumbers {
  std::size_t first_stream = 0;  // in Numbering::stream
  std::vector<std::uint32_t> shape;
};
struct Numbering {
  std::vector<std::uint32_t> stream;  // of all parts
  std::vector<PartNumbers> parts;
};

// Gives the streams and shapes of all parts numbers in `rows`; sorts the streams.
Numbering NumberParts(const std::vector<GpuRows>& parts, GpuRows& rows) {
  Numbering numbering;
  ShapeNumbers shapes;
  for (const GpuRows& part : parts) {
    PartNumbers& numbers = numbering.parts.emplace_back();
    numbers.first_stream = numbering.stream.size();
    for (const StreamKey& key : part.streams.keys()) {
      numbering.stream.push_back(rows.streams.Number(key));
    }
    for (const KernelShape& shape : part.shapes) {
      numbers.shape.push_back(shapes.Number(KeyOf(shape)));
      if (numbers.shape.back() == rows.shapes.size()) rows.shapes.push_back(shape);
    }
  }
  rows.streams.SortKeys({&numbering.stream});
  return numbering;
}

// Moves a column of all parts into that of the table.
template <typename Column>
void JoinColumn(std::vector<GpuRows>& parts, Column column_of, GpuRows& table) {
  auto& all = column_of(table);
  if (parts.size() == 1) {
    all = std::move(column_of(parts.front()));
    return;
  }
  std::size_t rows = 0;
  for (GpuRows& part : parts) rows += column_of(part).size();
  all.reserve(rows);
  for (GpuRows& part : parts) {
    const auto more = std::move(column_of(part));
    all.insert(all.end(), more.begin(), more.end());
  }
}

// Rows of sorted work that the report lists twice go.
void DropRepeated(std::size_t threads, GpuRows& rows) {
  const std::size_t all = rows.ops.size();
  ReorderRows(OpsListedOnce(rows.ops, rows.copies, rows.memsets, rows.nodes), &rows.ops, threads);
  rows.listed_twice = all - rows.ops.size();
  rows.nodes = {};
}

// Gives the rows of a part the numbers of the whole table.
void RenumberStreams(const Numbering& numbering, std::size_t part,
                     std::vector<std::uint32_t>* column) {
  const std::size_t first = numbering.parts[part].first_stream;
  for (std::uint32_t& number : *column) {
    if (number != kNone) number = numbering.stream[first + number];
  }
}
void RenumberShapes(const Numbering& numbering, std::size_t part, OpTable* ops) {
  const std::vector<std::uint32_t>& shape = numbering.parts[part].shape;
  for (std::size_t i = 0; i < ops->size(); ++i) {
    if (ops->kind[i] == OpKind::kKernel) ops->detail[i] = shape[ops->detail[i]];
  }
}

}  // namespace

GpuRows ReadGpuRows(Reader& reader, TablePart part) {
  GpuRows rows;
  Scan kernels(reader, kKernelTable,
               {"start",
                "end",
                "deviceId",
                "contextId",
                "streamId",
                "correlationId",
                "globalPid",
                "graphNodeId",
                "demangledName",
                "shortName",
                "mangledName",
                "gridX",
                "gridY",
                "gridZ",
                "blockX",
                "blockY",
                "blockZ",
                "registersPerThread",
                "staticSharedMemory",
                "dynamicSharedMemory",
                "localMemoryPerThread"},
               part);
  const std::size_t kernel_rows = kernels.RowLimit() / part.of + 1;
  if (part.number + 1 < part.of) {
    ReserveRows(kernel_rows, &rows.ops);
    ReadKernels(kernels, rows);
    return rows;
  }
  Scan copies(reader, "CUPTI_ACTIVITY_KIND_MEMCPY",
              {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
               "graphNodeId", "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId",
               "dstDeviceId", "migrationCause"});
  Scan memsets(reader, "CUPTI_ACTIVITY_KIND_MEMSET",
               {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
                "graphNodeId", "bytes", "memKind"});
  Scan graphs(reader, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
              {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
               "graphNodeId", "graphId"});
  ReserveRows(kernel_rows + copies.RowLimit() + memsets.RowLimit() + graphs.RowLimit(), &rows.ops);
  ReadKernels(kernels, rows);
  ReadCopies(copies, rows);
  ReadMemsets(memsets, rows);
  ReadGraphs(graphs, rows);
  return rows;
}

GpuRows JoinGpuRows(std::vector<GpuRows> parts, int jobs) {
  GpuRows rows;
  const Numbering numbering = NumberParts(parts, rows);
  // Only the last part has them.
  rows.copies = std::move(parts.back().copies);
  rows.memsets = std::move(parts.back().memsets);
  RenumberStreams(numbering, parts.size() - 1, &rows.copies.peer);
  const auto threads = static_cast<std::size_t>(jobs);
  SideBySide(parts.size() * 2, threads, [&](std::size_t task) {
    OpTable& ops = parts[task / 2].ops;
    if (task % 2 == 0) RenumberStreams(numbering, task / 2, &ops.stream);
    if (task % 2 == 1) RenumberShapes(numbering, task / 2, &ops);
  });
  std::vector<std::function<void()>> columns;
  ForEachColumn<OpTable>([&](auto column) {
    columns.push_back([&parts, &rows, column] {
      JoinColumn(
          parts, [column](GpuRows & of) -> auto& { return of.ops.*column; }, rows);
    });
  });
  columns.emplace_back([&parts, &rows] {
    JoinColumn(
        parts, [](GpuRows & of) -> auto& { return of.nodes; }, rows);
  });
  SideBySide(columns.size(), threads, [&](std::size_t i) { columns[i](); });
  const std::vector<std::uint32_t> order = OpOrder(rows.ops.start, rows.ops.end);
  ReorderRows(order, &rows.ops, threads);
  Reorder(order, rows.nodes);
  DropRepeated(threads, rows);
  return rows;
}

}  // namespace advise::nsys
