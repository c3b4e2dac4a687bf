// What NCCL says of its own calls: payloads of its NVTX ranges, in reports that were exported with
// --include-blobs=true.
//
//   NVTX_EVENTS.binaryData        u64 domainId, u64 schemaId, u64 payloadSize, u64 payloadOffset,
//                                 then the payload, all little-endian
//   NVTX_PAYLOAD_SCHEMA_ENTRIES   (domainId, schemaId, idx) → name, type, offset; rows repeat for
//                                 each process; offset NULL: right behind the entry before
//   entries that we use           "NCCL communicator ID" (u64), "Message size [bytes]" (size_t),
//                                 "No. of ranks" (int, of the calls that make a communicator)
//
// Entries are found by name: older versions of NCCL lack some. The range is the time on the host;
// the kernel is the one that is launched inside it, or inside the end of the group that it is in.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "engine/import/collective_records.h"
#include "engine/import/nsys/nsys_sqlite_rows.h"

namespace advise::nsys {
namespace {

constexpr std::size_t kHeaderBytes = 32;

enum class NcclField { kCommunicator, kBytes, kRanks, kOther };

struct NcclEntry {
  NcclField field = NcclField::kOther;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

using Schemas = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<NcclEntry>>;

NcclField NcclFieldOf(std::string_view name) {
  if (name == "NCCL communicator ID") return NcclField::kCommunicator;
  if (name == "Message size [bytes]") return NcclField::kBytes;
  return name == "No. of ranks" ? NcclField::kRanks : NcclField::kOther;
}

// Codes of nvToolsExtPayload.h. Enumerations, whose ids are large, are ints.
std::size_t BytesOf(std::int64_t type) {
  switch (type) {
    case 1:
    case 2:
    case 11:
    case 12:
    case 32:
      return 1;
    case 3:
    case 4:
    case 13:
    case 14:
      return 2;
    case 7:
    case 8:
    case 9:
    case 10:
    case 17:
    case 18:
    case 20:
    case 22:
    case 23:
      return 8;
    default:
      return 4;
  }
}

Schemas ReadSchemas(Reader& reader) {
  Schemas schemas;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, bool> seen;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> ends;
  Scan scan(reader, "NVTX_PAYLOAD_SCHEMA_ENTRIES",
            {"domainId", "schemaId", "idx", "type", "name", "offset"},
            "ORDER BY domainId, schemaId, idx");
  while (scan.Next()) {
    const std::pair key(scan.Int(0), scan.Int(1));
    if (!seen.emplace(std::tuple(key.first, key.second, scan.Int(2)), true).second) continue;
    const std::size_t bytes = BytesOf(scan.Int(3));
    std::size_t& end = ends[key];
    const std::size_t offset =
        scan.IsNull(5) ? (end + bytes - 1) / bytes * bytes : scan.Unsigned(5);
    end = offset + bytes;
    schemas[key].push_back({NcclFieldOf(scan.Text(4)), offset, bytes});
  }
  return schemas;
}

std::uint64_t NumberAt(std::string_view bytes, std::size_t at, std::size_t length) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < length; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return number;
}

// The payload behind the header; nothing when the sizes do not fit.
std::optional<std::string_view> PayloadOf(std::string_view blob) {
  if (blob.size() < kHeaderBytes) return std::nullopt;
  const std::uint64_t size = NumberAt(blob, 16, 8);
  std::uint64_t offset = NumberAt(blob, 24, 8);
  if (offset < kHeaderBytes) offset += kHeaderBytes;
  if (size > blob.size() || offset > blob.size() - size) return std::nullopt;
  return blob.substr(offset, size);
}

// One call's place among others: by thread, then by time.
bool Before(const NcclRows::Call& a, const NcclRows::Call& b) {
  return std::tie(a.thread, a.start, a.end) < std::tie(b.thread, b.start, b.end);
}

class Joiner {
 public:
  Joiner(std::vector<NcclRows::Call> calls, Trace& trace)
      : calls_(std::move(calls)), trace_(trace), groups_(trace) {}

  void Join() {
    for (const NcclRows::Call& call : calls_) {
      if (call.ranks > 0) trace_.groups[GroupOf(call.communicator)].size = call.ranks;
    }
    std::erase_if(calls_, [&](const NcclRows::Call& call) {
      return call.bytes < 0 || CollectiveKind(trace_.strings[call.name]).empty();
    });
    std::stable_sort(calls_.begin(), calls_.end(), Before);
    op_.assign(calls_.size(), kNone);
    FindGroupEnds();
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel || trace_.ops.call[op] == kNone) continue;
      const std::string& name = trace_.strings[trace_.shapes[trace_.ops.detail[op]].name];
      if (name.find("nccl") == std::string::npos) continue;
      const std::size_t call = CallOf(trace_.ops.call[op]);
      if (call < calls_.size() && op_[call] == kNone) op_[call] = op;
    }
    Write();
  }

 private:
  struct GroupEnd {
    std::uint32_t thread;
    Nanos start, end;
    Nanos before;  // end of the group before it
  };

  std::uint32_t GroupOf(std::uint64_t communicator) {
    return groups_.Row(fmt::format("0x{:x}", communicator));
  }

  void FindGroupEnds() {
    const RangeTable& ranges = trace_.ranges;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (trace_.strings[ranges.name[i]] != "ncclGroupEnd") continue;
      const bool same = !ends_.empty() && ends_.back().thread == ranges.thread[i];
      ends_.push_back({ranges.thread[i], ranges.start[i], ranges.end[i],
                       same ? ends_.back().end : std::numeric_limits<Nanos>::min()});
    }
  }

  // The NCCL call that a launch belongs to; calls_.size() when none or one of several.
  std::size_t CallOf(std::uint32_t launch) const {
    NcclRows::Call at;
    at.thread = trace_.calls.thread[launch];
    at.start = trace_.calls.start[launch];
    at.end = std::numeric_limits<Nanos>::max();
    const auto after = std::upper_bound(calls_.begin(), calls_.end(), at, Before);
    if (after != calls_.begin() && std::prev(after)->thread == at.thread &&
        std::prev(after)->end >= at.start) {
      return static_cast<std::size_t>(std::prev(after) - calls_.begin());
    }
    auto end = std::upper_bound(ends_.begin(), ends_.end(), std::pair(at.thread, at.start),
                                [](const auto& key, const GroupEnd& group) {
                                  return key < std::pair(group.thread, group.start);
                                });
    if (end == ends_.begin()) return calls_.size();
    --end;
    if (end->thread != at.thread || end->end < at.start) return calls_.size();
    // Calls of a group share its kernels: only a call that is alone in it is told.
    std::size_t only = calls_.size();
    for (auto call = after; call != calls_.begin(); --call) {
      const NcclRows::Call& one = *std::prev(call);
      if (one.thread != at.thread || one.start < end->before) break;
      if (one.start >= end->start) continue;
      if (only < calls_.size()) return calls_.size();
      only = static_cast<std::size_t>(std::prev(call) - calls_.begin());
    }
    return only;
  }

  void Write() {
    std::vector<CollectiveRecord> rows;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const NcclRows::Call& call = calls_[i];
      const std::string_view kind = CollectiveKind(trace_.strings[call.name]);
      const std::uint32_t group = GroupOf(call.communicator);
      const std::int64_t ranks = trace_.groups[group].size;
      // NCCL gives the smaller side of operations that gather or scatter. Without the number of
      // ranks the larger one, which says what is moved, is not known.
      const bool gathers = kind == "AllGather" || kind == "AllToAll";
      const bool scatters = kind == "ReduceScatter" || kind == "AllToAll";
      const bool known = ranks > 0 || (!gathers && !scatters);
      // NCCL's peer is a rank inside the communicator: it stays unknown.
      rows.push_back({.start = call.start,
                      .end = call.end,
                      .thread = call.thread,
                      .op = op_[i],
                      .kind = trace_.strings.Intern(kind),
                      .in_bytes = known ? call.bytes * (scatters ? ranks : 1) : -1,
                      .out_bytes = known ? call.bytes * (gathers ? ranks : 1) : -1,
                      .group = group});
    }
    AppendCollectives(std::move(rows), &trace_.collectives);
  }

  std::vector<NcclRows::Call> calls_;
  Trace& trace_;
  std::vector<std::uint32_t> op_;  // of each call
  std::vector<GroupEnd> ends_;     // by thread, then time
  GroupRows groups_;
};

// Whether the export says that it left payloads out, as it does unless asked.
bool LeftOut(Reader& reader) {
  bool left_out = false;
  for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    Scan scan(reader, table, {"value"}, "WHERE name = 'EXPORT_PARAM_INCLUDE_BLOBS'");
    while (scan.Next()) left_out = left_out || scan.Text(0) == "false";
  }
  return left_out;
}

NcclRows ReadPayloads(Reader& reader) {
  NcclRows rows;
  if (!reader.source.Has("NVTX_EVENTS", "binaryData") ||
      !reader.source.Has("NVTX_PAYLOAD_SCHEMA_ENTRIES") || LeftOut(reader)) {
    return rows;
  }
  const Schemas schemas = ReadSchemas(reader);
  Scan scan(reader, "NVTX_EVENTS", {"start", "end", "globalTid", "text", "textId", "binaryData"},
            "WHERE binaryData IS NOT NULL");
  while (scan.Next()) {
    const std::string_view blob = scan.Text(5);
    const auto payload = PayloadOf(blob);
    const auto schema = payload ? schemas.find({static_cast<std::int64_t>(NumberAt(blob, 0, 8)),
                                                static_cast<std::int64_t>(NumberAt(blob, 8, 8))})
                                : schemas.end();
    if (schema == schemas.end()) {
      scan.Note(Level::kInfo, "payloads of ranges without a known layout were left out");
      continue;
    }
    NcclRows::Call call;
    bool is_nccl = false;
    for (const NcclEntry& entry : schema->second) {
      if (entry.field == NcclField::kOther || entry.offset + entry.bytes > payload->size())
        continue;
      const std::uint64_t value = NumberAt(*payload, entry.offset, entry.bytes);
      constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // nothing that is moved is larger
      switch (entry.field) {
        case NcclField::kCommunicator:
          call.communicator = value;
          is_nccl = true;
          break;
        case NcclField::kBytes:
          if (value < kMost) call.bytes = static_cast<std::int64_t>(value);
          is_nccl = true;
          break;
        case NcclField::kRanks:
          if (value < (1U << 20)) call.ranks = static_cast<int>(value);
          break;
        default:
          break;
      }
    }
    call.start = scan.Int(0);
    call.end = scan.Int(1);
    // Rows without a usable time were counted with the ranges.
    if (!is_nccl || scan.IsNull(0) || call.end < call.start) continue;
    call.thread = ThreadNumber(scan, 2, rows.threads);
    if (call.thread == kNone) continue;
    const std::string_view text = scan.Text(3);
    call.name = text.empty() ? scan.Name(4) : reader.log.Inline(text);
    rows.calls.push_back(call);
  }
  return rows;
}

}  // namespace

NcclRows ReadNccl(Reader& reader) {
  NcclRows rows = ReadPayloads(reader);
  // Rows of tables that other tasks read, too, are counted by those.
  std::erase_if(reader.log.rows,
                [](const auto& table) { return table.first != "NVTX_PAYLOAD_SCHEMA_ENTRIES"; });
  return rows;
}

void JoinNccl(std::vector<NcclRows::Call> calls, Trace& trace) {
  if (!calls.empty()) Joiner(std::move(calls), trace).Join();
}

}  // namespace advise::nsys
