// What the fix of each kind of copy changes, and the edges of what counts as one.
#include <random>

#include "engine/metrics/losses/copies/copy.h"
#include "engine/metrics/losses/directives.h"
#include "tests/metrics/losses/loss_words.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("slow copies come to the rate of the link with their fix") {
  // Two at 25 GB/s, one at 5: 64 MiB in 2684 and in 13,422 us.
  const Nanos fast = 2'684'355;
  const Nanos slow = 5 * fast;
  const Nanos first = 10_us + fast;
  const Nanos second = first + fast;
  const Analyzed run(
      TraceBuilder()
          .CopyToGpu(64_MiB, MemoryKind::kPinned, {0_us, 5_us}, {10_us, first})
          .CopyToGpu(64_MiB, MemoryKind::kPinned, {6_us, 8_us}, {first, second})
          .CopyToGpu(64_MiB, MemoryKind::kPinned, {9_us, 12_us}, {second, second + slow})
          .Launch("gemm", {13_us, 15_us}, {second + slow, second + slow + 1_ms}));
  CHECK(run->copies.slow.count == 1);
  CHECK(run->copies.slow.lost->Total() == slow);
  CHECK(Changes(run->copies.slow) == "scales 2 to 0.2");
}

TEST_CASE("pinned copies: beside the kernels of another stream, or gone with their fix") {
  const auto story = [](std::int64_t stream) {
    TraceBuilder told;
    told.OnStream(7).Launch("a", {0, 5_us}, {10_us, 100_us});
    told.OnStream(stream).CopyToGpu(2_MiB, MemoryKind::kPinned, {6_us, 8_us}, {100_us, 180_us});
    told.OnStream(7).Launch("b", {9_us, 12_us}, {180_us, 300_us});
    return Analyzed(told);
  };
  const Analyzed serial = story(7);
  CHECK(Told(serial->copies.serial) == "1 times, 2097152 bytes, 80000 ns in all, 80000 ns lost");
  CHECK(Changes(serial->copies.serial) == "detaches 1");
  CHECK(serial->copies.separate.count == 0);
  const Analyzed separate = story(8);
  CHECK(Told(separate->copies.separate) ==
        "1 times, 2097152 bytes, 80000 ns in all, 80000 ns lost");
  CHECK(Changes(separate->copies.separate) == "scales 1 to 0");
  CHECK(separate->copies.serial.count == 0);
  // A stream that only communicates computes nothing.
  TraceBuilder comm;
  comm.OnStream(8).Launch(kAllReduce, {0, 5_us}, {10_us, 60_us});
  comm.CopyToGpu(2_MiB, MemoryKind::kPinned, {6_us, 8_us}, {100_us, 180_us});
  comm.OnStream(7).Launch("b", {9_us, 12_us}, {180_us, 300_us});
  CHECK(Analyzed(comm)->copies.separate.count == 1);
}

TEST_CASE("a pageable upload no longer holds the host, nor does the wait behind it") {
  TraceBuilder story;
  story.Launch("a", {0, 5_us}, {10_us, 50_us})
      .CopyToGpu(2_MiB, MemoryKind::kPageable, {60_us, 170_us}, {80_us, 168_us})
      .Sync({171_us, 173_us})
      .Launch("b", {180_us, 185_us}, {190_us, 300_us});
  const Analyzed run(story);
  CHECK(run->copies.pageable.count == 1);
  CHECK(run->copies.pageable.bytes == 2_MiB);
  // 20 us before the copy engine starts, the copy, and the 22 us until the GPU has work again.
  CHECK(run->copies.pageable.lost->Total() == 20_us + 88_us + 22_us);
  CHECK(Changes(run->copies.pageable) == "unblocks 1 2, scales 1 to 1");
  // A download must come before the host reads it.
  TraceBuilder down;
  down.Launch("a", {0, 5_us}, {10_us, 50_us})
      .CopyFromGpu(2_MiB, MemoryKind::kPageable, {60_us, 170_us}, {80_us, 168_us})
      .Launch("b", {180_us, 185_us}, {190_us, 300_us});
  CHECK(Changes(Analyzed(down)->copies.pageable) == "scales 1 to 1");
}

// Steps of a kernel behind 40 uploads of 110 kB, which take 4.5 us each; large ones show the rate
// of the link: 25 GB/s, or half of that.
TEST_CASE("weights that are uploaded before the loop are no pageable copies of it") {
  TraceBuilder story;
  for (const Nanos at : {0_ms, 10_ms})
    story.CopyToGpu(64_MiB, MemoryKind::kPageable, {at, at + 9_ms}, {at + 10_us, at + 9_ms});
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    const Nanos from = at + 20_ms;
    story.Range("step " + std::to_string(i), {from, from + 990_us});
    story.CopyToGpu(1_MiB, MemoryKind::kPageable, {from, from + 90_us},
                    {from + 10_us, from + 90_us});
    story.Launch("work", {from + 100_us, from + 105_us}, {from + 110_us, from + 900_us});
  });
  const Analyzed all(story);  // the window holds the uploads, too
  REQUIRE(all->run.steps.all.size() == 10);
  CHECK(all->copies.pageable.count == 10);
}

// Work of changing length, in which no steps are found.
TEST_CASE("uploads before the first kernel are made once where what follows repeats") {
  const auto copied = [](int kernels) {
    TraceBuilder story;
    for (const Nanos at : {0_ms, 10_ms})
      story.CopyToGpu(64_MiB, MemoryKind::kPageable, {at, at + 9_ms}, {at + 10_us, at + 9_ms});
    Nanos at = 20_ms;
    std::minstd_rand any(7);
    for (int i = 0; i < kernels; ++i) {
      const Nanos length = 50_us + static_cast<Nanos>(any() % 400) * 1_us;
      if (i % 250 == 20)
        story.CopyToGpu(1_MiB, MemoryKind::kPageable, {at, at + 90_us}, {at + 10_us, at + 90_us});
      story.Launch("work" + std::to_string(any() % 11), {at + 100_us, at + 105_us},
                   {at + 110_us, at + 110_us + length});
      at += 120_us + length;
    }
    const Analyzed run(story);
    REQUIRE_FALSE(run->run.steps.known());
    CHECK(run->support.verdict == (kernels > 2000));
    return run->copies.pageable.count;
  };
  CHECK(copied(2500) == 10);
  CHECK(copied(200) == 3);  // one pass: they may be its work
}

TEST_CASE("a fast link takes larger copies in the time that a call costs") {
  const auto run = [](bool fast) {
    TraceBuilder story;
    Repeat(12, 2_ms, [&](int, Nanos at) {
      for (int i = 0; i < 40; ++i) {
        const Nanos call = at + i * 12_us;
        story.CopyToGpu(110'000, MemoryKind::kPinned, {call, call + 4_us},
                        {call + 8_us, call + (fast ? 12'500 : 17'000)});
      }
      story.Launch("gemm", {at + 490_us, at + 494_us}, {at + 500_us, at + 1500_us});
      story.CopyFromGpu(10'000'000, MemoryKind::kPinned, {at + 495_us, at + 499_us},
                        {at + 1500_us, at + (fast ? 1900_us : 2300_us)});
    });
    return Analyzed(story);
  };
  const Analyzed fast = run(true);
  CHECK(fast->copies.small.count == 12 * 40);
  CHECK(fast->copies.repeated.count == 0);  // a batch in pieces, or arguments
  CHECK(run(false)->copies.small.count == 0);
}

TEST_CASE("copies that come once a step are no series") {
  const auto run = [](int each) {
    TraceBuilder story;
    Repeat(12, 2_ms, [&](int step, Nanos at) {
      story.Range("step " + std::to_string(step), {at, at + 1990_us});
      for (int i = 0; i < each; ++i) {
        const Nanos call = at + i * 12_us;
        story.OnStream(9).CopyToGpu(16_KiB, MemoryKind::kPinned, {call, call + 4_us},
                                    {call + 8_us, call + 10_us});
      }
      story.OnStream(7).Launch("gemm", {at + 100_us, at + 104_us}, {at + 110_us, at + 1500_us});
    });
    return Analyzed(story)->copies.small.count;
  };
  CHECK(run(1) == 0);
  CHECK(run(5) == 12 * 5);
}

TEST_CASE("of a train of small copies the first stays, the others join it") {
  TraceBuilder story;
  for (int i = 0; i < 8; ++i) {
    const Nanos at = i * 20_us;
    story.CopyToGpu(16_KiB, MemoryKind::kPinned, {at, at + 4_us}, {at + 8_us, at + 12_us});
  }
  story.Launch("gemm", {165_us, 170_us}, {175_us, 300_us});
  const Analyzed run(story);
  const auto left = ShippedKnowledge().Number("copy.joined_left");
  CHECK(run->copies.small.count == 8);
  CHECK(run->copies.small.bytes == 8 * 16_KiB);
  CHECK(run->copies.small.lost->Total() == 8 * 4_us + 7 * 16_us);
  REQUIRE(run->copies.small.remedy->scaled_ops.size() == 7);
  CHECK(run->copies.small.remedy->scaled_ops[0].first == 1);
  CHECK(run->copies.small.remedy->scaled_ops[0].second == Approx(left));
  CHECK(run->copies.small.remedy->vanished_calls ==
        std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7});
  // Downloads among them part the train, and so does a large copy.
  const auto least = static_cast<int>(ShippedKnowledge().Number("copy.train_length"));
  const auto small = [](int ups, std::int64_t other, bool down) {
    TraceBuilder parted;
    Nanos at = 0;
    const auto copy = [&](std::int64_t bytes, bool from) {
      const Interval op{at + 8_us, at + 8_us + std::max<Nanos>(4_us, bytes / 16)};
      if (from) {
        parted.CopyFromGpu(bytes, MemoryKind::kPinned, {at, at + 4_us}, op);
      } else {
        parted.CopyToGpu(bytes, MemoryKind::kPinned, {at, at + 4_us}, op);
      }
      at = op.end + 8_us;
    };
    for (int i = 0; i < ups; ++i) copy(16_KiB, false);
    copy(other, down);
    for (int i = 0; i < ups; ++i) copy(16_KiB, false);
    parted.Launch("gemm", {at, at + 5_us}, {at + 8_us, at + 100_us});
    return Analyzed(parted)->copies.small.count;
  };
  CHECK(small(least - 1, 16_KiB, true) == 0);
  CHECK(small(least - 1, 64_MiB, false) == 0);
  CHECK(small(least - 1, 16_KiB, false) == 2 * least - 1);
  CHECK(small(least, 16_KiB, true) == 2 * least);
}

TEST_CASE("a round trip goes with both copies, their waits and the code between them") {
  TraceBuilder story;
  story.Launch("make", {0_us, 5_us}, {10_us, 100_us})
      .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 8_us}, {100_us, 200_us})
      .Sync({9_us, 205_us})
      .CopyToGpu(2_MiB, MemoryKind::kPinned, {300_us, 405_us}, {305_us, 400_us}, "cudaMemcpy")
      .Launch("use", {410_us, 415_us}, {420_us, 2000_us});
  const Analyzed run(story);
  CHECK(run->copies.roundtrip.count == 1);
  CHECK(run->copies.roundtrip.bytes == 2_MiB);
  CHECK(run->copies.roundtrip.time_ns == 195e3);
  CHECK(run->copies.roundtrip.lost->Total() == 300_us);
  CHECK(Changes(run->copies.roundtrip) ==
        "unblocks 1 2 3, scales 1 to 0, scales 2 to 0, cuts 200000 ns");  // of waiting, and of code
  // The host could not have read the data in 10 us, and has not waited for it in the other story.
  TraceBuilder soon;
  soon.Launch("make", {0_us, 5_us}, {10_us, 100_us})
      .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 8_us}, {100_us, 200_us})
      .Sync({9_us, 205_us})
      .CopyToGpu(2_MiB, MemoryKind::kPinned, {206_us, 405_us}, {305_us, 400_us}, "cudaMemcpy")
      .Launch("use", {410_us, 415_us}, {420_us, 2000_us});
  const double rate = ShippedKnowledge().Number("copy.touch_rate");
  CHECK(Analyzed(soon)->copies.roundtrip.count ==
        (6e-6 * rate >= static_cast<double>(2_MiB) ? 1 : 0));
  // Between two copies of 64 MiB, which nobody could have read, the host changes the edges of a
  // field for 400 us; or it calls the operating system.
  const auto edges = [](bool waits) {
    TraceBuilder field;
    field.Launch("make", {0_us, 5_us}, {10_us, 100_us})
        .CopyFromGpu(64_MiB, MemoryKind::kPinned, {6_us, 8_us}, {100_us, 3200_us})
        .Sync({9_us, 3205_us})
        .CopyToGpu(64_MiB, MemoryKind::kPinned, {3605_us, 3610_us}, {3620_us, 6720_us})
        .Launch("use", {6730_us, 6735_us}, {6740_us, 10_ms});
    for (Nanos at = 6740_us; at < 6790_us; at += 10_us)
      field.Launch("use", {at, at + 5_us}, {at + 3260_us, at + 3270_us});
    if (waits) field.OsCall("read", {3206_us, 3604_us});
    return Analyzed(field)->copies.roundtrip.count;
  };
  CHECK(edges(false) == 1);
  CHECK(edges(true) == 0);
  TraceBuilder unread;
  unread.Launch("make", {0_us, 5_us}, {10_us, 100_us})
      .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 8_us}, {100_us, 200_us})
      .CopyToGpu(2_MiB, MemoryKind::kPinned, {300_us, 405_us}, {305_us, 400_us}, "cudaMemcpy")
      .Launch("use", {410_us, 415_us}, {420_us, 2000_us});
  CHECK(Analyzed(unread)->copies.roundtrip.count == 0);
}

// A runtime of directives copies piece by piece: it fills one buffer while another one is copied.
TEST_CASE("a round trip in pieces takes the filling of buffers along") {
  TraceBuilder story;
  story.Launch("make", {0_us, 5_us}, {10_us, 100_us})
      .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 8_us}, {100_us, 200_us})
      .Sync({9_us, 205_us})
      .CopyToGpu(2_MiB, MemoryKind::kPinned, {300_us, 302_us}, {305_us, 400_us})
      .CopyToGpu(1_MiB, MemoryKind::kPinned, {500_us, 502_us}, {505_us, 600_us})
      .Launch("use", {610_us, 615_us}, {620_us, 2000_us});
  CHECK(Changes(Analyzed(story)->copies.roundtrip) ==
        "unblocks 1 2 3, scales 1 to 0, scales 2 to 0, cuts 200000 ns");
  TraceBuilder pieces;
  pieces.Launch("make", {0_us, 5_us}, {10_us, 100_us})
      .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 8_us}, {100_us, 200_us})
      .Sync({9_us, 205_us})
      .CopyFromGpu(1_MiB, MemoryKind::kPinned, {210_us, 212_us}, {215_us, 250_us})
      .Sync({213_us, 255_us})
      .CopyToGpu(2_MiB, MemoryKind::kPinned, {300_us, 302_us}, {305_us, 400_us})
      .CopyToGpu(1_MiB, MemoryKind::kPinned, {500_us, 502_us}, {505_us, 600_us})
      .Launch("use", {610_us, 615_us}, {620_us, 2000_us});
  // From the first piece down to the call that brings the last one back, whether or not a piece is
  // on its way meanwhile; but for what runs beside kernels.
  CHECK(Analyzed(pieces)->copies.roundtrip.count == 2);
  CHECK_THAT(Changes(Analyzed(pieces)->copies.roundtrip), Catch::Matchers::Contains("cuts 400000"));
}

TEST_CASE("the directive that holds most of some calls is named, the innermost around each") {
  TraceBuilder story;
  story.Range("OpenACC enter data at flow.f90:38", {0_us, 100_us})
      .Range("OpenACC upload of a at flow.f90:38", {5_us, 20_us})
      .Range("OpenACC upload of b at flow.f90:38", {25_us, 60_us})
      .Range("my range", {26_us, 40_us})
      .CopyToGpu(1_MiB, MemoryKind::kPinned, {6_us, 8_us}, {10_us, 20_us})
      .CopyToGpu(1_MiB, MemoryKind::kPinned, {30_us, 32_us}, {35_us, 45_us})
      .CopyToGpu(1_MiB, MemoryKind::kPinned, {70_us, 72_us}, {75_us, 85_us})
      .CopyToGpu(1_MiB, MemoryKind::kPinned, {170_us, 172_us}, {175_us, 185_us});
  Trace trace = story.Build();
  CHECK(DirectiveOf(trace, {{0, 1}, {1, 1}}).empty());  // ranges of the program's own
  const StringId domain = trace.strings.Intern("OpenACC");
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    if (trace.strings[trace.ranges.name[i]] != "my range") trace.ranges.domain[i] = domain;
  }
  CHECK(DirectiveOf(trace, {{0, 2}, {1, 1}}) == "OpenACC upload of a at flow.f90:38");
  CHECK(DirectiveOf(trace, {{0, 1}, {1, 2}}) == "OpenACC upload of b at flow.f90:38");
  CHECK(DirectiveOf(trace, {{2, 1}}) == "OpenACC enter data at flow.f90:38");
  CHECK(DirectiveOf(trace, {{3, 1}}).empty());
}

TEST_CASE("what is sent between the two ways is an exchange, and no round trip") {
  TraceBuilder story;
  story.Launch("make", {0_us, 5_us}, {10_us, 100_us})
      .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 8_us}, {100_us, 200_us})
      .Sync({9_us, 205_us})
      .Mpi("MPI_Sendrecv", {210_us, 290_us})
      .CopyToGpu(2_MiB, MemoryKind::kPinned, {300_us, 405_us}, {305_us, 400_us}, "cudaMemcpy")
      .Launch("use", {410_us, 415_us}, {420_us, 2000_us});
  const Analyzed run(story);
  CHECK(run->copies.roundtrip.count == 0);
  CHECK(run->copies.calls_to_exchange.size() == 1);
  CHECK(run->syncs.loop.count == 0);  // the message needs the data
}

// A download from pageable memory, and an event that is recorded behind it, or behind work of
// another stream that is launched in between.
TEST_CASE("only an event behind the stream of a download says that its data is read later") {
  const auto released = [](bool elsewhere) {
    TraceBuilder story;
    for (int i = 0; i < 10; ++i) {
      const Nanos at = i * 400_us;
      story.OnStream(13).Launch("make", {at, at + 5_us}, {at + 10_us, at + 110_us});
      story.CopyFromGpu(1_MiB, MemoryKind::kPageable, {at + 6_us, at + 212_us},
                        {at + 110_us, at + 210_us});
      if (elsewhere)
        story.OnStream(14).Launch("next", {at + 213_us, at + 218_us}, {at + 222_us, at + 322_us});
      story.Call("cudaEventRecord", {at + 219_us, at + 221_us});
    }
    const Analyzed run(story);
    CHECK(run->copies.pageable.count == 10);
    return run->copies.pageable.remedy->unblocked_calls.size();
  };
  CHECK(released(false) == 10);
  CHECK(released(true) == 0);
}

// Chunks take turns on three streams. Before it uses a stream again, the host waits for it, or
// always for the first one: then nothing tells when it reads what comes down on the others.
TEST_CASE("chunks on several streams are read behind the wait for their own stream") {
  const auto released = [](bool own) {
    TraceBuilder story;
    for (int i = 0; i < 12; ++i) {
      const Nanos at = i * 218_us;
      story.OnStream(13 + i % 3);
      if (i >= 3) story.Sync({at, at + 2_us});
      story.Launch("filter", {at + 5_us, at + 9_us}, {at + 12_us, at + 110_us});
      story.CopyFromGpu(1_MiB, MemoryKind::kPageable, {at + 10_us, at + 212_us},
                        {at + 110_us, at + 210_us});
    }
    Trace trace = story.Build();
    int chunk = 3;
    for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
      if (trace.strings[trace.calls.name[c]] != "cudaStreamSynchronize") continue;
      const std::int64_t id = own ? 13 + chunk++ % 3 : 13;
      trace.syncs.start.push_back(trace.calls.start[c]);
      trace.syncs.end.push_back(trace.calls.end[c]);
      trace.syncs.call.push_back(c);
      trace.syncs.event_id.push_back(0);
      for (std::uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
        if (trace.streams[stream].id == id) trace.syncs.stream.push_back(stream);
      }
    }
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    const Analysis analysis(trace, ShippedKnowledge(), options);
    CHECK(analysis.copies.pageable.count == 12);
    return analysis.copies.pageable.remedy->unblocked_calls.size();
  };
  CHECK(released(true) == 9);  // behind the last three, no wait was recorded
  CHECK(released(false) == 4);
}

}  // namespace
}  // namespace advise
