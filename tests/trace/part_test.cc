#include "engine/trace/part.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/support/trace_builder.h"

namespace advise {
namespace {

constexpr HelperLimits kLimits = {500'000, 1'000'000, 3, 2};

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

std::vector<RankPlace> Processes(const Trace& trace) {
  std::vector<RankPlace> places;
  for (const std::uint32_t process : OwnersOfGpus(trace)) places.push_back({process, kNone});
  return places;
}

TEST_CASE("whose work GPUs do is told; a shared GPU makes none") {
  const Trace two = TwoRanks();
  REQUIRE(OwnersOfGpus(two).size() == 2);
  CHECK(two.processes[OwnersOfGpus(two)[1]].rank == 1);
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
  CHECK(OwnersOfGpus(shared).empty());
}

TEST_CASE(
    "the part of one of a process's GPUs holds that GPU's work, and the threads that may serve "
    "it") {
  const Trace whole = TraceBuilder()
                          .Process("python", 3)
                          .Thread("main")
                          .Launch("gemm", {0_us, 5_us}, {10_us, 50_us})
                          .OnDevice(1)
                          .Launch("relu", {6_us, 8_us}, {60_us, 90_us})
                          .CopyToGpu(1_MiB, MemoryKind::kPinned, {9_us, 10_us}, {91_us, 99_us})
                          .Thread("dispatch 1")
                          .Launch("tanh", {70_us, 71_us}, {100_us, 110_us})
                          .Thread("waits")
                          .Sync({80_us, 120_us})
                          .Process("worker")
                          .Thread("pt_data_worker")
                          .OsCall("read", {3_us, 9_us})
                          .Build();
  const std::uint32_t process = OwnersOfGpus(whole)[0];
  const std::vector<RankPlace> all = {{process, 0}, {process, 1}};
  const Trace first = PartOf(whole, all, all[0], kLimits);
  const Trace second = PartOf(whole, all, all[1], kLimits);
  CHECK(first.rank == -1);  // the process's number is that of none of its GPUs
  REQUIRE(first.ops.size() == 1);
  REQUIRE(second.ops.size() == 3);
  CHECK(second.devices.front().ordinal == 1);
  CHECK(second.strings[second.shapes[second.ops.detail[0]].name] == "relu");
  CHECK(second.calls.start[second.ops.call[0]] == 6_us);
  CHECK(first.calls.size() == 4);  // of the main thread, and of the one that launches nothing
  CHECK(first.part_without.size() == 1);
  CHECK(second.calls.size() == 5);
  CHECK(second.part_without.empty());
  for (const Trace* part : {&first, &second}) {
    REQUIRE(part->devices.size() == 1);
    CHECK(part->os_calls.size() == 1);  // of the worker, who feeds both
  }
}

TEST_CASE("a part holds what its process did, with all links intact") {
  const Trace whole = TwoRanks();
  const std::vector<RankPlace> all = Processes(whole);
  const Trace part = PartOf(whole, all, all[1], kLimits);
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
  CHECK(OwnersOfGpus(part).size() == 1);
}

TEST_CASE("parts hold everything once") {
  const Trace whole = TwoRanks();
  const std::vector<RankPlace> all = Processes(whole);
  std::size_t ops = 0, calls = 0, os_calls = 0, ranges = 0;
  for (const RankPlace& place : all) {
    const Trace part = PartOf(whole, all, place, kLimits);
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

// Each rank has the two workers named after it.
void CheckWorkersOfRanks(const Trace& whole) {
  for (const RankPlace& place : Processes(whole)) {
    const Trace part = PartOf(whole, Processes(whole), place, kLimits);
    std::set<std::string> workers;
    for (const std::uint32_t thread : part.os_calls.thread) {
      const std::string& name = part.processes[part.threads[thread].process].name;
      if (name != "python") workers.insert(name);
    }
    const std::string rank = std::to_string(whole.processes[place.process].rank);
    CHECK(workers == std::set<std::string>{"worker " + rank + "0", "worker " + rank + "1"});
  }
}

// Two ranks that wait for a batch in turn, each with two workers: a worker reads for 2 ms, and then
// rests until it is asked again.
TEST_CASE("workers belong to the rank that goes on when they have a batch") {
  TraceBuilder story;
  for (int rank = 0; rank < 2; ++rank) {
    story.Process("python", rank).Thread("main").OnDevice(rank);
    story.Launch("gemm", {0_us, 5_us}, {10_us, 50_us});
  }
  for (int n = 0; n < 8; ++n) {
    for (int rank = 0; rank < 2; ++rank) {
      const Nanos asked = n * 10_ms + rank * 80_us;
      const Nanos ready = asked + 2_ms;
      story.Process("python", rank).Thread("main").OsCall("poll", {asked, ready + 20_us});
      const std::string worker = std::to_string(rank) + std::to_string(n % 2);
      story.Process("worker " + worker)
          .Thread("pt_data_worker")
          .OsCall("read", {asked, ready - 3_us});
      story.OsCall("poll", {ready, asked + 20_ms - 1_us});
    }
  }
  CheckWorkersOfRanks(story.Build());
}

// Four ranks that wait at nearly the same time, as collectives make them: the thread that gets a
// batch goes on a moment before its worker rests. The last worker never rests for long: it belongs
// to the rank that lacks one.
TEST_CASE("workers of ranks at one pace belong to the rank that goes on closest to their rest") {
  TraceBuilder story;
  for (int rank = 0; rank < 4; ++rank) {
    story.Process("python", rank).Thread("main").OnDevice(rank);
    story.Launch("gemm", {0_us, 5_us}, {10_us, 50_us});
  }
  for (int n = 0; n < 8; ++n) {
    for (int rank = 0; rank < 4; ++rank) {
      const Nanos asked = n * 10_ms + (3 * n + 5 * rank) % 8 * 12_us;
      const Nanos ready = asked + 2_ms;
      story.Process("python", rank).Thread("main").OsCall("poll", {asked, ready - 2_us});
      const std::string worker = std::to_string(rank) + std::to_string(n % 2);
      story.Process("worker " + worker).Thread("pt_data_worker");
      story.OsCall("poll", {ready, ready + (worker == "31" ? 400_us : 17_ms)});
    }
  }
  CheckWorkersOfRanks(story.Build());
}

}  // namespace
}  // namespace advise
