// Launching calls that return only when their kernel has ended, apart from those that are slow.
#include "engine/metrics/losses/launches/awaited_kernels.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("launches that return after their kernel wait for it") {
  TraceBuilder waiting;
  TraceBuilder usual;
  Repeat(20, 200_us, [&](int, Nanos at) {
    waiting.Launch("kernel", {at, at + 120_us}, {at + 10_us, at + 110_us});
    usual.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
  });
  const Analyzed run(waiting);
  CHECK(run->launches.waiting_share == 1);
  CHECK(run->launches.waiting.lost->Total() > 0);
  CHECK(Analyzed(usual)->launches.waiting_share == 0);
}

// An update by the host and a copy of 300 us each between two kernels, which a host that is ahead
// would overlap with them.
TEST_CASE("launches that wait may cost all that runs beside no kernel") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int, Nanos at) {
    story.OnStream(7).Launch("kernel", {at, at + 320_us}, {at + 10_us, at + 310_us});
    story.OnStream(9).CopyToGpu(1_MiB, MemoryKind::kPinned, {at + 330_us, at + 335_us},
                                {at + 340_us, at + 640_us});
  });
  const Analyzed run(story);
  // From the first kernel to the last: copies and pauses, but no kernel.
  CHECK(run->launches.waiting.lost->Total() >= run.Window() - 20 * 300_us - 20_us);
  CHECK(run->launches.waiting.lost->Total() <= run.Window() - 20 * 300_us);
}

// Uploads of 300 us on a separate stream, which the host waits for, too: without these waits they
// overlap with the kernels, unless their memory is pageable.
TEST_CASE("launches that wait hold back pinned copies that wait, too") {
  const auto freed = [](MemoryKind memory, Nanos returns) {
    TraceBuilder story;
    Repeat(20, 1_ms, [&](int, Nanos at) {
      story.OnStream(7).Launch("kernel", {at, at + 320_us}, {at + 10_us, at + 310_us});
      story.OnStream(9).CopyToGpu(1_MiB, memory, {at + 330_us, at + returns},
                                  {at + 340_us, at + 640_us});
    });
    return Analyzed(story)->launches.waiting.remedy->unblocked_calls.size();
  };
  CHECK(freed(MemoryKind::kPinned, 650_us) == 40);
  CHECK(freed(MemoryKind::kPinned, 335_us) == 20);
  CHECK(freed(MemoryKind::kPageable, 650_us) == 20);
}

// Three streams take turns: each launch waits for a kernel of `blocks` blocks on 100 SMs.
TEST_CASE("launches that wait keep small kernels of several streams apart") {
  const auto alone = [](std::uint32_t blocks) {
    TraceBuilder story;
    Repeat(20, 350_us, [&](int i, Nanos at) {
      Look look;
      look.blocks = blocks;
      story.OnStream(7 + i % 3).Launch("kernel", {at, at + 310_us}, {at + 5_us, at + 305_us}, look);
    });
    return Analyzed(story)->launches.waiting_alone_ns;
  };
  CHECK(alone(20) == 19 * 300e3);
  CHECK(alone(80) == 0);
  TraceBuilder story;
  Repeat(20, 350_us, [&](int i, Nanos at) {
    story.OnStream(7 + i % 3).Launch("kernel", {at, at + 310_us}, {at + 5_us, at + 305_us},
                                     {.blocks = 20});
  });
  // All but the last kernel, and the pauses between them.
  const Analyzed run(story);
  CHECK(run->launches.waiting.lost->Total() == run.Window() - 300_us);
}

TEST_CASE("a launch waits when it returns with its kernel, not when it returns before") {
  const auto share = [](Nanos early) {
    TraceBuilder story;
    Repeat(20, 200_us, [&](int, Nanos at) {
      story.Launch("kernel", {at, at + 110_us - early}, {at + 10_us, at + 110_us});
    });
    return Analyzed(story)->launches.waiting_share;
  };
  CHECK(share(0) == 1);
  CHECK(share(1_ns) == 0);
}

// Kernels of 20 to 100 us. A call that waits lasts as long as its kernel; a slow one 130 us.
TEST_CASE("slow launches that take as long whatever their kernel takes do not wait for it") {
  const auto share = [](bool waits) {
    TraceBuilder story;
    Repeat(20, 200_us, [&](int i, Nanos at) {
      const Nanos ends = at + 30_us + i % 5 * 20_us;
      const Nanos returns = waits ? ends + 3_us : at + 130_us;
      story.Launch("kernel", {at, returns + i % 3 * 1_us}, {at + 10_us, ends});
    });
    return Analyzed(story)->launches.waiting_share;
  };
  CHECK(share(true) == 1);
  CHECK(share(false) == 0);
}

TEST_CASE("a short kernel that ends before its call returns does not count as waiting") {
  TraceBuilder story;
  Repeat(20, 200_us, [&](int, Nanos at) {
    story.Launch("kernel", {at, at + 20_us}, {at + 5_us, at + 10_us});
  });
  CHECK(Analyzed(story)->launches.waiting_share == 0);
}

// Each call takes 250 us: it outlasts three short kernels, and no long one.
TEST_CASE("slow calls that outlast short kernels do not wait for them") {
  TraceBuilder story;
  Repeat(20, 2_ms, [&](int, Nanos at) {
    Nanos call = at;
    for (const Nanos length : {40_us, 40_us, 40_us, 600_us}) {
      story.Launch("kernel", {call, call + 250_us}, {call + 100_us, call + 100_us + length});
      call += 260_us;
    }
  });
  const double share = Analyzed(story)->launches.waiting_share;
  CHECK(share > 0.1);
  CHECK(share < 0.2);  // 120 of 720 us, where three in four launches outlast their kernels
}

}  // namespace
}  // namespace advise
