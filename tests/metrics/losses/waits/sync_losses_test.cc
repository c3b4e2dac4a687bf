// Waits of the host, what their fixes change, and which of them are not the program's to leave out.
#include "engine/metrics/losses/waits/sync.h"
#include "tests/metrics/losses/loss_words.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("a wait in a loop, with what the GPU idles behind it") {
  TraceBuilder story;
  story.Launch("a", {0, 5_us}, {10_us, 100_us})
      .Sync({20_us, 103_us}, "cudaDeviceSynchronize")
      .Sync({104_us, 105_us})
      .Launch("b", {120_us, 125_us}, {130_us, 300_us});
  const Analyzed run(story);
  CHECK(run->syncs.count == 2);
  CHECK(run->syncs.time_ns == 84e3);
  CHECK(run->syncs.loop_name == "cudaDeviceSynchronize");
  CHECK(Told(run->syncs.loop) == "2 times, 0 bytes, 84000 ns in all, 30000 ns lost");
  CHECK(Changes(run->syncs.loop) == "unblocks 1 2");
  // 3 us after the kernel and the microsecond of the second call.
  CHECK(run->syncs.busy_wait_ns == 4e3);
}

// What the GPU idles behind the waits of a loop of 40 iterations, each of which launches a kernel
// and then computes for 430 us. In between it waits for the result of that kernel, or of the one
// before it. Every other kernel is too short for the code of the host.
Nanos LostToWaits(bool for_the_last_one) {
  TraceBuilder story;
  Nanos host = 0;
  Nanos last = 0;
  for (int i = 0; i < 40; ++i) {
    const Nanos start = std::max(last + 1_us, host + 8_us);
    const Nanos end = start + (i % 2 == 0 ? 600_us : 300_us);
    story.Launch("decode", {host, host + 5_us}, {start, end});
    story.Call("cudaEventRecord", {host + 6_us, host + 7_us});
    const Nanos done = std::max(host + 9_us, (for_the_last_one ? end : last) + 2_us);
    story.Sync({host + 8_us, done}, "cudaEventSynchronize");
    host = done + 430_us;
    last = end;
  }
  Trace trace = story.Build();
  std::int64_t records = 0;
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    const std::string& name = trace.strings[trace.calls.name[c]];
    if (name == "cudaEventRecord") {
      trace.events.time.push_back(trace.calls.start[c]);
      trace.events.call.push_back(c);
      trace.events.stream.push_back(0);
      trace.events.event_id.push_back(++records);
    } else if (name == "cudaEventSynchronize") {
      trace.syncs.start.push_back(trace.calls.start[c]);
      trace.syncs.end.push_back(trace.calls.end[c]);
      trace.syncs.call.push_back(c);
      trace.syncs.stream.push_back(0);
      trace.syncs.event_id.push_back(for_the_last_one ? records : records - 1);
    }
  }
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  return Analysis(trace, ShippedKnowledge(), options).syncs.loop.lost->Total();
}

TEST_CASE("a wait one iteration late leaves the GPU its work, and delays nothing") {
  CHECK(LostToWaits(true) > 39 * 400_us);
  CHECK(LostToWaits(false) <= 20_us);  // of the first two, which nothing was queued behind
}

// Two streams take turns. Each batch is downloaded and waited for; before its stream is used again,
// the host waits for that stream once more, or not.
TEST_CASE("who waits for a download again later does not read it behind the first wait") {
  const auto unblocked = [](bool again) {
    TraceBuilder story;
    Repeat(20, 1_ms, [&](int i, Nanos at) {
      story.OnStream(7 + i % 2);
      if (again) story.Sync({at, at + 2_us});
      story.Launch("work", {at + 3_us, at + 8_us}, {at + 10_us, at + 410_us})
          .CopyFromGpu(4_MiB, MemoryKind::kPinned, {at + 9_us, at + 12_us},
                       {at + 410_us, at + 810_us})
          .Sync({at + 13_us, at + 815_us}, "cudaDeviceSynchronize");
    });
    Trace trace = story.Build();
    std::uint32_t batch = 0;
    for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
      if (trace.strings[trace.calls.name[c]] != "cudaStreamSynchronize") continue;
      trace.syncs.start.push_back(trace.calls.start[c]);
      trace.syncs.end.push_back(trace.calls.end[c]);
      trace.syncs.call.push_back(c);
      trace.syncs.stream.push_back(batch++ % 2);
      trace.syncs.event_id.push_back(0);
    }
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    const Analysis run(trace, ShippedKnowledge(), options);
    std::size_t of_device = 0;
    for (const std::uint32_t c : run.syncs.loop.remedy->unblocked_calls)
      of_device += trace.strings[trace.calls.name[c]] == "cudaDeviceSynchronize" ? 1 : 0;
    return of_device;
  };
  CHECK(unblocked(true) == 18);  // of the last batch of each stream, nothing more is known
  CHECK(unblocked(false) == 0);
}

TEST_CASE("of small copies of several sizes, the median and the largest are known") {
  TraceBuilder story;
  for (int i = 0; i < 3; ++i) {
    const Nanos at = i * 300_us;
    story.Launch("a", {at, at + 5_us}, {at + 10_us, at + 100_us})
        .CopyFromGpu(i == 1 ? 4000 : 8, MemoryKind::kPinned, {at + 6_us, at + 8_us},
                     {at + 101_us, at + 103_us})
        .Sync({at + 9_us, at + 105_us});
  }
  const Analyzed run(story);
  CHECK(run->syncs.item.count == 3);
  CHECK(run->syncs.item_median_bytes == 8);
  CHECK(run->syncs.item_most_bytes == 4000);
}

TEST_CASE("reads name the kernel that most of them follow, where they follow any") {
  const auto kernel = [](bool works) {
    TraceBuilder story;
    for (int i = 0; i < 5; ++i) {
      const Nanos at = i * 300_us;
      if (works)
        story.Launch(i == 1 || i == 4 ? "few" : "most", {at, at + 5_us}, {at + 10_us, at + 100_us});
      story.CopyFromGpu(8, MemoryKind::kPinned, {at + 6_us, at + 8_us}, {at + 101_us, at + 103_us})
          .Sync({at + 9_us, at + 105_us});
    }
    const Analyzed run(story);
    REQUIRE(run->syncs.item.count == 5);
    return run->syncs.item_kernel;
  };
  CHECK(kernel(true) == "most");
  CHECK(kernel(false).empty());
}

TEST_CASE("a value that the forward pass reads counts there, from the first call on") {
  TraceBuilder story;
  for (Nanos at = 0; at < 4_ms; at += 1_ms) {
    story.Range("step " + std::to_string(at / 1_ms), {at, at + 990_us});
    story.Range("forward", {at, at + 400_us});
    story.CopyFromGpu(8, MemoryKind::kPageable, {at + 1_us, at + 20_us}, {at + 10_us, at + 12_us},
                      "cudaMemcpy");
    story.Launch("a", {at + 30_us, at + 35_us}, {at + 40_us, at + 600_us});
  }
  const Analyzed run(story);
  CHECK(run->syncs.forward.count == 4);
  CHECK(run->syncs.forward_reads == 1);
  CHECK(run->syncs.forward.remedy->unblocked_calls.size() == 4);
}

TEST_CASE("a read-back is one wait with its copy and the synchronization behind it") {
  TraceBuilder story;
  story.Launch("a", {0, 5_us}, {10_us, 100_us})
      .CopyFromGpu(8, MemoryKind::kPinned, {6_us, 8_us}, {101_us, 103_us})
      .Sync({9_us, 105_us})
      .Launch("b", {120_us, 125_us}, {130_us, 300_us});
  const Analyzed run(story);
  CHECK(run->syncs.item.count == 1);
  CHECK(run->syncs.item.bytes == 8);
  CHECK(run->syncs.item_median_bytes == 8);
  CHECK(run->syncs.item_direction == "device to host");
  CHECK(Changes(run->syncs.item) == "unblocks 1 2");
  CHECK(run->syncs.item.lost->Total() == 29_us);  // from the copy on
  CHECK(run->syncs.loop.count == 0);
  TraceBuilder up;
  up.Launch("a", {0, 5_us}, {10_us, 100_us})
      .CopyToGpu(8, MemoryKind::kPinned, {6_us, 8_us}, {101_us, 103_us})
      .Sync({9_us, 105_us})
      .Launch("b", {120_us, 125_us}, {130_us, 300_us});
  CHECK(Analyzed(up)->syncs.item_direction == "host to device");
  up.CopyFromGpu(16, MemoryKind::kPageable, {140_us, 303_us}, {301_us, 302_us});
  CHECK(Analyzed(up)->syncs.item_direction == "both ways");
  CHECK(Analyzed(up)->syncs.item.bytes == 24);
}

TEST_CASE("a read-back tells a size only beside a kernel whose result depends on the data") {
  const auto sized = [](int between) {
    TraceBuilder story;
    story.Launch("DeviceReduceSingleTileKernel", {0, 5_us}, {10_us, 100_us})
        .CopyFromGpu(8, MemoryKind::kPinned, {6_us, 8_us}, {101_us, 103_us})
        .Sync({9_us, 105_us});
    for (int n = 0; n < between; ++n)
      story.Launch("a", {106_us + n * 2_us, 107_us + n * 2_us},
                   {110_us + n * 3_us, 112_us + n * 3_us});
    story.Launch("DeviceUniqueByKeySweepKernel", {120_us, 125_us}, {130_us, 300_us});
    return Analyzed(story)->syncs.item_sized;
  };
  CHECK(sized(0) == 1);
  CHECK(sized(2) == 1);
  CHECK(sized(5) == 0);
}

TEST_CASE("a wait for the read-back of the step before is not tied to the one before it") {
  TraceBuilder story;
  story.Launch("a", {0, 5_us}, {10_us, 100_us})
      .CopyFromGpu(8, MemoryKind::kPinned, {6_us, 8_us}, {101_us, 103_us})
      .Sync({9_us, 11_us}, "cudaEventSynchronize")  // of an older event, which is done
      .Sync({12_us, 105_us}, "cudaDeviceSynchronize")
      .Launch("b", {120_us, 125_us}, {130_us, 300_us});
  CHECK(Changes(Analyzed(story)->syncs.item) == "unblocks 1 3");
}

TEST_CASE("a read-back that is the first work of the GPU counts, too") {
  TraceBuilder story;
  story.CopyFromGpu(8, MemoryKind::kPageable, {0, 12_us}, {5_us, 10_us})
      .Launch("b", {20_us, 25_us}, {30_us, 300_us});
  CHECK(Analyzed(story)->syncs.item.count == 1);
  TraceBuilder memset;
  memset.Memset(8, {0, 12_us}, {5_us, 10_us}, "cudaMemset")
      .Launch("b", {20_us, 25_us}, {30_us, 300_us});
  CHECK(Analyzed(memset)->syncs.memset.count == 1);
}

TEST_CASE("uploads that a wait makes late lose what runs beside no kernel, too") {
  // The host reads a value, and sends the next batch in two pieces only then. Some kernels that it
  // launched before still run beside the first.
  const auto lost = [](std::int64_t stream, bool reads, Nanos sends_at) {
    TraceBuilder story;
    story.OnStream(7).Launch("a", {0, 5_us}, {10_us, 1000_us});
    if (reads) {
      story.CopyFromGpu(8, MemoryKind::kPinned, {6_us, 8_us}, {1001_us, 1003_us})
          .Sync({9_us, 1005_us});
    }
    story.Launch("b", {1006_us, 1008_us}, {1010_us, 1050_us})
        .OnStream(stream)
        .CopyToGpu(10_MiB, MemoryKind::kPinned, {sends_at, sends_at + 4_us}, {1020_us, 1500_us})
        .CopyToGpu(10_MiB, MemoryKind::kPinned, {sends_at + 5_us, sends_at + 9_us},
                   {1501_us, 1900_us})
        .OnStream(7)
        .Launch("a", {1030_us, 1032_us}, {1902_us, 2900_us});
    return Analyzed(story)->syncs.item.lost->Total();
  };
  const Nanos idle =
      lost(7, true, 1015_us);  // on the stream of the kernels nothing runs beside them
  CHECK(lost(13, true, 1015_us) == idle + 450_us + 399_us);
  CHECK(lost(13, false, 1015_us) == 0);
}

TEST_CASE("a stream that computes could take an upload while the host waits for another one") {
  // Frames alternate between two streams, and the host waits for all of the GPU after each.
  constexpr int kFrames = 12;
  TraceBuilder story;
  for (int frame = 0; frame < kFrames; ++frame) {
    const Nanos begin = frame * 1'000'000;
    story.OnStream(13 + frame % 2)
        .CopyToGpu(8_MiB, MemoryKind::kPinned, {begin, begin + 4'000},
                   {begin + 6'000, begin + 306'000})
        .Launch("blur", {begin + 5'000, begin + 8'000}, {begin + 308'000, begin + 800'000})
        .CopyFromGpu(4_MiB, MemoryKind::kPinned, {begin + 9'000, begin + 12'000},
                     {begin + 801'000, begin + 950'000})
        .Sync({begin + 13'000, begin + 955'000}, "cudaDeviceSynchronize");
  }
  const Analyzed run(story);
  CHECK(run->idle.late_copies.size() == kFrames - 1);
  CHECK(static_cast<double>(run->syncs.loop.lost->Total()) > 0.9 * 300'000 * (kFrames - 1));
  CHECK(run->copies.repeated.count == 0);  // each frame is new
  const Analyzed two(story.Twice());  // of two processes, whose copies lie between each other's
  CHECK(two->syncs.loop.lost->Total() == 2 * run->syncs.loop.lost->Total());
}

TEST_CASE("of late uploads that each block the host, the wait before the first is to blame") {
  TraceBuilder story;
  story.OnStream(7)
      .Launch("a", {0, 5_us}, {10_us, 1000_us})
      .CopyFromGpu(8, MemoryKind::kPageable, {6_us, 1005_us}, {1001_us, 1003_us})
      .OnStream(13)
      .CopyToGpu(10_MiB, MemoryKind::kPageable, {1006_us, 1502_us}, {1008_us, 1500_us})
      .CopyToGpu(10_MiB, MemoryKind::kPageable, {1503_us, 1902_us}, {1505_us, 1900_us})
      .OnStream(7)
      .Launch("a", {1905_us, 1908_us}, {1910_us, 2900_us});
  const Analyzed run(story);
  // The read, the idle time behind it, and both uploads.
  CHECK(run->syncs.item.lost->Total() == 2_us + 5_us + 492_us + 395_us);
  // What no wait delays is not late.
  TraceBuilder no_wait;
  no_wait.OnStream(7)
      .Launch("a", {0, 5_us}, {10_us, 1000_us})
      .OnStream(13)
      .CopyToGpu(10_MiB, MemoryKind::kPageable, {1006_us, 1502_us}, {1008_us, 1500_us});
  CHECK(Analyzed(no_wait)->idle.late_copies.empty());
}

TEST_CASE("a wait makes edges late that travel through the host on a stream of their own") {
  const auto lost = [](bool made_to_wait) {
    TraceBuilder story;
    story.OnStream(30).Launch("pack", {0, 2_us}, {4_us, 9_us});
    story.OnStream(7).Launch("inside", {5_us, 9_us}, {20_us, 1000_us});
    story.Sync({10_us, 1004_us}, "cudaDeviceSynchronize");
    if (made_to_wait) story.Call("cudaStreamWaitEvent", {1005_us, 1006_us});
    story.OnStream(30)
        .CopyFromGpu(1_MiB, MemoryKind::kPinned, {1007_us, 1009_us}, {1010_us, 1110_us})
        .Sync({1010_us, 1112_us})
        .CopyToGpu(1_MiB, MemoryKind::kPinned, {1400_us, 1402_us}, {1405_us, 1505_us});
    story.OnStream(7).Launch("inside", {1403_us, 1404_us}, {1506_us, 2500_us});
    return Analyzed(story)->syncs.loop.lost->Total();
  };
  CHECK(lost(false) >= lost(true) + 200_us);
}

TEST_CASE("memsets that hold the host") {
  TraceBuilder story;
  story.Launch("a", {0, 5_us}, {10_us, 100_us})
      .Memset(1_KiB, {6_us, 104_us}, {100_us, 103_us}, "cudaMemset")
      .Launch("b", {120_us, 125_us}, {130_us, 300_us});
  const Analyzed run(story);
  CHECK(run->syncs.memset.count == 1);
  CHECK(run->syncs.memset.bytes == 1024);
  CHECK(run->syncs.memset.time_ns == 3e3);
  CHECK(run->syncs.memset.lost->Total() == 30_us);
  CHECK(Changes(run->syncs.memset) == "unblocks 1");
  TraceBuilder returns;
  returns.Launch("a", {0, 5_us}, {10_us, 100_us})
      .Memset(1_KiB, {6_us, 102_us}, {100_us, 103_us}, "cudaMemset")
      .Launch("b", {120_us, 125_us}, {130_us, 300_us});
  CHECK(Analyzed(returns)->syncs.memset.count == 0);
}

TEST_CASE("waits inside the backward pass and the optimizer") {
  TraceBuilder story;
  Repeat(6, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 990_us});
    story.Range("backward", {at, at + 210_us});
    story.Launch("a", {at, at + 5_us}, {at + 10_us, at + 200_us});
    story.Sync({at + 6_us, at + 202_us});
    story.Range("optimizer_step", {at + 220_us, at + 520_us});
    story.Launch("b", {at + 230_us, at + 235_us}, {at + 240_us, at + 500_us});
    story.Sync({at + 236_us, at + 502_us});
    story.Call("cudaFree", {at + 503_us, at + 505_us});
  });
  const Analyzed run(story, kAuto);
  const auto steps = static_cast<std::int64_t>(run->run.steps.steady_count());
  CHECK(run->syncs.backward.count >= steps - 1);
  CHECK(run->syncs.backward.count <= steps);
  CHECK(run->syncs.optimizer.count == run->syncs.backward.count);
  CHECK(run->syncs.optimizer.time_ns == static_cast<double>(run->syncs.optimizer.count) * 266e3);
  CHECK(run->syncs.optimizer.remedy->unblocked_calls.size() ==
        static_cast<std::size_t>(run->syncs.optimizer.count));
  CHECK(run->syncs.forward.count == 0);
}

TEST_CASE("the share of the default stream in the compute time") {
  TraceBuilder story;
  story.OnDefaultStream().Launch("a", {0, 1_us}, {1_ms, 1_ms + 300_us});
  story.OnStream(7).Launch("b", {2_us, 3_us}, {1_ms + 300_us, 1_ms + 400_us});
  const Analyzed run(story);
  CHECK(run->syncs.default_share == Approx(0.75));
  TraceBuilder none;
  none.Memset(64, {0, 1_us}, {10_us, 20_us});
  CHECK(Analyzed(none)->syncs.default_share == 0);
}

// A pipeline of frames on two streams, `other` and the next, each with a kernel that `by_default`
// puts on the default stream: it waits for the download of the frame before.
TraceBuilder Pipeline(bool by_default) {
  TraceBuilder story;
  Repeat(20, 1000_us, [&](int i, Nanos at) {
    const std::int64_t stream = 13 + i % 2;
    const Nanos call = std::max<Nanos>(0, at - 1500_us);
    story.Range("frame " + std::to_string(i), {at, at + 990_us});
    story.OnStream(stream).CopyToGpu(4_MiB, MemoryKind::kPinned, {call + 1_us, call + 4_us},
                                     {at - 500_us + 2000_us, at - 200_us + 2000_us});
    by_default ? story.OnDefaultStream() : story.OnStream(stream);
    story.Launch("window", {call + 5_us, call + 8_us}, {at + 2000_us, at + 2100_us});
    story.OnStream(stream).Launch("transform", {call + 9_us, call + 12_us},
                                  {at + 2102_us, at + 2700_us});
    story.OnStream(stream).CopyFromGpu(4_MiB, MemoryKind::kPinned, {call + 13_us, call + 16_us},
                                       {at + 2702_us, at + 2998_us});
  });
  return story;
}

TEST_CASE("a kernel of the default stream that waits for downloads keeps them from overlapping") {
  const Analyzed run(Pipeline(true));
  CHECK(run->syncs.default_stream.count >= 15);
  CHECK(run->syncs.other_streams == 2);
  CHECK(static_cast<double>(run->syncs.default_stream.lost->Total()) ==
        Approx(static_cast<double>(run->syncs.default_stream.count) * 296e3).epsilon(0.05));
  CHECK(run->syncs.default_stream.remedy->freed_ops.size() ==
        static_cast<std::size_t>(run->syncs.default_stream.count));
  // On the stream of its frame, the same kernel waits for nobody by itself.
  CHECK(Analyzed(Pipeline(false))->syncs.default_stream.count == 0);
}

TEST_CASE("small kernels of two streams that a stream wait ties could run side by side") {
  const auto run_of = [](std::uint32_t blocks, bool waits, bool by_default) {
    TraceBuilder story;
    const Look small{.blocks = blocks};
    story.OnStream(7).Launch("a", {0, 1_us}, {1_ms, 1_ms + 100_us}, small);
    if (waits) story.Call("cudaStreamWaitEvent", {2_us, 3_us});
    story.OnStream(by_default ? 0 : 8);
    story.Launch("b", {4_us, 5_us}, {1_ms + 101_us, 1_ms + 200_us}, small);
    return Analyzed(story);
  };
  const Analyzed tied = run_of(10, true, false);
  CHECK(Told(tied->syncs.event_chain) == "1 times, 0 bytes, 99000 ns in all, 199000 ns lost");
  CHECK(Changes(tied->syncs.event_chain) == "frees 1");
  CHECK(tied->syncs.chain_streams == 2);
  CHECK(tied->syncs.other_streams == 0);
  CHECK(tied->syncs.default_stream.count == 0);
  CHECK(run_of(1000, true, false)->syncs.event_chain.count == 0);  // the GPU is full
  CHECK(run_of(10, false, false)->syncs.event_chain.count == 0);   // they meet by chance
  const Analyzed null = run_of(10, false, true);
  CHECK(null->syncs.default_stream.count == 1);
  CHECK(Changes(null->syncs.default_stream) == "frees 1");
  CHECK(null->syncs.other_streams == 1);
  CHECK(null->syncs.event_chain.count == 0);
}

}  // namespace
}  // namespace advise
