// Facts of operators with recorded sizes, on an A100 of 80 GB (312 TFLOP/s in bf16, 2039 GB/s).
#include "tests/facts/runs.h"

namespace advise {
namespace {

struct Product {
  std::vector<std::int64_t> a, b;
  Nanos length;  // of its kernel
};

// One product after the other, a millisecond each, and an element-wise kernel of half of it.
std::unique_ptr<Facts> FactsOfProducts(const std::vector<Product>& products, bool sizes = true,
                                       const char* gpu = "NVIDIA A100-SXM4-80GB") {
  TraceBuilder story;
  story.Device(gpu, 108);
  Nanos at = 0;
  for (const Product& product : products) {
    story.Launch(kMatrixBf16, {at + 12_us, at + 14_us}, {at + 20_us, at + 20_us + product.length});
    at += 1_ms;
  }
  story.Launch(kElementwise, {at + 12_us, at + 14_us}, {at + 20_us, at + 120_us});
  Trace trace = story.Build();
  at = 0;
  for (const Product& product : products) {
    RangeTable& table = trace.operators;
    table.start.push_back(at + 10_us);
    table.end.push_back(at + 16_us);
    table.thread.push_back(0);
    table.name.push_back(trace.strings.Intern("aten::mm"));
    table.domain.push_back(0);
    table.payload.push_back(-1);
    if (sizes) {
      table.inputs.push_back(static_cast<std::uint32_t>(trace.operator_inputs.size()));
      const ElementType type = ElementType::kBFloat16;
      trace.operator_inputs.push_back({{{product.a, {}, type}, {product.b, {}, type}}, {}});
    }
    at += 1_ms;
  }
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const Analysis analysis(trace, ShippedKnowledge(), options);
  return MakeFacts(analysis, Cluster(SummarizeRanks(analysis), analysis.run.knowledge));
}

TEST_CASE("each kind of product has its part of the kernel time") {
  // In all 900 us: 600 near the peak, 72 reading weights for a row, 28 for 8 rows of an odd
  // vocabulary that are too few to need that long, 100 of a large product far from its peak, and
  // 100 of an element-wise kernel.
  const auto facts = FactsOfProducts({{{4096, 4096}, {4096, 4096}, 600_us},
                                      {{1, 4096}, {4096, 14336}, 72_us},
                                      {{8, 1024}, {1024, 1001}, 28_us},
                                      {{1024, 1024}, {1024, 1024}, 100_us}});
  CHECK(Number(*facts, "roofline.shapes.time") == 800e3);
  CHECK(Number(*facts, "roofline.shapes.share") == Approx(800.0 / 900));
  CHECK(Number(*facts, "roofline.shapes.covered") == Approx(1));
  CHECK(Number(*facts, "roofline.shapes.memory.share") == Approx(72.0 / 900));
  CHECK(Text(*facts, "roofline.shapes.memory.top") == "aten::mm [1, 4096] x [4096, 14336] in bf16");
  CHECK(Number(*facts, "roofline.shapes.few.share") == Approx(72.0 / 900));
  CHECK(Number(*facts, "roofline.shapes.few.uses") == 1);
  CHECK(Number(*facts, "roofline.shapes.slow.share") == Approx(128.0 / 900));
  CHECK(Text(*facts, "roofline.shapes.slow.top") == "aten::mm [1024, 1024] x [1024, 1024] in bf16");
  CHECK(Number(*facts, "roofline.shapes.odd.share") == Approx(28.0 / 900));
  CHECK(Number(*facts, "roofline.shapes.odd.elements") == 1001);
  // (4096^3 + 4096 * 14336 + 8 * 1024 * 1001 + 1024^3) * 2 over 312e12 * 800 us
  CHECK(Number(*facts, "roofline.shapes.achieved") == Approx(0.5597).epsilon(1e-3));
  CHECK(Text(*facts, "roofline.shapes.hot.top") == "aten::mm [4096, 4096] x [4096, 4096] in bf16");
  CHECK(Text(*facts, "roofline.shapes.hot.side") == "compute");
  CHECK(Number(*facts, "roofline.shapes.dropped.count") == 0);
  // The class says that products compute; sizes know better.
  CHECK(Number(*facts, "roofline.low_intensity.share") == Approx(172.0 / 900));
}

TEST_CASE("an impossible rate is left out of all shares") {
  const auto facts =
      FactsOfProducts({{{4096, 4096}, {4096, 4096}, 200_us}, {{4096, 4096}, {4096, 8192}, 900_us}});
  CHECK(Number(*facts, "roofline.shapes.time") == 900e3);
  CHECK(Number(*facts, "roofline.shapes.dropped.count") == 1);
  CHECK(Number(*facts, "roofline.shapes.dropped.share") == Approx(200.0 / 1200));
  CHECK(Text(*facts, "roofline.shapes.dropped.example") == "aten::mm [4096, 4096] x [4096, 4096]");
  const auto all = FactsOfProducts({{{4096, 4096}, {4096, 4096}, 200_us}});
  CHECK(Number(*all, "roofline.shapes.dropped.count") == 1);
  CHECK(IsAbsent(*all, "roofline.shapes.rows"));
  CHECK(IsAbsent(*all, "roofline.shapes.memory.share"));
}

TEST_CASE("without sizes the facts are absent, and say how to record them") {
  const auto facts = FactsOfProducts({{{4096, 4096}, {4096, 4096}, 600_us}}, false);
  for (const char* name :
       {"roofline.shapes.rows", "roofline.shapes.memory.share", "roofline.shapes.dropped.count"}) {
    REQUIRE(IsAbsent(*facts, name));
    const auto& absent = std::get<Absent>(facts->Find(name)->value);
    CHECK(absent.reason.find("record_shapes=True") != std::string::npos);
    CHECK(absent.needs == "shapes");
  }
  CHECK(Number(*facts, "roofline.low_intensity.share") == Approx(100.0 / 700));
}

TEST_CASE("an unknown GPU leaves work and intensity") {
  const auto facts = FactsOfProducts({{{4096, 4096}, {4096, 4096}, 600_us}}, true, "Some GPU");
  CHECK(Number(*facts, "roofline.shapes.time") == 600e3);
  CHECK(IsAbsent(*facts, "roofline.shapes.achieved"));
}

}  // namespace
}  // namespace advise
