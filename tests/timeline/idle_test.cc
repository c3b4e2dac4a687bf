// Why each GPU was idle: for each cause of the contract a timeline that a person would name so.
#include "engine/timeline/idle.h"

#include "tests/support/analyzed.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

std::string Told(std::vector<std::pair<const char*, Nanos>> parts) {
  std::string text;
  for (const auto& [name, time] : parts)
    text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(time);
  return text;
}

TEST_CASE("code that the report does not show is host compute, the launch and its latency launch") {
  const Analyzed run(GapStory());
  CHECK(run.Causes() == Told({{"launch", 10_us}, {"host_compute", 100_us}}));
}

TEST_CASE("a gap under a range that loads data is data loading") {
  const Analyzed run(GapStory().Range("load_batch", {90_us, 195_us}));
  CHECK(run.Causes() == Told({{"data_loading", 95_us}, {"launch", 10_us}, {"host_compute", 5_us}}));
}

TEST_CASE("reading files inside a range that loads data is data loading") {
  const Analyzed run(
      GapStory().Range("load_batch", {100_us, 200_us}).OsCall("read", {120_us, 180_us}));
  CHECK(run.Idle(IdleCause::kDataLoading) == 100_us);
  CHECK(run.Idle(IdleCause::kFileIo) == 0);
}

TEST_CASE("waiting in the OS while loader workers are at work is data loading") {
  TraceBuilder story = GapStory().OsCall("poll", {102_us, 195_us});
  story.Process("python worker").Thread("pt_data_worker").OsCall("read", {90_us, 190_us});
  const Analyzed run(story);
  CHECK(run.Causes() == Told({{"data_loading", 93_us}, {"launch", 10_us}, {"host_compute", 7_us}}));
}

// A thread decodes a batch, uploads it and does so again; the main thread waits for each batch and
// launches what runs on it.
TraceBuilder FedByThread(bool waits_recorded, const char* decoder = "decoder",
                         const char* launcher = "main") {
  TraceBuilder story;
  for (int s = 0; s < 8; ++s) {
    const Nanos begin = s * 1'000'000;
    story.Process("python").Thread(decoder).OsCall("read", {begin + 20'000, begin + 60'000});
    story.OnStream(13)
        .CopyToGpu(1_MiB, MemoryKind::kPinned, {begin + 800'000, begin + 804'000},
                   {begin + 806'000, begin + 850'000})
        .Sync({begin + 805'000, begin + 853'000});
    if (waits_recorded) story.OsCall("pthread_cond_wait", {begin + 900'000, begin + 910'000});
    story.Thread(launcher).OnStream(7).Launch("conv", {begin + 860'000, begin + 863'000},
                                              {begin + 868'000, begin + 1'300'000});
    if (waits_recorded) story.OsCall("pthread_cond_wait", {begin + 870'000, begin + 1'855'000});
  }
  return story;
}

TEST_CASE("waiting for a thread that computes data and uploads it is data loading") {
  for (const bool waits_recorded : {true, false}) {
    const Analyzed run(FedByThread(waits_recorded));
    const Nanos idle = 7 * (506'000 + 18'000);
    CHECK(run.Idle(IdleCause::kDataLoading) >= 7 * 500'000);
    CHECK(run.Idle(IdleCause::kHostCompute) < idle / 10);
    // A decoder that is fast enough leaves the GPU's own work, which takes less than half the time.
    CHECK(run->replay().Gain(*run->input.loss.remedy) > run.Window() * 2 / 5);
  }
}

TEST_CASE("a program whose main thread uploads and lets another one launch is no loader") {
  const Analyzed run(FedByThread(false, "main", "engine"));
  CHECK(run.Idle(IdleCause::kDataLoading) == 0);
  CHECK(run.Idle(IdleCause::kHostCompute) >= 7 * 500'000);
}

TEST_CASE("waiting in a synchronize after the GPU has finished is host sync") {
  const Analyzed run(GapStory().Sync({20_us, 150_us}));
  CHECK(run.Causes() == Told({{"host_sync", 50_us}, {"launch", 10_us}, {"host_compute", 50_us}}));
}

// Two kernels that were launched together, and a function on the host between them.
TraceBuilder WithFunction(bool queued, const char* between = "cudaLaunchHostFunc") {
  TraceBuilder story;
  story.OnStream(7).Launch("filter", {0, 5_us}, {10_us, 100_us});
  if (queued) story.Call(between, {10_us, 15_us});
  story.Launch("compose", {20_us, 25_us}, {900_us, 950_us});
  return story;
}

TEST_CASE("a stream whose work is queued behind a function on the host waits for that function") {
  const Analyzed run(WithFunction(true));
  CHECK(run.Causes() == Told({{"launch", 10_us}, {"host_function", 790_us}}));
  // Without the function, the kernel follows the one before it.
  CHECK(run->replay().Gain(*run->syncs.host_function.remedy) > 750_us);
  CHECK(Analyzed(WithFunction(true, "cudaEventRecord")).Idle(IdleCause::kHostFunction) == 0);
  CHECK(Analyzed(WithFunction(false)).Idle(IdleCause::kUnknown) == 790_us);
}

TEST_CASE("functions between work that was queued before the window hold it back as well") {
  TraceBuilder story;
  story.OnStream(7).Launch("filter", {0, 5_us}, {10_us, 1'000_us});
  for (Nanos i = 0; i < 40; ++i) {
    const Nanos call = (i + 1) * 10_us;
    const Nanos at = (i + 1) * 2'000_us;
    story.Call("cudaLaunchHostFunc", {call, call + 2_us});
    story.Launch("filter", {call + 3_us, call + 6_us}, {at, at + 1'000_us});
  }
  const Trace trace = story.Build();
  AnalysisOptions options;
  options.window = {WindowRequest::Mode::kGiven, 20e-3, 60e-3};
  const Analysis run(trace, ShippedKnowledge(), options);
  CHECK(run.replay().Gain(*run.syncs.host_function.remedy) > 15'000_us);
}

TEST_CASE(
    "a wait that outlasts the GPU's work by far is for the function queued behind that work") {
  const auto story = [](bool queued, Nanos until) {
    TraceBuilder made;
    made.OnStream(7).Launch("filter", {0, 5_us}, {10_us, 100_us});
    if (queued) made.Call("cudaLaunchHostFunc", {10_us, 15_us});
    made.Sync({20_us, until})
        .Launch("filter", {until + 5_us, until + 9_us}, {until + 12_us, until + 100_us});
    return made;
  };
  const Analyzed run(story(true, 3'000_us));
  CHECK(run.Idle(IdleCause::kHostFunction) == 2'900_us);
  CHECK(run.Idle(IdleCause::kHostSync) == 0);
  CHECK(run->replay().Gain(*run->syncs.host_function.remedy) > 2'800_us);
  CHECK(Analyzed(story(false, 3'000_us)).Idle(IdleCause::kHostFunction) == 0);
  CHECK(Analyzed(story(true, 130_us)).Idle(IdleCause::kHostFunction) == 0);  // it has returned
}

TEST_CASE("a synchronize that ends with its kernel leaves no time to host sync") {
  const Analyzed run(GapStory().Sync({20_us, 100_us}));
  CHECK(run.Idle(IdleCause::kHostSync) == 0);
}

TEST_CASE("allocating, freeing and registering memory is allocation") {
  for (const char* call : {"cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaHostRegister",
                           "cuMemCreate", "cudaFreeHost"}) {
    INFO(call);
    const Analyzed run(GapStory().Call(call, {110_us, 190_us}));
    CHECK(run.Causes() ==
          Told({{"allocation", 80_us}, {"launch", 10_us}, {"host_compute", 20_us}}));
  }
}

TEST_CASE("an allocation inside a range that loads data is still an allocation") {
  const Analyzed run(
      GapStory().Range("load_batch", {100_us, 200_us}).Call("cudaHostAlloc", {120_us, 150_us}));
  CHECK(run.Causes() == Told({{"data_loading", 70_us}, {"allocation", 30_us}, {"launch", 10_us}}));
}

TEST_CASE("loading a module and compiling are jit or module load") {
  for (const char* call : {"cuModuleLoadData", "nvrtcCompileProgram", "cuLibraryLoadData"}) {
    INFO(call);
    const Analyzed run(GapStory().Call(call, {110_us, 190_us}));
    CHECK(run.Causes() ==
          Told({{"jit_or_module_load", 80_us}, {"launch", 10_us}, {"host_compute", 20_us}}));
  }
}

TEST_CASE("lazy loading inside the launching call is no launch latency") {
  const Analyzed run(TraceBuilder()
                         .Launch("before", {0_us, 5_us}, {10_us, 100_us})
                         .Launch("first of its kind", {120_us, 200_us}, {205_us, 300_us})
                         .Overhead("Lazy function loading", {125_us, 195_us}));
  CHECK(run.Causes() ==
        Told({{"jit_or_module_load", 70_us}, {"launch", 15_us}, {"host_compute", 20_us}}));
}

TEST_CASE("code is also loaded in a first launch that began while the GPU was busy") {
  const Analyzed run(TraceBuilder()
                         .Launch("before", {0_us, 5_us}, {10_us, 100_us})
                         .Launch("first of its kind", {50_us, 900_us}, {905_us, 1000_us}));
  CHECK(run.Causes() == Told({{"jit_or_module_load", 800_us}, {"launch", 5_us}}));
  const Analyzed again(TraceBuilder()
                           .Launch("known", {0_us, 5_us}, {10_us, 100_us})
                           .Launch("known", {50_us, 900_us}, {905_us, 1000_us}));
  CHECK(again.Idle(IdleCause::kJitOrModuleLoad) == 0);
}

TEST_CASE("freeing that takes far too long for an idle GPU loads a library") {
  const auto causes = [](const char* call, Nanos length, bool managed) {
    TraceBuilder story;
    story.Launch("before", {0_us, 5_us}, {10_us, 100_us});
    if (managed) story.Call("cudaMallocManaged", {6_us, 8_us});
    story.Call(call, {100_us, 100_us + length});
    story.Launch("after", {100_us + length, 105_us + length}, {110_us + length, 200_us + length});
    return Analyzed(story).Causes();
  };
  CHECK(causes("cudaFree", 5000_ms, false) ==
        Told({{"jit_or_module_load", 5000_ms}, {"launch", 10_us}}));
  CHECK(causes("cudaFree", 5_ms, false) == Told({{"allocation", 5_ms}, {"launch", 10_us}}));
  CHECK(causes("cudaFree", 5000_ms, true) == Told({{"allocation", 5000_ms}, {"launch", 10_us}}));
  CHECK(causes("cudaHostAlloc", 5000_ms, false) ==
        Told({{"allocation", 5000_ms}, {"launch", 10_us}}));
}

TEST_CASE("unified memory that the host pulls back or prefetches is the host's doing") {
  const auto causes = [](MigrationCause cause) {
    TraceBuilder story;
    story.Launch("before", {0_us, 5_us}, {10_us, 100_us});
    story.MigrateToHost(2_MiB, {300_us, 400_us}, cause);
    return Analyzed(story).Causes();
  };
  CHECK(causes(MigrationCause::kFault) == Told({{"host_compute", 200_us}}));
  CHECK(causes(MigrationCause::kUser) == Told({{"host_compute", 200_us}}));
  CHECK(causes(MigrationCause::kEviction) == Told({{"unknown", 200_us}}));
}

TEST_CASE("reading files with no loader in sight is file IO") {
  const Analyzed run(GapStory().OsCall("read", {110_us, 190_us}));
  CHECK(run.Causes() == Told({{"file_io", 80_us}, {"launch", 10_us}, {"host_compute", 20_us}}));
}

TEST_CASE("blocked in the OS with no loader in sight is host wait") {
  for (const char* call : {"pthread_cond_wait", "poll", "pthread_mutex_lock", "usleep"}) {
    INFO(call);
    const Analyzed run(GapStory().OsCall(call, {110_us, 190_us}));
    CHECK(run.Causes() == Told({{"host_wait", 80_us}, {"launch", 10_us}, {"host_compute", 20_us}}));
  }
}

TEST_CASE("the profiler at work is profiler overhead") {
  const Analyzed run(GapStory().Overhead("Buffer flush", {110_us, 190_us}));
  CHECK(run.Causes() ==
        Told({{"launch", 10_us}, {"host_compute", 20_us}, {"profiler_overhead", 80_us}}));
}

TEST_CASE("a short gap before work that was launched in time is launch latency") {
  const Analyzed run(TraceBuilder()
                         .Launch("before", {0_us, 5_us}, {10_us, 100_us})
                         .Launch("after", {50_us, 55_us}, {104_us, 200_us}));
  CHECK(run.Causes() == Told({{"launch", 4_us}}));
}

TEST_CASE("work that starts long after its launch on an idle GPU waits for what nobody recorded") {
  const Analyzed run(TraceBuilder()
                         .Launch("before", {0_us, 5_us}, {10_us, 100_us})
                         .Launch("after", {120_us, 125_us}, {460_ms, 461_ms}));
  CHECK(run.Causes() ==
        Told({{"launch", 15_us}, {"host_compute", 20_us}, {"unknown", 460_ms - 135_us}}));
}

TEST_CASE("launched work that another device lets go of waits for a peer") {
  const Analyzed run(TraceBuilder()
                         .Launch("before", {0_us, 5_us}, {10_us, 100_us})
                         .Launch("after", {20_us, 25_us}, {300_us, 400_us})
                         .OnDevice(1)
                         .Launch("slow", {6_us, 9_us}, {10_us, 298_us}));

  // Up to the usual latency may be called launch.
  CHECK(run.Idle(IdleCause::kPeerWait) >= 180_us);
  CHECK(run.Idle(IdleCause::kPeerWait) + run.Idle(IdleCause::kLaunch) == 200_us);
}

TEST_CASE("launched work that another device lets go of waits for a peer that goes on working") {
  const Analyzed run(TraceBuilder()
                         .Launch("before", {0_us, 5_us}, {10_us, 100_us})
                         .Launch("after", {20_us, 25_us}, {300_us, 400_us})
                         .OnDevice(1)
                         .Launch("slow", {6_us, 9_us}, {10_us, 298_us})
                         .Launch("slow", {26_us, 29_us}, {298_us, 400_us}));
  // Up to the usual latency may be called launch.
  CHECK(run.Idle(IdleCause::kPeerWait) >= 180_us);
  CHECK(run.Idle(IdleCause::kPeerWait) + run.Idle(IdleCause::kLaunch) == 200_us);
}

TEST_CASE("a device without ops has no work queued") {
  const Analyzed run(GapStory().OnDevice(1).OnDevice(0));
  CHECK(run.Causes(1) == Told({{"no_work_queued", run.Window()}}));
}

TEST_CASE("before its launching thread was first seen, a device has no work queued") {
  TraceBuilder story;
  story.Launch("alone", {0_us, 5_us}, {10_us, 300_us});
  story.Process("second").Thread("late").OnDevice(1);
  story.Launch("first", {200_us, 205_us}, {210_us, 300_us});
  const Analyzed run(story);
  CHECK(run.Causes(1) == Told({{"launch", 10_us}, {"no_work_queued", 190_us}}));
}

TEST_CASE("a gap that ends with work whose launch was not captured is unknown") {
  const Analyzed run(TraceBuilder()
                         .Launch("before", {0_us, 5_us}, {10_us, 100_us})
                         .Kernel("from elsewhere", {150_us, 200_us}));
  CHECK(run.Causes() == Told({{"unknown", 50_us}}));
}

// Thirty steps of 1 ms: 200 us of work, launched after 750 us of code.
TraceBuilder SlowCode() {
  TraceBuilder story;
  for (int i = 0; i < 30; ++i) {
    const Nanos at = i * 1_ms;
    story.Range("step " + std::to_string(i), {at, at + 990_us});
    story.Launch("kernel", {at + 750_us, at + 755_us}, {at + 760_us, at + 960_us});
  }
  return story;
}

TEST_CASE("where the profiler lost much work, nobody knows why the GPU seems idle") {
  const auto story = [](bool recorded) {
    TraceBuilder told;
    for (Nanos at = 0; at < 20'000'000; at += 1'000'000) {
      told.Launch("a", {at, at + 5'000}, {at + 10'000, at + 300'000});
      if (recorded)
        told.Launch("b", {at + 310'000, at + 315'000}, {at + 320'000, at + 600'000});
      else
        told.Call("cudaLaunchKernel", {at + 310'000, at + 315'000});
      told.Launch("c", {at + 610'000, at + 615'000}, {at + 620'000, at + 900'000});
    }
    return told;
  };
  const Analyzed lost(story(false));
  CHECK(lost.Idle(IdleCause::kUnknown) == 20 * 320'000);
  CHECK(lost.Idle(IdleCause::kHostCompute) == 19 * 100'000);
  CHECK(Analyzed(story(true)).Idle(IdleCause::kUnknown) == 0);
}

TEST_CASE("long code of the launching thread is lost time, and gone when it runs elsewhere") {
  const Analyzed run(SlowCode(), kAuto);
  const Nanos window = run.Window();
  const auto share = [&](Nanos time) {
    return static_cast<double>(time) / static_cast<double>(window);
  };
  CHECK(share(run->host_code->time.lost->Total()) == Approx(0.79).margin(0.02));
  std::string limit;
  CHECK(share(run->replay().Gain(*run->host_code->time.remedy, &limit)) ==
        Approx(0.78).margin(0.04));
}

TEST_CASE("code that began while the GPU had work goes as a whole, in each step") {
  TraceBuilder story;
  for (int i = 0; i < 30; ++i) {
    const Nanos at = i * 1_ms;
    // The code ends at 500 us; then a file is written. Every third step has work until then.
    const Nanos work = i % 3 == 0 ? 510_us : 400_us;
    story.Range("step " + std::to_string(i), {at, at + 990_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 10_us + work});
    story.OsCall("write", {at + 500_us, at + 990_us});
    for (Nanos call = at + 991_us; call < at + 999_us; call += 2_us)
      story.Call("cudaGetDevice", {call, call + 1_us});
  }
  const Analyzed run(story, kAuto);
  const double window = static_cast<double>(run.Window());
  // Waiting for the code costs 90 us in two steps of three, and the write that it delays costs the
  // rest: without the code, 500 us are left of each.
  CHECK(static_cast<double>(run->host_code->time.lost->Total()) / window ==
        Approx(0.49).margin(0.02));
  CHECK(static_cast<double>(run->replay().Gain(*run->host_code->time.remedy)) / window ==
        Approx(0.49).margin(0.02));
}

TEST_CASE("code beside the profiler's own work, whose thread nobody knows, is not blamed") {
  Trace trace = SlowCode().Build();
  for (int i = 0; i < 30; ++i) {
    trace.overheads.start.push_back(i * 1_ms + 100_us);
    trace.overheads.end.push_back(i * 1_ms + 700_us);
    trace.overheads.thread.push_back(kNone);
    trace.overheads.name.push_back(0);
  }
  const Analysis analysis(trace, ShippedKnowledge(), {});
  REQUIRE(analysis.idle.by_device[0][static_cast<std::size_t>(IdleCause::kHostCompute)] > 0);
  CHECK(analysis.host_code->time.lost->Total() == 0);
  CHECK(analysis.host_code->time.remedy->host_cuts.empty());
}

}  // namespace
}  // namespace advise
