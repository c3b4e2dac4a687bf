// What runs on the GPU: precision, grids, and sequences that a better kernel would replace.
#include "engine/metrics/losses/kernels/kernel.h"

#include "tests/support/analyzed.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

// Kernels back to back on one stream, all launched in time.
class Line {
 public:
  Line& Add(const std::string& name, Nanos length, Look look = {}) {
    const Nanos call = calls_++ * 2_us;
    story_.Launch(name, {call, call + 1_us}, {at_, at_ + length}, look);
    at_ += length;
    return *this;
  }
  Analyzed Run() { return Analyzed(story_); }

 private:
  TraceBuilder story_;
  Nanos at_ = 1_ms;
  int calls_ = 0;
};

TEST_CASE("matrix kernels in FP32 without tensor cores are told from those with") {
  const Analyzed run =
      Line().Add(kMatrixFp32, 300_us).Add(kMatrixBf16, 500_us).Add(kElementwise, 200_us).Run();
  CHECK(run->kernels.matrix_ns == 800_us);
  CHECK(run->kernels.tensor_ns == 500_us);
  CHECK(run->kernels.fp32.count == 1);
  CHECK(run->kernels.fp32.lost->Total() == 300_us);
  CHECK(run->kernels.fp32_top == kMatrixFp32);
  CHECK(run->kernels.compute_ns == 1_ms);
}

TEST_CASE("TF32 runs on tensor cores and is no FP32") {
  const Analyzed run =
      Line().Add("ampere_sgemm_tf32_s1688gemm_128x128_nn", 300_us).Add("x", 10_us).Run();
  CHECK(run->kernels.fp32.count == 0);
}

TEST_CASE("products of matrices with single vectors win nothing on tensor cores") {
  const Analyzed run(TraceBuilder()
                         .Kernel("void gemv_kernel<float, 128, 4>(float const*, float const*, "
                                 "float*, int, int)",
                                 {0_us, 300_us})
                         .Kernel(kMatrixFp32, {300_us, 400_us}));
  CHECK(run->kernels.matrix_ns == 400e3);
  CHECK(run->kernels.fp32.count == 1);
  CHECK(run->kernels.fp32.lost->Total() == 100_us);
}

// A compiler that fuses the program's element-wise operations does not reach into MIOpen.
TEST_CASE("what a convolution of MIOpen clears and converts is no run of element-wise kernels") {
  Line line;
  for (int i = 0; i < 4; ++i) {
    line.Add("SubTensorOpWithScalar1d", 4_us);
    line.Add("batched_transpose_16x64_pack_1x4_ediv_1x2_half", 4_us);
    line.Add("igemm_bwd_gtcx2_nhwc_bf16_bx0_ex1_bt64x128x32", 30_us);
    line.Add("SubTensorOpWithCastTensor1d", 4_us).Add("SubTensorOpWithScalar1d", 4_us);
  }
  const Analyzed run = line.Run();
  CHECK(run->kernels.elementwise.count == 0);
}

TEST_CASE("runs of element-wise kernels count once each, single ones are no run") {
  Line line;
  line.Add(kMatrixBf16, 50_us).Add(kElementwise, 10_us).Add(kElementwise, 10_us);
  line.Add("norm", 50_us).Add(kElementwise, 10_us);
  line.Add("pool", 50_us);
  for (int i = 0; i < 4; ++i) line.Add(kElementwise, 10_us);
  line.Add("loss", 50_us);
  const Analyzed run = line.Run();
  CHECK(run->kernels.elementwise.count == 6);
  CHECK(run->kernels.elementwise_runs == 2);
  CHECK(run->kernels.elementwise.lost->Total() == 60_us);
}

// Autocast converts the next layer's bias and weight behind the activation of the one before.
TEST_CASE("an activation and the casts of a bias and a weight are no run of element-wise kernels") {
  const auto casts = [](std::uint32_t weight_blocks) {
    TraceBuilder story;
    Nanos at = 0;
    const auto add = [&](const char* name, std::uint32_t blocks) {
      story.Kernel(name, {at, at + 10_us}, {.blocks = blocks});
      at += 10_us;
    };
    for (int layer = 0; layer < 4; ++layer) {
      add(kMatrixBf16, 264);
      add(kElementwise, 16384);
      add(kElementwise, 2);
      add(kElementwise, weight_blocks);
    }
    return story;
  };
  CHECK(Analyzed(casts(4096))->kernels.elementwise.count == 0);
  CHECK(Analyzed(casts(20000))->kernels.elementwise.count == 8);  // of one size
}

TEST_CASE("a small operand between two element-wise kernels does not part their run") {
  TraceBuilder story;
  Nanos at = 0;
  const auto add = [&](const char* name, std::uint32_t blocks) {
    story.Kernel(name, {at, at + 10_us}, {.blocks = blocks});
    at += 10_us;
  };
  for (int layer = 0; layer < 4; ++layer) {
    add(kMatrixBf16, 264);
    add(kElementwise, 16384);
    add(kElementwise, 8);
    add(kElementwise, 16384);
    add(kSoftmax, 16384);
  }
  const Analyzed run(story);
  CHECK(run->kernels.elementwise.count == 8);
  CHECK(run->kernels.elementwise_runs == 1);  // per step
}

TEST_CASE("product, softmax, product is an unfused attention, with what stands between") {
  Line line;
  for (int i = 0; i < 4; ++i) {
    line.Add(kMatrixBf16, 20_us)
        .Add(kElementwise, 5_us)
        .Add(kSoftmax, 10_us)
        .Add(kMatrixBf16, 20_us);
    line.Add("layer_norm_kernel", 5_us);
  }
  const Analyzed run = line.Run();
  CHECK(run->kernels.attention.count == 4);
  CHECK(run->kernels.attention.lost->Total() == 4 * 55_us);
}

TEST_CASE("a softmax at the end of a network is no attention") {
  const Analyzed run =
      Line().Add(kMatrixBf16, 20_us).Add(kSoftmax, 10_us).Add("layer_norm_kernel", 5_us).Run();
  CHECK(run->kernels.attention.count == 0);
  // Nor is that of a loss, between the product of the last layer and those of the backward pass.
  const Analyzed loss = Line()
                            .Add(kMatrixBf16, 20_us)
                            .Add("liger_cross_entropy_kernel", 10_us)
                            .Add(kMatrixBf16, 20_us)
                            .Run();
  CHECK(loss->kernels.attention.count == 0);
}

TEST_CASE("what works on few values between kernels on many is a run of its own") {
  const Analyzed run = Line()
                           .Add(kElementwise, 40_us, {.blocks = 5000})
                           .Add(kElementwise, 3_us, {.blocks = 4})
                           .Add(kElementwise, 3_us, {.blocks = 4})
                           .Add(kElementwise, 3_us, {.blocks = 4})
                           .Add(kElementwise, 40_us, {.blocks = 5000})
                           .Add(kMatrixBf16, 20_us)
                           .Add(kElementwise, 40_us, {.blocks = 5000})
                           .Add(kElementwise, 3_us, {.blocks = 4})
                           .Run();
  CHECK(run->kernels.elementwise.count == 5);
  CHECK(run->kernels.elementwise_runs == 2);
  CHECK(run->kernels.elementwise.lost->Total() == 89_us);
}

TEST_CASE("a kernel with fewer blocks than SMs that runs alone has a small grid") {
  const Analyzed run = Line()
                           .Add("narrow", 100_us, {.blocks = 25, .threads = 512})
                           .Add("wide", 100_us, {.blocks = 5000})
                           .Run();
  CHECK(run->kernels.small_grid.count == 1);
  CHECK(run->kernels.small_grid.lost->Total() == 100_us);
  CHECK(run->kernels.small_grid_blocks == 25);
  CHECK(run->kernels.small_grid_fill == Approx(0.25));
  REQUIRE(run->kernels.small_grid_rows.size() == 1);
  CHECK(run->kernels.small_grid_rows[0].name == "narrow");
}

TEST_CASE(
    "a collective leaves SMs free by nature, and is no small kernel that could run beside others") {
  const Analyzed run = Line()
                           .Add("narrow", 100_us, {.blocks = 25, .threads = 512})
                           .Add(kAllReduce, 300_us, {.blocks = 8, .threads = 512})
                           .Run();
  CHECK(run->kernels.narrow_ns == 100e3);
}

TEST_CASE("more blocks shorten a kernel to what memory and its start leave") {
  const Analyzed run =
      Line().Add("narrow", 103_us, {.blocks = 6}).Add("short", 3_us, {.blocks = 6}).Run();
  const Remedy& remedy = *run->kernels.small_grid.remedy;
  REQUIRE(remedy.scaled_ops.size() == 2);
  // Of 100 us beyond the start of 3 us a tenth is left: 60 SMs of 100 saturate the memory.
  CHECK(remedy.scaled_ops[0].second == Approx(13.0 / 103).epsilon(1e-3));
  CHECK(remedy.scaled_ops[1].second == 1);
}

// A block of 128 threads is 4 warps, a quarter of what hides the latency of memory.
TEST_CASE("few warps on each SM use a GPU as little as few SMs, in kernels written by hand") {
  const Analyzed run = Line().Add("transport", 103_us, {.blocks = 52, .threads = 128}).Run();
  CHECK(run->kernels.small_grid_fill == Approx(0.13));
  // More blocks can make it as much faster as there are more SMs than blocks.
  CHECK(run->kernels.small_grid.remedy->scaled_ops[0].second == Approx(55.0 / 103).epsilon(1e-3));

  const Analyzed tuned = Line().Add(kMatrixBf16, 103_us, {.blocks = 52, .threads = 128}).Run();
  CHECK(tuned->kernels.small_grid_fill == Approx(0.52));
  const Analyzed wide = Line().Add("transport", 103_us, {.blocks = 52, .threads = 1024}).Run();
  CHECK(wide->kernels.small_grid_fill == Approx(0.52));
}

TEST_CASE("a kernel that only waits for a time to pass has no work to spread") {
  const Analyzed run =
      Line().Add("at::cuda::(anonymous namespace)::spin_kernel(long)", 100_us, {.blocks = 1}).Run();
  CHECK(run->kernels.small_grid.count == 0);
  CHECK(run->kernels.waiting.count == 1);
  // When the last kernel goes, what the host does before it would seem to be won, too.
  CHECK(run->kernels.waiting.remedy->reach_ns == 100_us);
}

TEST_CASE("narrow kernels side by side fill the device together") {
  TraceBuilder story;
  for (int stream = 0; stream < 4; ++stream) {
    story.OnStream(7 + stream);
    story.Launch("narrow", {stream * 5_us, stream * 5_us + 4_us}, {100_us, 300_us}, {.blocks = 25});
  }
  const Analyzed run(story);
  CHECK(run->kernels.small_grid.count == 0);
  CHECK(run->kernels.concurrency == Approx(4));
  CHECK(run->kernels.streams == 4);
}

TEST_CASE("what a compiler has fused is no run of element-wise kernels") {
  Line line;
  for (int i = 0; i < 5; ++i) line.Add("triton_poi_fused_add_mul_silu_2", 10_us);
  CHECK(line.Run()->kernels.elementwise.lost->Total() == 0);
}

TEST_CASE("communication kernels are small by design") {
  const Analyzed run = Line().Add(kAllReduce, 100_us, {.blocks = 16}).Run();
  CHECK(run->kernels.small_grid.count == 0);
}

TEST_CASE("a device of unknown size has no small grids") {
  TraceBuilder story;
  story.Device("", 0).Launch("narrow", {0_us, 5_us}, {10_us, 100_us}, {.blocks = 2});
  CHECK(Analyzed(story)->kernels.small_grid.count == 0);
}

TEST_CASE("a last wave that is almost empty is found, a full one is not") {
  // Whether an SM holds one or two such blocks: 201 of them leave the last wave of 100 SMs empty.
  const Analyzed run = Line()
                           .Add("one block too many", 100_us, {.blocks = 201, .threads = 1024})
                           .Add("fits", 100_us, {.blocks = 400, .threads = 1024})
                           .Run();
  CHECK(run->kernels.tail.lost->Total() == 100_us);
  REQUIRE(run->kernels.tail_rows.size() == 1);
  CHECK(run->kernels.tail_rows[0].name == "one block too many");
}

TEST_CASE("a kernel beside another one leaves it the SMs of its last wave") {
  TraceBuilder story;
  const Look look{.blocks = 201, .threads = 1024};
  for (Nanos time = 0; time < 10_ms; time += 1_ms) {
    story.OnStream(13).Launch("forces", {time, time + 5_us}, {time + 10_us, time + 900_us}, look);
    story.OnStream(14).Launch("mesh", {time + 6_us, time + 9_us}, {time + 15_us, time + 890_us},
                              look);
  }
  const Analyzed run(story);
  CHECK(run->kernels.tail_rows.empty());
}

TEST_CASE("kernels that keep local memory are listed as spilling") {
  const Analyzed run =
      Line().Add("spills", 100_us, {.local_bytes = 64}).Add("does not", 100_us).Run();
  CHECK(run->kernels.spilling_ns == 100_us);
  REQUIRE(run->kernels.spilling_rows.size() == 1);
  CHECK(run->kernels.spilling_rows[0].name == "spills");
}

TEST_CASE("the kernel table is in order of time and adds up") {
  const Analyzed run =
      Line().Add("b", 10_us).Add("a", 100_us).Add("b", 10_us).Add("c", 50_us).Run();
  REQUIRE(run->kernels.top.size() == 3);
  CHECK(run->kernels.top[0].name == "a");
  CHECK(run->kernels.top[2].name == "b");
  CHECK(run->kernels.top[2].count == 2);
  double sum = 0;
  for (const KernelRow& row : run->kernels.top) sum += row.time_ns;
  CHECK(sum == run->kernels.time_ns);
  CHECK(run->kernels.count == 4);
}

TEST_CASE("totals of a name hold all its grids, with what the last launch was like") {
  const Analyzed run = Line()
                           .Add("small", 30_us, {.blocks = 4})
                           .Add("small", 10_us, {.blocks = 2})
                           .Add("small", 20_us, {.blocks = 8})
                           .Run();
  REQUIRE(run->kernels.small_grid_rows.size() == 1);
  const KernelRow& row = run->kernels.small_grid_rows[0];
  CHECK(row.count == 3);
  CHECK(row.time_ns == 60_us);
  CHECK(row.median_ns == 20_us);
  CHECK(row.blocks == 8);
  // Half of the time is spent with up to so many blocks: 2 (10 us), 4 (30 us), 8 (20 us).
  CHECK(run->kernels.small_grid_blocks == 4);
}

TEST_CASE("kernels of a damaged report that name no stream are read as those of one stream") {
  TraceBuilder story;
  for (int i = 0; i < 6; ++i) {
    const Nanos at = 1_ms + i * 10_us;
    story.Launch(kElementwise, {i * 2_us, i * 2_us + 1_us}, {at, at + 10_us});
  }
  Trace trace = story.Build();
  trace.ops.stream.assign(trace.ops.size(), kNone);
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const Analysis analysis(trace, ShippedKnowledge(), options);
  CHECK(analysis.kernels.count == 6);
  CHECK(analysis.kernels.streams == 1);
  CHECK(analysis.kernels.elementwise_runs == 1);
}

}  // namespace
}  // namespace advise
