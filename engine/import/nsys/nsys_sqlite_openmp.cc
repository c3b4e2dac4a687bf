// Regions of OpenMP on the host, as ranges of the domain "OpenMP".
//
//   OPENMP_EVENT_KIND_PARALLEL, _WORKSHARE, _SYNC_REGION_WAIT, _CRITICAL_SECTION, _MUTEX_WAIT
//                     start, end, globalTid, kind
//
//   kind              of work shares and waits, as OMPT numbers them (ompt_work_t,
//                     ompt_sync_region_t)
//
// They say what a launching thread computes on the CPU. Tasks are left out: each thread of each
// region has one, which says no more than the region.
#include <array>

#include "engine/import/nsys/nsys_sqlite_rows.h"

namespace advise::nsys {
namespace {

constexpr std::array<std::string_view, 8> kWork = {
    "work share", "loop", "sections",     "single region", "wait for a single region",
    "work share", "loop", "loop of tasks"};
// Not "barrier", as ranges that wait for other processes are called.
constexpr std::array<std::string_view, 8> kWait = {"wait for the other threads",
                                                   "wait for the other threads",
                                                   "wait for the other threads",
                                                   "wait for the other threads",
                                                   "wait for the other threads",
                                                   "wait for tasks",
                                                   "wait for tasks",
                                                   "wait for the other threads"};

template <typename Words>
void Append(Reader& reader, std::string_view table, DirectiveRows& rows, Words words) {
  enum { kStart, kEnd, kThread, kKind };
  Scan scan(reader, table, {"start", "end", "globalTid", "kind"});
  scan.ForEach([&] {
    DirectiveRows::Directive made;
    if (!scan.Span(kStart, made.start, made.end)) return;
    made.model = "OpenMP";
    made.words = words(scan.Int(kKind));
    made.thread = ThreadNumber(scan, kThread, rows.threads);
    rows.directives.push_back(made);
  });
}

// What a newer version of OMPT adds is called as what has no number.
std::string_view Of(const std::array<std::string_view, 8>& words, std::int64_t kind) {
  return words[kind > 0 && kind < static_cast<std::int64_t>(words.size())
                   ? static_cast<std::size_t>(kind)
                   : 0];
}

}  // namespace

void AppendOpenMp(Reader& reader, DirectiveRows& rows) {
  const auto always = [](std::string_view words) { return [=](std::int64_t) { return words; }; };
  Append(reader, "OPENMP_EVENT_KIND_PARALLEL", rows, always("parallel region"));
  Append(reader, "OPENMP_EVENT_KIND_WORKSHARE", rows,
         [](std::int64_t kind) { return Of(kWork, kind); });
  Append(reader, "OPENMP_EVENT_KIND_SYNC_REGION_WAIT", rows,
         [](std::int64_t kind) { return Of(kWait, kind); });
  Append(reader, "OPENMP_EVENT_KIND_CRITICAL_SECTION", rows, always("critical section"));
  Append(reader, "OPENMP_EVENT_KIND_MUTEX_WAIT", rows, always("wait for a lock"));
}

}  // namespace advise::nsys
