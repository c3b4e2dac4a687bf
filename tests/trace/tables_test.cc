#include "engine/trace/tables.h"

#include <catch2/catch.hpp>

#include "engine/trace/launched.h"
#include "tests/support/trace_builder.h"

namespace advise {
namespace {

TEST_CASE("a name is kept once, and id 0 is the empty string") {
  StringPool pool;
  const StringId gemm = pool.Intern("gemm");
  CHECK(pool.Intern("") == 0);
  CHECK(pool.Intern("gemm") == gemm);
  CHECK(pool.Intern("Gemm") != gemm);
  CHECK(pool[gemm] == "gemm");
  CHECK(pool.size() == 3);
}

TEST_CASE("names stay where they are while thousands are added and when the pool moves") {
  StringPool pool;
  const StringId first = pool.Intern("first");
  for (int i = 0; i < 5000; ++i) pool.Intern("kernel_" + std::to_string(i));
  const StringPool moved = std::move(pool);
  CHECK(moved[first] == "first");
  CHECK(moved[first + 4001] == "kernel_4000");
}

TEST_CASE("equal diagnostics are counted and not repeated") {
  Diagnostics diagnostics;
  diagnostics.Add(Level::kWarning, "rows were dropped", "KERNEL", 3);
  diagnostics.Add(Level::kWarning, "rows were dropped", "KERNEL");
  diagnostics.Add(Level::kWarning, "rows were dropped", "MEMCPY");
  diagnostics.Add(Level::kError, "rows were dropped", "KERNEL");
  REQUIRE(diagnostics.list().size() == 3);
  CHECK(diagnostics.list()[0].count == 4);
}

TEST_CASE("the rows of each thread are one range, empty for a thread without rows") {
  const auto rows = RowsByThread({0, 0, 2, 2, 2, kNone}, 4);
  REQUIRE(rows.size() == 4);
  CHECK((rows[0].first == 0 && rows[0].last == 2));
  CHECK(rows[1].empty());
  CHECK((rows[2].first == 2 && rows[2].last == 5));
  CHECK(rows[3].empty());
}

TEST_CASE("the number of blocks of a grid does not overflow") {
  KernelShape shape;
  shape.grid = {2'000'000'000U, 60'000U, 1U};
  CHECK(shape.Blocks() == 120'000'000'000'000ULL);
}

TEST_CASE("a built trace is sorted, and each op still knows its call") {
  const Trace trace = TraceBuilder()
                          .Launch("late", {50_us, 55_us}, {60_us, 70_us})
                          .Thread("second")
                          .Launch("early", {10_us, 12_us}, {20_us, 30_us})
                          .Thread("main")
                          .Call("outer", {5_us, 60_us})
                          .Range("inner", {5_us, 6_us})
                          .Range("outer", {5_us, 9_us})
                          .Build();
  REQUIRE(trace.ops.size() == 2);
  CHECK(trace.ops.start == std::vector<Nanos>{20_us, 60_us});
  CHECK(trace.calls.start[trace.ops.call[0]] == 10_us);
  CHECK(trace.calls.start[trace.ops.call[1]] == 50_us);
  CHECK(trace.calls.thread == std::vector<std::uint32_t>{0, 0, 1});
  CHECK(trace.calls.start == std::vector<Nanos>{5_us, 50_us, 10_us});
  CHECK(trace.strings[trace.ranges.name[0]] == "outer");  // the longer one first
}

TEST_CASE("equal kernels share a shape, and streams belong to process, device and number") {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {0, 1})
                          .Kernel("gemm", {1, 2})
                          .Kernel("gemm", {2, 3}, {.blocks = 4})
                          .OnStream(8)
                          .Kernel("gemm", {3, 4})
                          .OnDevice(1)
                          .Kernel("gemm", {4, 5})
                          .Build();
  CHECK(trace.shapes.size() == 2);
  CHECK(trace.streams.size() == 3);
  CHECK(trace.devices.size() == 2);
  CHECK(trace.ops.device == std::vector<std::uint16_t>{0, 0, 0, 0, 1});
}

TEST_CASE("work without a call is lost, or was queued before the recording where it comes first") {
  TraceBuilder story;
  story.Kernel("before", {0, 10}).Launch("work", {11, 12}, {13, 20}).Kernel("lost", {21, 30});
  story.OnDevice(1).Kernel("work", {0, 10}).Kernel("work", {10, 20});  // of this GPU no call at all
  const Launched launched = CountLaunched(story.Build().ops);
  CHECK(launched.all == 5);
  CHECK(launched.before == 1);
  CHECK(launched.unknown == 3);
}

}  // namespace
}  // namespace advise
