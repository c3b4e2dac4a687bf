// The data pipeline as the GPU feels it.
#include "engine/metrics/losses/input/input.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Ten steps of a millisecond: 600 us of work, then what `between` adds in [at + 610, at + 990) us.
TraceBuilder Starved(const std::function<void(TraceBuilder*, int, Nanos)>& between) {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Thread("main").Range("step " + std::to_string(i), {at, at + 995_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 610_us});
    between(&story, i, at);
    story.Thread("main");
  });
  return story;
}

TEST_CASE("loading on the launching thread is its own loading") {
  const Analyzed run(Starved([](TraceBuilder* story, int, Nanos at) {
                       story->Range("load_batch", {at + 610_us, at + 990_us});
                     }),
                     kAuto);
  CHECK(run->input.own_ns > 9 * 350_us);
  CHECK(run->input.waiting_ns == 0);
  CHECK(run->input.workers == 0);
  CHECK_FALSE(run->input.background);
  CHECK(run->input.steps_affected >= 0.8);
  CHECK(run->input.loss.lost->Total() > 9 * 350_us);
}

// The name that PyTorch gives its loader says whether worker processes load.
TEST_CASE("the loader's own name tells whether it has workers") {
  const auto loader = [](std::initializer_list<const char*> names) {
    TraceBuilder story = Starved([&](TraceBuilder* told, int, Nanos at) {
      for (const char* name : names) told->Range(name, {at + 610_us, at + 990_us});
    });
    return std::string(Analyzed(story, kAuto)->input.loader);
  };
  const char* own = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  const char* workers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  CHECK(loader({own}) == "own");
  CHECK(loader({workers}) == "workers");
  CHECK(loader({own, workers}).empty());
  CHECK(loader({"load_batch"}).empty());
}

// CUDA opens a socket when it starts, and maps memory behind that.
TEST_CASE("who opens a socket and maps memory was handed nothing by workers") {
  const auto loader = [](const char* call) {
    const Analyzed run(Starved([&](TraceBuilder* story, int, Nanos at) {
                         story->OsCall(call, {at + 620_us, at + 630_us});
                         story->OsCall("mmap", {at + 640_us, at + 700_us});
                       }),
                       kAuto);
    return std::string(run->input.loader);
  };
  CHECK(loader("connect").empty());
  CHECK(loader("recvmsg") == "workers");
}

TEST_CASE("a step that waits for its data while its GPU waits for another one is affected") {
  const auto affected = [](Nanos load) {
    const Analyzed run(Starved([load](TraceBuilder* story, int, Nanos at) {
                         story->Launch("ncclDevKernel_AllReduce_Sum_f32", {at + 6_us, at + 9_us},
                                       {at + 610_us, at + 990_us});
                         story->Range("load_batch", {at + 615_us, at + 615_us + load});
                       }),
                       kAuto);
    return run->input.steps_affected;
  };
  CHECK(affected(370_us) >= 0.8);
  CHECK(affected(50_us) == 0);  // a batch that lay ready
}

TEST_CASE("what is loaded before the loop is no batch, also where the window holds it") {
  TraceBuilder story;
  story.Launch("work", {0_us, 5_us}, {10_us, 100_us});
  story.Range("load_checkpoint", {120_us, 20_ms}).OsCall("read", {130_us, 19_ms});
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    const Nanos from = at + 20_ms;
    story.Range("step " + std::to_string(i), {from, from + 995_us});
    story.Launch("work", {from + 1_us, from + 5_us}, {from + 10_us, from + 610_us});
  });
  const Analyzed run(story);
  REQUIRE(run->run.steps.all.size() == 10);
  CHECK(run->input.own_ns == 0);
  CHECK(run->input.loss.lost->Total() == 0);
}

TEST_CASE("code outside the range that says what is loading is none of it") {
  const Analyzed run(Starved([](TraceBuilder* story, int, Nanos at) {
                       story->Range("load_batch", {at + 900_us, at + 990_us});
                     }),
                     kAuto);
  CHECK(run->input.loss.lost->Total() == Approx(9 * 90e3).epsilon(0.2));
}

TEST_CASE("files that are opened, written and closed are output, not a batch") {
  const Analyzed run(Starved([](TraceBuilder* story, int, Nanos at) {
                       story->OsCall("fopen64", {at + 620_us, at + 650_us});
                       story->OsCall("fwrite", {at + 660_us, at + 900_us});
                       story->OsCall("fclose", {at + 910_us, at + 980_us});
                     }),
                     kAuto);
  CHECK(run->input.loss.lost->Total() == 0);
  CHECK(run->stalls.file_write.lost->Total() >= 9 * 340_us);
}

// The thread reads while the GPU still works, and then computes until it uploads, or launches.
TEST_CASE("what is read beside the GPU's work is decoded in the gap behind it") {
  const auto lost = [](bool uploads, const char* does) {
    const Analyzed run(Starved([&](TraceBuilder* story, int, Nanos at) {
                         story->OsCall(does, {at + 400_us, at + 450_us});
                         if (uploads)
                           story->CopyToGpu(1_MiB, MemoryKind::kPinned, {at + 960_us, at + 965_us},
                                            {at + 970_us, at + 990_us});
                       }),
                       kAuto);
    return run->input.loss.lost->Total();
  };
  CHECK(lost(true, "read") >= 8 * 340_us);
  CHECK(lost(false, "read") == 0);
  CHECK(lost(true, "write") == 0);
}

TEST_CASE("the part of the loading that reads files is told") {
  const Analyzed run(Starved([](TraceBuilder* story, int, Nanos at) {
                       story->Range("load_batch", {at + 610_us, at + 990_us});
                       story->OsCall("read", {at + 610_us, at + 800_us});
                     }),
                     kAuto);
  CHECK(run->input.file_share > 0.4);
  CHECK(run->input.file_share < 0.6);
}

TEST_CASE("waiting for workers is waiting, and workers are counted") {
  TraceBuilder story = Starved([](TraceBuilder* s, int, Nanos at) {
    s->OsCall("poll", {at + 612_us, at + 988_us});
  });
  for (int worker = 0; worker < 2; ++worker) {
    story.Process("worker " + std::to_string(worker)).Thread("pt_data_worker");
    Repeat(10, 1_ms, [&](int, Nanos at) { story.OsCall("read", {at + 100_us, at + 900_us}); });
  }
  const Analyzed run(story, kAuto);
  CHECK(run->input.waiting_ns > 9 * 350_us);
  CHECK(run->input.own_ns < run->input.waiting_ns / 10);
  CHECK(run->input.workers == 2);
  CHECK(run->input.background);
}

TEST_CASE("what the host computes before it waits for workers is no loading") {
  TraceBuilder story = Starved([](TraceBuilder* s, int, Nanos at) {
    s->OsCall("poll", {at + 750_us, at + 988_us});
  });
  story.Process("worker").Thread("pt_data_worker");
  Repeat(10, 1_ms, [&](int, Nanos at) { story.OsCall("read", {at + 100_us, at + 980_us}); });
  const Analyzed run(story, kAuto);
  CHECK(run->input.waiting_ns > 9 * 220_us);
  CHECK(run->input.loss.lost->Total() < 10 * 240_us);
  CHECK(run->input.own_ns == 0);
}

// Each reads for 80 of 1,000 us, and waits for 200.
TEST_CASE("processes of the same program that read files and launch nothing are workers") {
  const auto input = [](const char* program, const char* second_call) {
    TraceBuilder story = Starved([](TraceBuilder* s, int, Nanos at) {
      s->OsCall("poll", {at + 612_us, at + 988_us});
    });
    for (int worker = 0; worker < 2; ++worker) {
      story.Process(program, worker).Thread("main");  // the number tells them apart
      Repeat(10, 1_ms, [&](int, Nanos at) {
        story.OsCall("read", {at, at + 80_us});
        story.OsCall(second_call, {at + 200_us, at + 400_us});
        story.OsCall("read", {at + 990_us, at + 990_us});
      });
    }
    return Analyzed(story, kAuto)->input;
  };
  const Input spawned = input("python", "poll");
  CHECK(spawned.workers == 2);
  CHECK(spawned.waiting_ns > 9 * 350_us);
  CHECK(spawned.file_share == Approx(0.1).margin(0.02));
  CHECK(input("wandb", "poll").workers == 0);
  CHECK(input("python", "sendmsg").workers == 0);  // talks to somebody
}

TEST_CASE("workers are as busy as they were while they were seen") {
  const auto busy = [](int rounds, Nanos waits) {
    TraceBuilder story = Starved([](TraceBuilder* s, int, Nanos at) {
      s->OsCall("poll", {at + 612_us, at + 988_us});
    });
    story.Process("worker").Thread("pt_data_worker");
    Repeat(rounds, 1_ms, [&](int, Nanos at) {
      story.OsCall("read", {at, at + 500_us});
      story.OsCall("futex", {at + 990_us - waits, at + 990_us});
    });
    return Analyzed(story, kAuto)->input.workers_busy;
  };
  CHECK(busy(10, 0) == Approx(1));
  CHECK(busy(4, 0) == Approx(1));  // what it does later was not seen
  CHECK(busy(10, 400_us) == Approx(0.6).margin(0.03));
}

TEST_CASE("without steps, one wait for workers is that for the first batch") {
  for (const int waits : {1, 3}) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i <= waits; ++i) {  // kernels that do not repeat
      story.Thread("main").Launch("kernel " + std::to_string(i), {at, at + 5_us},
                                  {at + 10_us, at + 610_us});
      if (i < waits) story.OsCall("poll", {at + 612_us, at + 2990_us});
      at += 3_ms + i * 10_us;
    }
    story.Process("worker").Thread("pt_data_worker");
    story.OsCall("read", {100_us, at});
    CHECK((Analyzed(story)->input.loss.lost->Total() > 0) == (waits > 1));
  }
}

TEST_CASE("without steps, what is read once is no batch; what is read again and again is") {
  const auto lost = [](int reads, bool named) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i <= reads; ++i) {  // kernels that do not repeat
      story.Thread("main").Launch("kernel " + std::to_string(i), {at, at + 5_us},
                                  {at + 10_us, at + 610_us});
      if (i < reads) story.OsCall("read", {at + 700_us, at + 800_us});
      if (i < reads && named) story.Range("load_batch", {at + 690_us, at + 900_us});
      at += 3_ms + i * 10_us;
    }
    return Analyzed(story)->input.loss.lost->Total();
  };
  CHECK(lost(1, false) == 0);
  CHECK(lost(4, false) > 0);
  CHECK(lost(1, true) > 0);
}

TEST_CASE("loading that the GPU does not feel costs nothing") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 995_us});
    story.Launch("work", {at + 10_us, at + 15_us}, {at + 100_us, at + 1100_us});
    story.Range("load_batch", {at + 20_us, at + 900_us});
  });
  const Analyzed run(story, kAuto);
  CHECK(run->input.loss.lost->Total() == 0);
  CHECK(run->input.loads == 0);
}

TEST_CASE("single loads that take far longer than the median are slow loads") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 20; ++i) {
    const Nanos load = i == 7 || i == 15 ? 2_ms : 200_us;
    story.Range("step " + std::to_string(i), {at, at + 600_us + load});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 600_us});
    story.Range("load_batch", {at + 600_us, at + 600_us + load});
    at += 600_us + load;
  }
  const Analyzed run(story);
  CHECK(run->input.slow.count == 2);
  CHECK(run->input.load_max_ns == Approx(2_ms).epsilon(0.05));
  CHECK(run->input.load_median_ns == Approx(200_us).epsilon(0.05));
  CHECK(run->input.slow_excess_ns == Approx(2 * 1800_us).epsilon(0.05));
}

TEST_CASE("even loads hold no slow ones") {
  const Analyzed run(Starved([](TraceBuilder* story, int, Nanos at) {
                       story->Range("load_batch", {at + 610_us, at + 990_us});
                     }),
                     kAuto);
  CHECK(run->input.slow.count == 0);
  CHECK(run->input.slow_excess_ns == 0);
}

TEST_CASE("mapping memory between steps is told apart") {
  const Analyzed run(Starved([](TraceBuilder* story, int, Nanos at) {
    story->OsCall("mmap", {at + 650_us, at + 750_us}).OsCall("munmap", {at + 760_us, at + 860_us});
  }));
  CHECK(run->input.map.lost->Total() == 9 * 200_us);
  // Calls beside the GPU's work cost no idle time, and still keep the host from getting ahead.
  const Analyzed beside(Starved([](TraceBuilder* story, int, Nanos at) {
    story->OsCall("mmap", {at + 100_us, at + 300_us}).OsCall("munmap", {at + 760_us, at + 860_us});
  }));
  Nanos cut = 0;
  for (const auto& host : beside->input.map.remedy->host_cuts) cut += host.when.Total();
  CHECK(beside->input.map.lost->Total() == 9 * 100_us);
  CHECK(cut >= 9 * 300_us);
}

TEST_CASE("a program that maps memory for its arrays loads no data") {
  const auto own = [](const char* first) {
    return Analyzed(Starved([first](TraceBuilder* story, int, Nanos at) {
                      story->OsCall(first, {at + 615_us, at + 660_us});
                      story->OsCall("mmap64", {at + 700_us, at + 740_us});
                      story->OsCall("munmap", {at + 940_us, at + 985_us});
                    }),
                    kAuto)
        ->input.own_ns;
  };
  CHECK(own("mmap64") == 0);
  // What is read goes into the memory that is mapped, and code between is decoding.
  CHECK(own("read") > 9 * 350_us);
}

TEST_CASE("code between steps that no range names is no loading") {
  const Analyzed run(Starved([](TraceBuilder*, int, Nanos) {}), kAuto);
  CHECK(run->input.loss.lost->Total() == 0);
}

}  // namespace
}  // namespace advise
