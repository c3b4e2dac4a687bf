// CUDA calls on host threads, waits, and recorded events.
//
//   CUPTI_ACTIVITY_KIND_RUNTIME          runtime and driver calls → calls
//     start, end, globalTid (a call without one is dropped), correlationId, returnValue
//     nameId → name, without version suffix: cudaLaunchKernel_v7000, cuMemcpyAsync_v2_ptsz
//   CUPTI_ACTIVITY_KIND_SYNCHRONIZATION  host-visible waits → syncs
//     syncType is not read: its numbers changed twice; the joined call's name says what it is
//     streamId 4294967295 → no stream
//   CUPTI_ACTIVITY_KIND_CUDA_EVENT       cudaEventRecord → events
//     timestamp only since 3.24, and 0 when not collected: then the call's start stands in
#include <string_view>

#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/import/row_order.h"

namespace advise::nsys {
namespace {

constexpr std::int64_t kNotReady = 600;  // what queries answer while work is under way

}  // namespace

CallRows ReadCalls(Reader& reader) {
  CallRows rows;
  CallTable& calls = rows.calls;
  Scan scan(reader, "CUPTI_ACTIVITY_KIND_RUNTIME",
            {"start", "end", "globalTid", "nameId", "correlationId", "returnValue"});
  const std::size_t limit = scan.RowLimit();
  ReserveRows(limit, &calls);
  scan.ForEach([&] {
    Nanos start = 0;
    Nanos end = 0;
    if (!scan.Span(0, start, end)) return;
    if (scan.IsNull(2)) return scan.Drop("calls without a thread were dropped");
    const std::int64_t result = scan.Int(5);
    calls.start.push_back(start);
    calls.end.push_back(end);
    calls.thread.push_back(ThreadNumber(scan, 2, rows.threads));
    calls.name.push_back(scan.Name(3));
    calls.correlation.push_back(static_cast<std::uint32_t>(scan.Int(4)));
    calls.failed.push_back(result != 0 && result != kNotReady);
  });
  rows.threads.SortKeys({&calls.thread});
  SortSpans(rows.threads.keys().size(), &calls);
  return rows;
}

WaitRows ReadWaits(Reader& reader) {
  WaitRows rows;
  SyncTable& syncs = rows.syncs;
  Scan waits(reader, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
             {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
              "eventId"});
  waits.ForEach([&] {
    Nanos start = 0;
    Nanos end = 0;
    if (!waits.Span(0, start, end)) return;
    syncs.start.push_back(start);
    syncs.end.push_back(end);
    syncs.stream.push_back(StreamNumber(waits, 2, rows.streams));
    syncs.call.push_back(static_cast<std::uint32_t>(waits.Int(5)));
    syncs.event_id.push_back(waits.Int(7));
  });
  EventTable& events = rows.events;
  Scan records(
      reader, "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
      {"timestamp", "eventId", "deviceId", "contextId", "streamId", "correlationId", "globalPid"});
  records.ForEach([&] {
    Nanos time = kNoTime;
    if (records.Int(0) != 0 && !records.Instant(0, time)) return;
    events.time.push_back(time);
    events.stream.push_back(StreamNumber(records, 2, rows.streams));
    events.call.push_back(static_cast<std::uint32_t>(records.Int(5)));
    events.event_id.push_back(records.Int(1));
  });
  rows.streams.SortKeys({&syncs.stream, &events.stream});
  ReorderRows(OrderBy(syncs.start), &syncs);
  return rows;
}

}  // namespace advise::nsys
