// Directives of OpenACC and regions of OpenMP: ranges that say what they do and where they stand.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/import/nsys_builder.h"

using namespace advise;
using namespace advise::testing;

TEST_CASE("directives of OpenACC are ranges with the place in the source") {
  const std::string thread = std::to_string(GlobalTid(100, 100));
  const TempDir dir;
  NsysBuilder builder(dir.File("openacc.sqlite"), NsysBuilder::Schema::k3_25);
  builder.Text(300, "/home/me/src/solver.f90").Text(301, "density");
  const std::string columns =
      " (start INTEGER NOT NULL, \"end\" INTEGER, globalTid INTEGER, eventKind INTEGER, lineNo "
      "INTEGER, srcFile INTEGER, varName INTEGER, bytes INTEGER)";
  builder.Sql("CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_DATA" + columns)
      .Sql(
          "CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_OTHER (start INTEGER NOT NULL, \"end\" "
          "INTEGER, globalTid INTEGER, "
          "eventKind INTEGER, lineNo INTEGER, srcFile INTEGER)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_OPENACC_DATA VALUES (1100, 1200, " + thread +
           ", 5, 42, 300, 301, 4096)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_OPENACC_DATA VALUES (1300, 1310, " + thread +
           ", 15, 42, 300, 301, 4096)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_OPENACC_OTHER VALUES (1000, 2000, " + thread +
           ", 9, 42, 300)")
      .Sql("INSERT INTO CUPTI_ACTIVITY_KIND_OPENACC_OTHER VALUES (1500, 1600, " + thread +
           ", 8, 0, NULL)");
  const Trace trace = Read(builder);
  REQUIRE(trace.ranges.size() == 3);
  std::vector<std::string> names;
  for (std::size_t row = 0; row < trace.ranges.size(); ++row) {
    names.push_back(trace.strings[trace.ranges.name[row]]);
    CHECK(trace.strings[trace.ranges.domain[row]] == "OpenACC");
  }
  CHECK(names == std::vector<std::string>{"OpenACC compute construct at solver.f90:42",
                                          "OpenACC upload of density at solver.f90:42",
                                          "OpenACC implicit wait"});
  CHECK(trace.ranges.start == std::vector<Nanos>{1000, 1100, 1500});
  CHECK(trace.ranges.payload[1] == 4096);
  CHECK(trace.HasTable("CUPTI_ACTIVITY_KIND_OPENACC_DATA"));
}

TEST_CASE("regions of OpenMP are ranges, named by what they do") {
  const std::string thread = std::to_string(GlobalTid(100, 100));
  const TempDir dir;
  NsysBuilder builder(dir.File("openmp.sqlite"), NsysBuilder::Schema::k3_25);
  const auto table = [&](const std::string& name, const std::string& more) {
    builder.Sql("CREATE TABLE OPENMP_EVENT_KIND_" + name +
                " (start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, eventClass INTEGER NOT NULL, "
                "globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, eventKind "
                "INTEGER" +
                more + ")");
  };
  const auto row = [&](const std::string& name, const std::string& when, const std::string& more) {
    builder.Sql("INSERT INTO OPENMP_EVENT_KIND_" + name + " VALUES (" + when + ", 78, " + thread +
                ", NULL, 0, 28" + more + ")");
  };
  table("PARALLEL", ", parallelId INTEGER, parentTaskId INTEGER");
  table("WORKSHARE", ", kind INTEGER, parallelId INTEGER, taskId INTEGER, count INTEGER");
  table("SYNC_REGION_WAIT", ", parallelId INTEGER, taskId INTEGER, kind INTEGER");
  table("TASK", ", parallelId INTEGER");
  row("PARALLEL", "1000, 2000", ", 1, 1");
  row("WORKSHARE", "1010, 1800", ", 1, 1, 1, 64");
  row("WORKSHARE", "1800, 1810", ", 99, 1, 1, 64");  // a kind that is not known yet
  row("SYNC_REGION_WAIT", "1850, 1990", ", 1, 1, 2");
  row("TASK", "1000, 2000", ", 1");
  const Trace trace = Read(builder);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    names.push_back(trace.strings[trace.ranges.name[i]]);
    CHECK(trace.strings[trace.ranges.domain[i]] == "OpenMP");
  }
  CHECK(names == std::vector<std::string>{"OpenMP parallel region", "OpenMP loop",
                                          "OpenMP work share",
                                          "OpenMP wait for the other threads"});
  CHECK(trace.ranges.start == std::vector<Nanos>{1000, 1010, 1800, 1850});
}
