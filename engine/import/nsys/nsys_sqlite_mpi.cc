// Calls of MPI.
//
//   MPI_P2P_EVENTS          start, end, globalTid, textId, tag, remoteRank, size   → mpi
//   MPI_COLLECTIVES_EVENTS  start, end, globalTid, textId, rootRank, size, recvSize
//   MPI_START_WAIT_EVENTS   start, end, globalTid, textId; one row per request: a call that waits
//                           for many stands there as often, and once in our table
//   MPI_OTHER_EVENTS        start, end, globalTid, textId
//   NVTX_EVENTS             ranges of the domain "MPI", named as the function: exports up to
//   2022.2,
//                           and libraries that annotate MPI. They become calls, without sizes;
//                           where MPI was not traced, so do ranges of any domain that have the name
//                           of a function that moves data or waits, as wrappers by way of PMPI push
//                           them
//
// Which function a row is of decides what its `size` counts. Names are not known while rows are
// read, so that comes when the tables are joined.
#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/import/row_order.h"

namespace advise::nsys {
namespace {

// Numbers of ranks and tags, -1 for none: wildcards are negative in every MPI.
std::int32_t SmallNumber(const Scan& scan, int column) {
  const std::int64_t value = scan.Int(column);
  return scan.IsNull(column) || value < 0 || value > std::numeric_limits<std::int32_t>::max()
             ? -1
             : static_cast<std::int32_t>(value);
}

std::int64_t Bytes(const Scan& scan, int column) {
  return scan.IsNull(column) ? -1 : std::max<std::int64_t>(scan.Int(column), -1);
}

void AppendCalls(Reader& reader, std::string_view table, MpiRows& rows) {
  Scan scan(
      reader, table,
      {"start", "end", "globalTid", "textId", "size", "recvSize", "remoteRank|rootRank", "tag"});
  MpiTable& calls = rows.calls;
  ReserveRows(calls.size() + scan.RowLimit(), &calls);
  scan.ForEach([&] {
    Nanos start = 0;
    Nanos end = 0;
    if (!scan.Span(0, start, end)) return;
    calls.start.push_back(start);
    calls.end.push_back(end);
    calls.thread.push_back(ThreadNumber(scan, 2, rows.threads));
    calls.name.push_back(scan.Name(3));
    calls.kind.push_back(MpiKind::kOther);
    calls.sent.push_back(Bytes(scan, 4));
    calls.received.push_back(Bytes(scan, 5));
    calls.peer.push_back(SmallNumber(scan, 6));
    calls.tag.push_back(SmallNumber(scan, 7));
  });
}

constexpr std::string_view kNvtxDomain = "MPI";

// Ranges that are calls of MPI leave their table for that of the calls.
void TakeRanges(Trace& trace) {
  RangeTable& ranges = trace.ranges;
  std::vector<std::uint32_t> others;
  std::vector<std::uint8_t> is_domain(trace.strings.size(), 0), is_call(is_domain),
      moves(is_domain);
  for (StringId id = 0; id < trace.strings.size(); ++id) {
    is_domain[id] = trace.strings[id] == kNvtxDomain;
    is_call[id] = IsMpiFunction(trace.strings[id]);
    moves[id] = MovesData(MpiKindOf(trace.strings[id]));
  }
  const bool traced =
      trace.mpi.size() > 0 || std::any_of(ranges.domain.begin(), ranges.domain.end(),
                                          [&](StringId id) { return is_domain[id] != 0; });
  const auto is_mpi = [&](std::uint32_t row) {
    const StringId name = ranges.name[row];
    return is_domain[ranges.domain[row]] != 0 ? is_call[name] != 0 : !traced && moves[name] != 0;
  };
  MpiTable& calls = trace.mpi;
  for (std::uint32_t row = 0; row < ranges.size(); ++row) {
    if (!is_mpi(row)) {
      others.push_back(row);
      continue;
    }
    calls.start.push_back(ranges.start[row]);
    calls.end.push_back(ranges.end[row]);
    calls.thread.push_back(ranges.thread[row]);
    calls.name.push_back(ranges.name[row]);
    calls.kind.push_back(MpiKind::kOther);
    calls.sent.push_back(-1);
    calls.received.push_back(-1);
    calls.peer.push_back(-1);
    calls.tag.push_back(-1);
  }
  if (others.size() == ranges.size()) return;
  RangeTable kept;
  KeepRows(ranges, others, &kept);
  ranges = std::move(kept);
}

// Rows of one call follow each other: the first has what it moved in all.
void JoinRequests(MpiTable& calls) {
  const auto same = [&](std::uint32_t a, std::uint32_t b) {
    return calls.thread[a] == calls.thread[b] && calls.start[a] == calls.start[b] &&
           calls.end[a] == calls.end[b] && calls.name[a] == calls.name[b];
  };
  const auto add = [](std::int64_t more, std::int64_t& bytes) {
    if (more >= 0) bytes = std::max<std::int64_t>(bytes, 0) + more;
  };
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t row = 0; row < calls.size(); ++row) {
    if (firsts.empty() || !same(firsts.back(), row)) {
      firsts.push_back(row);
      continue;
    }
    add(calls.sent[row], calls.sent[firsts.back()]);
    add(calls.received[row], calls.received[firsts.back()]);
  }
  if (firsts.size() == calls.size()) return;
  MpiTable kept;
  KeepRows(calls, firsts, &kept);
  calls = std::move(kept);
}

}  // namespace

MpiRows ReadMpi(Reader& reader) {
  MpiRows rows;
  for (const char* table :
       {"MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS"}) {
    AppendCalls(reader, table, rows);
  }
  rows.threads.SortKeys({&rows.calls.thread});
  return rows;
}

void JoinMpi(Trace& trace) {
  TakeRanges(trace);
  MpiTable& calls = trace.mpi;
  SortSpans(trace.threads.size(), &calls);
  JoinRequests(calls);
  std::vector<MpiKind> kinds(trace.strings.size(), MpiKind::kOther);
  std::vector<std::uint8_t> known(trace.strings.size(), 0);
  for (std::size_t row = 0; row < calls.size(); ++row) {
    const StringId name = calls.name[row];
    if (known[name] == 0) kinds[name] = MpiKindOf(trace.strings[name]);
    known[name] = 1;
    calls.kind[row] = kinds[name];
    if (kinds[name] == MpiKind::kReceive) std::swap(calls.sent[row], calls.received[row]);
  }
}

}  // namespace advise::nsys
