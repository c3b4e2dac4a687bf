// What host threads did beside CUDA calls.
//
//   OSRT_API             start, end, globalTid, nameId              → os_calls
//   SCHED_EVENTS         start, cpu, isSchedIn, globalTid           → sched
//   COMPOSITE_EVENTS     id, start, globalTid                       → samples
//   SAMPLING_CALLCHAINS  id, stackDepth = 0: symbol, module         → samples.symbol, .module;
//                        unresolved frames (symbol is an address) → no symbol
//   PROFILER_OVERHEAD    start, end, globalTid, nameId              → overheads
//   CUPTI_ACTIVITY_KIND_OVERHEAD  the same; overheadType names it   → overheads
//
// None of these tables is sorted in the file. Calls shorter than the capture's threshold (1 µs) are
// not in OSRT_API.
#include <algorithm>
#include <array>
#include <string_view>

#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/import/row_order.h"

namespace advise::nsys {
namespace {

// By overheadType. Empty: the row's own name says more.
constexpr std::array<std::string_view, 9> kOverheadNames = {"",
                                                            "",
                                                            "Driver JIT compiler",
                                                            "Buffer flush",
                                                            "Instrumentation",
                                                            "Resource creation/destruction",
                                                            "Runtime module loading",
                                                            "Lazy function loading",
                                                            "Command buffer full"};

void AppendOverheads(Reader& reader, std::string_view table, OverheadRows& rows) {
  Scan scan(reader, table, {"start", "end", "globalTid", "nameId", "overheadType"});
  scan.ForEach([&] {
    Nanos start = 0;
    Nanos end = 0;
    if (!scan.Span(0, start, end)) return;
    const std::int64_t type = scan.Int(4);
    const bool has_type = type >= 0 && type < static_cast<std::int64_t>(kOverheadNames.size()) &&
                          !kOverheadNames[type].empty();
    rows.overheads.start.push_back(start);
    rows.overheads.end.push_back(end);
    rows.overheads.thread.push_back(ThreadNumber(scan, 2, rows.threads));
    rows.overheads.name.push_back(has_type ? reader.log.Inline(kOverheadNames[type])
                                           : scan.Name(3));
  });
}

struct Frame {
  std::int64_t sample;
  NameRef symbol;
  NameRef module;
};

// The innermost frames, sorted by sample.
std::vector<Frame> ReadLeafFrames(Reader& reader) {
  if (!reader.source.Has("SAMPLING_CALLCHAINS", "stackDepth")) return {};
  std::vector<Frame> frames;
  Scan scan(reader, "SAMPLING_CALLCHAINS", {"id", "symbol", "module", "unresolved"},
            "WHERE stackDepth = 0");
  scan.ForEach([&] {
    frames.push_back({scan.Int(0), scan.Int(3) != 0 ? kNone : scan.Name(1), scan.Name(2)});
  });
  const auto by_sample = [](const Frame& a, const Frame& b) { return a.sample < b.sample; };
  if (!std::is_sorted(frames.begin(), frames.end(), by_sample)) {
    std::stable_sort(frames.begin(), frames.end(), by_sample);
  }
  return frames;
}

}  // namespace

OsCallRows ReadOsCalls(Reader& reader) {
  OsCallRows rows;
  OsCallTable& calls = rows.calls;
  Scan scan(reader, "OSRT_API", {"start", "end", "globalTid", "nameId"});
  const std::size_t limit = scan.RowLimit();
  calls.start.reserve(limit);
  calls.end.reserve(limit);
  calls.thread.reserve(limit);
  calls.name.reserve(limit);
  scan.ForEach([&] {
    Nanos start = 0;
    Nanos end = 0;
    if (!scan.Span(0, start, end)) return;
    if (scan.IsNull(2)) return scan.Drop("calls without a thread were dropped");
    calls.start.push_back(start);
    calls.end.push_back(end);
    calls.thread.push_back(ThreadNumber(scan, 2, rows.threads));
    calls.name.push_back(scan.Name(3));
  });
  rows.threads.SortKeys({&calls.thread});
  SortSpans(rows.threads.keys().size(), &calls);
  return rows;
}

SchedRows ReadSched(Reader& reader) {
  SchedRows rows;
  SchedTable& sched = rows.sched;
  Scan scan(reader, "SCHED_EVENTS", {"start", "cpu", "isSchedIn", "globalTid"});
  const std::size_t limit = scan.RowLimit();
  sched.time.reserve(limit);
  sched.thread.reserve(limit);
  sched.cpu.reserve(limit);
  sched.on.reserve(limit);
  scan.ForEach([&] {
    Nanos time = 0;
    if (!scan.Instant(0, time)) return;
    sched.time.push_back(time);
    sched.thread.push_back(ThreadNumber(scan, 3, rows.threads));
    sched.cpu.push_back(static_cast<std::uint16_t>(scan.Int(1)));
    sched.on.push_back(scan.Int(2) != 0);
  });
  rows.threads.SortKeys({&sched.thread});
  ReorderRows(InstantOrder(sched.thread, rows.threads.keys().size(), sched.time), &sched);
  return rows;
}

SampleRows ReadSamples(Reader& reader) {
  SampleRows rows;
  SampleTable& samples = rows.samples;
  const std::vector<Frame> frames = ReadLeafFrames(reader);
  auto near = frames.begin();  // samples come in id order more often than not
  Scan scan(reader, "COMPOSITE_EVENTS", {"id", "start", "globalTid"});
  scan.ForEach([&] {
    Nanos time = 0;
    if (!scan.Instant(1, time)) return;
    samples.time.push_back(time);
    samples.thread.push_back(ThreadNumber(scan, 2, rows.threads));
    const std::int64_t id = scan.Int(0);
    if (near == frames.end() || near->sample != id) {
      near =
          std::lower_bound(frames.begin(), frames.end(), id,
                           [](const Frame& frame, std::int64_t key) { return frame.sample < key; });
    }
    const bool found = near != frames.end() && near->sample == id;
    samples.symbol.push_back(found ? near->symbol : kNone);
    samples.module.push_back(found ? near->module : kNone);
    if (found) ++near;
  });
  rows.threads.SortKeys({&samples.thread});
  ReorderRows(InstantOrder(samples.thread, rows.threads.keys().size(), samples.time), &samples);
  return rows;
}

OverheadRows ReadOverheads(Reader& reader) {
  OverheadRows rows;
  AppendOverheads(reader, "PROFILER_OVERHEAD", rows);
  AppendOverheads(reader, "CUPTI_ACTIVITY_KIND_OVERHEAD", rows);
  OverheadTable& overheads = rows.overheads;
  rows.threads.SortKeys({&overheads.thread});
  SortSpans(rows.threads.keys().size(), &overheads);
  return rows;
}

}  // namespace advise::nsys
