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
//   demangledName …   StringIds ids
//
// A sample kernel row: 155357600000|155357640000|0|1|7|5123|281476838981632|…|128|1|1|256|1|1|…
// Known gap: a graph traced as a whole hides what ran inside it.
#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "engine/import/nsys_sqlite_rows.h"
#include "engine/import/row_order.h"

namespace advise::nsys {
namespace {

constexpr std::int64_t kDeviceLimit = 4096;  // ordinals beyond are damage

struct ShapeKey {
  std::array<std::uint32_t, 12> parts;
  bool operator==(const ShapeKey&) const = default;
};
struct ShapeHash {
  std::size_t operator()(const ShapeKey& key) const {
    std::size_t hash = 0;
    for (const std::uint32_t part : key.parts) {
      hash = (hash ^ part) * 0x9e37'79b9'7f4a'7c15ULL;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

ShapeKey KeyOf(const KernelShape& shape) {
  return {{shape.name, shape.short_name, shape.grid[0], shape.grid[1], shape.grid[2],
           shape.block[0], shape.block[1], shape.block[2], shape.registers,
           shape.static_shared_bytes, shape.dynamic_shared_bytes, shape.local_bytes}};
}

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
  if (key.device < 0 || key.device >= kDeviceLimit) {
    scan.Drop("rows with an impossible device number were dropped");
    return false;
  }
  rows.ops.start.push_back(start);
  rows.ops.end.push_back(end);
  rows.ops.kind.push_back(kind);
  rows.ops.stream.push_back(rows.streams.Number(key));
  rows.ops.call.push_back(has_stream ? static_cast<std::uint32_t>(scan.Int(kCorrelation)) : 0);
  rows.ops.in_graph.push_back(scan.Int(kNode) != 0);
  return true;
}

void ReadKernels(Scan& scan, GpuRows& rows) {
  std::unordered_map<ShapeKey, std::uint32_t, ShapeHash> known;
  scan.ForEach([&] {
    if (!AppendOp(scan, OpKind::kKernel, rows)) return;
    ShapeKey key{};
    constexpr int kNames = kOwn;
    constexpr int kSizes = kNames + 3;
    for (int i = 0; i < 10; ++i) key.parts[i + 2] = scan.Unsigned(kSizes + i);
    const NameRef mangled = scan.Name(kNames + 2);
    const NameRef short_name = scan.IsNull(kNames + 1) ? mangled : scan.Name(kNames + 1);
    const NameRef name = scan.IsNull(kNames) ? short_name : scan.Name(kNames);
    key.parts[0] = name;
    key.parts[1] = short_name == kNone ? name : short_name;
    const auto [found, is_new] = known.emplace(key, static_cast<std::uint32_t>(rows.shapes.size()));
    if (is_new) {
      const auto& p = key.parts;
      rows.shapes.push_back({.name = p[0],
                             .short_name = p[1],
                             .grid = {p[2], p[3], p[4]},
                             .block = {p[5], p[6], p[7]},
                             .registers = p[8],
                             .static_shared_bytes = p[9],
                             .dynamic_shared_bytes = p[10],
                             .local_bytes = p[11]});
    }
    const KernelShape& shape = rows.shapes[found->second];
    if (shape.Blocks() == 0 || shape.ThreadsPerBlock() == 0) {
      scan.Note(Level::kWarning, "kernels have an empty grid or block");
    }
    rows.ops.detail.push_back(found->second);
  });
}

CopyDirection DirectionOf(std::int64_t kind, bool between_devices) {
  switch (kind) {
    case 1:
    case 3:
      return CopyDirection::kHostToDevice;
    case 2:
    case 4:
      return CopyDirection::kDeviceToHost;
    case 5:
    case 6:
    case 7:
    case 8:
      return between_devices ? CopyDirection::kPeerToPeer : CopyDirection::kDeviceToDevice;
    case 9:
      return CopyDirection::kHostToHost;
    case 10:
      return CopyDirection::kPeerToPeer;
    case 11:
      return CopyDirection::kMigrationToDevice;
    case 12:
      return CopyDirection::kMigrationToHost;
    case 13:
    case 14:
      return CopyDirection::kMigrationPeer;
    default:
      return CopyDirection::kUnknown;
  }
}

bool IsMigration(CopyDirection direction) {
  return direction == CopyDirection::kMigrationToDevice ||
         direction == CopyDirection::kMigrationToHost || direction == CopyDirection::kMigrationPeer;
}

void ReadCopies(Scan& scan, GpuRows& rows) {
  enum { kBytes = kOwn, kKind, kSource, kTarget, kSourceDevice, kTargetDevice };
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
    if (has_peer && from != to && other >= 0 && other < kDeviceLimit) {
      peer = rows.streams.Number({.process = ProcessKey(scan.Int(kProcess)), .device = other});
    }
    rows.copies.peer.push_back(peer);
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

void Reserve(OpTable& ops, std::size_t rows) {
  ops.start.reserve(rows);
  ops.end.reserve(rows);
  ops.kind.reserve(rows);
  ops.stream.reserve(rows);
  ops.call.reserve(rows);
  ops.detail.reserve(rows);
  ops.in_graph.reserve(rows);
}

}  // namespace

namespace {

// Which rows of the kernels' table a part is.
std::string RowsOf(const Reader& reader, GpuPart part) {
  const std::size_t rows = RowLimit(reader, kKernelTable) / part.of;
  std::string where;
  if (part.number > 0) where = fmt::format("WHERE rowid > {}", rows * part.number);
  if (part.number + 1 < part.of) {
    where +=
        fmt::format("{} rowid <= {}", where.empty() ? "WHERE" : " AND", rows * (part.number + 1));
  }
  return where;
}

template <typename T>
void Append(std::vector<T>& column, const std::vector<T>& more) {
  column.insert(column.end(), more.begin(), more.end());
}

// Appends the next part: its streams and shapes get the numbers that they have in `rows`.
void AppendPart(GpuRows& rows, GpuRows& part,
                std::unordered_map<ShapeKey, std::uint32_t, ShapeHash>& known) {
  std::vector<std::uint32_t> stream_of;
  for (const StreamKey& key : part.streams.keys()) stream_of.push_back(rows.streams.Number(key));
  std::vector<std::uint32_t> shape_of;
  for (const KernelShape& shape : part.shapes) {
    const auto [found, is_new] =
        known.emplace(KeyOf(shape), static_cast<std::uint32_t>(rows.shapes.size()));
    if (is_new) rows.shapes.push_back(shape);
    shape_of.push_back(found->second);
  }
  for (std::size_t i = 0; i < part.ops.size(); ++i) {
    part.ops.stream[i] = stream_of[part.ops.stream[i]];
    if (part.ops.kind[i] == OpKind::kKernel) part.ops.detail[i] = shape_of[part.ops.detail[i]];
  }
  for (std::uint32_t& peer : part.copies.peer) {
    if (peer != kNone) peer = stream_of[peer];
  }
  Append(rows.ops.start, part.ops.start);
  Append(rows.ops.end, part.ops.end);
  Append(rows.ops.kind, part.ops.kind);
  Append(rows.ops.stream, part.ops.stream);
  Append(rows.ops.call, part.ops.call);
  Append(rows.ops.detail, part.ops.detail);
  Append(rows.ops.in_graph, part.ops.in_graph);
  // Only the last part has them.
  rows.copies = std::move(part.copies);
  rows.memsets = std::move(part.memsets);
}

}  // namespace

GpuRows ReadGpuRows(Reader& reader, GpuPart part) {
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
               RowsOf(reader, part));
  const std::size_t kernel_rows = kernels.RowLimit() / part.of + 1;
  if (part.number + 1 < part.of) {
    Reserve(rows.ops, kernel_rows);
    ReadKernels(kernels, rows);
    return rows;
  }
  Scan copies(
      reader, "CUPTI_ACTIVITY_KIND_MEMCPY",
      {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
       "graphNodeId", "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"});
  Scan memsets(reader, "CUPTI_ACTIVITY_KIND_MEMSET",
               {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
                "graphNodeId", "bytes", "memKind"});
  Scan graphs(reader, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
              {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
               "graphNodeId", "graphId"});
  Reserve(rows.ops, kernel_rows + copies.RowLimit() + memsets.RowLimit() + graphs.RowLimit());
  ReadKernels(kernels, rows);
  ReadCopies(copies, rows);
  ReadMemsets(memsets, rows);
  ReadGraphs(graphs, rows);
  return rows;
}

GpuRows JoinGpuRows(std::vector<GpuRows> parts) {
  GpuRows rows;
  if (parts.size() == 1) {
    rows = std::move(parts.front());
  } else {
    std::size_t all = 0;
    for (const GpuRows& part : parts) all += part.ops.size();
    Reserve(rows.ops, all);
    std::unordered_map<ShapeKey, std::uint32_t, ShapeHash> known;
    for (GpuRows& part : parts) {
      AppendPart(rows, part, known);
      part = {};
    }
  }
  OpTable& ops = rows.ops;
  rows.streams.SortKeys({&ops.stream, &rows.copies.peer});
  const auto order = SortedOrder(ops.size(), [&](std::uint32_t a, std::uint32_t b) {
    return ops.start[a] != ops.start[b] ? ops.start[a] < ops.start[b] : ops.end[a] < ops.end[b];
  });
  ReorderAll(order, ops.start, ops.end, ops.kind, ops.stream, ops.call, ops.detail, ops.in_graph);
  return rows;
}

}  // namespace advise::nsys
