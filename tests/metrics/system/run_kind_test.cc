// What kind of program a capture shows.
#include "engine/metrics/system/run_kind.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

std::string KindOf(const TraceBuilder& story) {
  return KindOfRunName(Analyzed(story, kAuto)->kind.kind);
}

// `passes` of `kernels`, one after the other.
TraceBuilder Loop(int passes, const std::vector<const char*>& kernels) {
  TraceBuilder story;
  Nanos at = 100_us;
  for (int i = 0; i < passes; ++i) {
    for (const char* name : kernels) {
      story.Launch(name, {at - 60_us, at - 57_us}, {at, at + 50_us});
      at += 52_us;
    }
    at += 100_us;
  }
  return story;
}

const char* const kFlashBackward =
    "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64> >(int)";
const char* const kPaged = "void vllm::paged_attention_v1_kernel<float, float, 128, 16>(int)";

TEST_CASE("a loop with kernels of a backward pass is training, made of steps") {
  const Analyzed run(Loop(40, {kMatrixBf16, kSoftmax, kElementwise, kMatrixFp32, kFlashBackward}),
                     kAuto);
  CHECK(run->kind.kind == KindOfRun::kTraining);
  CHECK(run->kind.unit == "step");
  CHECK(run->kind.framework == "PyTorch");
  CHECK(run->kind.languages == std::vector<std::string>{"Python"});
  CHECK(run->kind.units == run->run.steps.steady_count());
}

TEST_CASE("one step of training is training still, and tentative") {
  const Analyzed run(Loop(1, {kMatrixBf16, kSoftmax, kElementwise, kMatrixFp32, kFlashBackward}),
                     kAuto);
  CHECK(run->kind.kind == KindOfRun::kTraining);
  CHECK(run->kind.units == 1);
  CHECK_FALSE(run->support.verdict);
}

TEST_CASE("an export that lost its kernels is no loop; what only copies may be one") {
  const auto story = [](bool copies, bool launches, bool kernels) {
    TraceBuilder built;
    for (Nanos at = 100_us; at < 20'000_us; at += 500_us) {
      built.Memset(1_KiB, {at, at + 3_us}, {at + 10_us, at + 12_us});
      if (copies)
        built.CopyToGpu(1_MiB, MemoryKind::kPinned, {at + 3_us, at + 4_us},
                        {at + 12_us, at + 20_us});
      if (kernels) {
        built.Launch("mine", {at + 5_us, at + 8_us}, {at + 20_us, at + 320_us});
      } else if (launches) {
        built.Call("cudaLaunchKernel", {at + 5_us, at + 8_us});
      }
    }
    return built;
  };
  for (const TraceBuilder& cut : {story(false, true, false), story(true, true, false)}) {
    const Analyzed run(cut, kAuto);
    REQUIRE(run->run.steps.known());  // the rest repeats
    CHECK(run->kind.kind == KindOfRun::kNoGpu);
    CHECK_FALSE(run->support.verdict);
    CHECK(run->support.reason == "no kernel was recorded");
  }
  for (const TraceBuilder& whole : {story(true, false, false), story(true, true, true)}) {
    const Analyzed run(whole, kAuto);
    CHECK(run->kind.kind != KindOfRun::kNoGpu);
    CHECK(run->support.verdict);
  }
}

TEST_CASE("managed memory that moves again and again is no loop") {
  TraceBuilder story;
  for (Nanos at = 100_us; at < 20'000_us; at += 500_us)
    story.MigrateToGpu(64_KiB, {at, at + 300_us});
  const Analyzed run(story, kAuto);
  CHECK(run->kind.kind == KindOfRun::kNoGpu);
  CHECK(run->support.reason == "no kernel was recorded");
}

TEST_CASE("a loop that lost a third of its work is tentative, one that lost few is not") {
  const auto reason = [](int lost_of, bool capture) {
    TraceBuilder story;
    for (int i = 0; i < 60; ++i) {
      const Nanos at = 100_us + i * 500_us;
      const auto launch = [&](Nanos from, bool recorded) {
        if (recorded)
          story.Launch("mine", {from, from + 3_us}, {from + 10_us, from + 110_us});
        else
          story.Call("cudaLaunchKernel", {from, from + 3_us});
      };
      launch(at, true);
      if (capture) story.Call("cudaStreamBeginCapture", {at + 115_us, at + 117_us});
      launch(at + 120_us, i % lost_of != 0);
      if (capture) story.Call("cudaStreamEndCapture", {at + 125_us, at + 127_us});
      launch(at + 240_us, true);
    }
    for (int i = 0; i < 200; ++i)  // the last ones had not run when the capture ended
      story.Call("cudaLaunchKernel", {31_ms + i * 5_us, 31_ms + i * 5_us + 3_us});
    return Analyzed(story, kAuto)->support.reason;
  };
  CHECK(reason(1, false) == "the profiler lost 33 % of the GPU's work");
  CHECK(reason(10, false).empty());
  CHECK(reason(1, true).empty());
}

TEST_CASE("attention of single tokens is inference, made of tokens") {
  const Analyzed run(Loop(40, {kMatrixBf16, kSoftmax, kElementwise, kMatrixFp32, kPaged}), kAuto);
  CHECK(run->kind.kind == KindOfRun::kInference);
  CHECK(run->kind.unit == "token");
  CHECK(run->kind.framework == "vLLM");
  CHECK(run->kind.decode);
}

TEST_CASE("steps that read prompts are for many tokens each") {
  const auto unit = [](int each) {
    TraceBuilder story;
    Repeat(40, 1_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 900_us});
      story.Launch(kPaged, {at + 10_us, at + 15_us}, {at + 20_us, at + 300_us});
      if (i % each == 0)
        story.Launch("void flashinfer::BatchPrefillWithPagedKVCacheKernel<1>(int)",
                     {at + 310_us, at + 315_us}, {at + 320_us, at + 700_us});
      story.Launch(kMatrixBf16, {at + 710_us, at + 715_us}, {at + 720_us, at + 900_us});
    });
    return Analyzed(story, kAuto)->kind.unit;
  };
  CHECK(unit(1) == "step");
  CHECK(unit(5) == "token");
}

TEST_CASE("a kernel over a paged cache generates tokens where one tile holds all queries") {
  const auto passes = [](std::uint32_t tiles) {
    TraceBuilder story;
    Repeat(40, 1_ms, [&](int, Nanos at) {
      story.Launch("void vllm::rms_norm_kernel<float>(int)", {at, at + 5_us},
                   {at + 10_us, at + 20_us});
      story.Launch("void flash_fwd_splitkv_kernel<1>(int)", {at + 10_us, at + 15_us},
                   {at + 21_us, at + 300_us}, {.blocks = tiles});
      story.Launch(kMatrixBf16, {at + 310_us, at + 315_us}, {at + 320_us, at + 900_us});
    });
    return Analyzed(story, kAuto)->kind;
  };
  const RunKind tokens = passes(1);
  CHECK(tokens.decode);
  CHECK(tokens.unit == "token");
  const RunKind prompts = passes(8);
  CHECK(prompts.kind == KindOfRun::kInference);
  CHECK_FALSE(prompts.decode);
  CHECK(prompts.prefill);
  CHECK(prompts.unit != "token");
}

TEST_CASE("a program of convolutions decodes pictures, not tokens") {
  const auto decodes = [](const char* kernel) {
    TraceBuilder story;
    Repeat(40, 1_ms, [&](int, Nanos at) {
      story.Range("decode", {at, at + 500_us});
      story.Launch(kernel, {at + 510_us, at + 515_us}, {at + 520_us, at + 800_us});
    });
    return Analyzed(story, kAuto)->kind.decode;
  };
  CHECK(decodes(kMatrixBf16));
  CHECK_FALSE(decodes("sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc"));
}

TEST_CASE("a program decodes tokens as long as products take as much time as convolutions") {
  const auto decodes = [](Nanos convolving, Nanos multiplying) {
    TraceBuilder story;
    Repeat(40, 1_ms, [&](int, Nanos at) {
      story.Range("decode", {at, at + 500_us});
      story.Launch("sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc",
                   {at + 510_us, at + 515_us}, {at + 520_us, at + 520_us + convolving});
      story.Launch(kMatrixBf16, {at + 516_us, at + 519_us},
                   {at + 700_us, at + 700_us + multiplying});
    });
    return Analyzed(story, kAuto)->kind.decode;
  };
  CHECK_FALSE(decodes(110_us, 100_us));
  CHECK(decodes(100_us, 100_us));
  CHECK(decodes(100_us, 110_us));
}

TEST_CASE("passes of a framework that repeat without a backward pass are inference") {
  const Analyzed run(Loop(40, {kMatrixBf16, kSoftmax, kElementwise, kMatrixFp32, "topk"}), kAuto);
  CHECK(run->kind.kind == KindOfRun::kInference);
  CHECK(run->kind.unit == "step");  // nobody asked for them
}

// A thread that launches waits for one that receives messages, `wait` each time; its passes may be
// named as steps.
TraceBuilder Served(Nanos wait, bool named, const char* second = "two") {
  TraceBuilder story;
  Nanos at = 100_us;
  for (int i = 0; i < 12; ++i) {
    if (named) story.Thread("main").Range("step " + std::to_string(i), {at, at + 500_us});
    story.Thread("main").Launch("one", {at, at + 3_us}, {at + 10_us, at + 300_us});
    story.Launch(second, {at + 4_us, at + 7_us}, {at + 302_us, at + 500_us});
    story.Sync({at + 8_us, at + 500_us});
    story.OsCall("pthread_cond_wait", {at + 501_us, at + 500_us + wait});
    story.Thread("api_server").OsCall("epoll_wait", {at - 20_us, at + 470_us + wait});
    story.OsCall("recv", {at + 472_us + wait, at + 480_us + wait});
    at += 505_us + wait;
  }
  return story;
}

TEST_CASE("what an engine repeats that batches requests is a step") {
  const auto unit = [](const char* cache) {
    TraceBuilder story;
    Repeat(20, 1_ms, [&](int, Nanos at) {
      story.Launch("gemm", {at, at + 5_us}, {at + 10_us, at + 300_us});
      story.Launch(cache, {at + 6_us, at + 9_us}, {at + 300_us, at + 400_us});
      story.CopyFromGpu(64, MemoryKind::kPinned, {at + 10_us, at + 405_us},
                        {at + 401_us, at + 403_us});
    });
    return Analyzed(story, kAuto)->kind.unit;
  };
  CHECK(unit("void vllm::reshape_and_cache_flash_kernel<float>(float*)") == "step");
  CHECK(unit("TopKTopPSamplingFromProbKernel") == "request");
}

TEST_CASE("who waits for messages more briefly than people take serves other programs") {
  const Analyzed server(Served(30_ms, false), kAuto);
  CHECK(server.Idle(IdleCause::kNoWorkQueued) >= 10 * 29_ms);
  CHECK(server->kind.serves);
  CHECK(server->kind.unit == "request");
  CHECK(server->serving.load > 0);
  // A GPU of the machine that it does not use has no part in it.
  const Analyzed beside(Served(30_ms, false).OnDevice(1), kAuto);
  CHECK(beside->serving.load == server->serving.load);
  CHECK_FALSE(Analyzed(Served(600_ms, false), kAuto)->kind.serves);
  // Training that gets its data from another program answers nobody.
  CHECK_FALSE(Analyzed(Served(30_ms, false, kFlashBackward), kAuto)->kind.serves);
  // What a program calls steps are no requests.
  CHECK(Analyzed(Served(30_ms, true), kAuto)->kind.unit == "step");
}

TEST_CASE("who waits while nobody is seen at work may wait for a request") {
  // Passes of a model, each behind a wait of 20 ms; a helper may work for so long of each wait.
  const auto loop = [](Nanos works, const char* last) {
    TraceBuilder story;
    Nanos at = 100_us;
    for (int i = 0; i < 20; ++i) {
      for (const char* kernel : {kMatrixBf16, kSoftmax, kElementwise, kMatrixFp32, last}) {
        story.Thread("main").Launch(kernel, {at, at + 3_us}, {at + 10_us, at + 200_us});
        at += 200_us;
      }
      story.Sync({at, at + 20_us});
      story.OsCall("pthread_cond_wait", {at + 30_us, at + 20_ms});
      if (works > 0) {
        story.Thread("helper").OsCall("pthread_cond_wait", {at - 900_us, at + 20_ms - works});
        story.OsCall("pthread_cond_signal", {at + 20_ms - 10_us, at + 20_ms - 8_us});
      }
      at += 20_ms + 10_us;
    }
    return Analyzed(story, kAuto)->kind;
  };
  const RunKind alone = loop(0, "topk");
  CHECK(alone.kind == KindOfRun::kInference);
  CHECK(alone.request_waits == RequestWaits::kAsWait);
  CHECK(loop(1_ms, "topk").request_waits == RequestWaits::kAsWait);
  CHECK(loop(19_ms, "topk").request_waits == RequestWaits::kSeen);
  CHECK(loop(0, kFlashBackward).request_waits == RequestWaits::kNone);  // it answers nobody
}

TEST_CASE("what a framework repeats without a layer of a model is a loop, and no inference") {
  const std::vector<const char*> distances = {kElementwise,
                                              "at::native::reduce_kernel<512, 1, int>",
                                              "at::native::index_elementwise_kernel<128, 4, int>",
                                              "at::native::sbtopk::gatherTopK<float>", "argmin"};
  const Analyzed run(Loop(40, distances), kAuto);
  CHECK(run->kind.kind == KindOfRun::kSolver);
  CHECK(run->kind.framework == "PyTorch");
  CHECK(run->kind.unit == "iteration");
  auto model = distances;
  model.push_back(kMatrixBf16);
  CHECK(Analyzed(Loop(40, model), kAuto)->kind.kind == KindOfRun::kInference);
}

TEST_CASE("a few launches are counted, and not called a pass") {
  const auto doubt = [](int launches) {
    TraceBuilder story;
    for (int i = 0; i < launches; ++i) {
      const Nanos at = 10_us + i * 40_us;
      story.Launch("gemm", {at - 5_us, at - 2_us}, {at, at + 30_us});
    }
    return Analyzed(story, kAuto)->support.reason;
  };
  CHECK(doubt(1) == "only one kernel launch was recorded");
  CHECK(doubt(3) == "only 3 kernel launches were recorded");
}

TEST_CASE("a loop of arrays is no inference, whatever the language") {
  const Analyzed run(
      Loop(60, {"cupy_add__float64_float64_float64", "cupy_sum_0", "cupy_sqrt__float64",
                "cupy_copy__float64_float64", "cupy_multiply__float64"}),
      kAuto);
  CHECK(run->kind.kind == KindOfRun::kSolver);
  CHECK(run->kind.unit == "iteration");
  CHECK(run->kind.framework == "CuPy");
}

TEST_CASE("a loop of kernels of no framework is a solver, made of iterations") {
  TraceBuilder story = Loop(60, {"advance(double*)", "flux(double*)", "boundary(double*)",
                                 "reduce_dt(double*)", "update(double*)"});
  const Analyzed run(story, kAuto);
  CHECK(run->kind.kind == KindOfRun::kSolver);
  CHECK(run->kind.unit == "iteration");
  CHECK(run->kind.framework.empty());
}

TEST_CASE("one pass is a pass") {
  CHECK(KindOf(Loop(1, {kMatrixBf16, kSoftmax, kElementwise, kMatrixFp32, "topk"})) == "one-pass");
}

TEST_CASE("a kernel that is timed ten times is a benchmark, not a loop") {
  const Analyzed run(Loop(10, {kMatrixBf16}), kAuto);
  CHECK(run->kind.kind == KindOfRun::kKernels);
  CHECK(run->kind.unit == "launch");
  CHECK(run->kind.units == 10);
}

TEST_CASE("two kernels a thousand times are a solver") {
  CHECK(KindOf(Loop(500, {"sweep(double*)", "residual(double*)"})) == "solver");
}

TEST_CASE("code that is loaded for most of the time is start-up, with its price") {
  TraceBuilder story;
  Nanos at = 100_us;
  for (const char* name : {"first", "second", "third", "fourth", "fifth"}) {
    story.Call("cuModuleLoadData", {at, at + 9_ms});
    story.Launch(name, {at + 9_ms, at + 9_ms + 5_us}, {at + 9_ms + 10_us, at + 10_ms});
    at += 10_ms;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->kind.kind == KindOfRun::kStartUp);
  REQUIRE(run->start_up.known);
  // The window begins with the first kernel: four loads lie in it.
  CHECK(run->start_up.code_ns == Approx(4 * 9e6).epsilon(0.01));
  CHECK(run->start_up.compile_ns == 0);  // nothing but loading was recorded
  CHECK(run->start_up.before_ns == Approx(9e6 + 10e3).epsilon(0.01));
  CHECK(run->start_up.loss.lost->Total() == Approx(4 * 9e6).epsilon(0.01));
}

TEST_CASE("ranges name the optimizer, unless there are several") {
  const auto optimizer = [](std::initializer_list<const char*> ranges) {
    TraceBuilder story;
    Nanos at = 0;
    for (const char* range : ranges) {
      story.Range(range, {at, at + 90_us});
      story.Launch("update", {at, at + 5_us}, {at + 10_us, at + 20_us});
      at += 100_us;
    }
    return Analyzed(story, kAuto)->kind.optimizer;
  };
  CHECK(optimizer({"Optimizer.step#Adagrad.step", "Optimizer.zero_grad#Adagrad.zero_grad"}) ==
        "Adagrad");
  CHECK(optimizer({"Optimizer.step#Adagrad.step", "Optimizer.step#SGD.step"}).empty());
  CHECK(optimizer({"step"}).empty());
}

TEST_CASE("a short pause before code is loaded finds it in a cache; a long one compiles") {
  const auto compiles = [](Nanos pause) {
    TraceBuilder story;
    Nanos at = 100_us;
    for (const char* name : {"first", "second", "third", "fourth", "fifth"}) {
      at += pause;
      story.Call("cuModuleLoadData", {at, at + 200_us});
      story.Launch(name, {at + 210_us, at + 215_us}, {at + 220_us, at + 230_us});
      at += 230_us;
    }
    const Analyzed run(story, kAuto);
    REQUIRE(run->start_up.known);
    return run->start_up.compile_ns / run->start_up.code_ns;
  };
  CHECK(compiles(600_us) == 0);
  CHECK(compiles(30_ms) > 0.9);
}

// Repetitions of the same kernels, behind one that each has for itself where asked for; before
// each, code is loaded for as long as given.
TraceBuilder Loading(const std::vector<Nanos>& before, bool own_kernels = false) {
  TraceBuilder story;
  Nanos at = 100_us;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] > 0) story.Call("cuModuleLoadData", {at, at + before[i]});
    at += before[i] + 100_us;
    const auto run = [&](const std::string& name) {
      story.Launch(name, {at - 60_us, at - 57_us}, {at, at + 1_ms});
      at += 1_ms + 5_us;
    };
    if (own_kernels) run("of layer " + std::string(1, static_cast<char>('a' + i)));
    for (const char* name : {"1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"}) run(name);
  }
  return story;
}

TEST_CASE(
    "a loop that loads code in each repetition is a loop; one in which that fades is starting") {
  const Analyzed always(Loading(std::vector<Nanos>(12, 30_ms)), kAuto);
  CHECK(always->kind.kind != KindOfRun::kStartUp);
  CHECK(always->support.verdict);
  const Analyzed starts(
      Loading({90_ms, 80_ms, 66_ms, 50_ms, 39_ms, 30_ms, 22_ms, 14_ms, 6_ms, 2_ms, 0, 0}), kAuto);
  CHECK(starts->kind.kind == KindOfRun::kStartUp);
  CHECK_FALSE(starts->support.verdict);
  const Analyzed few(Loading(std::vector<Nanos>(5, 100_ms)), kAuto);
  CHECK(few->kind.kind == KindOfRun::kStartUp);
  // Soon over: each layer of a first pass loads the code of its own kernel, and no other again.
  const Analyzed brief(Loading(std::vector<Nanos>(12, 8_ms), true), kAuto);
  CHECK(brief->kind.kind == KindOfRun::kStartUp);
  const Analyzed again(Loading(std::vector<Nanos>(12, 8_ms)), kAuto);
  CHECK(again->kind.kind != KindOfRun::kStartUp);
  CHECK(again->support.verdict);
}

TEST_CASE("buffers that are freed in every step are no start-up") {
  // Of each step of 10 ms, 9 ms are a free.
  const auto loop = [](bool every_step) {
    TraceBuilder story;
    Nanos at = 100_us;
    for (int i = 0; i < 4; ++i) {
      for (const char* name : {kMatrixBf16, kSoftmax, kElementwise, kMatrixFp32}) {
        story.Launch(name, {at - 60_us, at - 57_us}, {at, at + 200_us});
        at += 210_us;
      }
      const Nanos taken = every_step || i == 0 ? 9_ms : 100_us;
      story.Call("cudaFree", {at, at + taken - 70_us});
      at += taken;
    }
    return story;
  };
  const Analyzed frees(loop(true), kAuto);
  REQUIRE(frees->run.steps.known());
  CHECK_FALSE(frees->support.start_up);
  CHECK(frees->support.verdict);
  const Analyzed fills(loop(false), kAuto);
  CHECK_FALSE(fills->support.verdict);
}

TEST_CASE("weights on their way before the first kernel are start-up; later copies are not") {
  TraceBuilder story;
  story.CopyToGpu(64_MiB, MemoryKind::kPinned, {0_us, 5_us}, {10_us, 3_ms});
  story.Launch(kElementwise, {3_ms, 3_ms + 5_us}, {3_ms + 10_us, 4_ms});
  story.CopyToGpu(64_MiB, MemoryKind::kPinned, {4_ms, 4_ms + 5_us}, {4_ms + 10_us, 7_ms});
  story.Launch("more", {7_ms, 7_ms + 5_us}, {7_ms + 10_us, 8_ms});
  const Analyzed run(story, kAuto);
  REQUIRE(run->start_up.known);
  CHECK(run->start_up.upload_ns == Approx(2.99e6).epsilon(0.001));
}

TEST_CASE("inputs without a timeline say what they cannot answer") {
  const auto why = [](const std::function<void(Trace*)>& fill) {
    Trace trace;
    fill(&trace);
    return Analysis(trace, ShippedKnowledge(), {}).support.reason;
  };
  CHECK(why([](Trace* trace) {
          trace->counters.emplace_back();
        }).starts_with("kernel counters show"));
  CHECK(why([](Trace* trace) {
          trace->monitor.gpus.emplace_back();
        }).starts_with("monitor samples show"));
}

TEST_CASE("PyTorch is known by short names of its kernels, too") {
  const Analyzed run(Loop(40, {"vectorized_elementwise_kernel", "bn_fw_tr_1C11_kernel_NCHW",
                               "ampere_sgemm_64x32_sliced1x4_tn", "reduce_kernel"}),
                     kAuto);
  CHECK(run->kind.framework == "PyTorch");
  CHECK(run->kind.languages == std::vector<std::string>{"Python"});
}

TEST_CASE("a function of autograd is no compiled region") {
  const auto framework = [](const char* range) {
    TraceBuilder story = Loop(40, {kMatrixBf16, kSoftmax, kElementwise});
    story.Range(range, {0, 10_us});
    return Analyzed(story, kAuto)->kind.framework;
  };
  CHECK(framework("CompiledFunctionBackward") == "PyTorch");
  CHECK(framework("Torch-Compiled Region: 0/0") == "torch.compile");
}

TEST_CASE("what the kind rests on is said") {
  const Analyzed training(
      Loop(40, {kMatrixBf16, kSoftmax, kElementwise, kMatrixFp32, kFlashBackward}), kAuto);
  CHECK(training->kind.why.find("ran") != std::string::npos);
  CHECK(training->kind.why.find("void ") == std::string::npos);  // no signature
  CHECK(training->kind.trains);
  CHECK(training->kind.kernels == 5);
  CHECK(training->kind.launches == 200);
  CHECK(training->kind.units == training->run.steps.steady_count());
  const Analyzed kernels(Loop(10, {kMatrixBf16}), kAuto);
  CHECK(kernels->kind.why == "1 kernel ran, counted by name");
  CHECK(kernels->kind.units == 10);
  const Analyzed two(Loop(10, {kMatrixBf16, kSoftmax}), kAuto);
  CHECK(two->kind.why == "2 kernels ran, counted by name");
  const Analyzed solver(Loop(60, {"advance(double*)", "flux(double*)", "boundary(double*)",
                                  "reduce_dt(double*)", "update(double*)"}),
                        kAuto);
  CHECK(solver->kind.why == "the same kernels repeat, and none belongs to a framework");
  const Analyzed inference(Loop(40, {kMatrixBf16, kSoftmax, kElementwise, kMatrixFp32, "topk"}),
                           kAuto);
  CHECK(inference->kind.why == "passes repeat, and no backward pass or optimizer ran");
  const Analyzed pass(Loop(1, {kMatrixBf16, kSoftmax, kElementwise, kMatrixFp32, "topk"}), kAuto);
  CHECK(pass->kind.why == "nothing repeats often enough to be a loop");
  CHECK(pass->kind.unit == "pass");
  CHECK(pass->kind.units == 1);
}

TEST_CASE("nothing on the GPU is said as such") {
  TraceBuilder story;
  story.Call("cudaMalloc", {0_us, 10_us});
  CHECK(KindOf(story) == "no-gpu");
}

// A script of 81 kernels, each another one, with a buffer that is allocated before it; so many of
// the buffers are freed behind their kernel.
TraceBuilder Script(int freed) {
  TraceBuilder story;
  Nanos at = 100_us;
  for (int i = 0; i < 81; ++i) {
    story.Call("cudaMalloc", {at, at + 100_us});
    story.Launch("stage_" + std::string(1 + static_cast<std::size_t>(i / 20), 'a') +
                     std::string(1, static_cast<char>('a' + i % 20)),
                 {at + 101_us, at + 104_us}, {at + 110_us, at + 310_us});
    if (i < freed) story.Call("cudaFree", {at + 105_us, at + 400_us});
    at += 410_us;
  }
  return story;
}

TEST_CASE("memory that a script frees and allocates again all along is no start-up") {
  const Analyzed again(Script(81));
  REQUIRE_FALSE(again->support.verdict);
  CHECK(again->support.recycles);
  CHECK(again->start_up.allocation_ns == 0);
  const Analyzed once(Script(0));
  REQUIRE_FALSE(once->support.verdict);
  CHECK_FALSE(once->support.recycles);
  CHECK(once->start_up.allocation_ns > 0);
  // Half are enough: the others may be kept for later. The first lies before the window.
  CHECK(Analyzed(Script(41))->support.recycles);
  CHECK_FALSE(Analyzed(Script(40))->support.recycles);
}

}  // namespace
}  // namespace advise
