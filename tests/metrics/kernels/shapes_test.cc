// What operators of known sizes reach, on stories added up by hand. The GPU is an A100 of 80 GB:
// 312 TFLOP/s in bf16, 156 in TF32, 19.5 in plain FP32, 2039 GB/s.
#include "engine/metrics/kernels/shapes.h"

#include <catch2/catch.hpp>

#include "tests/support/analyzed.h"

namespace advise {
namespace {

constexpr const char* kMatrixTf32 = "ampere_s1688gemm_128x64_tn";  // tensor cores by its name

// Operators with sizes beside a story, in the order of (start, outer first).
class SizedStory {
 public:
  SizedStory() { story.Device("NVIDIA A100-SXM4-80GB", 108); }

  TraceBuilder story;

  SizedStory& Operator(const std::string& name, Interval when,
                       const std::vector<std::vector<std::int64_t>>& sizes = {},
                       ElementType type = ElementType::kBFloat16) {
    operators_.push_back({name, when, {}});
    for (const auto& one : sizes) operators_.back().inputs.tensors.push_back({one, {}, type});
    return *this;
  }

  // As rows of a Kineto trace, or as ranges.
  const Analysis& Analyze(bool as_ranges = false) {
    trace_ = std::make_unique<Trace>(story.Build());
    RangeTable& table = as_ranges ? trace_->ranges : trace_->operators;
    for (const Row& row : operators_) {
      table.start.push_back(row.when.start);
      table.end.push_back(row.when.end);
      table.thread.push_back(0);
      table.name.push_back(trace_->strings.Intern(row.name));
      table.domain.push_back(0);
      table.payload.push_back(0);
      table.inputs.push_back(kNone);
      if (row.inputs.tensors.empty()) continue;
      table.inputs.back() = static_cast<std::uint32_t>(trace_->operator_inputs.size());
      trace_->operator_inputs.push_back(row.inputs);
    }
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    analysis_ = std::make_unique<Analysis>(*trace_, ShippedKnowledge(), options);
    return *analysis_;
  }

 private:
  struct Row {
    std::string name;
    Interval when;
    OperatorInputs inputs;
  };
  std::vector<Row> operators_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Analysis> analysis_;
};

TEST_CASE("the innermost product owns its kernels, and its work counts once") {
  SizedStory s;
  // A product of 4096 each way takes 2 * 4096^3 = 137.4 GFLOP, 440.5 us at the peak.
  s.story.Launch(kMatrixBf16, {12_us, 14_us}, {100_us, 600_us})
      .Launch(kMatrixBf16, {15_us, 17_us}, {600_us, 700_us})     // its second kernel
      .Launch(kElementwise, {22_us, 24_us}, {700_us, 1000_us});  // not the product's
  s.Operator("aten::linear", {5_us, 30_us}, {{4096, 4096}, {4096, 4096}})
      .Operator("aten::matmul", {6_us, 20_us}, {{4096, 4096}, {4096, 4096}})
      .Operator("aten::mm", {10_us, 18_us}, {{4096, 4096}, {4096, 4096}})
      .Operator("aten::add_", {21_us, 25_us}, {{4096, 4096}});
  const ShapeRows& shapes = s.Analyze().shapes;
  CHECK(shapes.recorded);
  REQUIRE(shapes.rows.size() == 2);
  CHECK(shapes.rows[1].op == "aten::add_");
  CHECK(shapes.rows[1].kind == WorkKind::kElementwise);
  const ShapeRow& row = shapes.rows[0];
  CHECK(row.op == "aten::mm");
  CHECK(row.shape == "[4096, 4096] x [4096, 4096]");
  CHECK(row.type == "bf16");
  CHECK(row.count == 1);
  CHECK(row.time_ns == 600e3);
  CHECK(row.tensor);
  CHECK(row.flops == 2.0 * 4096 * 4096 * 4096);
  CHECK(row.intensity == Approx(4096.0 / 3));
  CHECK(row.balance == Approx(312e12 / 2039e9));
  CHECK(row.achieved == Approx(2.0 * 4096 * 4096 * 4096 / 600e-6));
  CHECK(row.achieved_share == Approx(0.7342).epsilon(1e-3));
  CHECK(row.attainable == Approx(312e12));
  CHECK(row.side == "compute");
  CHECK(row.bound == "compute");
  CHECK(shapes.time_ns == 900e3);
  CHECK(shapes.kernel_ns == 900e3);
  CHECK(shapes.covered == Approx(1));
  CHECK(shapes.dropped == 0);
}

TEST_CASE("one row of activations reads all weights for little work: memory limits it") {
  SizedStory s;
  // 4096 x 14336 weights are 117.4 MB: 57.6 us at 2039 GB/s.
  for (int i = 0; i < 3; ++i) {
    const Nanos at = i * 100_us;
    s.story.Launch(kMatrixBf16, {at + 12_us, at + 14_us}, {at + 20_us, at + 92_us});
    s.Operator("aten::addmm", {at + 10_us, at + 16_us}, {{14336}, {1, 4096}, {4096, 14336}});
  }
  const ShapeRows& shapes = s.Analyze().shapes;
  REQUIRE(shapes.rows.size() == 1);
  const ShapeRow& row = shapes.rows[0];
  CHECK(row.count == 3);
  CHECK(row.time_ns == 216e3);
  CHECK(row.bytes == 2.0 * (14336 + 4096 + 4096.0 * 14336 + 14336));
  CHECK(row.intensity == Approx(0.9992).epsilon(1e-3));
  CHECK(row.side == "memory");
  CHECK(row.bound == "memory");
  CHECK(row.attained == Approx(row.bytes / 2039e9 / 72e-6));
  CHECK(row.uses == 1);
}

// Three products of 2 * 4096^3 operations on three matrices of 32 MiB, one after the other.
TEST_CASE("the run's efficiency is what its operators need at the peaks, of the time of the GPU") {
  SizedStory s;
  for (int i = 0; i < 3; ++i) {
    const Nanos at = i * 1_ms;
    s.story.Launch(kMatrixBf16, {at + 12_us, at + 14_us}, {at + 20_us, at + 620_us});
    s.Operator("aten::mm", {at + 10_us, at + 16_us}, {{4096, 4096}, {4096, 4096}});
  }
  const Analysis& analysis = s.Analyze();
  const KernelEfficiency& run = analysis.efficiency;
  const double needed_s = 2.0 * 4096 * 4096 * 4096 / 312e12;
  CHECK(run.source == "shapes");
  CHECK(run.measured_share == Approx(1));
  CHECK(run.kernels_reached == Approx(analysis.shapes.rows.at(0).reached));
  // The window is 2.6 ms long, from the first kernel to the last.
  CHECK(run.mfu == Approx(3 * needed_s / 2600e-6));
  CHECK(run.bandwidth == Approx(3 * (3 * 2.0 * 4096 * 4096) / 2039e9 / 2600e-6));
}

TEST_CASE("kernels of which no sizes are known are named with their class, the longest first") {
  SizedStory s;
  s.story.Launch(kSoftmax, {12_us, 14_us}, {100_us, 200_us})
      .Launch(kMatrixFp32, {15_us, 17_us}, {200_us, 500_us})
      .Launch(kSoftmax, {18_us, 20_us}, {500_us, 600_us});
  const KernelEfficiency& run = s.Analyze().efficiency;
  CHECK(run.source == "none");
  REQUIRE(run.unmeasured.size() == 2);
  CHECK(run.unmeasured[0].name == kMatrixFp32);
  CHECK(run.unmeasured[0].kernel_class == "matrix");
  CHECK(run.unmeasured[0].share == Approx(0.6));
  CHECK(run.unmeasured[1].kernel_class == "softmax");
  CHECK(run.unmeasured[1].count == 2);
  CHECK(run.unmeasured[1].time_ns == 200e3);
}

TEST_CASE("a product too small for either limit is bound by neither") {
  SizedStory s;
  s.story.Launch(kMatrixBf16, {12_us, 14_us}, {20_us, 25_us});
  s.Operator("aten::mm", {10_us, 16_us}, {{64, 64}, {64, 64}});
  const ShapeRows& shapes = s.Analyze().shapes;
  REQUIRE(shapes.rows.size() == 1);
  CHECK(shapes.rows[0].side == "memory");
  CHECK(shapes.rows[0].bound == "neither");
}

TEST_CASE("a product whose operands cannot have come from memory found them in the cache") {
  SizedStory s;
  // 16.8 MB in 4 us are 4.2 TB/s.
  s.story.Launch(kMatrixBf16, {12_us, 14_us}, {20_us, 24_us});
  s.Operator("aten::mm", {10_us, 16_us}, {{1, 2048}, {2048, 4096}});
  const ShapeRows& shapes = s.Analyze().shapes;
  REQUIRE(shapes.rows.size() == 1);
  CHECK(shapes.rows[0].side == "memory");
  CHECK(shapes.rows[0].bound == "cache");
}

TEST_CASE("a rate above the peak is not believed, and said") {
  SizedStory s;
  s.story
      .Launch(kMatrixBf16, {12_us, 14_us}, {20_us, 220_us})  // 687 TFLOP/s
      .Launch(kMatrixBf16, {32_us, 34_us}, {300_us, 900_us});
  s.Operator("aten::mm", {10_us, 16_us}, {{4096, 4096}, {4096, 4096}})
      .Operator("aten::bmm", {30_us, 36_us}, {{1, 4096, 4096}, {1, 4096, 4096}});
  const ShapeRows& shapes = s.Analyze().shapes;
  REQUIRE(shapes.rows.size() == 1);
  CHECK(shapes.rows[0].op == "aten::bmm");
  CHECK(shapes.dropped == 1);
  CHECK(shapes.dropped_ns == 200e3);
  CHECK(shapes.dropped_example == "aten::mm [4096, 4096] x [4096, 4096]");
  CHECK(shapes.covered == Approx(0.75));
}

TEST_CASE("FP32 is held against the pipes that its kernels use") {
  const auto row = [](const char* kernel, Nanos length) {
    SizedStory s;
    s.story.Launch(kernel, {12_us, 14_us}, {20_us, 20_us + length});
    s.Operator("aten::mm", {10_us, 16_us}, {{4096, 4096}, {4096, 4096}}, ElementType::kFloat32);
    const ShapeRows shapes = s.Analyze().shapes;
    REQUIRE(shapes.rows.size() == 1);
    return shapes.rows[0];
  };
  CHECK_FALSE(row(kMatrixFp32, 8000_us).tensor);  // 17.2 of 19.5 TFLOP/s
  CHECK(row(kMatrixFp32, 8000_us).achieved_share == Approx(0.881).epsilon(1e-3));
  CHECK(row(kMatrixTf32, 8000_us).tensor);
  CHECK(row(kMatrixTf32, 8000_us).achieved_share == Approx(0.1101).epsilon(1e-3));
  // A name that does not tell: the plain pipes, as long as these can have done it.
  CHECK_FALSE(row("my_gemm_kernel", 8000_us).tensor);
  CHECK(row("my_gemm_kernel", 2000_us).tensor);
}

TEST_CASE("ranges of operators serve as operators do; kernels tell the type") {
  SizedStory s;
  s.story.Launch(kMatrixBf16, {12_us, 14_us}, {100_us, 700_us});
  s.Operator("forward", {1_us, 50_us})  // the program's own range
      .Operator("aten::mm", {10_us, 18_us}, {{4096, 4096}, {4096, 4096}}, ElementType::kUnknown)
      .Operator("layer", {11_us, 17_us});  // no operator: it owns nothing
  const ShapeRows& shapes = s.Analyze(true).shapes;
  REQUIRE(shapes.rows.size() == 1);
  CHECK(shapes.rows[0].type == "bf16");
  CHECK(shapes.rows[0].achieved_share == Approx(0.7342).epsilon(1e-3));
}

TEST_CASE(
    "kernels of other operations than the sizes say are left out; an unknown GPU has no roof") {
  SizedStory s;
  s.story.Device("Some GPU", 10)
      .Launch("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", {12_us, 14_us},
              {20_us, 220_us})
      .Launch(kMatrixBf16, {32_us, 34_us}, {300_us, 900_us})
      .Launch("cutlass_80_tensorop_s1688gemm_3xtf32_128x128", {52_us, 54_us}, {1000_us, 1500_us});
  s.Operator("aten::mm", {10_us, 16_us}, {{4096, 4096}, {4096, 4096}})
      .Operator("aten::mm", {30_us, 36_us}, {{512, 512}, {512, 512}})
      .Operator("aten::mm", {50_us, 56_us}, {{4096, 4096}, {4096, 4096}});
  const ShapeRows& shapes = s.Analyze().shapes;
  REQUIRE(shapes.rows.size() == 1);
  CHECK(shapes.rows[0].flops == 2.0 * 512 * 512 * 512);
  CHECK(shapes.rows[0].peak == -1);
  CHECK(shapes.rows[0].bound.empty());
  CHECK(shapes.dropped == 2);
}

TEST_CASE("each group of slow rows has a loss of its own, up to what good libraries reach") {
  SizedStory s;
  // 137.4 GFLOP in 2 ms: 22 percent of the peak. Three quarters of it would take 587 us, and the
  // kernel 3 us to start. 100 MB in 400 us: 12 percent of what memory allows; good kernels take 61
  // us.
  s.story.Launch(kMatrixBf16, {12_us, 14_us}, {100_us, 2100_us})
      .Launch(kElementwise, {22_us, 24_us}, {2200_us, 2600_us})
      .Launch(kMatrixBf16, {32_us, 34_us}, {2700_us, 3300_us});
  s.Operator("aten::mm", {10_us, 18_us}, {{4096, 4096}, {4096, 4096}})
      .Operator("aten::add_", {21_us, 25_us}, {{4096, 4096}, {4096, 4096}})
      .Operator("aten::bmm", {30_us, 36_us}, {{1, 4096, 4096}, {1, 4096, 4096}});
  const ShapeRows& shapes = s.Analyze().shapes;
  REQUIRE(shapes.rows.size() == 3);
  const auto& products = shapes.below[static_cast<std::size_t>(RoofGroup::kProducts)];
  const auto& memory = shapes.below[static_cast<std::size_t>(RoofGroup::kMemory)];
  const auto& attention = shapes.below[static_cast<std::size_t>(RoofGroup::kAttention)];
  CHECK(products.count == 1);  // the third runs as well as good libraries do
  CHECK(products.lost->by_device.size() == 1);
  CHECK(static_cast<double>(products.lost->Total()) == Approx(2000e3 - 590.4e3).epsilon(0.001));
  REQUIRE(products.remedy->scaled_ops.size() == 1);
  CHECK(products.remedy->scaled_ops[0].second == Approx(0.2952).epsilon(0.001));
  CHECK(memory.count == 1);
  CHECK(memory.remedy->scaled_ops.size() == 1);
  CHECK(attention.count == 0);
  CHECK(attention.lost->Total() == 0);
  CHECK(shapes.rated_ns == 3000e3);
}

TEST_CASE("kernels of a few microseconds stand at the floor of what a kernel takes") {
  SizedStory s;
  s.story.Launch(kElementwise, {22_us, 24_us}, {100_us, 103_us});
  s.Operator("aten::add_", {21_us, 25_us}, {{64, 64}, {64, 64}});
  const ShapeRows& shapes = s.Analyze().shapes;
  REQUIRE(shapes.rows.size() == 1);
  CHECK(shapes.rows[0].reached == Approx(1).epsilon(0.01));
  CHECK_FALSE(shapes.IsBelow(shapes.rows[0]));
}

TEST_CASE("why a product may stay below its roof follows from its tiles and its sums") {
  const auto reason = [](std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
    SizedStory s;
    s.story.Launch(kMatrixBf16, {12_us, 14_us}, {100_us, 9000_us});
    s.Operator(a.size() == 3 ? "aten::bmm" : "aten::mm", {10_us, 18_us}, {a, b});
    const ShapeRows& shapes = s.Analyze().shapes;
    REQUIRE(shapes.rows.size() == 1);
    return shapes.rows[0].reason;
  };
  CHECK(reason({256, 131072}, {131072, 512}) == "few-tiles");  // 8 tiles on 108 SMs
  CHECK(reason({1536, 8192}, {8192, 1024}) == "");             // 96 tiles are nearly enough
  CHECK(reason({512, 256}, {256, 512}) == "short-sums");       // nothing to split
  CHECK(reason({8, 512, 64}, {8, 64, 512}) == "short-sums");
  CHECK(reason({16, 4096}, {4096, 4096}) == "few-uses");
  CHECK(reason({128, 1, 512}, {128, 512, 1024}) == "few-uses");
}

TEST_CASE("where options of a convolution are unknown, the next operator shows its result") {
  const auto flops = [](std::vector<std::int64_t> next) {
    SizedStory s;
    s.story.Launch(kMatrixBf16, {12_us, 14_us}, {100_us, 600_us})
        .Launch(kElementwise, {22_us, 24_us}, {600_us, 700_us});
    s.Operator("aten::cudnn_convolution", {10_us, 18_us}, {{8, 64, 56, 56}, {128, 64, 3, 3}})
        .Operator("aten::relu_", {21_us, 25_us}, {next});
    for (const ShapeRow& row : s.Analyze().shapes.rows) {
      if (row.op == "aten::cudnn_convolution") return row.flops;
    }
    return 0.0;
  };
  // Of stride 2: 28 x 28 points of 128 channels, each of 64 x 3 x 3 products.
  CHECK(flops({8, 128, 28, 28}) == 2.0 * 8 * 128 * 28 * 28 * 64 * 9);
  CHECK(flops({8, 64, 128, 28}) == 0);  // of another one
  CHECK(flops({4, 128, 28, 28}) == 0);
}

TEST_CASE("the longest kernel of an operator tells its type") {
  SizedStory s;
  s.story.Launch(kMatrixTf32, {12_us, 14_us}, {100_us, 2000_us})
      .Launch(kElementwise, {15_us, 17_us}, {2000_us, 2100_us});
  s.Operator("aten::mm", {10_us, 18_us}, {{4096, 4096}, {4096, 4096}}, ElementType::kFloat32);
  const ShapeRows& shapes = s.Analyze().shapes;
  REQUIRE(shapes.rows.size() == 1);
  CHECK(shapes.rows[0].kernel == kMatrixTf32);
}

TEST_CASE("without sizes nothing is estimated") {
  SizedStory s;
  s.story.Launch(kMatrixBf16, {12_us, 14_us}, {100_us, 600_us});
  const ShapeRows& shapes = s.Analyze().shapes;
  CHECK_FALSE(shapes.recorded);
  CHECK(shapes.rows.empty());
}

}  // namespace
}  // namespace advise
