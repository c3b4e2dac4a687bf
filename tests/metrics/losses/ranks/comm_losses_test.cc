// Why communication is not hidden, who is late and why, and what the fix changes.
#include "engine/metrics/losses/ranks/comm.h"
#include "tests/metrics/losses/loss_words.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Three ranks meet in each of ten steps of 2 ms; the last computes for 500 us as the others do, but
// `delay` later: `why` says what its host does before.
Analyzed ThreeRanks(Nanos delay, const std::function<void(TraceBuilder*, Interval)>& why,
                    int extra_kernels = 0) {
  TraceBuilder story;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    story.Process("rank " + std::to_string(rank), static_cast<int>(rank)).Thread("main");
    story.OnDevice(rank);
    Repeat(10, 2_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 1900_us});
      const Nanos late = rank == 2 ? delay : 0;
      story.OnStream(7);
      if (late > 0) why(&story, {at + 2_us, at + late});
      const Nanos start = at + late + 10_us;
      story.Launch("work", {at + late, at + late + 4_us}, {start, start + 500_us});
      for (int k = 0; k < extra_kernels && rank == 2; ++k) {
        story.Launch("more", {at + late + 5_us, at + late + 6_us},
                     {start + 500_us + k * 100_us, start + 600_us + k * 100_us});
      }
      const Nanos work = 500_us + (rank == 2 ? extra_kernels * 100_us : 0);
      const Nanos last = at + delay + 510_us + extra_kernels * 100_us;
      story.OnStream(20).Launch(kAllReduce, {at + late + 6_us, at + late + 9_us},
                                {start + work, last + 100_us}, {.blocks = 16});
    });
  }
  return Analyzed(story);
}

TEST_CASE("the cause of a late rank is what its host does while its GPU waits") {
  const auto cause = [](const std::function<void(TraceBuilder*, Interval)>& why) {
    const Analyzed run = ThreeRanks(300_us, why);
    CHECK(run->late_device.device == 2);
    CHECK(run->late_device.share == 1);
    CHECK(run->late_device.lateness_ns == Approx(300e3));
    // Two ranks wait 300 us in each of ten collectives.
    CHECK(Told(run->late_device.loss) == "20 times, 0 bytes, 6000000 ns in all, 6000000 ns lost");
    return run->late_device.cause;
  };
  CHECK(cause([](TraceBuilder* story, Interval when) { story->Range("load_batch", when); }) ==
        "it waits longer for data");
  CHECK(cause([](TraceBuilder* story, Interval when) { story->OsCall("read", when); }) ==
        "it waits longer for data");
  CHECK(cause([](TraceBuilder* story, Interval when) { story->Call("cudaMalloc", when); }) ==
        "it allocates memory");
  CHECK(cause([](TraceBuilder*, Interval) {}) == "its host is slower");
}

TEST_CASE("the fix of a late rank makes its data ready, or takes its host's excess off") {
  const Analyzed data = ThreeRanks(
      300_us, [](TraceBuilder* story, Interval when) { story->Range("load_batch", when); });
  CHECK(data->late_device.loss.remedy->data_ready);
  const Analyzed host = ThreeRanks(
      300_us, [](TraceBuilder* story, Interval when) { story->Call("cudaMalloc", when); });
  CHECK_FALSE(host->late_device.loss.remedy->data_ready);
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(host->late_device.loss.remedy->host_cuts)) {
    CHECK(host.trace().threads[thread].process == 3);  // of rank 2
    cut += when.Total();
  }
  // From 2 us to 300 us of each step but the first, which is before the window's first kernel
  // of that rank or not.
  CHECK(cut >= 9 * 290_us);
  CHECK(cut <= 10 * 300_us);
}

TEST_CASE("a late rank with more kernels has more work, which shrinks to the others'") {
  const auto nothing = [](TraceBuilder*, Interval) {};
  const Analyzed run = ThreeRanks(0, nothing, 3);
  CHECK(run->late_device.device == 2);
  CHECK(run->late_device.cause == "it has more work on the GPU");
  REQUIRE(run->late_device.loss.remedy->scaled_ops.size() == 40);
  CHECK(run->late_device.loss.remedy->scaled_ops[0].second == Approx(500.0 / 800));
}

TEST_CASE("serial gradients: what hides them, and no more than the backward pass") {
  const auto run_of = [](Nanos backward, bool named = true) {
    TraceBuilder story;
    Repeat(6, 2_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 1900_us});
      if (named)
        story.Range("forward", {at, at + 20_us}).Range("backward", {at + 20_us, at + 60_us});
      story.OnStream(7).Launch("fwd", {at + 1_us, at + 4_us}, {at + 10_us, at + 310_us});
      story.Launch("bwd", {at + 21_us, at + 24_us}, {at + 310_us, at + 310_us + backward});
      const Nanos from = at + 320_us + backward;
      story.OnStream(20).Launch(kAllReduce, {at + 61_us, at + 64_us}, {from, from + 200_us});
    });
    return Analyzed(story);
  };
  const Analyzed wide = run_of(400_us);
  CHECK(Told(wide->comm.serial) == "6 times, 0 bytes, 1200000 ns in all, 1200000 ns lost");
  CHECK(wide->comm.serial.remedy->detached_ops.size() == 6);
  CHECK(wide->comm.serial.remedy->reach_ns == 6 * 200_us);
  const Analyzed narrow = run_of(50_us);
  CHECK(narrow->comm.serial.remedy->reach_ns == 6 * 50_us);
  CHECK(narrow->comm.serial.remedy->reach_reason ==
        std::string("the backward pass, too short to hide more,"));
  // Where no range tells, it is the usual share of all that is computed.
  const double share = ShippedKnowledge().Number("comm.backward_share");
  CHECK(static_cast<double>(run_of(0, false)->comm.serial.remedy->reach_ns) ==
        Approx(share * 6 * 300_us).margin(1));
}

// Of each step of 2 ms, 300 us go forward and 400 us backward, in two halves. The sum of the first
// half's gradients begins behind that, the other sum behind the first one, `pause` later.
Analyzed TwoSums(Nanos sum, Nanos pause, bool named = true, const char* kernel = "bwd") {
  TraceBuilder story;
  Repeat(6, 2_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 1900_us});
    if (named) story.Range("forward", {at, at + 20_us}).Range("backward", {at + 20_us, at + 60_us});
    story.OnStream(7).Launch("fwd", {at + 1_us, at + 4_us}, {at + 10_us, at + 310_us});
    story.Launch(kernel, {at + 21_us, at + 24_us}, {at + 310_us, at + 510_us});
    const Nanos first = at + 511_us;
    const Nanos second = first + sum + pause;
    story.OnStream(20).Launch(kAllReduce, {at + 30_us, at + 32_us}, {first, first + sum});
    story.OnStream(7).Launch(kernel, {at + 35_us, at + 38_us}, {at + 510_us, at + 710_us});
    story.OnStream(20).Launch(kAllReduce, {at + 41_us, at + 44_us}, {second, second + sum});
  });
  return Analyzed(story);
}

TEST_CASE("sums that fill the link from the backward pass on could not begin much earlier") {
  // Of 201 us of the backward pass before them, each of two sums carries what 200 us compute.
  const Analyzed full = TwoSums(400_us, 0);
  CHECK(full->comm.queued.lost->Total() == 6 * (601_us - 1_us));
  CHECK(full->comm.queued.remedy->scaled_ops.size() == 12);
  CHECK(full->comm.queued.remedy->scaled_ops.front().second == 0.5F);
  // The link rests between them: the second one waited for something else.
  CHECK(TwoSums(400_us, 60_us)->comm.queued.lost->Total() == 0);
  CHECK(TwoSums(400_us, 38_us)->comm.queued.lost->Total() > 0);
  // Where no range tells, the backward pass is the usual share of what is computed.
  const Nanos backward =
      static_cast<Nanos>(ShippedKnowledge().Number("comm.backward_share") * 700_us);
  const Nanos earlier = backward - 199_us - backward / 2;
  CHECK(TwoSums(400_us, 0, false)->comm.queued.lost->Total() ==
        Approx(6 * (601_us - earlier)).margin(12));
  // A server sums the parts of its layers: no gradients.
  const Analyzed served = TwoSums(400_us, 0, false, "paged_attention_v1_kernel");
  CHECK(served->kind.kind == KindOfRun::kInference);
  CHECK(served->comm.queued.lost->Total() == 0);
}

TEST_CASE("small collectives join one another, and those behind the first are not launched") {
  TraceBuilder story;
  for (int i = 0; i < 4; ++i) {
    const Nanos start = 100_us + i * 15_us;
    story.Launch(kAllReduce, {i * 4_us, i * 4_us + 3_us}, {start, start + 10_us});
  }
  story.Launch(kAllReduce, {20_us, 23_us}, {170_us, 170_us + 900_us});
  const Analyzed run(story);
  CHECK(run->comm.small.count == 4);
  CHECK(run->comm.small.time_ns == 40e3);
  // One of them remains.
  CHECK(run->comm.small.lost->Total() == 3 * 10_us + 3 * 5_us);
  CHECK(run->comm.small_share == Approx(0.8));
  CHECK(run->comm.small.remedy->vanished_calls == std::vector<std::uint32_t>{1, 2, 3});
  REQUIRE(run->comm.small.remedy->scaled_ops.size() == 3);
  CHECK(run->comm.small.remedy->scaled_ops[0].second == 0.0F);
}

TEST_CASE("a bucket of gradients that kernels hide, but for the last one, costs no latency") {
  // Two small buckets behind each of ten layers; `behind` of them follow the last kernel.
  const auto small = [](int behind) {
    TraceBuilder story;
    Repeat(6, 5_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 4'900_us});
      Nanos call = at;
      const auto launch = [&](const char* name, Nanos start, Nanos length) {
        story.Launch(name, {call, call + 3_us}, {start, start + length});
        call += 4_us;
      };
      for (int layer = 0; layer < 10; ++layer) {
        const Nanos from = at + 200_us + layer * 200_us;
        story.OnStream(7);
        launch("layer", from, 200_us);
        story.OnStream(20);
        if (layer == 0) continue;
        launch(kAllReduce, from + 10_us, 40_us);
        launch(kAllReduce, from + 51_us, 40_us);
      }
      for (int n = 0; n < behind; ++n) launch(kAllReduce, at + 2'201_us + n * 41_us, 40_us);
    });
    return Analyzed(story)->comm.small;
  };
  CHECK(small(1).lost->Total() == 0);
  CHECK(small(1).per_step == 0);
  // Those that are hidden are no part of what is sent late.
  CHECK(small(3).per_step == 3);
  CHECK(small(3).lost->Total() == 6 * (2 * 40_us + 2 * 1_us));
}

TEST_CASE("kernels beside collectives take longer than alone: the excess is contention") {
  // Eight launches of 100 us alone, eight of 150 us beside a collective.
  TraceBuilder story;
  Nanos at = 1_ms;
  Nanos call = 0;
  for (int i = 0; i < 16; ++i) {
    const bool beside = i % 2 == 1;
    const Nanos length = beside ? 150_us : 100_us;
    story.OnStream(7).Launch("work", {call, call + 2_us}, {at, at + length});
    if (beside) {
      story.OnStream(20).Launch(kAllReduce, {call + 3_us, call + 5_us}, {at, at + length});
    }
    at += length;
    call += 10_us;
  }
  const Analyzed run(story);
  CHECK(run->contention->loss.count == 8);
  CHECK(run->contention->loss.lost->Total() == 8 * 50_us);
  CHECK(run->contention->slowdown == Approx(1.5));
  CHECK(run->contention->compared == 8);
  REQUIRE(run->contention->loss.remedy->scaled_ops.size() == 8);
  CHECK(run->contention->loss.remedy->scaled_ops[0].second == Approx(100.0 / 150));
}

TEST_CASE("one straggler among the kernels that run alone says nothing of the rest") {
  // A hundred launches of 100 us alone, of which two take as long as the ten beside a collective.
  TraceBuilder story;
  Nanos at = 2_ms;
  Nanos call = 0;
  for (int i = 0; i < 110; ++i) {
    const bool beside = i % 11 == 10;
    const Nanos length = beside || i == 4 || i == 70 ? 150_us : 100_us;
    story.OnStream(7).Launch("work", {call, call + 2_us}, {at, at + length});
    if (beside)
      story.OnStream(20).Launch(kAllReduce, {call + 3_us, call + 5_us}, {at, at + length});
    at += length;
    call += 10_us;
  }
  const Contention found = Analyzed(story)->contention;
  CHECK(found.compared == 10);
  CHECK(found.loss.count == 10);
  CHECK(found.loss.lost->Total() == 10 * 50_us);
}

// Eight launches of 100 us alone; eight of `length`, a collective beside the first 60 us of each.
Contention BesidePart(Nanos length) {
  TraceBuilder story;
  Nanos at = 1_ms;
  Nanos call = 0;
  for (int i = 0; i < 16; ++i) {
    const Nanos takes = i % 2 == 1 ? length : 100_us;
    story.OnStream(7).Launch("work", {call, call + 2_us}, {at, at + takes});
    if (i % 2 == 1)
      story.OnStream(20).Launch(kAllReduce, {call + 3_us, call + 5_us}, {at, at + 60_us});
    at += takes;
    call += 10_us;
  }
  return Analyzed(story)->contention;
}

TEST_CASE("a collective slows a kernel while it runs beside it, and no longer") {
  const Contention part = BesidePart(120_us);
  CHECK(part.compared == 8);
  CHECK(part.loss.lost->Total() == 8 * 20_us);
  CHECK(part.slowdown == Approx(1.5));  // 60 us in place of 40
  // Slowed as much as a collective can, it would take 24 us less: it does the same work. One that
  // takes longer does more work.
  CHECK(BesidePart(130_us).loss.lost->Total() == 8 * 30_us);
  CHECK(BesidePart(200_us).loss.count == 0);
}

TEST_CASE(
    "where a collective leaves every third kernel of a shape as long as alone, the rest is work") {
  // An optimizer's last kernel holds little and runs alone; those before it hold more, beside
  // collectives that cover them.
  TraceBuilder story;
  Nanos at = 1_ms;
  Nanos call = 0;
  for (int i = 0; i < 32; ++i) {
    const bool beside = i % 4 != 3;
    const Nanos length = i % 4 == 0 ? 210_us : i % 4 == 1 ? 320_us : beside ? 105_us : 100_us;
    story.OnStream(7).Launch("work", {call, call + 2_us}, {at, at + length});
    if (beside)
      story.OnStream(20).Launch(kAllReduce, {call + 3_us, call + 5_us}, {at, at + length});
    at += length;
    call += 10_us;
  }
  const Analyzed run(story);
  CHECK(run->contention->compared == 24);
  CHECK(run->contention->loss.count == 0);
  CHECK(run->contention->slowdown == Approx(1.0));
}

TEST_CASE("kernels that take longer than a collective can slow them do more work") {
  const double most = ShippedKnowledge().Number("comm.most_slowdown");
  const auto found = [](double times) {
    TraceBuilder story;
    Nanos at = 1_ms;
    Nanos call = 0;
    for (int i = 0; i < 24; ++i) {
      const bool beside = i % 3 != 0;
      const auto length = static_cast<Nanos>(100_us * (i % 3 == 2 ? times : beside ? 1.5 : 1));
      story.OnStream(7).Launch("work", {call, call + 2_us}, {at, at + length});
      if (beside)
        story.OnStream(20).Launch(kAllReduce, {call + 3_us, call + 5_us}, {at, at + length});
      at += length;
      call += 10_us;
    }
    return Analyzed(story)->contention->loss.count;
  };
  CHECK(found(most - 0.1) == 16);
  CHECK(found(most + 0.1) == 0);
}

}  // namespace
}  // namespace advise
