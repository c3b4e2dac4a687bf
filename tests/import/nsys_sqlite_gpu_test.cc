// GPU work that is read in parts, as the kernels of large reports are, and where a kernel's names
// come from.
#include <SQLiteCpp/Database.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "engine/base/text.h"
#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/trace/listed_twice.h"
#include "tests/import/nsys_builder.h"

using namespace advise;
using namespace advise::testing;
using Schema = NsysBuilder::Schema;

namespace {

// All that was read, in the order of the table, with streams and shapes spelled out.
std::vector<std::string> RowsInParts(const sqlite::Source& source, std::size_t parts, int jobs) {
  const SQLite::Database database = sqlite::Connect(source);
  std::vector<nsys::GpuRows> read;
  for (std::size_t number = 0; number < parts; ++number) {
    sqlite::ReadLog log;
    sqlite::Reader reader{source, database.getHandle(), log};
    read.push_back(nsys::ReadGpuRows(reader, {number, parts}));
  }
  const nsys::GpuRows rows = nsys::JoinGpuRows(std::move(read), jobs);
  const OpTable& ops = rows.ops;
  std::vector<std::string> lines;
  const auto put = [&](auto... values) {
    std::string line;
    ((line += std::to_string(values) + " "), ...);
    lines.push_back(line);
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const StreamKey& stream = rows.streams.keys().at(ops.stream[i]);
    put(ops.start[i], ops.end[i], static_cast<int>(ops.kind[i]), ops.stream[i], stream.process,
        stream.stream, ops.call[i], ops.detail[i], ops.in_graph[i]);
    if (ops.kind[i] == OpKind::kKernel) {
      const KernelShape& shape = rows.shapes.at(ops.detail[i]);
      put(shape.name, shape.short_name, shape.grid[0]);
    }
    if (ops.kind[i] == OpKind::kCopy) {
      const std::uint32_t peer = rows.copies.peer.at(ops.detail[i]);
      put(rows.copies.bytes.at(ops.detail[i]),
          peer == kNone ? -1 : rows.streams.keys().at(peer).device);
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("rows that exports into one file list twice count once, nodes of a graph each") {
  const TempDir dir;
  NsysBuilder builder(dir.File("twice.sqlite"), Schema::k3_25);
  for (int time = 0; time < 2; ++time) {
    builder.Add(KernelRow{.start = 100, .end = 200, .correlation = 7});
    builder.Add(KernelRow{.start = 300, .end = 400, .correlation = 8, .graph_node = 1});
    builder.Add(KernelRow{.start = 300, .end = 400, .correlation = 8, .graph_node = 2});
    builder.Add(KernelRow{.start = 500, .end = 500, .correlation = 9});
    builder.Add(CopyRow{.start = 600, .end = 700, .bytes = 64, .correlation = 10});
    builder.Add(CallRow{.start = 90, .end = 95, .correlation = 7});
  }
  builder.Add(KernelRow{.start = 100, .end = 200, .correlation = 6});  // another launch
  const Trace trace = Read(builder);
  CHECK(trace.ops.start == std::vector<Nanos>{100, 100, 300, 300, 500, 500, 600});
  CHECK(trace.calls.size() == 1);
  CHECK(trace.diagnostics.Has(kRowsListedTwice));
}

TEST_CASE("kernels read in parts make the same table, however many parts and threads") {
  const TempDir dir;
  NsysBuilder builder(dir.File("parts.sqlite"), Schema::k3_25);
  builder.Sql("BEGIN");
  for (std::int64_t i = 0; i < 300; ++i) {
    builder.Add(KernelRow{.start = i * 31 % 200,
                          .end = 200 + i % 50,
                          .pid = 100 + i / 40 % 3,
                          .stream = i % 4,
                          .correlation = i + 1,
                          .name = 3 + i * i % 7,
                          .grid_x = 1 + i % 2,
                          .graph_node = i % 5});
    if (i % 10 == 0) builder.Add(CopyRow{.start = i * 17 % 200, .end = 500, .bytes = i});
  }
  builder.Sql(
      "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 10, srcDeviceId = 0, dstDeviceId = 1"
      " WHERE bytes % 20 = 0");
  builder.Sql("COMMIT");
  builder.Close();
  const auto source = sqlite::OpenSource(builder.path());
  REQUIRE(source);
  const std::vector<std::string> whole = RowsInParts(*source, 1, 1);
  REQUIRE(whole.size() == 2 * 330);
  for (const std::size_t parts : {2, 3, 16}) {
    CHECK(RowsInParts(*source, parts, 1) == whole);
    CHECK(RowsInParts(*source, parts, 3) == whole);
  }
}

TEST_CASE("a kernel without a full name has its short one, or the mangled one") {
  const TempDir dir;
  NsysBuilder builder(dir.File("names.sqlite"), Schema::k3_25);
  builder.Text(11, "full").Text(12, "brief").Text(13, "_Zmangled");
  const std::string names[] = {"11, 12, 13", "NULL, 12, 13", "NULL, NULL, 13",
                               "-5, 12, 13", "11, -5, NULL", "NULL, NULL, NULL"};
  for (std::int64_t i = 0; i < 6; ++i) {
    builder.Add(KernelRow{.start = 10 * i, .end = 10 * i + 5, .grid_x = 1 + i});
    builder.Sql(
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET (demangledName, shortName, mangledName) = (" +
        names[i] + ") WHERE gridX = " + std::to_string(1 + i));
  }
  const Trace trace = Read(builder);
  std::vector<std::string> full;
  std::vector<std::string> brief;
  for (const std::uint32_t shape : trace.ops.detail) {
    full.push_back(trace.strings[trace.shapes[shape].name]);
    brief.push_back(trace.strings[trace.shapes[shape].short_name]);
  }
  using Names = std::vector<std::string>;
  const std::string by_grid = UnnamedKernel(6, 128);
  CHECK(full == Names{"full", "brief", "_Zmangled", "brief", "full", by_grid});
  CHECK(brief == Names{"brief", "brief", "_Zmangled", "brief", "full", by_grid});
}
