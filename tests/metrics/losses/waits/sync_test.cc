// Waiting that need not be: harmless behind a full queue, costly until the host is ahead again.
#include "engine/metrics/losses/waits/sync.h"

#include <optional>

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

TEST_CASE("a synchronize behind a full queue loses nothing") {
  TraceBuilder story;
  AddFullQueue(&story, "work", 1_ms, 20, 200_us);
  // All 20 have been launched; the host waits for the third one's event and has nothing to do.
  story.Sync({1_ms + 1_us, 1_ms + 600_us}, "cudaEventSynchronize");
  const Analyzed run(story);
  CHECK(run->syncs.count == 1);
  CHECK(run->syncs.loop.count == 1);
  CHECK(run->syncs.loop.lost->Total() == 0);
}

TEST_CASE("a synchronize at the very end loses nothing") {
  TraceBuilder story;
  const Nanos end = AddFullQueue(&story, "work", 1_ms, 20, 200_us);
  story.Sync({1_ms + 1_us, end + 5_us}, "cudaDeviceSynchronize");
  CHECK(Analyzed(story)->syncs.loop.lost->Total() == 0);
}

TEST_CASE("a synchronize that drains the queue loses the bubble after it") {
  TraceBuilder story;
  const Nanos drained = AddFullQueue(&story, "work", 1_ms, 20, 200_us);
  story.Sync({1_ms + 1_us, drained + 5_us}, "cudaDeviceSynchronize");
  for (int i = 0; i < 20; ++i) {
    // 100 us of host code, then the queue fills again.
    const Nanos call = drained + 100_us + i * 5_us;
    const Nanos start = drained + 110_us + i * 200_us;
    story.Launch("work", {call, call + 4_us}, {start, start + 200_us});
  }
  const Analyzed run(story);
  CHECK(run->syncs.loop.lost->Total() == 110_us);
  CHECK(run->syncs.loop_name == "cudaDeviceSynchronize");
}

TEST_CASE("a host that touches managed memory must wait for the kernels that write it") {
  const auto waits = [](std::optional<MigrationCause> cause) {
    TraceBuilder story;
    Repeat(10, 500_us, [&](int, Nanos at) {
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 300_us});
      story.Sync({at + 6_us, at + 302_us}, "cudaDeviceSynchronize");
      if (cause) story.MigrateToHost(2_MiB, {at + 310_us, at + 400_us}, *cause);
    });
    return Analyzed(story)->syncs.loop.count;
  };
  CHECK(waits(std::nullopt) >= 9);
  CHECK(waits(MigrationCause::kFault) == 0);
  CHECK(waits(MigrationCause::kUnknown) == 0);  // not recorded
  CHECK(waits(MigrationCause::kEviction) >= 9);
}

// A solver reads a sum of 8 bytes in each iteration, adds it up over the ranks or only looks at it.
TEST_CASE("a number that MPI sends on must reach the host") {
  const auto reads = [](bool sent) {
    TraceBuilder story;
    Repeat(20, 500_us, [&](int, Nanos at) {
      story.Launch("dot", {at, at + 5_us}, {at + 10_us, at + 300_us});
      story.CopyFromGpu(8, MemoryKind::kPageable, {at + 6_us, at + 310_us},
                        {at + 302_us, at + 304_us});
      if (sent) story.Mpi("MPI_Allreduce", {at + 315_us, at + 360_us}, 8, 8);
    });
    return Analyzed(story)->syncs.item.count;
  };
  CHECK(reads(false) >= 19);
  CHECK(reads(true) <= 1);  // the window ends with the last copy
}

// Tokens of 1 ms, queued one ahead. After each fifth, the host does something for 20 ms, in no
// call.
TraceBuilder TokensWithPauses(bool os_calls) {
  TraceBuilder story;
  Nanos at = 0;
  for (int token = 0; token < 60; ++token) {
    const Nanos pause = token % 5 == 4 ? 20_ms : 50_us;
    story.Range("decode_step", {at, at + 1_ms + pause});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 995_us});
    story.Sync({at + 6_us, at + 1_ms}, "cudaEventSynchronize");
    if (os_calls) story.OsCall("ioctl", {at + 1_us, at + 3_us});
    at += 1_ms + pause;
  }
  return story;
}

TEST_CASE("a pause that may be a wait for a request does not overlap with GPU work of before") {
  const auto gain = [](bool os_calls) {
    const Analyzed run(TokensWithPauses(os_calls), kAuto);
    REQUIRE(run->kind.kind == KindOfRun::kInference);
    CHECK(run->syncs.count >= 50);
    return run->replay().Gain(*run->syncs.loop.remedy);
  };
  CHECK(gain(true) > 40_ms);  // calls of the OS would show the wait: it is code
  CHECK(gain(false) < 4_ms);
}

TEST_CASE("the result that a worker reads before it waits for its next request is no read-back") {
  const auto reads = [](bool requests) {
    TraceBuilder story;
    Repeat(40, 3_ms, [&](int, Nanos at) {
      if (requests)
        story.Thread("api_server")
            .OsCall("epoll_wait", {at + 100_us, at + 1'900_us})
            .OsCall("recv", {at + 1'901_us, at + 1'905_us});
      story.Thread("worker").OsCall("pthread_cond_wait", {at, at + 1'950_us});
      story.Launch("model", {at + 1'960_us, at + 1'965_us}, {at + 1'970_us, at + 2'800_us});
      story.CopyFromGpu(4000, MemoryKind::kPageable, {at + 1'966_us, at + 2'810_us},
                        {at + 2'802_us, at + 2'804_us});
    });
    return Analyzed(story)->syncs.item.count;
  };
  CHECK(reads(false) >= 38);
  CHECK(reads(true) <= 1);  // the window ends with the last one
}

TEST_CASE(
    "a worker of which three waits for requests were recorded is handed them, one of two is not") {
  const auto reads = [](int waits) {
    TraceBuilder story;
    Repeat(40, 3_ms, [&](int i, Nanos at) {
      story.Thread("api_server")
          .OsCall("epoll_wait", {at + 100_us, at + 1'900_us})
          .OsCall("recv", {at + 1'901_us, at + 1'905_us});
      story.Thread("worker");
      if (i % 8 == 4 && i / 8 < waits) story.OsCall("pthread_cond_wait", {at, at + 1'950_us});
      story.Launch("model", {at + 1'960_us, at + 1'965_us}, {at + 1'970_us, at + 2'800_us});
      story.CopyFromGpu(4000, MemoryKind::kPageable, {at + 1'966_us, at + 2'810_us},
                        {at + 2'802_us, at + 2'804_us});
    });
    const Trace trace = story.Build();  // twice of it would have twice the waits
    return Analysis(trace, ShippedKnowledge(), {}).syncs.item.count;
  };
  const auto all = reads(0);
  CHECK(reads(2) == all);
  CHECK(reads(3) == all - 3);
}

TEST_CASE("a pause that comes in each step is code of the step, and no wait for a request") {
  TraceBuilder story;
  Repeat(40, 3_ms, [&](int, Nanos at) {
    story.Range("decode_step", {at, at + 3_ms});
    for (int part = 0; part < 4; ++part) {
      const Nanos from = at + part * 450_us;
      story.Launch("work", {from, from + 5_us}, {from + 10_us, from + 430_us});
      story.Sync({from + 6_us, from + 440_us}, "cudaStreamSynchronize");
    }
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->kind.kind == KindOfRun::kInference);
  CHECK(run->syncs.loop.count >= 4 * 35);
}

TEST_CASE("what is lost after a synchronize lasts until the host is ahead again, not longer") {
  TraceBuilder story;
  const Nanos drained = AddFullQueue(&story, "work", 1_ms, 20, 200_us);
  story.Sync({1_ms + 1_us, drained + 5_us}, "cudaDeviceSynchronize");
  Nanos at = drained + 50_us;
  at = AddEmptyQueue(&story, "short", at, 5, 10_us, 40_us);  // behind: the host catches up
  const Nanos full = at + 20_us;
  for (int i = 0; i < 40; ++i) {  // ahead again, by far
    const Nanos call = at + 5_us + i * 5_us;
    story.Launch("work", {call, call + 4_us}, {full + i * 200_us, full + (i + 1) * 200_us});
  }
  const Nanos later = full + 40 * 200_us + 300_us;  // and much later a pause of another cause
  story.Launch("after", {later - 10_us, later - 5_us}, {later, later + 100_us});
  const Analyzed run(story);
  const Nanos lost = run->syncs.loop.lost->Total();
  CHECK(lost >= 50_us);
  CHECK(lost <= full - drained);
}

TEST_CASE("back-pressure in a launching call costs nothing") {
  TraceBuilder story;
  AddFullQueue(&story, "work", 1_ms, 30, 200_us);
  // The queue is full: this launch takes as long as three kernels.
  story.Launch("work", {960_us, 1_ms + 600_us}, {7_ms, 7_ms + 200_us});
  const Analyzed run(story);
  CHECK(run->times[0].idle.empty());
  CHECK(run->syncs.count == 0);
  CHECK(run->launches.slow.lost->Total() == 0);
}

TEST_CASE("an item that is read in every iteration costs the time until the GPU has work again") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 10; ++i, at += 400_us) {
    story.Launch("loss", {at, at + 5_us}, {at + 10_us, at + 200_us});
    story.CopyFromGpu(4, MemoryKind::kPageable, {at + 6_us, at + 204_us},
                      {at + 201_us, at + 203_us});
    story.Sync({at + 205_us, at + 206_us});
  }
  const Analyzed run(story);
  CHECK(run->syncs.item.count == 10);
  // Nine bubbles of 207 us, and the copies themselves.
  CHECK(run->syncs.item.lost->Total() >= 9 * 207_us);
  CHECK(run->syncs.item.lost->Total() <= 9 * 210_us + 10 * 4_us);
  CHECK(run->syncs.loop.lost->Total() == 0);  // the synchronize is the item's
}

// As programs log them: the step ends with the loss, the accuracy, the gradients' norm and more,
// read one behind the other and formatted.
TEST_CASE("several items that are read one behind the other are items, not pieces of one copy") {
  TraceBuilder story;
  constexpr int kItems = 6;
  Repeat(20, 2_ms, [&](int, Nanos at) {
    story.Launch("step", {at, at + 5_us}, {at + 10_us, at + 1500_us});
    for (int i = 0; i < kItems; ++i) {
      const Nanos copy = i == 0 ? at + 1502_us : at + 1500_us + i * 60_us;
      const Nanos called = i == 0 ? at + 6_us : copy - 8_us;
      story.CopyFromGpu(4, MemoryKind::kPageable, {called, copy + 3_us}, {copy, copy + 1_us});
      story.Sync({copy + 4_us, copy + 5_us});
    }
  });
  const Analyzed run(story);
  CHECK(run->syncs.item.count == 20 * kItems);
  CHECK(run->syncs.item.lost->Total() >= 19 * 400_us);
  CHECK(run->copies.small.count == 0);
}

TEST_CASE("waits inside forward ranges are told apart") {
  TraceBuilder story;
  story.Launch("first", {0_us, 5_us}, {10_us, 100_us});
  // Different kernels, so that no step is seen in it.
  for (int i = 1; i < 5; ++i) {
    const Nanos at = i * 1_ms;
    story.Range("forward", {at, at + 400_us});
    story.Launch("layer " + std::string(5, static_cast<char>('a' + i)), {at, at + 5_us},
                 {at + 10_us, at + 100_us});
    story.Sync({at + 6_us, at + 102_us});
    story.Launch("head", {at + 500_us, at + 505_us}, {at + 510_us, at + 600_us});
    story.Sync({at + 506_us, at + 602_us});
  }
  const Analyzed run(story);
  CHECK(run->syncs.loop.count == 8);
  CHECK(run->syncs.forward.count == 4);
  CHECK(run->syncs.forward.lost->Total() < run->syncs.loop.lost->Total());
}

TEST_CASE("a memset that holds the host is found, an asynchronous one is not") {
  TraceBuilder story;
  story.Launch("work", {0_us, 5_us}, {10_us, 100_us});
  story.Memset(1_MiB, {6_us, 106_us}, {100_us, 105_us}, "cudaMemset");
  story.Memset(1_MiB, {110_us, 113_us}, {120_us, 125_us}, "cudaMemsetAsync");
  story.Launch("work", {200_us, 205_us}, {210_us, 300_us});
  const Analyzed run(story);
  CHECK(run->syncs.memset.count == 1);
}

TEST_CASE("kernels of the default stream that could run beside others are found") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 10; ++i, at += 100_us) {
    story.OnStream(8).Launch("a", {at, at + 4_us}, {at + 10_us, at + 60_us}, {.blocks = 10});
    story.OnDefaultStream().Launch("b", {at + 5_us, at + 9_us}, {at + 60_us, at + 100_us},
                                   {.blocks = 10});
  }
  const Analyzed run(story);
  CHECK(run->syncs.default_stream.count == 10);
  CHECK(run->syncs.other_streams == 1);
  CHECK(run->syncs.default_share == Approx(400.0 / 900.0));
  // The default stream's own time, and no more than all that takes turns.
  CHECK(run->syncs.default_stream.lost->Total() >= 400_us);
  CHECK(run->syncs.default_stream.lost->Total() <= 900_us);
}

TEST_CASE("the streams that the default stream holds are counted without it") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 10; ++i, at += 140_us) {
    for (const std::int64_t stream : {8, 9}) {
      const Nanos from = at + 10_us + (stream - 8) * 60_us;
      story.OnStream(stream).Launch("a", {at, at + 4_us}, {from, from + 30_us}, {.blocks = 10});
      story.OnDefaultStream().Launch("b", {at + 5_us, at + 9_us}, {from + 30_us, from + 60_us},
                                     {.blocks = 10});
    }
  }
  const Analyzed run(story);
  CHECK(run->syncs.other_streams == 2);
  CHECK(run->syncs.default_share == Approx(0.5));
}

// Two streams whose kernels begin as the other's end, as they were launched long before.
TraceBuilder InTurn(bool asked) {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 10; ++i, at += 100_us) {
    story.OnStream(8).Launch("a", {at, at + 4_us}, {at + 10_us, at + 60_us}, {.blocks = 10});
    if (asked) story.Call("cudaStreamWaitEvent", {at + 4_us, at + 5_us});
    story.OnStream(9).Launch("b", {at + 5_us, at + 9_us}, {at + 60_us, at + 100_us},
                             {.blocks = 10});
  }
  return story;
}

TEST_CASE("streams are tied by events where somebody waits for one, and otherwise meet by chance") {
  const Analyzed tied(InTurn(true));
  CHECK(tied->syncs.event_chain.count == 10);
  CHECK(tied->syncs.chain_streams == 2);
  CHECK(tied->syncs.default_share == 0);
  const Analyzed free(InTurn(false));
  CHECK(free->syncs.event_chain.count == 0);
  CHECK(free->syncs.event_chain.lost->Total() == 0);
}

TEST_CASE("branches that are forked and joined use their streams, and need the events") {
  const auto run_of = [](Nanos second) {  // when the second branch begins, after the first
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 10; ++i, at += 200_us) {
      story.Call("cudaStreamWaitEvent", {at, at + 1_us});
      story.OnStream(8).Launch("a", {at + 1_us, at + 2_us}, {at + 20_us, at + 70_us},
                               {.blocks = 10});
      story.Call("cudaStreamWaitEvent", {at + 3_us, at + 4_us});
      story.OnStream(9).Launch("b", {at + 4_us, at + 5_us},
                               {at + 20_us + second, at + 70_us + second}, {.blocks = 10});
      story.Call("cudaStreamWaitEvent", {at + 6_us, at + 7_us});
      story.OnStream(7).Launch("join", {at + 7_us, at + 8_us}, {at + 70_us + second, at + 160_us},
                               {.blocks = 10});
    }
    return Analyzed(story);
  };
  CHECK(run_of(2_us)->syncs.event_chain.count == 0);
  CHECK(run_of(50_us)->syncs.event_chain.count > 0);  // one after the other
}

TEST_CASE("the default stream alone is no problem") {
  TraceBuilder story;
  story.OnDefaultStream();
  AddFullQueue(&story, "work", 1_ms, 20, 50_us);
  CHECK(Analyzed(story)->syncs.default_stream.lost->Total() == 0);
}

// A server reads a number back, makes sure of an event that is long past, and works for 1 ms before
// it launches the next step.
TEST_CASE("a synchronization that finds everything done is not what blocked the host") {
  TraceBuilder story;
  Repeat(40, 3_ms, [&](int, Nanos at) {
    story.Range("step", {at, at + 3_ms});
    story.Graph(1, {at, at + 10_us}, {at + 20_us, at + 1900_us});
    story.CopyFromGpu(4, MemoryKind::kPageable, {at + 20_us, at + 1920_us},
                      {at + 1905_us, at + 1907_us});
    story.Call("cudaStreamSynchronize", {at + 1925_us, at + 1927_us});
    story.Call("cudaEventSynchronize", {at + 1930_us, at + 1932_us});
  });
  const Analyzed run(story, kAuto);
  CHECK(run->syncs.item.lost->Total() > 39 * 1_ms);
  CHECK(run->syncs.item_code_ns > 38 * 1_ms);
  CHECK(run->syncs.loop.lost->Total() < 1_ms);
}

TEST_CASE("idle time behind a synchronization is host code where the host computes for long") {
  const auto code = [](Nanos pause) {
    TraceBuilder story;
    Repeat(20, 10_ms, [&](int, Nanos at) {
      for (int k = 0; k < 5; ++k) {
        const Nanos kernel = at + k * (pause + 500_us);
        story.Launch("work", {kernel, kernel + 5_us}, {kernel + 10_us, kernel + 300_us});
        story.Sync({kernel + 6_us, kernel + 302_us}, "cudaStreamSynchronize");
      }
    });
    const Analyzed run(story);
    return run->syncs.loop_code_ns;
  };
  CHECK(code(1_ms) >= 95 * 1_ms);
  CHECK(code(50_us) <= 20 * 9_ms);  // but for the pause between steps
}

TEST_CASE("network calls behind a value that was read back are not the read-back's") {
  const auto lost = [](const char* call) {
    TraceBuilder story;
    Repeat(20, 3_ms, [&](int, Nanos at) {
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1_ms});
      story.CopyFromGpu(4, MemoryKind::kPageable, {at + 10_us, at + 1010_us},
                        {at + 1_ms, at + 1005_us});
      story.OsCall(call, {at + 1020_us, at + 2900_us});
    });
    return Analyzed(story)->syncs.item.lost->Total();
  };
  CHECK(lost("recv") <= 20 * 200_us);
  CHECK(lost("getrusage") >= 18 * 1900_us);
}

TEST_CASE("code that comes once in a step is not that of one of the many reads in it") {
  // A request: 90 ms of code prepare its input, then 40 tokens are generated, each read one by one.
  const auto lost = [](int tokens) {
    TraceBuilder story;
    Repeat(6, 90_ms + tokens * 1_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 90_ms + tokens * 1_ms});
      for (int token = 0; token < tokens; ++token) {
        const Nanos from = at + 90_ms + token * 1_ms;
        story.Launch("decode", {from, from + 5_us}, {from + 10_us, from + 900_us});
        story.CopyFromGpu(8, MemoryKind::kPageable, {from + 10_us, from + 910_us},
                          {from + 901_us, from + 905_us});
      }
    });
    return Analyzed(story, kAuto)->syncs.item.lost->Total();
  };
  CHECK(lost(40) <= 6 * 40 * 200_us);
  CHECK(lost(1) >= 4 * 90_ms);  // the only read of each step
}

// A worker reads the result of each batch back, hands it over, and waits for the next batch:
// removing the read-back lets no batch come sooner.
TEST_CASE("a wait for another thread behind a value that was read back is not the read-back's") {
  TraceBuilder story;
  constexpr int kSteps = 20;
  Repeat(kSteps, 3_ms, [&](int, Nanos at) {
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 1_ms});
    story.CopyFromGpu(4, MemoryKind::kPageable, {at + 10_us, at + 1010_us},
                      {at + 1_ms, at + 1005_us});
    story.Sync({at + 1011_us, at + 1012_us});
    story.OsCall("pthread_cond_wait", {at + 1020_us, at + 2950_us});
  });
  const Analyzed run(story);
  CHECK(run->syncs.item.lost->Total() <= kSteps * 200_us);
  CHECK(run->replay().Gain(*run->syncs.item.remedy) <= kSteps * 200_us);
  CHECK(run->stalls.os_wait.lost->Total() >= kSteps * 1800_us);
  CHECK(run->replay().Gain(*run->stalls.os_wait.remedy) >= kSteps * 1700_us);
}

// A decoder makes one batch in 3 ms. The launching thread waits for it, and then launches sixty
// kernels of 10 us, one each 30 us. A decoder that never rests makes batches no faster when they
// are launched faster; one that is asked first, and waits meanwhile, does.
TEST_CASE("what a thread makes that never rests comes at its own pace") {
  constexpr int kSteps = 20;
  const auto gain = [](bool rests) {
    TraceBuilder story;
    Repeat(kSteps, 3_ms, [&](int, Nanos at) {
      story.Thread("decoder").OsCall("read", {at + 20_us, at + 150_us});
      if (rests) story.OsCall("sem_wait", {at + 1200_us, at + 2990_us});
      story.Thread("main").OsCall("pthread_cond_wait", {at + 10_us, at + 1190_us});
      for (int k = 0; k < 60; ++k) {
        const Nanos call = at + 1200_us + k * 30_us;
        story.Launch("layer " + std::to_string(k), {call, call + 5_us},
                     {call + 8_us, call + 18_us});
      }
    });
    const Analyzed run(story);
    CHECK(run->stalls.os_wait.lost->Total() >= (kSteps - 1) * 1_ms);
    CHECK(run->replay().Gain(*run->stalls.os_wait.remedy) >= (kSteps - 1) * 1_ms);
    return run->replay().Gain(*run->launches.bound.remedy);
  };
  CHECK(gain(false) <= kSteps * 100_us);
  CHECK(gain(true) >= kSteps * 900_us);
}

TEST_CASE("of the waits that long code follows the share is known") {
  TraceBuilder story;  // a wait after each of five kernels, and code of 5 ms after the last one
  Repeat(20, 10_ms, [&](int, Nanos at) {
    for (int k = 0; k < 5; ++k) {
      const Nanos kernel = at + k * 350_us;
      story.Launch("work", {kernel, kernel + 5_us}, {kernel + 10_us, kernel + 300_us});
      story.Sync({kernel + 6_us, kernel + 302_us}, "cudaStreamSynchronize");
    }
  });
  const Analyzed run(story);
  CHECK(run->syncs.loop_code_ns >= 19 * 5_ms);
  CHECK(run->syncs.loop_with_code == Approx(0.2).margin(0.01));
}

TEST_CASE("a server must wait for the result that it answers with") {
  const auto loop = [](const char* next) {
    TraceBuilder story;
    Repeat(20, 2_ms, [&](int, Nanos at) {
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 600_us});
      story.Launch("more", {at + 6_us, at + 9_us}, {at + 600_us, at + 700_us});
      story.Sync({at + 10_us, at + 705_us}, "cudaStreamSynchronize");
      story.OsCall(next, {at + 710_us, at + 720_us});
    });
    return story;
  };
  const Analyzed server(loop("sendmsg"));
  CHECK(server->syncs.count == 19);  // the last one ends the window
  CHECK(server->syncs.loop.count == 0);
  CHECK(Analyzed(loop("getrusage"))->syncs.loop.count == 19);
}

TEST_CASE("idle time in frees behind a wait is the frees', and they would wait themselves") {
  TraceBuilder story;
  for (int i = 0; i < 10; ++i) {
    const Nanos at = i * 1_ms;
    story.Range("step " + std::to_string(i), {at, at + 995_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 600_us});
    story.Sync({at + 6_us, at + 605_us}, "cudaDeviceSynchronize");
    story.Call("cudaFree", {at + 606_us, at + 800_us});
    story.Call("cudaMalloc", {at + 801_us, at + 990_us});
  }
  const Analyzed run(story, WindowRequest::Mode::kAuto);
  CHECK(run->host.alloc.lost->Total() >= 9 * 380_us);
  CHECK(run->syncs.loop.lost->Total() < 9 * 50_us);
  CHECK(run->replay().Gain(*run->syncs.loop.remedy) < 9 * 30_us);
}

}  // namespace
}  // namespace advise
