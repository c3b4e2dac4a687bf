// Copies inside and between devices, memsets, migrations, and the two ways of the link.
#include "engine/metrics/losses/copies/moves.h"

#include "tests/metrics/losses/loss_words.h"

namespace advise {
namespace {

TEST_CASE(
    "memsets and copies inside a device vanish with their fix, copies between devices step aside") {
  TraceBuilder story;
  story.Launch("a", {0_us, 5_us}, {10_us, 100_us})
      .Memset(64_KiB, {5_us, 8_us}, {100_us, 130_us})
      .CopyOnGpu(2_MiB, {8_us, 11_us}, {130_us, 170_us})
      .Launch("b", {11_us, 15_us}, {170_us, 300_us});
  Trace trace = story.Build();
  const Analyzed run(story);
  CHECK(Told(run->moves->memsets) == "1 times, 65536 bytes, 30000 ns in all, 30000 ns lost");
  CHECK(Changes(run->moves->memsets) == "scales 1 to 0");
  CHECK(Told(run->moves->device) == "1 times, 2097152 bytes, 40000 ns in all, 40000 ns lost");
  CHECK(Changes(run->moves->device) == "scales 2 to 0");
  CHECK(run->moves->peer.count == 0);
  trace.copies.direction[0] = CopyDirection::kPeerToPeer;
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const Analysis between(trace, ShippedKnowledge(), options);
  CHECK(Told(between.moves->peer) == "1 times, 2097152 bytes, 40000 ns in all, 40000 ns lost");
  CHECK(Changes(between.moves->peer) == "detaches 2");
  CHECK(between.moves->device.count == 0);
  CHECK(between.moves->memsets.count == 1);
}

TEST_CASE("the shorter way of the link, and how much of it runs beside the other") {
  // 400 us up, then 200 us down of which 50 us run beside the upload.
  const auto story = [](Nanos up, Nanos down, Nanos beside) {
    TraceBuilder told;
    told.OnStream(8).CopyToGpu(8_MiB, MemoryKind::kPinned, {0, 5_us}, {10_us, 10_us + up});
    const Nanos from = 10_us + up - beside;
    told.OnStream(9).CopyFromGpu(4_MiB, MemoryKind::kPinned, {6_us, 9_us}, {from, from + down});
    return Analyzed(told);
  };
  const Analyzed run = story(400_us, 200_us, 50_us);
  CHECK(run->moves->duplex_share == Approx(0.25));
  CHECK(Told(run->moves->one_way) == "1 times, 4194304 bytes, 200000 ns in all, 200000 ns lost");
  CHECK(Changes(run->moves->one_way) == "detaches 1");
  const Analyzed down = story(200_us, 400_us, 50_us);
  CHECK(down->moves->duplex_share == Approx(0.25));
  CHECK(Told(down->moves->one_way) == "1 times, 8388608 bytes, 200000 ns in all, 200000 ns lost");
  CHECK(Changes(down->moves->one_way) == "detaches 0");
  TraceBuilder one;
  one.CopyToGpu(8_MiB, MemoryKind::kPinned, {0, 5_us}, {10_us, 100_us});
  CHECK(Analyzed(one)->moves->duplex_share == 0);
  CHECK(Analyzed(one)->moves->one_way.count == 0);
}

TEST_CASE("managed memory: what the program prefetches, and what the host pulls back") {
  TraceBuilder story;
  story.Launch("a", {0_us, 5_us}, {10_us, 900_us})
      .MigrateToGpu(1_MiB, {20_us, 30_us}, MigrationCause::kUser)
      .MigrateToHost(2_MiB, {40_us, 50_us}, MigrationCause::kUser)
      .MigrateToHost(4_MiB, {60_us, 70_us})
      .MigrateToHost(2_MiB, {72_us, 78_us}, MigrationCause::kEviction)
      .MigrateToGpu(8_MiB, {80_us, 90_us});
  const Analyzed run(story);
  CHECK(run->moves->prefetched_bytes == 3_MiB);
  CHECK(run->moves->migrated_back_bytes == 6_MiB);
  CHECK(run->moves->evicted_bytes == 2_MiB);
  CHECK(run->moves->returned_bytes == 0);  // the kernel was there first
}

TEST_CASE("managed memory: prefetched before the host fills it") {
  const auto returned = [](bool kernel_first) {
    TraceBuilder story;
    story.MigrateToGpu(2_MiB, {0_us, 10_us}, MigrationCause::kUser);
    if (kernel_first) story.Launch("a", {12_us, 14_us}, {15_us, 20_us});
    story.MigrateToHost(3_MiB, {40_us, 50_us}, MigrationCause::kFault)
        .Launch("b", {60_us, 65_us}, {70_us, 900_us})
        .MigrateToGpu(2_MiB, {80_us, 90_us}, MigrationCause::kFault);
    return Analyzed(story)->moves->returned_bytes;
  };
  CHECK(returned(false) == 2_MiB);
  CHECK(returned(true) == 0);
}

}  // namespace
}  // namespace advise
