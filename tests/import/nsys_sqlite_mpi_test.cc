// Calls of MPI: from its own tables, and from the ranges of exports that have no such tables.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/import/nsys_builder.h"

using namespace advise;
using namespace advise::testing;
using Schema = NsysBuilder::Schema;

namespace {

const std::string kFirst = std::to_string(GlobalTid(100, 100));
const std::string kSecond = std::to_string(GlobalTid(200, 200));

// The tables as Nsight Systems exports them since schema 3.
NsysBuilder& MpiTables(NsysBuilder& builder) {
  builder.Text(300, "MPI_Isend")
      .Text(301, "MPI_Recv")
      .Text(302, "MPI_Allreduce")
      .Text(303, "MPI_Waitall")
      .Text(304, "MPI_Comm_split")
      .Text(305, "MPI_File_write_all");
  return builder
      .Sql(
          "CREATE TABLE MPI_P2P_EVENTS (start INTEGER NOT NULL, \"end\" INTEGER, globalTid "
          "INTEGER, textId INTEGER, commHandle INTEGER, tag INTEGER, remoteRank INTEGER, size "
          "INTEGER, requestHandle INTEGER)")
      .Sql(
          "CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, \"end\" INTEGER, "
          "globalTid INTEGER, textId INTEGER, commHandle INTEGER, rootRank INTEGER, size INTEGER, "
          "recvSize INTEGER, requestHandle INTEGER)")
      .Sql(
          "CREATE TABLE MPI_START_WAIT_EVENTS (start INTEGER NOT NULL, \"end\" INTEGER, globalTid "
          "INTEGER, textId INTEGER, requestHandle INTEGER)")
      .Sql(
          "CREATE TABLE MPI_OTHER_EVENTS (start INTEGER NOT NULL, \"end\" INTEGER, globalTid "
          "INTEGER, textId INTEGER)");
}

std::vector<std::string> NamesOf(const Trace& trace) {
  std::vector<std::string> names;
  for (const StringId name : trace.mpi.name) names.push_back(trace.strings[name]);
  return names;
}

using Counts = std::vector<std::int64_t>;
using Kinds = std::vector<MpiKind>;

}  // namespace

TEST_CASE("functions of MPI are told by their names, in C and Fortran") {
  CHECK(MpiKindOf("MPI_Isend") == MpiKind::kSend);
  CHECK(MpiKindOf("PMPI_Ssend") == MpiKind::kSend);
  CHECK(MpiKindOf("mpi_irecv_") == MpiKind::kReceive);
  CHECK(MpiKindOf("mpi_recv_f08_") == MpiKind::kReceive);
  CHECK(MpiKindOf("MPI_Send_init") == MpiKind::kSend);
  CHECK(MpiKindOf("MPI_Sendrecv_replace") == MpiKind::kExchange);
  CHECK(MpiKindOf("MPI_Waitall") == MpiKind::kWait);
  CHECK(MpiKindOf("MPI_Testsome") == MpiKind::kWait);
  CHECK(MpiKindOf("MPI_Win_fence") == MpiKind::kWait);
  CHECK(MpiKindOf("MPI_Iallreduce") == MpiKind::kCollective);
  CHECK(MpiKindOf("MPI_Barrier") == MpiKind::kCollective);
  CHECK(MpiKindOf("MPI_Ineighbor_alltoallv") == MpiKind::kCollective);
  CHECK(MpiKindOf("MPI_Reduce_scatter_block") == MpiKind::kCollective);
  CHECK(MpiKindOf("MPI_File_read_at_all") == MpiKind::kFile);
  CHECK(MpiKindOf("MPI_File_write_at_all") == MpiKind::kFileWrite);
  CHECK(MpiKindOf("mpi_file_iwrite_shared_") == MpiKind::kFileWrite);
  CHECK(MpiKindOf("MPI_Init_thread") == MpiKind::kOther);
  CHECK(MpiKindOf("MPI_Reduce_local") == MpiKind::kOther);
  CHECK(MpiKindOf("MPI_Comm_split") == MpiKind::kOther);
  CHECK(MpiKindOf("send") == MpiKind::kOther);
  CHECK_FALSE(IsMpiFunction("MPI Rank 3"));
  CHECK_FALSE(IsMpiFunction("ncclSend"));
}

TEST_CASE("calls of MPI have sizes, peers and kinds") {
  const TempDir dir;
  NsysBuilder builder(dir.File("mpi.sqlite"), Schema::k3_25);
  MpiTables(builder)
      .Sql("INSERT INTO MPI_P2P_EVENTS VALUES (10, 12, " + kFirst +
           ", 300, 1, 7, 3, 4096, 50), (20, 90, " + kFirst +
           ", 301, 1, 7, 2, 1024, NULL), (5, 6, " + kOther + ", 301, 1, -1, -2, NULL, NULL)")
      .Sql("INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (100, 150, " + kFirst +
           ", 302, 1, NULL, 8, 8, NULL), (200, 300, " + kFirst + ", 305, 1, NULL, 512, 0, NULL)")
      .Sql("INSERT INTO MPI_OTHER_EVENTS VALUES (1, 2, " + kFirst + ", 304)");
  const Trace trace = Read(builder);
  REQUIRE(trace.mpi.size() == 6);
  CHECK(NamesOf(trace) == std::vector<std::string>{"MPI_Comm_split", "MPI_Isend", "MPI_Recv",
                                                   "MPI_Allreduce", "MPI_File_write_all",
                                                   "MPI_Recv"});
  CHECK(trace.mpi.kind == Kinds{MpiKind::kOther, MpiKind::kSend, MpiKind::kReceive,
                                MpiKind::kCollective, MpiKind::kFileWrite, MpiKind::kReceive});
  CHECK(trace.mpi.sent == Counts{-1, 4096, -1, 8, 512, -1});
  CHECK(trace.mpi.received == Counts{-1, -1, 1024, 8, 0, -1});
  CHECK(trace.mpi.peer == std::vector<std::int32_t>{-1, 3, 2, -1, -1, -1});
  CHECK(trace.mpi.tag == std::vector<std::int32_t>{-1, 7, 7, -1, -1, -1});
  CHECK(trace.threads.size() == 2);
  CHECK(trace.mpi.thread == std::vector<std::uint32_t>{0, 0, 0, 0, 0, 1});
}

TEST_CASE("a wait for many requests has a row for each of them, and is one call") {
  const TempDir dir;
  NsysBuilder builder(dir.File("waits.sqlite"), Schema::k3_25);
  MpiTables(builder).Sql("INSERT INTO MPI_START_WAIT_EVENTS VALUES (10, 50, " + kFirst +
                         ", 303, 1), (10, 50, " + kFirst + ", 303, 2), (60, 70, " + kFirst +
                         ", 303, 1), (10, 50, " + kFirst + ", 303, 3)");
  const Trace trace = Read(builder);
  CHECK(trace.mpi.start == std::vector<Nanos>{10, 60});
  CHECK(trace.mpi.kind == Kinds{MpiKind::kWait, MpiKind::kWait});
  CHECK(trace.table_rows.at("MPI_START_WAIT_EVENTS") == 4);
}

TEST_CASE("rows of MPI that cannot be used are counted, and missing columns do no harm") {
  const TempDir dir;
  NsysBuilder builder(dir.File("damaged.sqlite"), Schema::k3_25);
  builder.Text(301, "MPI_Recv")
      .Sql(
          "CREATE TABLE MPI_P2P_EVENTS (start INTEGER, \"end\" INTEGER, globalTid INTEGER, textId "
          "INTEGER)")
      .Sql("INSERT INTO MPI_P2P_EVENTS VALUES (10, 20, " + kFirst + ", 301), (30, NULL, " + kFirst +
           ", 301), (50, 40, " + kFirst + ", 301), (60, 70, NULL, 301), (80, 90, " + kFirst +
           ", 9999), (95, 99, " + kFirst + ", NULL)")
      .Sql("CREATE TABLE MPI_OTHER_EVENTS (unknown INTEGER)")
      .Sql("INSERT INTO MPI_OTHER_EVENTS VALUES (1)");
  const Trace trace = Read(builder);
  REQUIRE(trace.mpi.size() == 4);
  CHECK(trace.mpi.start == std::vector<Nanos>{10, 80, 95, 60});  // the last is of no thread
  CHECK(trace.mpi.thread.back() == kNone);
  CHECK(trace.mpi.received == Counts{-1, -1, -1, -1});
  CHECK(trace.mpi.kind ==
        Kinds{MpiKind::kReceive, MpiKind::kOther, MpiKind::kOther, MpiKind::kReceive});
  CHECK(CountOf(trace, "without a time", "MPI_P2P_EVENTS") == 1);
  CHECK(CountOf(trace, "end before they start", "MPI_P2P_EVENTS") == 1);
  CHECK(CountOf(trace, "without a time", "MPI_OTHER_EVENTS") == 1);
}

TEST_CASE("ranges of the domain MPI are calls, and no ranges any more") {
  const TempDir dir;
  NsysBuilder builder(dir.File("ranges.sqlite"), Schema::k2_9);
  const auto nvtx = [](const std::string& fields) {
    return "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, textId, globalTid, domainId) "
           "VALUES (" +
           fields + ")";
  };
  builder.Sql(nvtx("-9, NULL, 75, 'MPI', NULL, " + kFirst + ", 1"))
      .Sql(nvtx("10, 40, 59, 'MPI_Recv', NULL, " + kFirst + ", 1"))
      .Sql(nvtx("50, 60, 59, 'exchange', NULL, " + kFirst + ", 1"))
      .Sql(nvtx("70, NULL, 59, 'MPI_Barrier', NULL, " + kFirst + ", 1"))
      .Sql(nvtx("80, 90, 59, 'MPI_Send', NULL, " + kFirst + ", 0"))
      .Add(KernelRow{.start = 1, .end = 990});
  const Trace trace = Read(builder);
  CHECK(NamesOf(trace) == std::vector<std::string>{"MPI_Recv", "MPI_Barrier"});
  CHECK(trace.mpi.kind == Kinds{MpiKind::kReceive, MpiKind::kCollective});
  CHECK(trace.mpi.end == std::vector<Nanos>{40, 990});
  CHECK(trace.mpi.received == Counts{-1, -1});
  REQUIRE(trace.ranges.size() == 2);
  CHECK(trace.strings[trace.ranges.name[0]] == "exchange");
  CHECK(trace.strings[trace.ranges.name[1]] == "MPI_Send");  // what the program calls its own range
}

TEST_CASE("ranges that wrappers of MPI push are calls where MPI was not traced") {
  const TempDir dir;
  NsysBuilder builder(dir.File("wrapped.sqlite"), Schema::k2_9);
  const auto push = [&](const std::string& start, const std::string& end, const std::string& name) {
    builder.Sql(
        "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, textId, globalTid, domainId) "
        "VALUES (" +
        start + ", " + end + ", 59, '" + name + "', NULL, " + kFirst + ", 0)");
  };
  push("10", "40", "MPI_Waitall");
  push("45", "50", "mpi_allreduce_");
  push("50", "60", "mpi_exchange");   // the program's own
  push("70", "80", "MPI_Comm_rank");  // neither moves data nor waits
  builder.Add(KernelRow{.start = 1, .end = 990});
  const Trace trace = Read(builder);
  CHECK(NamesOf(trace) == std::vector<std::string>{"MPI_Waitall", "mpi_allreduce_"});
  CHECK(trace.mpi.kind == Kinds{MpiKind::kWait, MpiKind::kCollective});
  REQUIRE(trace.ranges.size() == 2);
  CHECK(trace.strings[trace.ranges.name[0]] == "mpi_exchange");
  CHECK(trace.strings[trace.ranges.name[1]] == "MPI_Comm_rank");
}
