// What kernels lose, and what the fix of each loss changes: all of it, on stories of a few kernels.
#include "engine/metrics/losses/kernels/kernel.h"
#include "engine/metrics/losses/kernels/product_reuse.h"
#include "tests/metrics/losses/loss_words.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Kernels back to back, each launched in time; a call a kernel, so that rows of calls and ops
// agree.
TraceBuilder BackToBack(const std::vector<std::pair<std::string, Nanos>>& kernels,
                        const std::string& gpu = "Test GPU") {
  TraceBuilder story;
  story.Device(gpu, 100);
  Nanos at = 1_ms;
  Nanos call = 0;
  for (const auto& [name, length] : kernels) {
    story.Launch(name, {call, call + 1_us}, {at, at + length});
    at += length;
    call += 2_us;
  }
  return story;
}

const char* const kLayout = "void cudnn::nchwToNhwcKernel<float, float, float, false, true>(int)";
const char* const kSpin = "at::cuda::(anonymous namespace)::spin_kernel(long)";
const char* const kAlign1 =
    "void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_32x6_tn_align1>(int)";

TEST_CASE("changes of layout vanish, kernels that wait vanish as far as the GPU's other work") {
  const Analyzed run(
      BackToBack({{kLayout, 30_us}, {"work", 50_us}, {kSpin, 20_us}, {kSpin, 7_us}}));
  CHECK(Told(run->kernels.layout) == "1 times, 0 bytes, 30000 ns in all, 30000 ns lost");
  CHECK(Changes(run->kernels.layout) == "drops 0, scales 0 to 0");  // with its launch
  CHECK(Told(run->kernels.waiting) == "2 times, 0 bytes, 27000 ns in all, 27000 ns lost");
  CHECK(Changes(run->kernels.waiting) == "scales 2 to 0, scales 3 to 0");
  CHECK(run->kernels.waiting.remedy->reach_ns == 27_us);
  CHECK(run->kernels.waiting.remedy->reach_reason == std::string("the GPU's other work"));
  CHECK(run->kernels.layout.remedy->reach_ns == 0);
}

// A library converts behind the code of its operator, and calls the operator's own kernel at once.
TEST_CASE("a change of layout leaves the code of the operator that it is part of") {
  TraceBuilder inside;
  inside.Launch("work", {0_us, 1_us}, {1_ms, 2_ms})
      .Launch(kLayout, {21_us, 22_us}, {2_ms, 2010_us})
      .Launch("work", {24_us, 25_us}, {2010_us, 3_ms})
      .Launch("work", {45_us, 46_us}, {3_ms, 4_ms});
  CHECK(Changes(Analyzed(inside)->kernels.layout) == "scales 1 to 0, cuts 3000 ns");
  TraceBuilder behind;
  behind.Launch("work", {0_us, 1_us}, {1_ms, 2_ms})
      .Launch(kLayout, {3_us, 4_us}, {2_ms, 2010_us})
      .Launch("work", {24_us, 25_us}, {2010_us, 3_ms});
  CHECK(Changes(Analyzed(behind)->kernels.layout) == "drops 1, scales 1 to 0");
}

TEST_CASE("changes of type go but for the part that programs need") {
  const Analyzed run(BackToBack({{"triton_poi_fused__to_copy_1", 40_us}, {"work", 50_us}}));
  CHECK(Told(run->kernels.cast) == "1 times, 0 bytes, 40000 ns in all, 40000 ns lost");
  CHECK(Changes(run->kernels.cast) == "scales 0 to 0.25");
  CHECK(run->kernels.layout.count == 0);
}

TEST_CASE("casts that go take their launches along, but for those that launch a whole graph") {
  const std::string cast = "triton_poi_fused__to_copy_1";
  const Analyzed run(BackToBack({{cast, 40_us}, {cast, 40_us}, {cast, 40_us}, {cast, 40_us}}));
  CHECK(run->kernels.cast.remedy->vanished_calls.size() == 3);
  TraceBuilder graph;
  graph.GraphNodes(cast, {0_us, 5_us},
                   {{10_us, 50_us}, {50_us, 90_us}, {90_us, 130_us}, {130_us, 170_us}});
  graph.GraphNodes(kLayout, {6_us, 9_us}, {{170_us, 200_us}, {200_us, 230_us}});
  const Analyzed of_graph(graph);
  CHECK(of_graph->kernels.cast.count == 4);
  CHECK(of_graph->kernels.cast.remedy->vanished_calls.empty());
  CHECK(of_graph->kernels.layout.remedy->vanished_calls.empty());
}

TEST_CASE("products in bfloat16 that use no tensor cores are told from those that do") {
  const Analyzed run(BackToBack(
      {{"gemmSN_NN_kernel<__nv_bfloat16, float>", 40_us}, {kMatrixBf16, 30_us}, {"work", 50_us}}));
  CHECK(run->number_formats->bf16.count == 1);
  CHECK(run->number_formats->bf16.lost->Total() == 40_us);
}

TEST_CASE("products in FP32 get as much faster as tensor cores are, within what is reached") {
  const std::vector<std::pair<std::string, Nanos>> kernels = {
      {"ampere_sgemm_tn", 30_us}, {"ampere_sgemm_nn", 50_us}, {kMatrixBf16, 10_us}, {"x", 5_us}};
  const Analyzed a100(BackToBack(kernels, "NVIDIA A100-SXM4-80GB"));
  CHECK(Told(a100->kernels.fp32) == "2 times, 0 bytes, 80000 ns in all, 80000 ns lost");
  CHECK(Changes(a100->kernels.fp32) == "scales 0 to 0.0833, scales 1 to 0.0833");  // 16 * 0.75 = 12
  CHECK(a100->kernels.fp32_top == "ampere_sgemm_nn");
  CHECK(a100->kernels.matrix_ns == 90e3);
  CHECK(a100->kernels.tensor_ns == 10e3);
  CHECK(a100->hardware.tensor_ratio == 16);
  // V100: 125 over 15.7 TFLOP/s, of which three quarters are reached.
  const Analyzed v100(BackToBack(kernels, "Tesla V100-SXM2-32GB"));
  const double ratio = v100->hardware.peak_tensor_flops / v100->hardware.peak_fp32_flops;
  CHECK(v100->hardware.tensor_ratio == ratio);
  CHECK(v100->kernels.fp32.remedy->scaled_ops[0].second == Approx(1 / (0.75 * ratio)));
  // Of unknown tensor cores nothing is promised.
  CHECK(Changes(Analyzed(BackToBack(kernels))->kernels.fp32) == "scales 0 to 1, scales 1 to 1");
}

// Weights are read once for one tile of rows: in 16 bits that takes half of the time in FP32, or
// what the FP32 units need for all rows of the tile.
TEST_CASE("products of few rows get no faster than memory allows") {
  const auto most = [](const std::string& name, std::array<std::uint32_t, 3> grid) {
    KernelShape shape;
    shape.grid = grid;
    return MostByMemory(shape, name, 19.5e12, 2.039e12);
  };
  const auto unlimited = [&](const std::string& name, std::array<std::uint32_t, 3> grid) {
    return std::isinf(most(name, grid));
  };
  CHECK(most("ampere_sgemm_128x128_tn", {1, 4096, 1}) == Approx(128 * 2.039 / 19.5).epsilon(0.01));
  CHECK(most("ampere_sgemm_64x32_sliced1x4_tn", {64, 1, 3}) == Approx(32 * 0.1046).epsilon(0.02));
  CHECK(most("ampere_sgemm_32x32_sliced1x4_tn", {64, 1, 3}) == Approx(32 * 0.1046).epsilon(0.02));
  CHECK(most("void magma_sgemm_16x16_tn", {1, 64, 1}) == 2);  // memory binds FP32, too
  CHECK(most("ampere_sgemm_128x64_tn", {80, 32, 1}) > 100);
  const std::string xmma =
      "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma";
  CHECK(most(xmma, {1, 64, 1}) == Approx(32 * 0.1046).epsilon(0.02));
  CHECK(unlimited(xmma, {64, 1, 1}));  // tiles may stand in another order
  CHECK(unlimited("cutlass_80_simt_sgemm_64x64_8x5_nn_align1", {64, 1, 1}));
  CHECK(unlimited("ampere_sgemm_64x64_tn", {1, 4, 128}));  // a batch, which caches may hold
  CHECK(unlimited("ampere_sgemm_64x64_tn", {0, 0, 0}));
  CHECK(unlimited("sgemm_kernel", {1, 64, 1}));
  // A kernel of a story is 1000 blocks along one dimension.
  const Analyzed run(
      BackToBack({{"ampere_sgemm_128x64_tn", 30_us}, {"ampere_sgemm_64x32_nn", 50_us}},
                 "NVIDIA A100-SXM4-80GB"));
  CHECK(Changes(run->kernels.fp32) == "scales 0 to 0.15, scales 1 to 0.299");
}

TEST_CASE("copies of the key-value cache are no element-wise work that a compiler could fuse") {
  const char* const write =
      "void vllm::reshape_and_cache_kernel<__nv_bfloat16, __nv_bfloat16, "
      "(vllm::Fp8KVCacheDataType)0>(int)";
  const char* const gather = "void vllm::gather_cache<__nv_bfloat16>(int)";
  const Analyzed run(
      BackToBack({{kElementwise, 10_us}, {write, 20_us}, {gather, 30_us}, {"work", 50_us}}));
  CHECK(run->kernels.elementwise.count == 0);
}

TEST_CASE("parts of a convolution that multiply nothing get no faster by tensor cores") {
  const char* const patches =
      "void at::native::im2col_kernel<float>(long, float const*, long, long, long, float*)";
  const char* const depthwise =
      "void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>(int)";
  const Analyzed run(BackToBack({{patches, 300_us}, {depthwise, 60_us}, {kMatrixFp32, 30_us}},
                                "NVIDIA A100-SXM4-80GB"));
  CHECK(Told(run->kernels.fp32) == "1 times, 0 bytes, 30000 ns in all, 30000 ns lost");
}

TEST_CASE("products on sizes that are not aligned take half of their time when they are") {
  const Analyzed run(BackToBack({{kAlign1, 40_us}, {kMatrixBf16, 60_us}}));
  CHECK(Told(run->kernels.unaligned) == "1 times, 0 bytes, 40000 ns in all, 40000 ns lost");
  CHECK(Changes(run->kernels.unaligned) == "scales 0 to 0.5");
  CHECK(run->kernels.tensor_ns == 100e3);
}

TEST_CASE("on Hopper, products on odd sizes also get rid of Turing's instructions") {
  const auto left = [](int compute_major) {
    Trace trace =
        BackToBack({{"void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128"
                     "_tn_align1>(int)",
                     40_us},
                    {kMatrixBf16, 60_us}})
            .Build();
    trace.devices.back().compute_major = compute_major;
    return Changes(Analysis(trace, ShippedKnowledge(), {}).kernels.unaligned);
  };
  CHECK(left(8) == "scales 0 to 0.5");
  CHECK(left(9) == "scales 0 to 0.175");
}

TEST_CASE(
    "of a run of element-wise kernels the first stays, the others shrink and are not launched") {
  const Analyzed run(BackToBack({{kElementwise, 10_us},
                                 {kElementwise, 20_us},
                                 {kElementwise, 30_us},
                                 {"work", 50_us},
                                 {kElementwise, 5_us}}));
  CHECK(Told(run->kernels.elementwise) == "3 times, 0 bytes, 60000 ns in all, 60000 ns lost");
  CHECK(Changes(run->kernels.elementwise) == "drops 1 2, scales 1 to 0.3, scales 2 to 0.3");
  CHECK(run->kernels.elementwise_runs == 1);
}

TEST_CASE("concatenations one behind the other are no chain") {
  const char* const cat =
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 128, "
      "1>(float*)";
  CHECK(Analyzed(BackToBack({{cat, 10_us}, {cat, 20_us}}))->kernels.elementwise.count == 0);
  CHECK(Analyzed(BackToBack({{kElementwise, 10_us}, {cat, 20_us}}))->kernels.elementwise.count ==
        2);
}

TEST_CASE("what the host reads or sends between element-wise kernels parts their run") {
  const auto runs = [](bool to_host, bool to_gpu) {
    TraceBuilder story;
    story.Launch(kElementwise, {0_us, 5_us}, {10_us, 20_us});
    if (to_host) story.CopyFromGpu(1_MiB, MemoryKind::kPinned, {6_us, 8_us}, {20_us, 60_us});
    if (to_gpu) story.CopyToGpu(1_MiB, MemoryKind::kPinned, {8_us, 9_us}, {60_us, 90_us});
    story.OnStream(9).CopyToGpu(1_MiB, MemoryKind::kPinned, {9_us, 10_us}, {20_us, 60_us});
    story.OnStream(7).Launch(kElementwise, {12_us, 15_us}, {100_us, 110_us});
    return Analyzed(story)->kernels.elementwise_runs;
  };
  CHECK(runs(false, false) == 1);
  CHECK(runs(true, false) == 0);
  CHECK(runs(false, true) == 0);
}

TEST_CASE("an attention that is fused keeps its two products, and one launch") {
  const Analyzed run(BackToBack({{kMatrixBf16, 20_us},
                                 {kElementwise, 5_us},
                                 {kSoftmax, 10_us},
                                 {kElementwise, 4_us},
                                 {kMatrixBf16, 20_us},
                                 {"x", 1_us}}));
  CHECK(Told(run->kernels.attention) == "1 times, 0 bytes, 0 ns in all, 59000 ns lost");
  CHECK(Changes(run->kernels.attention) ==
        "drops 1 2 3 4, scales 1 to 0, scales 2 to 0, scales 3 to 0");
}

TEST_CASE("a softmax is of an attention when its products are near enough, on both sides") {
  const auto count = [](int before, int after) {
    std::vector<std::pair<std::string, Nanos>> kernels = {{kMatrixBf16, 20_us}};
    for (int i = 0; i < before; ++i) kernels.emplace_back(kElementwise, 5_us);
    kernels.emplace_back(kSoftmax, 10_us);
    for (int i = 0; i < after; ++i) kernels.emplace_back(kElementwise, 5_us);
    kernels.emplace_back(kMatrixBf16, 20_us);
    return Analyzed(BackToBack(kernels))->kernels.attention.count;
  };
  CHECK(count(0, 0) == 1);
  CHECK(count(7, 0) == 1);
  CHECK(count(8, 0) == 0);
  CHECK(count(0, 7) == 1);
  CHECK(count(0, 8) == 0);
  CHECK(Analyzed(BackToBack({{kSoftmax, 9_us}, {kMatrixBf16, 9_us}}))->kernels.attention.count ==
        0);
  CHECK(Analyzed(BackToBack({{kMatrixBf16, 9_us}, {kSoftmax, 9_us}}))->kernels.attention.count ==
        0);
  CHECK(Analyzed(BackToBack({{"x", 9_us}, {kSoftmax, 9_us}, {kMatrixBf16, 9_us}}))
            ->kernels.attention.count == 0);
  CHECK(Analyzed(BackToBack({{kMatrixBf16, 9_us}, {kSoftmax, 9_us}, {"x", 9_us}}))
            ->kernels.attention.count == 0);
}

TEST_CASE("tails: the part of the last wave that is empty, of the kernel's time") {
  // A block of 1024 threads an SM: 101 of them need two waves, of which 99 / 200 are empty.
  TraceBuilder story;
  story.Launch("tail", {0, 1_us}, {1_ms, 1_ms + 100_us}, {.blocks = 101, .threads = 1024});
  const Analyzed run(story);
  CHECK(Told(run->kernels.tail) == "1 times, 0 bytes, 100000 ns in all, 100000 ns lost");
  REQUIRE(run->kernels.tail_rows.size() == 1);
  CHECK(run->kernels.tail_rows[0].waves == Approx(1.01));
  CHECK(run->kernels.tail_waste_ns == Approx(100e3 * 0.99 / 2));
  CHECK(run->kernels.tail_counted_ns == 0);
  const auto tail = [](std::uint32_t blocks, std::uint32_t threads) {
    TraceBuilder one;
    one.Launch("tail", {0, 1_us}, {1_ms, 1_ms + 100_us}, {.blocks = blocks, .threads = threads});
    return Analyzed(one)->kernels.tail_waste_ns / 100e3;
  };
  CHECK(tail(100, 1024) == 0);                 // one full wave
  CHECK(tail(200, 1024) == 0);                 // two
  CHECK(tail(201, 512) == Approx(1.99 / 4));   // of blocks of 512 an SM holds two
  CHECK(tail(3201, 1) == Approx(31.99 / 64));  // of the smallest it holds 32
  CHECK(tail(3200, 1) == 0);
}

TEST_CASE("small grids that run side by side for a part of their time") {
  // 100 us alone, then 100 us with another one: half of its time.
  const auto counted = [](Nanos beside) {
    TraceBuilder story;
    story.OnStream(7).Launch("narrow", {0, 1_us}, {1_ms, 1_ms + 200_us}, {.blocks = 10});
    story.OnStream(8).Launch("wide", {2_us, 3_us}, {1_ms + 200_us - beside, 1_ms + 400_us},
                             {.blocks = 5000});
    return Analyzed(story)->kernels.small_grid.count;
  };
  const auto share = ShippedKnowledge().Number("kernel.alone_share");
  const auto most = static_cast<Nanos>((1 - share) * 200e3);
  CHECK(counted(0) == 1);
  CHECK(counted(most) == 1);
  CHECK(counted(most + 1_us) == 0);
  TraceBuilder story;
  story.OnStream(7).Launch("a", {0, 1_us}, {1_ms, 1_ms + 100_us});
  story.OnStream(8).Launch("b", {2_us, 3_us}, {1_ms + 50_us, 1_ms + 200_us});
  const Analyzed run(story);
  CHECK(run->kernels.concurrency == Approx(250.0 / 200));
  CHECK(run->kernels.streams == 2);
}

TEST_CASE("blocks that fill no warp, and blocks of a single one") {
  const auto shapes = [](std::uint32_t blocks, std::uint32_t threads) {
    TraceBuilder story;
    story.Launch("k", {0, 1_us}, {1_ms, 1_ms + 100_us}, {.blocks = blocks, .threads = threads});
    return Analyzed(story);
  };
  const Analyzed partial = shapes(1000, 48);
  CHECK(Told(partial->block_shapes->partial_warps) ==
        "1 times, 0 bytes, 100000 ns in all, 100000 ns lost");
  CHECK(Changes(partial->block_shapes->partial_warps) == "scales 0 to 0.75");
  CHECK(partial->block_shapes->partial_warp_waste_ns == Approx(25e3));
  REQUIRE(partial->block_shapes->partial_warp_rows.size() == 1);
  CHECK(partial->block_shapes->partial_warp_rows[0].blocks == 48);
  CHECK(partial->block_shapes->tiny_blocks.count == 0);
  CHECK(shapes(100, 48)->block_shapes->partial_warps.count == 1);
  CHECK(shapes(99, 48)->block_shapes->partial_warps.count == 0);  // the grid is the cause
  CHECK(shapes(1000, 64)->block_shapes->partial_warps.count == 0);
  CHECK(shapes(1000, 65)->block_shapes->partial_warps.count == 1);
  CHECK(Changes(shapes(1000, 65)->block_shapes->partial_warps) == "scales 0 to 0.677");  // 65 of 96
  CHECK(shapes(1000, 32)->block_shapes->partial_warps.count == 0);
  CHECK(shapes(1000, 32)->block_shapes->tiny_blocks.count == 1);
  CHECK(shapes(1000, 33)->block_shapes->tiny_blocks.count == 0);
  CHECK(shapes(101, 32)->block_shapes->tiny_blocks.count == 1);
  CHECK(shapes(100, 32)->block_shapes->tiny_blocks.count == 0);
}

TEST_CASE("formats of numbers: double precision, and sixteen and eight bits of products") {
  const Analyzed run(
      BackToBack({{"ampere_dgemm_128x64_nn", 10_us},
                  {kMatrixBf16, 20_us},
                  {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn", 30_us},
                  {"sm90_xmma_gemm_e4m3e4m3_e4m3f32_f32_tn_n_tilesize128x128", 40_us},
                  {"void marlin::Marlin<__nv_bfloat16, 256, 1, 8, 8, 4>(int4 const*)", 9_us},
                  {"turing_int8_i8816gemm_int8_128x128_ldg16_relu_stages_64x1_tn", 7_us},
                  {kMatrixFp32, 50_us}}));
  CHECK(Told(run->number_formats->fp64) == "1 times, 0 bytes, 10000 ns in all, 10000 ns lost");
  REQUIRE(run->number_formats->fp64.remedy->lighter_ops.size() == 1);
  CHECK(run->number_formats->fp64.remedy->lighter_ops[0].second == 0.5F);
  // As of all kernels on double-precision tensors: the change is made once.
  CHECK(Without(*run->number_formats->doubles.remedy, *run->number_formats->fp64.remedy, run->run)
            .ChangesNothing());
  CHECK(run->number_formats->bf16.count == 0);
  CHECK(run->number_formats->half_ns == 50e3);
  CHECK(run->number_formats->fp8_ns == 47e3);
}

TEST_CASE("products on few units for double precision are bound by these") {
  const std::string tanh =
      "void at::native::vectorized_elementwise_kernel<2, at::native::tanh_kernel_cuda(at::"
      "TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda(double)#1}, "
      "std::array<char*, 2ul> >(int)";
  TraceBuilder story;
  story.Device("NVIDIA L4", 58);
  story.Kernel("ampere_dgemm_128x64_nn", {0_us, 10_us}).Kernel(tanh, {10_us, 30_us});
  const Analyzed run(story);
  const auto& lighter = run->number_formats->doubles.remedy->lighter_ops;
  REQUIRE(lighter.size() == 2);
  CHECK(lighter[0].second == Approx(4.0 / 64).epsilon(0.02));
  CHECK(lighter[1].second == 0.5F);  // bound by memory
}

TEST_CASE("kernels on double-precision tensors are told by what PyTorch calls them") {
  const std::string vectorized = "void at::native::vectorized_elementwise_kernel<2, at::native::";
  TraceBuilder story;
  story.Kernel(vectorized + "CUDAFunctor_add<double>, std::array<char*, 3ul> >(int)",
               {0_us, 10_us});
  story.Kernel("void at::native::roll_cuda_kernel<c10::complex<double> >(long)", {10_us, 30_us});
  // The learning rate is of type double, or a scalar, and the data are not; a program of its own.
  story.Kernel(
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
      "at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4>, float const*, "
      "double, double>(double)",
      {30_us, 70_us});
  story.Kernel(vectorized +
                   "(anonymous namespace)::pow_tensor_scalar_kernel_impl<float, double>("
                   "double)::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
               {70_us, 100_us});
  story.Kernel("saxpy(double*, double*, double)", {100_us, 200_us});
  const Analyzed run(story);
  CHECK(run->number_formats->doubles.count == 2);
  CHECK(run->number_formats->doubles.lost->Total() == 30_us);
  REQUIRE(run->number_formats->doubles.remedy->lighter_ops.size() == 2);
  CHECK(run->number_formats->doubles.remedy->lighter_ops[0].second == 0.5F);
}

}  // namespace
}  // namespace advise
