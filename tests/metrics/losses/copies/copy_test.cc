// Copies: each host-device copy has one class, by what is most specific about it.
#include "engine/metrics/losses/copies/copy.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

std::int64_t ClassedCopies(const Analyzed& run) {
  return run->copies.pageable.count + run->copies.blocking.count + run->copies.small.count +
         run->syncs.item.count;
}

TEST_CASE("an asynchronous upload from ordinary memory is pageable, not blocking") {
  const Analyzed run(
      TraceBuilder()
          .CopyToGpu(64_MiB, MemoryKind::kPageable, {0_us, 5000_us}, {20_us, 4990_us})
          .Launch("gemm", {5010_us, 5015_us}, {5020_us, 6000_us}));
  CHECK(run->copies.pageable.count == 1);
  CHECK(run->copies.pageable.bytes == Approx(64_MiB));
  CHECK(run->copies.pageable.time_ns == Approx(4970_us));
  CHECK(run->copies.pageable.lost->Total() >= 4970_us);
  CHECK(ClassedCopies(run) == 1);
}

TEST_CASE("a call that holds the host by its name is blocking, whatever its memory") {
  for (const MemoryKind memory : {MemoryKind::kPageable, MemoryKind::kPinned}) {
    const Analyzed run(
        TraceBuilder()
            .CopyToGpu(64_MiB, memory, {0_us, 5000_us}, {20_us, 4990_us}, "cudaMemcpy")
            .Launch("gemm", {5010_us, 5015_us}, {5020_us, 6000_us}));
    CHECK(run->copies.blocking.count == 1);
    CHECK(run->copies.blocking_pageable_share == (memory == MemoryKind::kPageable ? 1.0 : 0.0));
    CHECK(ClassedCopies(run) == 1);
  }
}

TEST_CASE("where the profiler does not record the memory of a copy, nobody knows its kind") {
  const Analyzed run(
      TraceBuilder()
          .CopyToGpu(64_MiB, MemoryKind::kUnknown, {0_us, 5000_us}, {20_us, 4990_us}, "hipMemcpy")
          .Launch("gemm", {5010_us, 5015_us}, {5020_us, 6000_us}));
  CHECK(run->copies.blocking.count == 1);
  CHECK(run->copies.blocking_pageable_share == -1);
}

TEST_CASE("a copy of unknown size is a value only when it is as short as one") {
  for (const Nanos time : {2_us, 4970_us}) {
    const Analyzed run(TraceBuilder()
                           .CopyFromGpu(0, MemoryKind::kPageable, {0_us, 5000_us},
                                        {20_us, 20_us + time}, "cudaMemcpy")
                           .Launch("gemm", {5010_us, 5015_us}, {5020_us, 6000_us}));
    CHECK(run->syncs.item.count == (time == 2_us ? 1 : 0));
    CHECK(run->copies.blocking.count == (time == 2_us ? 0 : 1));
  }
}

TEST_CASE("an upload of a loop can run a batch ahead, that of a single pass cannot") {
  const auto passes = [](int count) {
    TraceBuilder story;
    for (Nanos at = 0; at < count * 10_ms; at += 10_ms) {
      story.CopyToGpu(64_MiB, MemoryKind::kPageable, {at, at + 5_ms}, {at + 20_us, at + 4990_us},
                      "cudaMemcpy");
      story.Launch("gemm", {at + 5010_us, at + 5015_us}, {at + 5020_us, at + 6_ms});
      story.Launch("add", {at + 5016_us, at + 5018_us}, {at + 6_ms, at + 7_ms});
      story.Launch("norm", {at + 5019_us, at + 5021_us}, {at + 7_ms, at + 8_ms});
    }
    return story;
  };
  const Analyzed once(passes(1), kAuto);
  CHECK(once->copies.blocking.count == 1);
  CHECK(once->copies.blocking.remedy->detached_ops.empty());
  const Analyzed loop(passes(12), kAuto);
  REQUIRE(loop->run.steps.known());
  CHECK_FALSE(loop->copies.blocking.remedy->detached_ops.empty());
}

TEST_CASE("a blocking copy owns the gap before it, not those between kernels it waited for") {
  const Analyzed run(TraceBuilder()
                         .Launch("first", {0_us, 5_us}, {10_us, 100_us})
                         .Launch("second", {6_us, 10_us}, {101_us, 200_us})
                         .CopyToGpu(64_MiB, MemoryKind::kPageable, {20_us, 5000_us},
                                    {260_us, 4990_us}, "cudaMemcpy"));
  CHECK(run->copies.blocking.count == 1);
  CHECK(run->copies.blocking.lost->Total() == 60_us + 4730_us);
}

TEST_CASE("a few bytes that the host waits for are an item, not a pageable copy") {
  const Analyzed run(TraceBuilder()
                         .Launch("loss", {0_us, 5_us}, {10_us, 100_us})
                         .CopyFromGpu(4, MemoryKind::kPageable, {6_us, 104_us}, {100_us, 102_us})
                         .Sync({104_us, 106_us})
                         .Launch("next", {200_us, 205_us}, {210_us, 300_us}));
  CHECK(run->syncs.item.count == 1);
  CHECK(run->syncs.item_median_bytes == 4);
  CHECK(run->syncs.item_direction == "device to host");
  CHECK(ClassedCopies(run) == 1);
}

TEST_CASE("many small uploads in a row are a train") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 20; ++i, at += 20_us) {
    story.CopyToGpu(16_KiB, MemoryKind::kPinned, {at, at + 4_us}, {at + 8_us, at + 12_us});
  }
  story.Launch("gemm", {at, at + 5_us}, {at + 8_us, at + 100_us});
  const Analyzed run(story);
  CHECK(run->copies.small.count == 20);
  CHECK(run->copies.small_median_bytes == 16_KiB);
  CHECK(ClassedCopies(run) == 20);
  // Their own time and the gaps between them: 19 x 20 us + 4 us.
  CHECK(run->copies.small.lost->Total() == 384_us);
}

TEST_CASE("kernels between small copies break the train") {
  TraceBuilder story;
  for (int i = 0; i < 12; ++i) {
    const Nanos at = i * 40_us;
    story.CopyToGpu(16_KiB, MemoryKind::kPinned, {at, at + 4_us}, {at + 8_us, at + 12_us});
    story.Launch("use", {at + 14_us, at + 18_us}, {at + 20_us, at + 30_us});
  }
  CHECK(Analyzed(story)->copies.small.count == 0);
}

TEST_CASE("pinned asynchronous copies are no problem of a kind of their own") {
  const Analyzed run(TraceBuilder()
                         .OnStream(8)
                         .CopyToGpu(64_MiB, MemoryKind::kPinned, {0_us, 5_us}, {20_us, 2500_us})
                         .OnStream(7)
                         .Launch("gemm", {10_us, 15_us}, {20_us, 3000_us}));
  CHECK(ClassedCopies(run) == 0);
  CHECK(run->copies.slow.count == 0);
  CHECK(run->copies.serial.lost->Total() == 0);
}

TEST_CASE("pinned copies on the kernels' own stream cannot hide behind them") {
  const Analyzed run(TraceBuilder()
                         .Launch("gemm", {0_us, 5_us}, {10_us, 100_us})
                         .CopyToGpu(2_MiB, MemoryKind::kPinned, {6_us, 8_us}, {100_us, 200_us})
                         .Launch("gemm", {9_us, 12_us}, {200_us, 300_us}));
  CHECK(run->copies.serial.lost->Total() == 100_us);
}

// One buffer, in steps of 5 ms: 16 MiB go up from pageable memory, are computed on and come down
// again; behind the wait the host goes on after `pause`.
Analyzed OneBuffer(Nanos pause, bool waits_for_kernel = false) {
  TraceBuilder story;
  for (Nanos i = 0; i < 12; ++i) {
    const Nanos at = i * (4600_us + pause);
    story.CopyToGpu(16_MiB, MemoryKind::kPageable, {at, at + 2000_us}, {at + 100_us, at + 2010_us});
    story.Launch("denoise", {at + 2002_us, at + 2006_us}, {at + 2015_us, at + 2500_us});
    story.CopyFromGpu(16_MiB, MemoryKind::kPageable, {at + 2010_us, at + 4500_us},
                      {at + 2510_us, at + 4480_us});
    story.Sync({at + 4502_us, at + 4506_us}, "cudaDeviceSynchronize");
    if (!waits_for_kernel) continue;
    story.Launch("count", {at + 4510_us, at + 4514_us}, {at + 4520_us, at + 4530_us});
    story.Sync({at + 4515_us, at + 4535_us}, "cudaDeviceSynchronize");
  }
  return Analyzed(story, kAuto);
}

TEST_CASE("pageable copies on the kernels' stream could overlap with them once they are pinned") {
  const Analyzed run = OneBuffer(10_us);
  const Copies& copies = run->copies;
  const auto steps = static_cast<std::size_t>(run->run.steps.steady_count());
  CHECK(copies.serial.remedy->detached_ops.size() >= 2 * steps - 2);
  CHECK(copies.serial.remedy->unblocked_calls.size() >= steps - 2);  // the waits: nobody reads
  const auto gain = [&](std::vector<const Remedy*> remedies) {
    Remedy all;
    for (const Remedy* one : remedies) all.Join(*one);
    return static_cast<double>(run->replay().Gain(all)) / static_cast<double>(run.Window());
  };
  CHECK(gain({copies.serial.remedy.get()}) < 0.02);
  const double pinned = gain({copies.pageable.remedy.get()});
  CHECK(gain({copies.pageable.remedy.get(), copies.serial.remedy.get()}) > pinned + 0.1);
}

TEST_CASE("a download that the host has time to read is waited for in any case") {
  const Analyzed run = OneBuffer(2000_us);
  CHECK(run->copies.serial.remedy->unblocked_calls.empty());
}

TEST_CASE("who waits for the device behind kernels, too, still does with a second buffer") {
  const Analyzed run = OneBuffer(10_us, true);
  CHECK(run->copies.serial.remedy->unblocked_calls.empty());
}

TEST_CASE("a large pinned copy far below the rate of the link is slow") {
  const Analyzed run(TraceBuilder()
                         .CopyToGpu(64_MiB, MemoryKind::kPinned, {0_us, 5_us}, {10_us, 2700_us})
                         .CopyToGpu(64_MiB, MemoryKind::kPinned, {6_us, 8_us}, {2700_us, 5400_us})
                         .CopyToGpu(64_MiB, MemoryKind::kPinned, {9_us, 12_us}, {5400_us, 25_ms})
                         .Launch("gemm", {13_us, 15_us}, {25_ms, 26_ms}));
  CHECK(run->copies.slow.count == 1);
  CHECK(run->copies.slow.time_ns == Approx(25_ms - 5400_us));
}

TEST_CASE("small copies are slow where they take so long that no start can explain it") {
  const auto slow = [](Nanos length) {
    return Analyzed(TraceBuilder()
                        .CopyToGpu(64_MiB, MemoryKind::kPinned, {0_us, 5_us}, {10_us, 2700_us})
                        .CopyToGpu(64_MiB, MemoryKind::kPinned, {6_us, 8_us}, {2700_us, 5400_us})
                        .CopyToGpu(512_KiB, MemoryKind::kPinned, {9_us, 12_us},
                                   {5400_us, 5400_us + length})
                        .Launch("gemm", {13_us, 15_us}, {7_ms, 8_ms}))
        ->copies.slow.count;
  };
  CHECK(slow(600_us) == 1);
  CHECK(slow(200_us) == 0);
}

TEST_CASE("unified memory that the driver moves is migration, and has no launching call") {
  const Analyzed run(TraceBuilder()
                         .Launch("touch", {0_us, 5_us}, {10_us, 500_us})
                         .MigrateToGpu(2_MiB, {20_us, 220_us})
                         .MigrateToGpu(2_MiB, {240_us, 440_us}));
  CHECK(run->copies.migration.count == 2);
  CHECK(run->copies.migration.bytes == Approx(4_MiB));
  CHECK(run->copies.migration.lost->Total() == 420_us);  // and from the first to the second
  CHECK(ClassedCopies(run) == 0);
}

TEST_CASE("a kernel that faults on page after page waits for them, and works in between") {
  // Ten pages, 5 us each; the kernel runs for longer than any.
  const auto lost = [](Nanos between) {
    TraceBuilder story;
    story.Launch("touch", {0_us, 5_us}, {10_us, 4_ms});
    for (int i = 0; i < 10; ++i) {
      const Nanos at = 100_us + i * (between + 5_us);
      story.MigrateToGpu(64_KiB, {at, at + 5_us}, MigrationCause::kFault);
    }
    return Analyzed(story)->copies.migration.lost->Total() - 10 * 5_us;
  };
  const auto fault = static_cast<Nanos>(ShippedKnowledge().Number("copy.gpu_fault"));
  CHECK(lost(20_us) == 9 * 20_us);
  CHECK(lost(fault + 100_us) == 9 * fault);  // the rest is its own
}

TEST_CASE("migrations are counted by page fault, and prefetches of the program are none") {
  const Analyzed run(TraceBuilder()
                         .MigrateToGpu(4_MiB, {0_us, 100_us}, MigrationCause::kUser)
                         .Launch("touch", {100_us, 105_us}, {110_us, 500_us})
                         .MigrateToGpu(4_KiB, {120_us, 130_us}, MigrationCause::kFault)
                         .MigrateToGpu(60_KiB, {130_us, 150_us}, MigrationCause::kSpeculative)
                         .MigrateToHost(8_KiB, {600_us, 610_us}, MigrationCause::kFault));
  CHECK(run->copies.migration.count == 2);
  CHECK(run->copies.migration.bytes == Approx(72_KiB));
  CHECK(run->copies.migration.lost->Total() == 40_us);
  CHECK(run->moves->prefetched_bytes == Approx(4_MiB));
  CHECK(run->moves->migrated_back_bytes == Approx(8_KiB));
}

TEST_CASE("pages that host and GPU use in turn take the time of the link, prefetched or not") {
  const auto lost = [](MigrationCause back) {
    TraceBuilder story;
    story.Device("NVIDIA A100-SXM4-80GB", 108).OnDevice(1);
    story.Launch("touch", {0_us, 5_us}, {10_us, 1010_us});
    story.MigrateToGpu(4_MiB, {20_us, 520_us}, MigrationCause::kFault);
    story.MigrateToHost(4_MiB, {1100_us, 1600_us}, back);
    return Analyzed(story)->copies.migration.lost->Total();
  };
  // What other pages drive out, nobody has to fetch in time.
  CHECK(lost(MigrationCause::kEviction) == 1000_us);
  // On a link of at most 32 GB/s, 4 MiB take 130 us and more each way.
  CHECK(lost(MigrationCause::kFault) < 1000_us - 2 * 130_us);
  CHECK(lost(MigrationCause::kFault) > 1000_us - 2 * 260_us);
}

TEST_CASE("host code that faults on page after page waits for them") {
  // Ten pages, 40 us from one to the next, and code that touches none of them.
  const auto lost = [](Nanos between) {
    TraceBuilder story;
    story.Launch("make", {0_us, 5_us}, {10_us, 100_us});
    for (int i = 0; i < 10; ++i) {
      const Nanos at = 120_us + i * (between + 5_us);
      story.MigrateToHost(64_KiB, {at, at + 5_us}, MigrationCause::kFault);
    }
    story.Launch("use", {5_ms, 5_ms + 5_us}, {5_ms + 10_us, 5_ms + 100_us});
    const Analyzed run(story);
    return run->copies.migration.lost->Total() - 10 * 5_us;
  };
  const auto fault = static_cast<Nanos>(ShippedKnowledge().Number("copy.host_fault"));
  CHECK(lost(20_us) == 9 * 20_us);
  CHECK(lost(fault + 100_us) == 9 * fault);  // the rest is its own
}

TEST_CASE("host code stands still while its pages move back") {
  // The host reads two results in turn, and launches again.
  const auto cut = [](MigrationCause cause, bool in_call) {
    TraceBuilder story;
    story.Launch("make", {0_us, 5_us}, {10_us, 100_us});
    story.MigrateToHost(2_MiB, {120_us, 320_us}, cause)
        .MigrateToHost(2_MiB, {320_us, 520_us}, cause);
    if (in_call) story.Sync({110_us, 540_us});
    story.Launch("use", {550_us, 555_us}, {560_us, 700_us});
    const Analyzed run(story);
    Nanos total = 0;
    for (const auto& [thread, when] : run->copies.migration.remedy->host_cuts)
      total += when.Total();
    return total;
  };
  CHECK(cut(MigrationCause::kFault, false) == 400_us);
  CHECK(cut(MigrationCause::kFault, true) == 0);  // another thread touches them
  CHECK(cut(MigrationCause::kEviction, false) == 0);
}

TEST_CASE("a round trip across the border of two steps that a rhythm gave is still one") {
  // Each millisecond: kernels, a download, 300 us of work on the host (the longest wait, so the
  // border of the steps), the upload.
  TraceBuilder story;
  for (int i = 0; i < 10; ++i) {
    const Nanos at = i * 1_ms;
    for (int k = 0; k < 4; ++k) {
      const Nanos start = at + 100_us + k * 50_us;
      story.Launch("kernel_" + std::string(1, static_cast<char>('a' + k)),
                   {start - 60_us, start - 57_us}, {start, start + 50_us});
    }
    story.CopyFromGpu(8_MiB, MemoryKind::kPageable, {at + 250_us, at + 500_us},
                      {at + 300_us, at + 500_us});
    story.CopyToGpu(8_MiB, MemoryKind::kPageable, {at + 800_us, at + 1000_us},
                    {at + 800_us, at + 1000_us});
  }
  const Analyzed run(story, WindowRequest::Mode::kAuto);
  REQUIRE(run->run.steps.source == "period");
  CHECK(run->copies.roundtrip.count >= 8);
}

TEST_CASE("a download whose bytes come back soon after is a round trip") {
  const Analyzed run(
      TraceBuilder()
          .Launch("make", {0_us, 5_us}, {10_us, 100_us})
          .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 205_us}, {100_us, 200_us}, "cudaMemcpy")
          .CopyToGpu(2_MiB, MemoryKind::kPinned, {300_us, 405_us}, {305_us, 400_us}, "cudaMemcpy")
          .Launch("use", {410_us, 415_us}, {420_us, 2000_us}));
  CHECK(run->copies.roundtrip.count == 1);
  CHECK(run->copies.through_host.count == 0);
  // Both ways and the time between.
  CHECK(run->copies.roundtrip.lost->Total() == 300_us);
}

// In loops of short steps, what counts is how long the copies and the host take, not the bytes.
TEST_CASE("a round trip may be small, but a value that comes and goes is none") {
  const auto trips = [](std::int64_t bytes) {
    return Analyzed(TraceBuilder()
                        .Launch("make", {0_us, 5_us}, {10_us, 100_us})
                        .CopyFromGpu(bytes, MemoryKind::kPageable, {6_us, 108_us}, {100_us, 104_us})
                        .CopyToGpu(bytes, MemoryKind::kPageable, {115_us, 124_us}, {120_us, 124_us})
                        .Launch("use", {125_us, 130_us}, {140_us, 400_us}))
        ->copies.roundtrip.count;
  };
  CHECK(trips(24'000) == 1);
  CHECK(trips(4'000) == 0);
}

TEST_CASE("near miss: pieces of a stream, which no host could have read in between") {
  TraceBuilder story;
  Repeat(12, 3_ms, [&](int, Nanos at) {
    story.CopyToGpu(32_MiB, MemoryKind::kPinned, {at, at + 1300_us}, {at + 5_us, at + 1300_us},
                    "cudaMemcpy");
    story.Launch("work", {at + 1301_us, at + 1305_us}, {at + 1310_us, at + 1600_us});
    story.CopyFromGpu(32_MiB, MemoryKind::kPinned, {at + 1306_us, at + 2980_us},
                      {at + 1600_us, at + 2980_us}, "cudaMemcpy");
  });
  CHECK(Analyzed(story, WindowRequest::Mode::kAuto)->copies.roundtrip.count == 0);
}

// The host works for 3 ms on each result before it uploads the next 32 MiB.
TEST_CASE("near miss: frames go up, are worked on and come down") {
  const auto trips = [](bool state_first, int launched_behind = 0) {
    TraceBuilder story;
    if (state_first)
      story.CopyToGpu(32_MiB, MemoryKind::kPinned, {0, 1300_us}, {5_us, 1300_us}, "cudaMemcpy");
    Repeat(12, 8_ms, [&](int i, Nanos start) {
      const Nanos at = start + 2_ms;
      if (i > 0 || !state_first)
        story.CopyToGpu(32_MiB, MemoryKind::kPinned, {at, at + 1300_us}, {at + 5_us, at + 1300_us},
                        "cudaMemcpy");
      if (i > 0 || !state_first)
        story.Launch("relax", {at + 1301_us, at + 1305_us}, {at + 1310_us, at + 1600_us});
      story.Launch("work", {at + 1306_us, at + 1310_us}, {at + 1610_us, at + 1900_us});
      story.CopyFromGpu(32_MiB, MemoryKind::kPinned, {at + 1312_us, at + 3300_us},
                        {at + 1900_us, at + 3300_us}, "cudaMemcpy");
    });
    story.CopyToGpu(32_MiB, MemoryKind::kPinned, {98_ms, 99300_us}, {98005_us, 99300_us},
                    "cudaMemcpy");
    for (int k = 0; k < launched_behind; ++k) {
      const Nanos at = 99400_us + k * 300_us;
      story.Launch("work", {at - 90_us, at - 86_us}, {at, at + 290_us});
    }
    return Analyzed(story)->copies.roundtrip.count;
  };
  CHECK(trips(false) == 0);
  CHECK(trips(false, 1) == 0);
  // A capture that begins between the two ways ends with data that stays on the GPU.
  CHECK(trips(false, 2) == 12);
  // Data that once went up stays on the GPU: its first passage lacks a kernel of the loop.
  CHECK(trips(true) == 12);
}

// A capture that begins between the two ways sees the upload first.
TEST_CASE("what trains on batches of another size streams no frames") {
  const auto trips = [](bool batches, const std::string& update, const std::string& range = "") {
    TraceBuilder story;
    if (!range.empty()) story.Range(range, {0, 90_ms});
    Repeat(12, 8_ms, [&](int, Nanos at) {
      story.CopyToGpu(32_MiB, MemoryKind::kPinned, {at, at + 1300_us}, {at + 5_us, at + 1300_us},
                      "cudaMemcpy");
      if (batches)
        story.CopyToGpu(1_MiB, MemoryKind::kPinned, {at + 1302_us, at + 1305_us},
                        {at + 1310_us, at + 1400_us});
      story.Launch(kMatrixBf16, {at + 1401_us, at + 1405_us}, {at + 1410_us, at + 1600_us});
      story.Launch(update, {at + 1406_us, at + 1410_us}, {at + 1610_us, at + 1900_us});
      story.CopyFromGpu(32_MiB, MemoryKind::kPinned, {at + 1412_us, at + 3300_us},
                        {at + 1900_us, at + 3300_us}, "cudaMemcpy");
    });
    return Analyzed(story)->copies.roundtrip.count;
  };
  const std::string adam = "void multi_tensor_apply_kernel<FusedAdamMathFunctor>(int)";
  CHECK(trips(true, adam) == 11);
  CHECK(trips(false, adam) == 0);
  CHECK(trips(true, "relax") == 0);
  CHECK(trips(true, "loop_multiply_fusion", "XlaModule:#hlo_module=jit_train_step") == 11);
}

// The edges of a field are set in tens of microseconds, at times too few to read 32 MiB: half of
// them would do. The uploads are of the same field all the same.
TEST_CASE("a round trip with a small change is like the others of its size") {
  const auto trips = [](int slow) {
    TraceBuilder story;
    Repeat(12, 5_ms, [&](int i, Nanos at) {
      const Nanos change = i % 12 < slow ? 1200_us : 20_us;
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 300_us});
      story.CopyFromGpu(32_MiB, MemoryKind::kPinned, {at + 6_us, at + 1602_us},
                        {at + 300_us, at + 1600_us}, "cudaMemcpy");
      const Nanos up = at + 1602_us + change;
      story.CopyToGpu(32_MiB, MemoryKind::kPinned, {up, up + 1302_us}, {up + 5_us, up + 1300_us},
                      "cudaMemcpy");
    });
    return Analyzed(story, WindowRequest::Mode::kAuto)->copies.roundtrip.count;
  };
  CHECK(trips(7) >= 10);
  CHECK(trips(2) == 0);
}

TEST_CASE("bytes that go down from one device and up to another go through the host") {
  const Analyzed run(
      TraceBuilder()
          .Launch("make", {0_us, 5_us}, {10_us, 100_us})
          .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 205_us}, {100_us, 200_us}, "cudaMemcpy")
          .OnDevice(1)
          .CopyToGpu(2_MiB, MemoryKind::kPinned, {206_us, 305_us}, {210_us, 300_us}, "cudaMemcpy")
          .Launch("use", {310_us, 315_us}, {320_us, 2000_us}));
  CHECK(run->copies.through_host.count == 1);
  CHECK(run->copies.roundtrip.count == 0);
}

TEST_CASE("copies are grouped by direction and memory, with bytes, time and what is exposed") {
  const Analyzed run(
      TraceBuilder()
          .Launch("gemm", {0_us, 5_us}, {10_us, 100_us})
          .OnStream(8)
          .CopyToGpu(1_MiB, MemoryKind::kPinned, {6_us, 8_us}, {80_us, 120_us})
          .CopyToGpu(1_MiB, MemoryKind::kPinned, {9_us, 11_us}, {120_us, 160_us})
          .CopyFromGpu(1_KiB, MemoryKind::kPageable, {12_us, 15_us}, {160_us, 161_us}));
  REQUIRE(run->copies.groups.size() == 2);
  const CopyGroup& up = run->copies.groups[0];
  CHECK(up.direction == "host to device");
  CHECK(up.memory == "pinned");
  CHECK(up.count == 2);
  CHECK(up.bytes == Approx(2_MiB));
  CHECK(up.time_ns == Approx(80_us));
  CHECK(up.exposed_ns == Approx(60_us));
  CHECK(run->copies.groups[1].memory == "pageable");
}

TEST_CASE("hidden pageable copies cost nothing") {
  const Analyzed run(
      TraceBuilder()
          .Launch("gemm", {0_us, 5_us}, {10_us, 9000_us})
          .Launch("gemm", {6_us, 8_us}, {9000_us, 18_ms})
          .OnStream(8)
          .CopyToGpu(16_MiB, MemoryKind::kPageable, {10_us, 4000_us}, {30_us, 3990_us}));
  CHECK(run->copies.pageable.count == 1);
  CHECK(run->copies.pageable.lost->Total() == 0);
}

// A download to ordinary memory on the next of three streams, and what the program does behind it.
TEST_CASE("a download that the program waits for later need not hold the host") {
  const auto freed = [](const char* behind, Nanos code) {
    TraceBuilder story;
    Repeat(20, 2_ms, [&](int i, Nanos at) {
      story.OnStream(7 + i % 3)
          .Launch("work", {at, at + 5_us}, {at + 10_us, at + 500_us})
          .CopyFromGpu(4_MiB, MemoryKind::kPageable, {at + 6_us, at + 902_us},
                       {at + 500_us, at + 900_us});
      story.Call(behind, {at + 903_us + code, at + 905_us + code});
    });
    return Analyzed(story)->copies.pageable.remedy->unblocked_calls.size();
  };
  CHECK(freed("cudaEventRecord", 0_us) == 20);
  CHECK(freed("cudaFuncGetAttributes", 0_us) == 0);
  CHECK(freed("cudaEventRecord", 500_us) == 0);  // code reads the data first
}

}  // namespace
}  // namespace advise
