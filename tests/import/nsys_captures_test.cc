// Real captures, where they are at hand (find_capture.h). Each must be read, with as many rows as
// SQLite counts.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "engine/import/importer.h"
#include "tests/app/find_capture.h"
#include "tests/import/nsys_builder.h"

using namespace advise;
using namespace advise::testing;

namespace {

std::vector<std::string> Captures() {
  std::vector<std::string> files = FindCaptures("nsys");
  std::erase_if(files, [](const std::string& path) {
    std::string head(15, '\0');
    std::ifstream(path, std::ios::binary).read(head.data(), 15);
    return head != "SQLite format 3";
  });
  return files;
}

// Rows of a table, 0 when the file has no such table.
std::int64_t Rows(const std::string& path, const std::string& table,
                  const std::string& where = "1") {
  return std::max<std::int64_t>(
      0, QueryNumber(path, "SELECT count(*) FROM " + table + " WHERE " + where));
}

std::int64_t Dropped(const Trace& trace, const std::string& table) {
  return CountOf(trace, "dropped", table);
}

// Rows of a table sorted by (thread, start), each thread one run.
bool IsSorted(const std::vector<std::uint32_t>& thread, const std::vector<Nanos>& time) {
  for (std::size_t i = 1; i < thread.size(); ++i) {
    if (thread[i - 1] > thread[i] || (thread[i - 1] == thread[i] && time[i - 1] > time[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("every real capture is read whole, sorted, and the same with one reader and two") {
  for (const std::string& path : Captures()) {
    INFO(path);
    const Result<Trace> read = ImportReport(path, {.jobs = 2});
    if (Rows(path, "sqlite_master", "name = 'StringIds'") == 0) {
      REQUIRE_FALSE(read);
      CHECK(read.error().what.starts_with("a database of another program"));
      continue;
    }
    if (!read) FAIL(read.error().Line());
    const Trace& trace = *read;
    std::int64_t ops = 0;
    std::int64_t dropped = 0;
    for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                              "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}) {
      ops += Rows(path, table);
      dropped += Dropped(trace, table);
    }
    CHECK(static_cast<std::int64_t>(trace.ops.size()) + dropped == ops);
    const auto same = [&](std::size_t size, const std::string& table, const std::string& where) {
      INFO(table);
      CHECK(static_cast<std::int64_t>(size) + Dropped(trace, table) == Rows(path, table, where));
    };
    same(trace.copies.size(), "CUPTI_ACTIVITY_KIND_MEMCPY", "1");
    const auto twice = CountOf(trace, "listed twice");
    same(trace.calls.size() + static_cast<std::size_t>(twice), "CUPTI_ACTIVITY_KIND_RUNTIME", "1");
    same(trace.syncs.size(), "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "1");
    same(trace.events.size(), "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "1");
    // Without tables of MPI, its calls are ranges of a domain.
    const std::size_t mpi = trace.HasTable("MPI_P2P_EVENTS") ? 0 : trace.mpi.size();
    same(trace.ranges.size() + trace.operators.size() + mpi, "NVTX_EVENTS",
         "eventType IN (59, 60, 70, 71)");
    same(trace.os_calls.size(), "OSRT_API", "1");
    same(trace.sched.size(), "SCHED_EVENTS", "1");
    same(trace.samples.size(), "COMPOSITE_EVENTS", "1");

    CHECK(std::is_sorted(trace.ops.start.begin(), trace.ops.start.end()));
    CHECK(IsSorted(trace.calls.thread, trace.calls.start));
    CHECK(IsSorted(trace.ranges.thread, trace.ranges.start));
    CHECK(IsSorted(trace.os_calls.thread, trace.os_calls.start));
    CHECK(IsSorted(trace.sched.thread, trace.sched.time));
    CHECK(IsSorted(trace.samples.thread, trace.samples.time));
    for (const Diagnostic& d : trace.diagnostics.list()) CHECK(d.level != Level::kError);

    // Joins: as many as SQL finds when it pairs correlation and process.
    std::int64_t joined = 0;
    for (const std::uint32_t call : trace.ops.call) joined += call != kNone;
    std::int64_t expected = 0;
    for (const char* table : {"KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"}) {
      expected += std::max<std::int64_t>(
          0, QueryNumber(path, std::string("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_") + table +
                                   " WHERE correlationId != 0 AND (correlationId, globalPid) IN "
                                   "(SELECT correlationId, globalTid & ~16777215 FROM "
                                   "CUPTI_ACTIVITY_KIND_RUNTIME)"));
    }
    if (QueryNumber(path, "SELECT count(globalPid) FROM CUPTI_ACTIVITY_KIND_KERNEL") >= 0) {
      CHECK(joined == expected);
    }

    const Result<Trace> again = ImportReport(path, {.jobs = 1});
    REQUIRE(again);
    CHECK(Describe(trace) == Describe(*again));
  }
}
