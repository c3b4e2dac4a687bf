#include "engine/trace/together.h"

#include <catch2/catch.hpp>

#include "engine/trace/part.h"
#include "tests/support/trace_builder.h"

namespace advise {
namespace {

// A process on the GPU; its first kernel starts 10 µs after `at`.
Trace OneOf(const char* kernel, Nanos at, Nanos utc) {
  Trace trace =
      TraceBuilder()
          .WithoutModel()
          .Launch("common", {at, at + 5_us}, {at + 10_us, at + 20_us})
          .CopyToGpu(1_MiB, MemoryKind::kPinned, {at + 6_us, at + 8_us}, {at + 60_us, at + 70_us})
          .Launch(kernel, {at + 21_us, at + 22_us}, {at + 30_us, at + 40_us})
          .Sync({at + 23_us, at + 71_us})
          .Range("step", {at, at + 72_us})
          .OsCall("read", {at + 73_us, at + 74_us})
          .Build();
  trace.path = std::string(kernel) + ".sqlite";
  trace.utc_origin_ns = utc;
  trace.devices.front().uuid = "one GPU";
  return trace;
}

std::string NameOf(const Trace& trace, std::uint32_t op) {
  return trace.strings[trace.shapes[trace.ops.detail[op]].name];
}

TEST_CASE("reports of one GPU become one, on the clock of the first") {
  // The second program runs 25 us after the first; its recording began 75 us earlier.
  std::vector<Trace> reports;
  reports.push_back(OneOf("mine", 100_us, 1'000'000'000));
  reports.push_back(OneOf("yours", 200_us, 1'000'000'000 - 75_us));
  const Trace whole = Together(std::move(reports));
  REQUIRE(whole.joined.size() == 2);
  CHECK(whole.joined[1].path == "yours.sqlite");
  CHECK(whole.joined[1].later == -75_us);
  CHECK(whole.devices.size() == 1);
  CHECK(whole.processes.size() == 2);
  CHECK(whole.shapes.size() == 3);  // one of them is of both
  REQUIRE(whole.ops.size() == 6);
  CHECK(whole.ops.start == std::vector<Nanos>{110_us, 130_us, 135_us, 155_us, 160_us, 185_us});
  std::vector<std::string> names;
  for (std::uint32_t op = 0; op < whole.ops.size(); ++op) {
    const bool kernel = whole.ops.kind[op] == OpKind::kKernel;
    names.push_back(kernel ? NameOf(whole, op) : std::to_string(whole.BytesOfCopy(op)));
    // The launching call is of the same process, and lies before.
    const std::uint32_t call = whole.ops.call[op];
    CHECK(whole.threads[whole.calls.thread[call]].process ==
          whole.streams[whole.ops.stream[op]].process);
    CHECK(whole.calls.end[call] <= whole.ops.start[op]);
  }
  CHECK(names ==
        std::vector<std::string>{"common", "mine", "common", "yours", "1048576", "1048576"});
  CHECK(whole.ranges.start == std::vector<Nanos>{100_us, 125_us});
  CHECK(whole.os_calls.start == std::vector<Nanos>{173_us, 198_us});
  CHECK(whole.calls.start ==
        std::vector<Nanos>{100_us, 106_us, 121_us, 123_us, 125_us, 131_us, 146_us, 148_us});
}

TEST_CASE("what was put together comes apart again") {
  std::vector<Trace> reports;
  reports.push_back(OneOf("mine", 100_us, 1'000'000'000));
  reports.push_back(OneOf("yours", 200_us, 1'000'000'000));
  const Trace yours = OneOf("yours", 200_us, 1'000'000'000);
  const Trace whole = Together(std::move(reports));
  const RankPlace second{1, kNone};
  const Trace alone = PartOf(whole, {{0, kNone}, second}, second, {});
  CHECK(alone.calls.start == yours.calls.start);
  CHECK(alone.ranges.end == yours.ranges.end);
  CHECK(alone.os_calls.start == yours.os_calls.start);
}

}  // namespace
}  // namespace advise
