#include "engine/trace/part.h"

#include <catch2/catch.hpp>

#include "tests/support/trace_builder.h"

namespace advise {
namespace {

// Two ranks, each on its own GPU, and a process that only reads files.
Trace TwoRanks() {
  return TraceBuilder()
      .Process("python", 0)
      .Thread("main")
      .Launch("gemm", {0_us, 5_us}, {10_us, 50_us})
      .CopyToGpu(1_MiB, MemoryKind::kPinned, {6_us, 8_us}, {51_us, 60_us})
      .Range("step", {0_us, 70_us})
      .Process("python", 1)
      .Thread("main")
      .OnDevice(1)
      .Launch("relu", {1_us, 4_us}, {12_us, 20_us})
      .CopyFromGpu(2_MiB, MemoryKind::kPageable, {7_us, 30_us}, {22_us, 29_us})
      .Memset(64, {31_us, 32_us}, {33_us, 34_us})
      .MigrateToGpu(4096, {40_us, 41_us})
      .Sync({35_us, 42_us})
      .Process("worker")
      .Thread("pt_data_worker")
      .OsCall("read", {3_us, 9_us})
      .Build();
}

TEST_CASE("processes with GPUs of their own are told; a shared GPU makes none") {
  const Trace two = TwoRanks();
  REQUIRE(ProcessesWithOwnGpus(two).size() == 2);
  CHECK(two.processes[ProcessesWithOwnGpus(two)[1]].rank == 1);
  const Trace shared = TraceBuilder()
                           .Process("python", 0)
                           .Thread("main")
                           .Launch("gemm", {0_us, 5_us}, {10_us, 50_us})
                           .Process("python", 1)
                           .Thread("main")
                           .Launch("gemm", {0_us, 5_us}, {60_us, 90_us})
                           .OnDevice(1)
                           .Launch("gemm", {6_us, 8_us}, {60_us, 90_us})
                           .Build();
  CHECK(ProcessesWithOwnGpus(shared).empty());
  const Trace one = TraceBuilder()
                        .Launch("gemm", {0_us, 5_us}, {10_us, 50_us})
                        .OnDevice(1)
                        .Launch("gemm", {6_us, 8_us}, {60_us, 90_us})
                        .Build();
  CHECK(ProcessesWithOwnGpus(one).empty());
}

TEST_CASE("a part holds what its process did, with all links intact") {
  const Trace whole = TwoRanks();
  const std::vector<std::uint32_t> all = ProcessesWithOwnGpus(whole);
  const Trace part = PartOf(whole, all, all[1]);
  CHECK(part.rank == 1);
  REQUIRE(part.devices.size() == 1);
  CHECK(part.devices.front().ordinal == 1);
  REQUIRE(part.ops.size() == 4);  // kernel, copy, memset, migration
  REQUIRE(part.calls.size() == 4);
  CHECK(part.ranges.size() == 0);
  CHECK(part.strings[part.shapes[part.ops.detail[0]].name] == "relu");
  CHECK(part.calls.start[part.ops.call[0]] == 1_us);
  REQUIRE(part.ops.kind[1] == OpKind::kCopy);
  CHECK(part.copies.bytes[part.ops.detail[1]] == 2_MiB);
  CHECK(part.copies.source[part.ops.detail[1]] == MemoryKind::kDevice);
  CHECK(part.calls.start[part.ops.call[1]] == 7_us);
  CHECK(part.copies.size() == 2);  // with the migration
  CHECK(part.memsets.bytes[part.ops.detail[2]] == 64);
  CHECK(part.ops.call[3] == kNone);
  for (const std::uint16_t device : part.ops.device) CHECK(device == 0);
  for (const std::uint32_t stream : part.ops.stream) {
    if (stream != kNone) CHECK(part.streams[stream].device == 0);
  }
  CHECK(ProcessesWithOwnGpus(part).empty());
}

TEST_CASE("parts hold everything once") {
  const Trace whole = TwoRanks();
  const std::vector<std::uint32_t> all = ProcessesWithOwnGpus(whole);
  std::size_t ops = 0, calls = 0, os_calls = 0, ranges = 0;
  for (const std::uint32_t process : all) {
    const Trace part = PartOf(whole, all, process);
    ops += part.ops.size();
    calls += part.calls.size();
    os_calls += part.os_calls.size();
    ranges += part.ranges.size();
  }
  CHECK(ops == whole.ops.size());
  CHECK(calls == whole.calls.size());
  CHECK(os_calls == 1);  // of the worker: dealt to one of the two
  CHECK(ranges == 1);
}

}  // namespace
}  // namespace advise
