// Layers of a model are no steps.
#include <string>

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("one pass through a model with many like layers supports no verdict") {
  TraceBuilder story;
  Nanos at = 100_us;
  const auto kernel = [&](const char* name) {
    story.Launch(name, {at - 60_us, at - 57_us}, {at, at + 50_us});
    at += 50_us;
  };
  kernel("embed");
  for (int layer = 0; layer < 32; ++layer) {
    for (const char* name : {"norm", "sgemm_qkv", "attn", "sgemm_up", "gelu", "sgemm_down"})
      kernel(name);
  }
  kernel("head");
  const Analyzed run(story, WindowRequest::Mode::kAuto);
  CHECK_FALSE(run->run.steps.known());
  CHECK_FALSE(run->support.verdict);
}

TEST_CASE("ranges of layers are no steps, though they follow each other and count up") {
  TraceBuilder story;
  Repeat(12, 1_ms, [&](int i, Nanos at) {
    story.Range("layer " + std::to_string(i), {at, at + 999_us});
    story.Launch("sgemm", {at + 1_us, at + 4_us}, {at + 10_us, at + 1009_us});
  });
  CHECK_FALSE(Analyzed(story, WindowRequest::Mode::kAuto)->run.steps.known());
}

// Repetitions that the host waits for: steps, if nothing says otherwise. `inside` names what was
// launched in the i-th.
TraceBuilder Repetitions(const std::function<std::string(int)>& inside) {
  TraceBuilder story;
  Repeat(12, 1_ms, [&](int i, Nanos at) {
    story.Range(inside(i), {at, at + 600_us});
    AddLayeredStep(&story, at + 20_us, 50_us);
    story.Sync({at + 700_us, at + 900_us}, "cudaStreamSynchronize");
  });
  return story;
}

TEST_CASE("repetitions whose modules count up are the layers of one pass") {
  const Analyzed layers(Repetitions([](int i) {
                          return "FSDP::pre_forward (blocks." + std::to_string(3 + i) +
                                 "._checkpoint_wrapped_module)";
                        }),
                        kAuto);
  CHECK_FALSE(layers->run.steps.known());
  CHECK(layers->run.window.mode == "all");
  CHECK_FALSE(layers->support.verdict);
  CHECK(layers->support.reason.find("layers of one pass (blocks.0, blocks.1") != std::string::npos);
}

TEST_CASE("a loop that runs the same layers in each step has steps") {
  CHECK(Analyzed(Repetitions([](int) { return "blocks.0"; }), kAuto)->run.steps.known());
  CHECK(Analyzed(Repetitions([](int i) { return "epoch." + std::to_string(i); }), kAuto)
            ->run.steps.known());
}

// Tokens whose layers compute all there is: each is fed by the host, and read by it. With `of` in
// the middle, the layers are those of an eager engine, between which the device waits for launches.
TEST_CASE("the iteration is what the host feeds, and not the layers in it") {
  constexpr int kLayers = 6;
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int, Nanos at) {
    story.CopyToGpu(512, MemoryKind::kPinned, {at, at + 5_us}, {at + 8_us, at + 10_us});
    for (int layer = 0; layer < kLayers; ++layer) {
      const Nanos begin = at + 40_us + layer * 120_us;
      for (int k = 0; k < 3; ++k) {
        const Nanos call = begin + k * 40_us;
        story.Launch(k == 0   ? "rms_norm"
                     : k == 1 ? "sgemm_qkv"
                              : "flash_fwd_splitkv_kernel",
                     {call, call + 5_us}, {call + 8_us, call + 18_us});
      }
    }
    story.CopyFromGpu(4096, MemoryKind::kPageable, {at + 800_us, at + 830_us},
                      {at + 810_us, at + 825_us});
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.known());
  CHECK(run->run.steps.Median() == 1_ms);
}

// After each fifth launch the host waits, and computes for 3 ms.
TEST_CASE("a graph is a step, also where the host takes part in each fifth one only") {
  TraceBuilder story;
  Nanos at = 0;
  for (int i = 0; i < 60; ++i, at += 1_ms) {
    story.Graph(1, {at, at + 10_us}, {at + 30_us, at + 990_us});
    if (i % 5 != 4) continue;
    story.Sync({at + 500_us, at + 1_ms}, "cudaDeviceSynchronize");
    at += 3_ms;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.Median() == 1_ms);
  CHECK(run->step_stats.stall_every == 5);
}

TEST_CASE("layers inside a graph are no steps: its launch is one") {
  constexpr int kLayers = 16;
  TraceBuilder story;
  Repeat(12, 1_ms, [&](int, Nanos at) {
    std::vector<Interval> nodes;
    for (int layer = 0; layer < kLayers; ++layer)
      nodes.push_back({at + 30_us + layer * 50_us, at + 75_us + layer * 50_us});
    story.GraphNodes("sgemm", {at, at + 10_us}, nodes);
  });
  const Analyzed run(story, kAuto);
  REQUIRE(run->run.steps.known());
  CHECK(run->run.steps.Median() == 1_ms);
}

TEST_CASE("the layers of two passes are no steps") {
  TraceBuilder story;
  Repeat(2, 1_ms, [&](int, Nanos start) { AddLayeredStep(&story, start, 50_us); });
  CHECK_FALSE(Analyzed(story, WindowRequest::Mode::kAuto)->run.steps.known());
}

// One pass through twelve layers whose weights stay on the host: `uploads` tensors each, on a
// stream of their own, and then 200 us of computing. `hands_back`: a result after each.
TraceBuilder OffloadedPass(int uploads, bool hands_back, std::int64_t unit = 64_MiB,
                           const char* last = "sgemm_down") {
  TraceBuilder story;
  Repeat(12, 10_ms, [&](int, Nanos at) {
    for (int i = 0; i < uploads; ++i) {
      const Nanos from = at + i * 9_ms / uploads;
      story.OnStream(7).CopyToGpu(unit + i * 65536, MemoryKind::kPinned,
                                  {at + i * 2_us, at + i * 2_us + 1_us},
                                  {from, from + 9_ms / uploads - 1_us});
    }
    for (const char* name : {"norm", "sgemm_qkv", "attn", "sgemm_up", "gelu", last}) {
      const Nanos k = at + 9100_us + (name[0] + name[1]) % 7 * 30_us;
      story.Launch(name, {at + 20_us, at + 21_us}, {k, k + 20_us});
    }
    if (hands_back) {
      story.CopyFromGpu(4096, MemoryKind::kPinned, {at + 30_us, at + 31_us},
                        {at + 9700_us, at + 9701_us});
    }
  });
  return story;
}

TEST_CASE("layers that each upload their weights and hand nothing back are no steps") {
  const Analyzed run(OffloadedPass(4, false), kAuto);
  CHECK_FALSE(run->run.steps.known());
  CHECK(run->run.steps.offloaded.size() >= 10);
  CHECK(run->support.reason.find("uploads weights") != std::string::npos);
  // The uploads are told nevertheless, for all of the window.
  CHECK(run->copies.repeated.count == 12 * 4);
  CHECK(run->copies.repeated_memory == "pinned");
}

TEST_CASE("a loop that hands something back, or takes in a batch, has steps") {
  // In pieces that take as long, over a slow link.
  CHECK(Analyzed(OffloadedPass(5, false, 1_MiB), kAuto)->run.steps.known());
  // What updates weights trains.
  const char* const kAdam = "multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>";
  CHECK(Analyzed(OffloadedPass(4, false, 64_MiB, kAdam), kAuto)->run.steps.known());
  CHECK(Analyzed(OffloadedPass(4, true), kAuto)->run.steps.known());
  CHECK(Analyzed(OffloadedPass(2, false), kAuto)->run.steps.known());
}

// Each step sends the weights of its eight layers, one ahead of the other, and keeps its results.
TEST_CASE("steps that upload the weights of several layers are no layers") {
  TraceBuilder story;
  Repeat(12, 10_ms, [&](int, Nanos at) {
    story.OnStream(7).Launch("embedding", {at - 20_us, at - 18_us}, {at - 15_us, at - 5_us});
    story.Sync({at + 200_us, at + 9900_us});
    for (int layer = 0; layer < 8; ++layer) {
      const Nanos from = at + layer * 1200_us;
      const Nanos call = at + layer * 20_us;
      const Nanos sent = at - 18_us + layer * 2_us;
      story.OnStream(9).CopyToGpu(64_MiB, MemoryKind::kPinned, {sent, sent + 1_us},
                                  {from, from + 1190_us});
      story.OnStream(7);
      for (const char* name : {"sgemm_qkv", "flash_fwd_kernel", "sgemm_up"}) {
        const Nanos k = from + (name[0] == 'f' ? 400_us : name[6] == 'q' ? 0_us : 800_us);
        story.Launch(name, {call + 2_us, call + 3_us}, {k, k + 390_us});
      }
    }
  });
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.known());
  CHECK(run->run.steps.Median() == 10_ms);
}

TEST_CASE(
    "layers are no iterations where the sizes follow the batch, and the host reads each result") {
  // 12 tokens of ten layers; the number of sequences, and grids with it, differs from token to
  // token.
  TraceBuilder story;
  Nanos at = 0;
  const auto kernel = [&](const char* name, std::uint32_t blocks) {
    Look look;
    look.blocks = blocks;
    story.Launch(name, {at, at + 5_us}, {at + 6_us, at + 30_us}, look);
    at += 50_us;
  };
  for (std::uint32_t token = 0; token < 12; ++token) {
    for (int layer = 0; layer < 10; ++layer) {
      kernel("project", 100 + 7 * token);
      kernel("attend", 64);
      kernel("add", 200 + 3 * token);
    }
    kernel("argmax", 1);
    story.CopyFromGpu(1024, MemoryKind::kPinned, {at, at + 3_us}, {at + 6_us, at + 8_us});
    story.Sync({at + 4_us, at + 9_us});
    at += 50_us;
  }
  const Analyzed run(story, kAuto);
  CHECK(run->run.steps.all.size() >= 11);
  CHECK(run->run.steps.all.size() <= 12);
}

// Sixty tokens. Each sends two arrays, and launches a graph for each of forty parts of layers, with
// `between` behind each of them and `last` behind all. Then the host reads the token. Three are
// prompts, without graphs.
TraceBuilder InPieces(const char* between, const char* last) {
  TraceBuilder story;
  Nanos at = 1_ms;
  for (int token = 0; token < 60; ++token) {
    for (const Nanos before : {30_us, 26_us})
      story.CopyToGpu(before == 30_us ? 192 : 384, MemoryKind::kPinned,
                      {at - before, at - before + 2_us},
                      {at - before + 10_us, at - before + 11_us});
    const bool prompt = token == 18 || token == 31 || token == 47;
    for (int piece = 0; piece < 40; ++piece, at += 60_us) {
      if (!prompt) story.Graph(1, {at - 8_us, at - 5_us}, {at, at + 40_us});
      Nanos kernel = at;
      for (const char* name :
           {"rms_norm", "sgemm_qkv", "rotary", "flash_fwd_kernel", "sgemm_out"}) {
        if (!prompt) break;
        story.Launch(name, {kernel - 8_us, kernel - 5_us}, {kernel, kernel + 8_us},
                     {.blocks = 500});
        kernel += 8_us;
      }
      if (between != nullptr)
        story.Launch(between, {at - 5_us, at - 2_us}, {at + 42_us, at + 55_us});
    }
    if (last != nullptr) story.Launch(last, {at - 5_us, at - 3_us}, {at, at + 20_us});
    story.CopyFromGpu(384, MemoryKind::kPinned, {at + 22_us, at + 24_us}, {at + 25_us, at + 26_us});
    story.Sync({at + 25_us, at + 28_us}, "cudaStreamSynchronize");
    at += 100_us;
  }
  return story;
}

TEST_CASE("graphs of parts of layers are no steps: the host meets what they are part of") {
  const auto steps = [](const char* between, const char* last) {
    return Analyzed(InPieces(between, last), kAuto)->run.steps.all.size();
  };
  CHECK(steps(nullptr, "argmax") < 65);
  CHECK(steps("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", nullptr) < 65);
}

}  // namespace
}  // namespace advise
