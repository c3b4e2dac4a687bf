// Payloads of NCCL's ranges: sizes, communicators, and the kernels that the calls launched.
#include <catch2/catch.hpp>

#include "tests/import/nsys_builder.h"

namespace advise::testing {
namespace {

using Schema = NsysBuilder::Schema;

constexpr std::int64_t kInit = 16777227, kReduce = 16777221, kGather = 16777220;

std::string Hex(std::uint64_t number, int bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (int i = 0; i < bytes; ++i, number >>= 8) {
    hex += kDigits[(number >> 4) & 15];
    hex += kDigits[number & 15];
  }
  return hex;
}

// A blob as nsys writes it: domain 1, schema, size and offset of the payload, the payload.
std::string Blob(std::int64_t schema, const std::string& payload) {
  return Hex(1, 8) + Hex(static_cast<std::uint64_t>(schema), 8) + Hex(payload.size() / 2, 8) +
         Hex(32, 8) + payload;
}

// An export with NCCL's layouts, as a process of rank 0 of `ranks` would leave it.
class NcclReport {
 public:
  explicit NcclReport(const char* blobs = "true")
      : builder_(dir_.File("nccl.sqlite"), Schema::k3_25) {
    builder_.Sql("ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData TEXT");
    builder_.Sql(
        "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx "
        "INTEGER, type INTEGER, name TEXT, offset INTEGER)");
    builder_.Sql(std::string("INSERT INTO META_DATA_EXPORT (name, value) VALUES "
                             "('EXPORT_PARAM_INCLUDE_BLOBS', '") +
                 blobs + "')");
    for (int process = 0; process < 2; ++process) {  // layouts repeat for each process
      Entry(kInit, 0, 18, "NCCL communicator ID", "NULL");
      Entry(kInit, 1, 5, "No. of ranks", "8");
      Entry(kInit, 2, 5, "Rank", "12");
      Entry(kReduce, 0, 18, "NCCL communicator ID", "NULL");
      Entry(kReduce, 1, 22, "Message size [bytes]", "NULL");  // right behind the entry before
      Entry(kReduce, 2, 16777232, "Reduction operation", "16");
      Entry(kGather, 0, 18, "NCCL communicator ID", "NULL");
      Entry(kGather, 1, 22, "Message size [bytes]", "8");
    }
    builder_.Text(10, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    builder_.Text(11, "ncclDevKernel_AllGather_RING_LL");
    builder_.Text(12, "cudaLaunchKernel_v7000");
  }

  NcclReport& Range(const std::string& name, std::int64_t start, std::int64_t end,
                    const std::string& blob = "") {
    builder_.Sql(
        "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid, domainId, "
        "binaryData) VALUES (" +
        std::to_string(start) + ", " + std::to_string(end) + ", 59, '" + name + "', " +
        std::to_string(GlobalTid(100, 100)) + ", 1, " +
        (blob.empty() ? std::string("NULL") : "X'" + blob + "'") + ")");
    return *this;
  }
  NcclReport& Init(std::uint64_t communicator, int ranks) {
    return Range("ncclCommInitRankConfig", 1, 2,
                 Blob(kInit, Hex(communicator, 8) + Hex(static_cast<std::uint64_t>(ranks), 4) +
                                 Hex(0, 4) + Hex(0, 8)));
  }
  NcclReport& Launch(std::int64_t call, std::int64_t start, std::int64_t name) {
    ++correlation_;
    builder_.Add(CallRow{.start = call, .end = call + 1, .correlation = correlation_, .name = 12});
    builder_.Add(
        KernelRow{.start = start, .end = start + 50, .correlation = correlation_, .name = name});
    return *this;
  }
  Trace Get() { return Read(builder_); }

 private:
  void Entry(std::int64_t schema, int index, std::int64_t type, const std::string& name,
             const std::string& offset) {
    builder_.Sql("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, " + std::to_string(schema) +
                 ", " + std::to_string(index) + ", " + std::to_string(type) + ", '" + name + "', " +
                 offset + ")");
  }
  TempDir dir_;
  NsysBuilder builder_;
  std::int64_t correlation_ = 0;
};

std::string Reduce(std::uint64_t communicator, std::uint64_t bytes) {
  return Blob(kReduce, Hex(communicator, 8) + Hex(bytes, 8) + Hex(0, 8));
}
std::string Gather(std::uint64_t communicator, std::uint64_t bytes) {
  return Blob(kGather, Hex(communicator, 8) + Hex(bytes, 8));
}

TEST_CASE("NCCL's payloads give sizes and communicators, and lead to the kernels") {
  const Trace trace = NcclReport()
                          .Init(0xabcd, 8)
                          .Range("ncclAllReduce", 100, 110, Reduce(0xabcd, 4096))
                          .Launch(105, 1000, 10)
                          .Range("ncclAllGather", 200, 210, Gather(0xabcd, 512))
                          .Launch(205, 1100, 11)
                          .Launch(300, 1200, 10)  // outside of any range
                          .Get();
  const CollectiveTable& table = trace.collectives;
  REQUIRE(table.size() == 2);
  CHECK(trace.strings[table.kind[0]] == "AllReduce");
  CHECK(table.in_bytes[0] == 4096);
  CHECK(table.out_bytes[0] == 4096);
  CHECK(table.op[0] == 0);
  CHECK(trace.strings[table.kind[1]] == "AllGather");
  CHECK(table.in_bytes[1] == 512);
  CHECK(table.out_bytes[1] == 8 * 512);
  CHECK(table.op[1] == 1);
  REQUIRE(trace.groups.size() == 1);
  CHECK(trace.groups[0].name == "0xabcd");
  CHECK(trace.groups[0].size == 8);
  CHECK(table.group[0] == 0);
  CHECK(trace.table_rows.at("NVTX_EVENTS") == 3);  // each row counted once
}

TEST_CASE("the kernel of a group is that of its only call, and nobody's when there are several") {
  const Trace trace = NcclReport()
                          .Init(1, 2)
                          .Range("ncclGroupStart", 90, 91)
                          .Range("ncclAllReduce", 100, 110, Reduce(1, 64))
                          .Range("ncclGroupEnd", 120, 130)
                          .Launch(125, 1000, 10)
                          .Range("ncclGroupStart", 190, 191)
                          .Range("ncclAllReduce", 200, 210, Reduce(1, 128))
                          .Range("ncclAllReduce", 211, 219, Reduce(1, 256))
                          .Range("ncclGroupEnd", 220, 230)
                          .Launch(225, 1100, 10)
                          .Get();
  REQUIRE(trace.collectives.size() == 3);
  CHECK(trace.collectives.op[0] == 0);
  CHECK(trace.collectives.op[1] == kNone);
  CHECK(trace.collectives.op[2] == kNone);
}

TEST_CASE("without the number of ranks the data of a gather is not known") {
  const Trace trace = NcclReport()
                          .Range("ncclAllGather", 200, 210, Gather(7, 512))
                          .Range("ncclAllReduce", 300, 310, Reduce(7, 512))
                          .Get();
  REQUIRE(trace.collectives.size() == 2);
  CHECK(trace.collectives.in_bytes[0] == -1);
  CHECK(trace.collectives.out_bytes[0] == -1);
  CHECK(trace.collectives.in_bytes[1] == 512);
}

TEST_CASE("payloads that are cut, unknown or absurd are left out, and the ranges stay") {
  const Trace trace = NcclReport()
                          .Range("ncclAllReduce", 100, 110, Reduce(1, 64).substr(0, 40))
                          .Range("ncclAllReduce", 120, 130, Reduce(1, 64).substr(0, 90))
                          .Range("other", 140, 150, Blob(99, Hex(1, 8)))
                          .Range("ncclAllReduce", 160, 170, Reduce(1, ~std::uint64_t{0}))
                          .Get();
  CHECK(trace.collectives.size() == 0);
  CHECK(trace.ranges.size() == 4);
  CHECK(CountOf(trace, "payloads of ranges without a known layout") == 3);
}

TEST_CASE("an export that left payloads out is not searched for them") {
  const Trace trace = NcclReport("false").Range("ncclAllReduce", 100, 110, Reduce(1, 64)).Get();
  CHECK(trace.collectives.size() == 0);
  CHECK(trace.ranges.size() == 1);
}

}  // namespace
}  // namespace advise::testing
