// Which GPU a process means by its number.
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "tests/import/nsys_builder.h"

using namespace advise;
using namespace advise::testing;
using Schema = NsysBuilder::Schema;

TEST_CASE("a copy between devices knows the other device") {
  const TempDir dir;
  NsysBuilder builder(dir.File("peer.sqlite"), Schema::k3_25);
  builder.Add(CopyRow{.start = 1, .end = 2, .kind = 8})
      .Add(CopyRow{.start = 3, .end = 4, .kind = 10})
      .Add(CopyRow{.start = 5, .end = 6, .kind = 8})
      .Sql(
          "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcDeviceId = 0, dstDeviceId = 1 WHERE start < 5");
  const Trace trace = Read(builder);
  REQUIRE(trace.devices.size() == 2);
  REQUIRE(trace.copies.size() == 3);
  CHECK(trace.copies.direction[0] == CopyDirection::kPeerToPeer);
  CHECK(trace.copies.direction[1] == CopyDirection::kPeerToPeer);
  CHECK(trace.copies.direction[2] == CopyDirection::kDeviceToDevice);
  CHECK(trace.copies.peer == std::vector<std::uint32_t>{1, 1, kNone});
  CHECK(trace.devices[1].ordinal == 1);
}

TEST_CASE("permuted GPU ids are resolved by cuDevice, and unused GPUs come last") {
  const TempDir dir;
  NsysBuilder builder(dir.File("permuted.sqlite"), Schema::k2_9);
  builder.Add(KernelRow{.start = 1, .end = 2, .device = 3})
      .Add(KernelRow{.start = 3, .end = 4, .device = 1})
      .Sql(
          "INSERT INTO TARGET_INFO_GPU (id, cuDevice, name, smCount, computeMajor) VALUES "
          "(0, 3, 'id0', 108, 8), (1, 2, 'id1', 108, 8), (2, 1, 'id2', 108, 8), "
          "(3, 0, 'id3', 108, 8), (4, 0, 'Basic Render Driver', 0, 0)");
  const Trace trace = Read(builder);
  REQUIRE(trace.devices.size() == 4);
  CHECK(trace.devices[0].name == "id2");  // ordinal 1
  CHECK(trace.devices[0].ordinal == 1);
  CHECK(trace.devices[1].name == "id0");  // ordinal 3
  CHECK(trace.devices[2].name == "id3");  // unused: ordinal 0, then 2
  CHECK(trace.devices[3].name == "id1");
  CHECK(trace.ops.device == std::vector<std::uint16_t>{1, 0});
  CHECK(CountOf(trace, "cannot run CUDA") == 1);
}

TEST_CASE("two ranks that both call their GPU 0 are kept apart by the device table") {
  const TempDir dir;
  NsysBuilder builder(dir.File("visible.sqlite"), Schema::k3_25);
  builder.Add(KernelRow{.start = 1, .end = 2, .pid = 100})
      .Add(KernelRow{.start = 3, .end = 4, .pid = 200})
      .Sql(
          "INSERT INTO TARGET_INFO_GPU (id, cuDevice, name, uuid, smCount, computeMajor) VALUES "
          "(0, 0, 'A', 'aaa', 132, 9), (1, 1, 'B', 'bbb', 132, 9)");
  SECTION("by GPU id") {
    builder.Sql(
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 100, NULL, 66), "
        "(0, 0, 200, NULL, 132)");
    const Trace trace = Read(builder);
    REQUIRE(trace.devices.size() == 2);
    CHECK(trace.devices[trace.ops.device[0]].name == "B");
    CHECK(trace.devices[trace.ops.device[0]].sm_count == 66);  // a slice of the chip
    CHECK(trace.devices[trace.ops.device[1]].name == "A");
    // Users are told the profiler's numbers, tables are asked by those of the processes.
    CHECK(trace.devices[trace.ops.device[0]].ordinal == 1);
    CHECK(trace.devices[trace.ops.device[1]].ordinal == 0);
    CHECK(trace.devices[trace.ops.device[0]].cuda_ordinal == 0);
    CHECK(CountOf(trace, "several processes use CUDA device") == 0);
  }
  SECTION("by uuid") {
    builder.Sql(
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (NULL, 0, 100, 'bbb', 132), "
        "(NULL, 0, 200, 'aaa', 132)");
    const Trace trace = Read(builder);
    CHECK(trace.devices[trace.ops.device[0]].name == "B");
    CHECK(trace.devices[trace.ops.device[1]].name == "A");
  }
  SECTION("without the table they are treated as one, with a warning") {
    const Trace trace = Read(builder);
    CHECK(trace.ops.device[0] == trace.ops.device[1]);
    CHECK(trace.devices[trace.ops.device[0]].name == "A");
    CHECK(CountOf(trace, "several processes use CUDA device 0") == 1);
  }
}

TEST_CASE("processes whose kernels run at the same time have a GPU each") {
  const TempDir dir;
  NsysBuilder builder(dir.File("beside.sqlite"), Schema::k2_9);
  for (std::int64_t start = 0; start < 1000; start += 100) {
    builder.Add(KernelRow{.start = start, .end = start + 80, .pid = 100})
        .Add(KernelRow{.start = start + 10, .end = start + 85, .pid = 200})
        .Add(KernelRow{.start = start + 20, .end = start + 90, .pid = 300});
  }
  SECTION("of those that the report lists") {
    builder.Sql(
        "INSERT INTO TARGET_INFO_GPU (id, cuDevice, name, smCount, computeMajor) VALUES "
        "(0, 0, 'A', 108, 8), (1, 1, 'B', 108, 8), (2, 2, 'C', 108, 8), (3, 3, 'D', 108, 8)");
    const Trace trace = Read(builder);
    REQUIRE(trace.devices.size() == 4);
    CHECK(trace.devices[trace.ops.device[0]].name == "A");
    CHECK(trace.devices[trace.ops.device[1]].name == "B");
    CHECK(trace.devices[trace.ops.device[2]].name == "C");
    CHECK(trace.devices[trace.ops.device[1]].ordinal == 1);
    CHECK(trace.devices[trace.ops.device[1]].cuda_ordinal == 0);
    CHECK(CountOf(trace, "each is taken to have its own") == 1);
  }
  SECTION("also where it lists none") {
    const Trace trace = Read(builder);
    REQUIRE(trace.devices.size() == 3);
    CHECK(trace.ops.device[0] != trace.ops.device[1]);
    CHECK(CountOf(trace, "each is taken to have its own") == 1);
  }
  SECTION("not where there are too few") {
    builder.Sql(
        "INSERT INTO TARGET_INFO_GPU (id, cuDevice, name, smCount, computeMajor) VALUES "
        "(0, 0, 'A', 108, 8), (1, 1, 'B', 108, 8)");
    const Trace trace = Read(builder);
    CHECK(trace.ops.device[0] == trace.ops.device[1]);
    CHECK(CountOf(trace, "they are treated as one") == 1);
  }
}
