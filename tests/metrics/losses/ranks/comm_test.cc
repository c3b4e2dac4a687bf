// Communication: how much of it compute hides, why not more, and which device comes late.
#include "engine/metrics/losses/ranks/comm.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

constexpr std::int64_t kComputeStream = 7;
constexpr std::int64_t kCommStream = 20;

// Steps of a millisecond on one device: 300 us forward, 400 us backward, an all-reduce of 200 us
// that starts when `at_us` of the step has passed.
void AddSteps(TraceBuilder* story, int steps, Nanos comm_at, bool ranges) {
  Repeat(steps, 1_ms, [&](int i, Nanos at) {
    if (ranges) {
      story->Range("step " + std::to_string(i), {at, at + 900_us});
      story->Range("forward", {at, at + 20_us}).Range("backward", {at + 20_us, at + 60_us});
    }
    story->OnStream(kComputeStream);
    story->Launch("fwd_kernel", {at + 1_us, at + 4_us}, {at + 10_us, at + 310_us});
    story->Launch("bwd_kernel", {at + 21_us, at + 24_us}, {at + 310_us, at + 710_us});
    story->OnStream(kCommStream);
    story->Launch(kAllReduce, {at + 61_us, at + 64_us}, {at + comm_at, at + comm_at + 200_us},
                  {.blocks = 16});
  });
}

TEST_CASE("communication under compute is hidden") {
  TraceBuilder story;
  AddSteps(&story, 5, 400_us, true);
  const Analyzed run(story);
  CHECK(run->comm.count == 5);
  CHECK(run->comm.time_ns == Approx(5 * 200_us));
  CHECK(run->comm.overlap == 1.0);
  CHECK(run->comm.serial.lost->Total() == 0);
  CHECK(run->comm.no_overlap.lost->Total() == 0);
  CHECK_FALSE(run->comm.same_stream);
}

TEST_CASE("gradients that are summed after the whole backward pass are serial") {
  TraceBuilder story;
  AddSteps(&story, 5, 720_us, true);
  const Analyzed run(story);
  CHECK(run->comm.overlap == 0);
  CHECK(run->comm.serial.count == 5);
  CHECK(run->comm.serial_share == 1.0);
  CHECK(run->comm.serial.lost->Total() == 5 * 200_us);
  CHECK(run->comm.no_overlap.lost->Total() == 0);
}

TEST_CASE("values that are logged after the step are many messages, and little of the gradients") {
  TraceBuilder story;
  AddSteps(&story, 5, 400_us, true);
  story.OnStream(kCommStream);
  Repeat(5, 1_ms, [&](int, Nanos at) {
    for (int i = 0; i < 6; ++i) {
      const Nanos logged = at + 720_us + i * 30_us;
      story.Launch(kAllReduce, {logged - 5_us, logged - 1_us}, {logged, logged + 10_us},
                   {.blocks = 1});
    }
  });
  CHECK(Analyzed(story)->comm.serial_share == Approx(60.0 / 260));
}

TEST_CASE("the gather behind the update of the weights opens the step; later gathers do not") {
  const auto steps = [](const char* collective, const char* update) {
    TraceBuilder story;
    Repeat(5, 1_ms, [&](int, Nanos at) {
      const auto launch = [&](std::int64_t stream, const char* kernel, Nanos from, Nanos to) {
        story.OnStream(stream).Launch(kernel, {at + from - 9_us, at + from - 6_us},
                                      {at + from, at + to});
      };
      launch(kCommStream, collective, 10_us, 210_us);
      launch(kComputeStream, "fwd_kernel", 210_us, 400_us);
      launch(kCommStream, collective, 400_us, 450_us);  // of a later layer
      launch(kComputeStream, "bwd_kernel", 450_us, 800_us);
      launch(kComputeStream, update, 800_us, 990_us);
    });
    return Analyzed(story)->comm;
  };
  constexpr const char* kGather =
      "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  constexpr const char* kAdam =
      "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4> >(int)";
  // The first of all follows no update that was seen.
  CHECK(steps(kGather, kAdam).opening[0].Total() == 4 * 200_us);
  CHECK(steps(kGather, "other").opening[0].Total() == 0);
  CHECK(steps(kAllReduce, kAdam).opening[0].Total() == 0);
}

TEST_CASE(
    "weights that are gathered after their update are no gradients, and only the first opens") {
  TraceBuilder story;
  Repeat(6, 2_ms, [&](int, Nanos at) {
    const auto launch = [&](std::int64_t stream, const char* kernel, Nanos from, Nanos to) {
      story.OnStream(stream).Launch(kernel, {at + from - 9_us, at + from - 6_us},
                                    {at + from, at + to});
    };
    launch(kComputeStream, "fwd_kernel", 10_us, 400_us);
    launch(kComputeStream, "bwd_kernel", 400_us, 1000_us);
    launch(kCommStream, kAllReduce, 700_us, 950_us);  // of gradients, beside the backward pass
    launch(kComputeStream, "void multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4> >(int)",
           1000_us, 1100_us);
    for (int i = 0; i < 4; ++i)
      launch(kCommStream, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
             1100_us + i * 200_us, 1300_us + i * 200_us);
  });
  const Analyzed run(story);
  CHECK(run->comm.serial_share == 0);
  CHECK(run->comm.opening[0].Total() == 6 * 200_us);
}

TEST_CASE("half hidden communication has half the overlap") {
  TraceBuilder story;
  AddSteps(&story, 5, 610_us, true);
  CHECK(Analyzed(story)->comm.overlap == Approx(0.5));
}

TEST_CASE("collectives between the kernels of every layer never overlap") {
  TraceBuilder story;
  Nanos next = 1_ms;
  for (int i = 0; i < 40; ++i) {
    const Nanos call = i * 12_us;
    story.Launch("layer", {call, call + 4_us}, {next, next + 100_us});
    story.Launch(kAllGather, {call + 5_us, call + 9_us}, {next + 100_us, next + 180_us});
    next += 180_us;
  }
  const Analyzed run(story);
  CHECK(run->comm.same_stream);
  CHECK(run->comm.no_overlap.lost->Total() == 40 * 80_us);
  CHECK(run->comm.serial.lost->Total() == 0);
}

TEST_CASE("collectives are listed by kind, in order of time") {
  TraceBuilder story;
  story.Launch(kAllReduce, {0_us, 1_us}, {10_us, 30_us});
  story.Launch(kAllGather, {2_us, 3_us}, {30_us, 130_us});
  story.Launch(kAllReduce, {4_us, 5_us}, {130_us, 150_us});
  const Analyzed run(story);
  REQUIRE(run->comm.kinds.size() == 2);
  CHECK(run->comm.kinds[0].kind == "allgather");
  CHECK(run->comm.kinds[1].kind == "allreduce");
  CHECK(run->comm.kinds[1].count == 2);
  CHECK(run->comm.median_ns == 20e3);  // of 20, 20 and 100 us
}

TEST_CASE("sends that the report itself calls an exchange are one") {
  const char* send = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
  TraceBuilder story;
  for (Nanos at = 0; at < 30_us; at += 10_us)
    story.Launch(send, {at, at + 1_us}, {at + 2_us, at + 8_us});
  Trace trace = story.Build();
  CollectiveTable& table = trace.collectives;
  for (const auto& [op, kind] : {std::pair{0U, "AllToAll"}, {1U, "Send"}}) {
    table.start.push_back(trace.ops.start[op]);
    table.end.push_back(trace.ops.end[op]);
    table.kind.push_back(trace.strings.Intern(kind));
    table.in_bytes.push_back(-1);
    table.out_bytes.push_back(-1);
    table.group.push_back(kNone);
    table.op.push_back(op);
    table.sequence.push_back(-1);
    table.peer.push_back(-1);
  }
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const std::vector<CollectiveRow> kinds = Analysis(trace, ShippedKnowledge(), options).comm.kinds;
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].kind == "sendrecv");
  CHECK(kinds[0].count == 2);  // the last one has no record
  CHECK(kinds[1].kind == "alltoall");
}

TEST_CASE("short collectives with compute between them cannot be sent together") {
  const auto small = [](Nanos compute) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 20; ++i) {
      story.Launch("layer", {at, at + 1_us}, {at + 5_us, at + 5_us + compute});
      at += 5_us + compute;
      story.Launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", {at, at + 1_us},
                   {at + 2_us, at + 22_us});
      at += 25_us;
    }
    return Analyzed(story)->comm.small.lost->Total();
  };
  CHECK(small(100_us) == 0);
  CHECK(small(4_us) >= 19 * 20_us);  // a division by the number of ranks, for instance
}

// Of all ops.
void SetSizes(Trace* trace, std::int64_t bytes) {
  CollectiveTable& table = trace->collectives;
  for (std::uint32_t op = 0; op < trace->ops.size(); ++op) {
    table.start.push_back(trace->ops.start[op]);
    table.end.push_back(trace->ops.end[op]);
    table.kind.push_back(trace->strings.Intern("AllReduce"));
    table.in_bytes.push_back(bytes);
    table.out_bytes.push_back(bytes);
    table.group.push_back(kNone);
    table.op.push_back(op);
    table.sequence.push_back(-1);
    table.peer.push_back(-1);
  }
}

TEST_CASE("collectives of few bytes are short also where the latency is long") {
  const auto small = [](std::int64_t bytes, Nanos length) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 20; ++i, at += length + 5_us)
      story.Launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", {at, at + 1_us},
                   {at + 2_us, at + 2_us + length});
    Trace trace = story.Build();
    SetSizes(&trace, bytes);
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    return Analysis(trace, ShippedKnowledge(), options).comm.small.count;
  };
  CHECK(small(40'000, 75_us) == 20);
  CHECK(small(-1, 75_us) == 0);          // it may carry more
  CHECK(small(10'000'000, 75_us) == 0);  // it does
  CHECK(small(40'000, 900_us) == 0);     // it waits for a late rank
}

// 80 collectives a step, 3 us apart, each longer than the one before by `more`.
TEST_CASE("a long row of collectives that take the same time is latency, as between nodes") {
  const auto small = [](int many, Nanos length, Nanos more, std::int64_t bytes = -1) {
    TraceBuilder story;
    Repeat(6, 15_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 14_ms});
      story.OnStream(kComputeStream);
      story.Launch("work", {at, at + 2_us}, {at + 10_us, at + 500_us});
      story.OnStream(kCommStream);
      Nanos start = at + 600_us;
      for (int n = 0; n < many; ++n) {
        const Nanos end = start + length + n * more;
        story.Launch(kAllReduce, {at + 10_us + n * 4_us, at + 13_us + n * 4_us}, {start, end},
                     {.blocks = 16});
        start = end + 3_us;
      }
    });
    Trace trace = story.Build();
    SetSizes(&trace, bytes);
    return Analysis(trace, ShippedKnowledge(), {}).comm.small.count;
  };
  CHECK(small(80, 80_us, 20) >= 5 * 80);
  const Nanos longest = ShippedKnowledge().Time("comm.alike_longest");
  CHECK(small(80, longest, 0) >= 5 * 80);
  CHECK(small(80, longest + 1, 0) == 0);
  CHECK(small(80, 60_us, 400) == 0);  // sizes tell: 60 to 92 us
  CHECK(small(50, 60_us, 20) == 0);   // layers of one size
  CHECK(small(80, 130_us, 20) == 0);  // a link may be the limit
  CHECK(small(80, 60_us, 20, 800'000) >= 5 * 80);
  CHECK(small(80, 60_us, 20, 1'300'000) == 0);
}

// What each device does is a row of its own, and the last one counts like the first.
TEST_CASE("two rows of two devices are not one long row") {
  const auto small = [](std::uint32_t devices, int many) {
    TraceBuilder story;
    for (std::uint32_t d = 0; d < devices; ++d) {
      story.OnDevice(d).OnStream(kCommStream);
      for (Nanos n = 0; n < many; ++n)
        story.Launch(kAllReduce, {n * 4_us, n * 4_us + 3_us},
                     {1_ms + n * 90_us, 1_ms + n * 90_us + 80_us}, {.blocks = 16});
    }
    Trace trace = story.Build();
    SetSizes(&trace, -1);
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    return Analysis(trace, ShippedKnowledge(), options).comm.small.count;
  };
  CHECK(small(1, 80) == 80);
  CHECK(small(2, 80) == 160);
  CHECK(small(2, 50) == 0);
}

TEST_CASE("short collectives are counted as small") {
  TraceBuilder story;
  Nanos next = 100_us;
  for (int i = 0; i < 20; ++i, next += 15_us)
    story.Launch(kAllReduce, {i * 4_us, i * 4_us + 3_us}, {next, next + 10_us});
  const Analyzed run(story);
  CHECK(run->comm.small_share == 1.0);
  // Their own time, but for the one that remains, and the gaps between them.
  CHECK(run->comm.small.lost->Total() == 19 * 10_us + 19 * 5_us);
}

// Two ranks that meet at a collective in each step; the second computes `extra` longer.
TraceBuilder TwoRanks(Nanos extra) {
  TraceBuilder story;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    story.Process("rank " + std::to_string(rank), static_cast<int>(rank)).Thread("main");
    story.OnDevice(rank);
    const Nanos work = 500_us + (rank == 1 ? extra : 0);
    const Nanos slowest = 500_us + extra;
    Repeat(10, 2_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 1_ms});
      story.OnStream(kComputeStream);
      story.Launch("work", {at, at + 4_us}, {at + 10_us, at + 10_us + work});
      story.OnStream(kCommStream);
      // The collective ends together: 100 us after the last has come.
      story.Launch(kAllReduce, {at + 5_us, at + 9_us},
                   {at + 10_us + work, at + 10_us + slowest + 100_us}, {.blocks = 16});
    });
  }
  return story;
}

TEST_CASE("the device that comes last again and again is the late one") {
  const Analyzed run(TwoRanks(300_us));
  CHECK(run->late_device.device == 1);
  CHECK(run->late_device.share == 1.0);
  CHECK(run->late_device.lateness_ns == Approx(300_us));
  CHECK(run->late_device.cause == "the same kernels run more slowly there");
  // The first device waits 300 us in each of ten collectives.
  CHECK(run->late_device.loss.lost->by_device[0].Total() == 10 * 300_us);
  CHECK(run->late_device.loss.lost->by_device[1].Total() == 0);
}

TEST_CASE("devices that come together have no late one among them") {
  const Analyzed run(TwoRanks(0));
  CHECK(run->late_device.device == kNone);
  CHECK(run->late_device.loss.lost->Total() == 0);
}

TEST_CASE("a single device is never late") {
  TraceBuilder story;
  AddSteps(&story, 5, 720_us, true);
  CHECK(Analyzed(story)->late_device.device == kNone);
}

TEST_CASE("swapping the numbers of two devices swaps who is late") {
  const Analyzed run(TwoRanks(300_us).SwapDevices(0, 1));
  CHECK(run->late_device.device == 0);
  CHECK(run->late_device.lateness_ns == Approx(300_us));
  CHECK(run->late_device.loss.lost->Total() == 10 * 300_us);
}

TEST_CASE("a run without communication has none") {
  const Analyzed run(GapStory());
  CHECK(run->comm.count == 0);
  CHECK(run->comm.overlap == 0);
}

}  // namespace
}  // namespace advise
