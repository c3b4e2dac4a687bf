// What the host does while the GPU waits: frees, sleep, copies that take turns, and steps that
// drift.
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Each item is uploaded, worked on and downloaded on the next of three streams, and the next item
// comes only when all that is done: nothing runs beside the copies.
TEST_CASE("copies that run alone while the launching thread is blocked are a part of that wait") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.OnStream(7 + i % 3)
        .CopyToGpu(1_MiB, MemoryKind::kPinned, {at, at + 3_us}, {at + 10_us, at + 210_us})
        .Launch("work", {at + 3_us, at + 8_us}, {at + 210_us, at + 610_us})
        .CopyFromGpu(1_MiB, MemoryKind::kPinned, {at + 8_us, at + 11_us},
                     {at + 610_us, at + 910_us});
    story.OsCall("pthread_cond_wait", {at + 12_us, at + 999_us});
  });
  const Analyzed run(story);
  const Loss& wait = run->stalls.os_wait;
  CHECK(wait.count >= 18);  // the first and the last one may lie outside the loop
  CHECK(wait.count <= 20);
  // Nearly 500 us of copies and 90 us of idle time each.
  CHECK(wait.lost->Total() >= (wait.count - 1) * 580_us);
  CHECK(wait.lost->Total() <= wait.count * 600_us);
  const double left = static_cast<double>(run->replay().With(*wait.remedy).length_ns);
  CHECK(left >= 19 * 400e3);  // the kernels
  CHECK(left <= 20 * 470e3);
}

TraceBuilder Frees(int how_many) {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
    for (int f = 0; f < how_many; ++f) {
      const Nanos from = at + 200_us + f * 20_us;
      story.Call("cudaFree", {from, from + 10_us});
    }
    story.Call("cudaMalloc", {at + 500_us, at + 510_us});
  });
  return story;
}

TEST_CASE("six frees in a row are a burst, five are not") {
  const Analyzed run(Frees(6));
  CHECK(run->host.free_bursts.per_step == 1);
  CHECK(run->host.free_bursts.lost->Total() > 0);
  CHECK(Analyzed(Frees(5))->host.free_bursts.count == 0);
}

TEST_CASE("sleeping in a gap costs the gap's time") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
    story.OsCall("nanosleep", {at + 300_us, at + 700_us});
  });
  const Analyzed run(story);
  CHECK(run->stalls.sleep.count == 9);  // nothing ends the gap after the last kernel
  CHECK(run->stalls.sleep.lost->Total() == 9 * 400_us);
}

// Nine gaps of 400 us in a range of this name; calls of MPI inside are counted elsewhere.
Nanos ExchangedIn(const std::string& range, bool mpi) {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
    story.Range(range, {at + 300_us, at + 700_us});
    if (mpi) story.Mpi("MPI_Waitall", {at + 300_us, at + 700_us});
  });
  return Analyzed(story)->stalls.exchange.lost->Total();
}

TEST_CASE("code in a range named for communication waits for a peer") {
  CHECK(ExchangedIn("halo_exchange", false) == 9 * 400_us);
  CHECK(ExchangedIn("halo_exchange", true) == 0);
  CHECK(ExchangedIn("prepare", false) == 0);
}

// In each step of 1 ms a thread makes these calls from 20 us on, while the GPU works until 310 us,
// and launches more at 900 us.
Nanos CutOf(const char* os_call, const std::vector<Interval>& calls, Loss Stalls::*of, Nanos lost) {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("one", {at, at + 5_us}, {at + 10_us, at + 310_us});
    for (const Interval& call : calls) story.OsCall(os_call, {at + call.start, at + call.end});
    story.Launch("two", {at + 900_us, at + 905_us}, {at + 910_us, at + 950_us});
  });
  const Analyzed run(story);
  const Loss& loss = (*run).stalls.*of;
  CHECK(loss.lost->Total() == 10 * lost);
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(loss.remedy->host_cuts)) cut += when.Total();
  return cut;
}

TEST_CASE("without a call the host saves all of its time, and not only what the GPU is idle") {
  const std::vector<Interval> one = {{20_us, 620_us}};
  constexpr Nanos kAll = 9 * 600_us + 310_us;  // the first step is not in the steady loop
  // The thread comes 290 us later to the code behind it, in which the GPU is idle for as
  // long.
  CHECK(CutOf("write", one, &Stalls::file_write, 600_us) == kAll);
  CHECK(CutOf("nanosleep", one, &Stalls::sleep, 600_us) == kAll);
  // A thread that polls waits as long in another way.
  CHECK(CutOf("nanosleep", {{20_us, 300_us}, {310_us, 620_us}}, &Stalls::sleep, 310_us) ==
        10 * 310_us);
}

// How many waits go when files are written in the background: in each step the host waits for what
// it then writes.
std::size_t WaitsWithout(std::int64_t bytes) {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("one", {at, at + 5_us}, {at + 10_us, at + 310_us});
    story.CopyFromGpu(bytes, MemoryKind::kPinned, {at + 6_us, at + 9_us},
                      {at + 312_us, at + 400_us});
    story.Sync({at + 10_us, at + 405_us}, "cudaDeviceSynchronize");
    story.OsCall("write", {at + 410_us, at + 900_us});
  });
  return Analyzed(story)->stalls.file_write.remedy->unblocked_calls.size();
}

TEST_CASE("what writes in the background also waits for the data that it writes") {
  CHECK(WaitsWithout(1_MiB) == 9);  // the window ends before the last write
  CHECK(WaitsWithout(8) == 0);  // a residual: the host needs it for more than the line it prints
}

// In each step of 1 ms the GPU works until 420 us. Beside it the thread writes for 300 us, waits
// for the GPU for so long, and then sleeps until 930 us.
Nanos LostToWriting(Nanos wait) {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("one", {at, at + 5_us}, {at + 10_us, at + 420_us});
    story.OsCall("write", {at + 20_us, at + 320_us});
    if (wait > 0) story.Sync({at + 325_us, at + 325_us + wait});
    story.OsCall("nanosleep", {at + 430_us, at + 930_us});
  });
  return Analyzed(story)->stalls.file_write.lost->Total();
}

TEST_CASE("what a thread does beside the GPU's work delays all that it does before its next wait") {
  CHECK(LostToWriting(0) == 9 * 300_us);
  CHECK(LostToWriting(100_us) == 9 * 200_us);
}

// A step of 1 ms: code of 300 us while the GPU works, and then a file is written for as long as the
// GPU is idle.
TEST_CASE("code beside the GPU's work costs what the GPU is idle later") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("one", {at, at + 5_us}, {at + 10_us, at + 310_us});
    story.OsCall("write", {at + 305_us, at + 890_us});
    for (Nanos late = 900_us; late < 950_us; late += 10_us)
      story.Call("cudaGetDevice", {at + late, at + late + 2_us});
  });
  const Analyzed run(story);
  const HostCode& code = run->host_code;
  CHECK(code.time.lost->Total() > 18 * 300_us);
  CHECK(code.time.lost->Total() < 20 * 380_us);
}

// A step of 1 ms: 20 kernels that the host launches 200 us before the GPU gets to them, 2 us apart
// there; and then code of 600 us.
TEST_CASE("code delays no kernel that was in the queue when the one before it ended") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 999_us});
    for (int k = 0; k < 20; ++k) {
      const Nanos call = at + k * 5_us;
      const Nanos start = at + 200_us + k * 50_us;
      story.Launch("one", {call, call + 4_us}, {start, start + 48_us});
    }
    for (Nanos next = 700_us; next < 990_us; next += 10_us)
      story.Call("cudaGetDevice", {at + next, at + next + 2_us});
  });
  const Analyzed run(story);
  const HostCode& code = run->host_code;
  CHECK(code.time.lost->Total() == 0);
}

// What a step of 850 us loses to code of 600 us beside a kernel: the code ends with the upload of
// the next batch, on a stream of its own or on that of the kernel, in one copy or in several,
// perhaps behind a small one.
HostCode CodeBeforeUpload(std::int64_t stream, Interval call = {605_us, 609_us}, int copies = 1,
                          bool small_first = false) {
  TraceBuilder story;
  Repeat(20, 850_us, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 849_us});
    story.OnStream(7).Launch("one", {at, at + 5_us}, {at + 10_us, at + 610_us});
    story.Range("augment", {at + 8_us, at + 600_us});
    story.OnStream(stream);
    if (small_first)
      story.CopyToGpu(4096, MemoryKind::kPinned, {at + 601_us, at + 602_us},
                      {at + 603_us, at + 604_us});
    for (int copy = 0; copy < copies; ++copy) {
      const Nanos shift = copy * 5_us;
      const Nanos from = at + 612_us + copy * 200_us / copies;
      story.CopyToGpu(8_MiB / copies, MemoryKind::kPinned,
                      {at + call.start + shift, at + call.end + shift},
                      {from, from + 200_us / copies});
    }
    for (Nanos late = 620_us; late < 840_us; late += 10_us)
      story.Call("cudaGetDevice", {at + late, at + late + 2_us});
  });
  return Analyzed(story)->host_code;
}

// Passes of a model, each behind 2 ms of code and the upload of its input; the host takes the
// result.
HostCode TakingTurns(bool updates, bool takes) {
  TraceBuilder story;
  Repeat(20, 3_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 2'999_us});
    story.CopyToGpu(64_KiB, MemoryKind::kPinned, {at, at + 5_us}, {at + 8_us, at + 12_us});
    story.Launch("infer", {at + 10_us, at + 15_us}, {at + 20_us, at + 600_us});
    if (updates)
      story.Launch(
          "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4> >(int)",
          {at + 16_us, at + 20_us}, {at + 601_us, at + 900_us});
    if (takes)
      story.CopyFromGpu(512, MemoryKind::kPinned, {at + 21_us, at + 25_us},
                        {at + 901_us, at + 903_us});
    story.Sync({at + 26_us, at + 910_us});
  });
  return Analyzed(story)->host_code;
}

TEST_CASE("code between a result and the next input takes turns with the GPU") {
  const HostCode turns = TakingTurns(false, true);
  CHECK(turns.before_uploads_ns > 18 * 2_ms);
  CHECK(turns.between_turns_ns == turns.before_uploads_ns);
  // A loss that is read behind the update of the weights is nothing that the next batch needs.
  const HostCode trains = TakingTurns(true, true);
  CHECK(trains.before_uploads_ns > 18 * 2_ms);
  CHECK(trains.between_turns_ns == 0);
  CHECK(TakingTurns(false, false).between_turns_ns == 0);
}

// Ten steps, each with 600 us of code behind its kernel.
TEST_CASE("code is left out where all of it may be a wait, and where a part may be it is not") {
  TraceBuilder story;
  for (Nanos at = 0; at < 10_ms; at += 1_ms) {
    story.Range("step " + std::to_string(at / 1_ms), {at, at + 1_ms});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 395_us});
    story.Sync({at + 6_us, at + 400_us});
  }
  const Analyzed run(story);
  const auto counted = [&](const std::vector<Interval>& doubtful) {
    return FindHostCode(run->basis(), {IntervalSet::Of(doubtful)}).time.count;
  };
  const std::int64_t all = run->host_code->time.count;
  REQUIRE(all > 5);
  CHECK(counted({{0, 10_ms}}) == 0);
  CHECK(counted({{0, 1_us}}) == all);
  CHECK(counted({{4_ms, 5700_us}}) == all - 1);  // of the second pause a part
}

// 20 steps of 3 ms; every sixth one works 2 ms on the host, behind its kernel.
TEST_CASE("the steps that hold host code are counted") {
  const auto steps_of = [](int every) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 20; ++i) {
      const Nanos code = i % every == every - 1 ? 2_ms : 0;
      story.Range("step " + std::to_string(i), {at, at + 1_ms + code});
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 990_us});
      story.Sync({at + 6_us, at + 995_us});
      at += 1_ms + code;
    }
    const Analyzed run(story);
    return run->host_code->steps;
  };
  CHECK(steps_of(6) == 3);
  CHECK(steps_of(1) >= 17);
}

TEST_CASE("code before an upload costs what the upload runs beside no kernel") {
  const HostCode late = CodeBeforeUpload(9);
  CHECK(late.late_uploads_ns == Approx(20 * 200_us).epsilon(0.03));
  CHECK(late.before_uploads_ns == late.time.lost->Total());
  REQUIRE(!late.ranges.empty());
  CHECK(late.ranges.front().name == "augment");
  CHECK(late.ranges.front().time_ns >= static_cast<double>(late.late_uploads_ns));
  CHECK(late.time.lost->Total() >= late.late_uploads_ns);
  // The second of two copies waits for the first, and begins earlier with it.
  CHECK(CodeBeforeUpload(9, {605_us, 609_us}, 2).late_uploads_ns ==
        Approx(20 * 200_us).epsilon(0.03));
  // So it does behind a small one that was over when the host called it.
  CHECK(CodeBeforeUpload(9, {605_us, 609_us}, 1, true).late_uploads_ns ==
        Approx(20 * 200_us).epsilon(0.03));
  // Behind the kernel in its stream the upload comes no earlier, whenever it is called.
  CHECK(CodeBeforeUpload(7).late_uploads_ns <= 20 * 3_us);
  // So does one whose call waits for the kernel first, as on the default stream.
  CHECK(CodeBeforeUpload(9, {520_us, 815_us}).late_uploads_ns == 0);
}

// Steps of a server on graphs of 1 ms. The host waits for the step before, and then computes for
// 965 us; two uploads in the stream of the graph, and its launch, come while the GPU is idle.
HostCode BesideGraphs() {
  TraceBuilder story;
  Repeat(60, 1'023_us, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 1'022_us});
    story.OnStream(7);
    story.CopyToGpu(4096, MemoryKind::kPinned, {at, at + 10_us}, {at + 12'200, at + 13'600});
    story.CopyToGpu(4096, MemoryKind::kPinned, {at + 14_us, at + 24_us}, {at + 22_us, at + 23'400});
    story.Launch("decode", {at + 31_us, at + 43_us}, {at + 41_us, at + 1'034_us});
    story.Call("cudaEventSynchronize", {at + 50_us, at + 52_us});
  });
  return Analyzed(story)->host_code;
}

TEST_CASE(
    "code delays nothing that the device needs between two ops, and no upload beside idleness") {
  const HostCode code = BesideGraphs();
  // Of 21.6 us in which nothing runs per step, 1.2 before each of two ops are the device's own.
  CHECK(code.time.lost->Total() <= 60 * (8'400 - 1'200 + 17'600 - 1'200));
  CHECK(code.time.lost->Total() >= 55 * (8'400 - 1'200 + 17'600 - 1'200 - 3'000));
  // The graph before has ended when the uploads come: no earlier call would have hidden them.
  CHECK(code.late_uploads_ns == 0);
}

TEST_CASE("where launches follow each other at once, a short pause is code of its own") {
  // Iterations of a C++ solver: two kernels, a copy that waits for them, and code of 26 us.
  const auto code_of = [](Nanos between) {
    TraceBuilder story;
    for (int i = 0; i < 300; ++i) {
      const Nanos at = i * 100_us;
      story.Launch("update", {at, at + 3_us}, {at + 4_us, at + 24_us});
      const Nanos second = at + 3_us + between;
      story.Launch("residual", {second, second + 3_us}, {at + 24_us, at + 54_us});
      story.CopyFromGpu(65'536, MemoryKind::kPageable, {second + 4_us, at + 74_us},
                        {at + 55_us, at + 58_us});
    }
    const Analyzed run(story, kAuto);
    return run->host_code->time.lost->Total() / 300;
  };
  CHECK(code_of(200) >= 20_us);
  CHECK(code_of(5_us) == 0);  // as of a framework, whose operators may take that long as well
}

// Each step launches 800 us of work, and then computes for 300 us while it runs. Every fourth one
// waits for the work before that, to save the state within 100 us.
TEST_CASE("a checkpoint in the background waits for nothing") {
  constexpr int kSteps = 40;
  TraceBuilder story;
  Nanos host = 0;
  Nanos gpu = 0;
  for (int i = 0; i < kSteps; ++i) {
    gpu = std::max(gpu, host + 8_us);
    story.Launch("kernel", {host, host + 5_us}, {gpu, gpu + 800_us});
    gpu += 800_us;
    host += 5_us;
    if (i % 4 == 3) {
      story.Range("checkpoint", {host + 1_us, gpu + 102_us});
      story.Sync({host + 2_us, gpu + 2_us}, "cudaDeviceSynchronize");
      host = gpu + 102_us;
    }
    host += 300_us;
  }
  story.Sync({host, gpu + 2_us}, "cudaDeviceSynchronize");
  const Analyzed run(story, kAuto);
  const Loss& checkpoints = (*run).stalls.phases.front();
  REQUIRE(checkpoints.count >= 7);
  // Without the wait the code behind it runs beside the GPU's work, too.
  const Nanos gain = run->replay().Gain(*checkpoints.remedy);
  CHECK(gain > 7 * 390_us);
  CHECK(gain < 10 * 420_us);
}

// In each step the GPU waits for 100 us in the optimizer; in the sixth for `long_one`.
TEST_CASE("a pause in the optimizer of one step alone is not how weights are updated") {
  const auto lost = [](Nanos long_one) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 12; ++i) {
      const Nanos pause = i == 5 ? long_one : 100_us;
      const Nanos end = at + 1_ms + pause;
      story.Range("step " + std::to_string(i), {at, end});
      story.Launch("a", {at, at + 5_us}, {at + 10_us, at + 500_us});
      story.Range("optimizer_step", {at + 490_us, end - 10_us});
      story.Launch("b", {at + 500_us + pause, at + 505_us + pause}, {at + 510_us + pause, end});
      at = end;
    }
    const Analyzed run(story, kAuto);
    return (*run).stalls.phases.back().lost->Total();
  };
  CHECK(lost(20_ms) == lost(100_us));
  CHECK(lost(300_us) > lost(100_us));
}

TEST_CASE("what happens in every fourth step happens a quarter of a time per step") {
  TraceBuilder story;
  Repeat(12, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
    if (i % 4 == 2) story.OsCall("nanosleep", {at + 300_us, at + 700_us});
  });
  const Analyzed run(story);
  const Loss& sleep = run->stalls.sleep;
  CHECK(sleep.count == 3);
  const Steps& steps = run->run.steps;
  const auto steady = static_cast<double>(steps.all.size() - steps.first_steady);
  CHECK(sleep.per_step == Approx(3 / steady).epsilon(0.1));
}

TEST_CASE("uploads and downloads that take turns, and the shorter way of them") {
  TraceBuilder story;
  for (Nanos k = 0; k < 10; ++k) {
    const Nanos at = k * 1_ms;
    story.CopyToGpu(8_MiB, MemoryKind::kPinned, {at, at + 5_us}, {at + 10_us, at + 410_us});
    story.CopyFromGpu(4_MiB, MemoryKind::kPinned, {at + 5_us, at + 9_us},
                      {at + 410_us, at + 610_us});
  }
  const Analyzed run(story);
  CHECK(run->moves->duplex_share == 0);
  CHECK(run->moves->one_way.lost->Total() == 10 * 200_us);
}

TEST_CASE("steps that get longer drift") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 45; ++i) {
    const Nanos length = i < 15 ? 1000_us : i < 30 ? 1100_us : 1200_us;
    story.Range("step " + std::to_string(i), {at, at + length - 10_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + length - 50_us});
    at += length;
  }
  const Analyzed run(story);
  REQUIRE(run->run.steps.known());
  CHECK(run->step_stats.drift == Approx(0.2).epsilon(0.1));
}

// A host that is ahead by two kernels waits for the GPU in each tenth step, and works in a range.
// Nine other steps wait for nothing; with `always` they wait for their stream.
TraceBuilder WaitsBeforeCheckpoints(bool always) {
  TraceBuilder story;
  Nanos host = 0;
  Nanos gpu = 20_us;
  for (int i = 0; i < 30; ++i) {
    story.Range("step " + std::to_string(i), {host, host + 1_ms});
    for (int k = 0; k < 2; ++k) {
      gpu = std::max(gpu, host + 10_us);
      story.Launch("kernel", {host, host + 5_us}, {gpu, gpu + 1_ms});
      gpu += 1_ms;
      host += 10_us;
    }
    if (always) {
      story.Sync({host, gpu + 2_us}, "cudaStreamSynchronize");
      host = gpu + 10_us;
    }
    if (i % 10 != 5) continue;
    const Nanos begun = host;
    story.Sync({host + 5_us, std::max(gpu, host) + 10_us}, "cudaDeviceSynchronize");
    host = std::max(gpu, host) + 5_ms;
    story.Range("save_checkpoint", {begun, host});
  }
  return story;
}

TEST_CASE("the wait for the GPU with which a checkpoint begins goes with it") {
  for (const bool always : {false, true}) {
    INFO(always);
    const Analyzed run(WaitsBeforeCheckpoints(always));
    const Loss& checkpoint = run->stalls.phases.front();
    CHECK(checkpoint.count == 3);
    CHECK(checkpoint.remedy->unblocked_calls == run.Calls("cudaDeviceSynchronize"));
  }
}

TEST_CASE("a checkpoint's downloads are its own, and its gaps are one checkpoint") {
  TraceBuilder story;
  for (int i = 0; i < 30; ++i) {
    const Nanos at = i * 10_ms;
    story.Range("step " + std::to_string(i), {at, at + 9_ms});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 2_ms});
    story.CopyFromGpu(4, MemoryKind::kPinned, {at + 6_us, at + 9_us},
                      {at + 2_ms, at + 2_ms + 2_us});
    if (i % 10 != 5) continue;
    story.Range("save_checkpoint", {at + 3_ms, at + 9_ms});
    for (const Nanos from : {at + 3_ms, at + 5_ms, at + 7_ms})
      story.CopyFromGpu(1_MiB, MemoryKind::kPageable, {from, from + 1_ms},
                        {from + 10_us, from + 1_ms}, "cudaMemcpy");
  }
  const Analyzed run(story);
  const Loss& checkpoint = run->stalls.phases.front();
  CHECK(checkpoint.count == 3);
  CHECK(checkpoint.remedy->unblocked_calls == run.Calls("cudaMemcpy"));
  CHECK(checkpoint.remedy->detached_ops.size() == 9);
  CHECK(checkpoint.lost->Total() >= 3 * 5900_us);
  CHECK(run->replay().Gain(*checkpoint.remedy) >= 3 * 5900_us);
}

}  // namespace
}  // namespace advise
