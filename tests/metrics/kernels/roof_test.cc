// The roof over one kind of work, on an A100 of 80 GB by its data sheet: 312 TFLOP/s in bf16 on
// tensor cores, 156 in TF32, 19.5 in plain FP32, 9.7 in plain and 19.5 in tensor FP64, 2.039 TB/s.
#include "engine/metrics/kernels/roof.h"

#include <catch2/catch.hpp>

#include "engine/metrics/analysis.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

constexpr double kA100Bandwidth = 2.039e12;

Hardware A100() {
  Hardware gpu;
  gpu.name = "NVIDIA A100-SXM4-80GB";
  gpu.memory_bytes_per_s = kA100Bandwidth;
  return gpu;
}

struct UnderRoof {
  ShapeRow row;
  bool fits = false;
};

UnderRoof PutUnderRoof(ShapeWork work, double time_ns, const UsedUnits& units = {},
                       std::int64_t count = 1, Hardware gpu = A100()) {
  UnderRoof placed;
  placed.row.kind = work.kind;
  placed.row.count = count;
  placed.row.kernels = 1;
  placed.row.time_ns = time_ns;
  placed.row.flops = work.flops;
  placed.row.bytes = work.bytes;
  const Roof roof(ShippedKnowledge(), gpu);
  placed.fits = roof.Place(work, units, &placed.row);
  return placed;
}

ShapeWork SomeProduct(double flops, double bytes, ElementType type = ElementType::kBFloat16) {
  ShapeWork work;
  work.kind = WorkKind::kProduct;
  work.type = type;
  work.flops = flops;
  work.bytes = bytes;
  return work;
}

ShapeWork SomeCopy(double bytes, WorkKind kind = WorkKind::kElementwise) {
  ShapeWork work;
  work.kind = kind;
  work.type = ElementType::kFloat32;
  work.flops = bytes / 12;
  work.bytes = bytes;
  return work;
}

const UsedUnits kOnTensor = {1, 0, 0};
const UsedUnits kOnPlain = {0, 1, 0};
const UsedUnits kOnTf32 = {1, 0, 1};

TEST_CASE("the peak is that of the type, on the units that its kernels use") {
  const auto peak = [](ElementType type, const UsedUnits& units) {
    const UnderRoof placed = PutUnderRoof(SomeProduct(1e9, 1e6, type), 1e6, units);
    CHECK(placed.fits);
    return placed.row.peak;
  };
  CHECK(peak(ElementType::kBFloat16, {}) == 312e12);
  CHECK(peak(ElementType::kFloat16, {}) == 312e12);
  CHECK(peak(ElementType::kInt8, {}) == 624e12);
  CHECK(peak(ElementType::kFloat32, kOnPlain) == 19.5e12);
  CHECK(peak(ElementType::kFloat32, kOnTensor) == 156e12);
  CHECK(peak(ElementType::kFloat32, kOnTf32) == 156e12);
  CHECK(peak(ElementType::kFloat64, kOnPlain) == 9.7e12);
  CHECK(peak(ElementType::kFloat64, kOnTensor) == 19.5e12);
  CHECK(peak(ElementType::kFloat32, {}) == 19.5e12);  // 1 TFLOP/s: the plain pipes could
  CHECK(peak(ElementType::kFloat32, {2, 3, 0}) == 19.5e12);
  CHECK(peak(ElementType::kFloat32, {3, 2, 0}) == 156e12);
  CHECK(peak(ElementType::kInt64, {}) == -1);  // no unit of the data sheet
  CHECK(peak(ElementType::kFloat8, {}) == -1);
}

TEST_CASE("what the plain pipes could not have done was done on tensor cores") {
  // 50 GFLOP in 1 ms are 50 TFLOP/s.
  const UnderRoof fast = PutUnderRoof(SomeProduct(50e9, 1e6, ElementType::kFloat32), 1e6);
  CHECK(fast.fits);
  CHECK(fast.row.tensor);
  CHECK(fast.row.achieved == Approx(50e12));
  CHECK(fast.row.achieved_share == Approx(50.0 / 156));
  // 20 TFLOP/s are within what clocks above the data sheet reach.
  CHECK_FALSE(PutUnderRoof(SomeProduct(20e9, 1e6, ElementType::kFloat32), 1e6).row.tensor);
  // By their names on plain pipes: the sizes must be wrong.
  CHECK_FALSE(PutUnderRoof(SomeProduct(50e9, 1e6, ElementType::kFloat32), 1e6, kOnPlain).fits);
  CHECK_FALSE(PutUnderRoof(SomeProduct(400e9, 1e6), 1e6).fits);
  CHECK(PutUnderRoof(SomeProduct(340e9, 1e6), 1e6).fits);  // 9 % above the peak
}

TEST_CASE("CDNA multiplies FP32 in its matrix units as it is, kernels that round say so") {
  Hardware gpu;
  gpu.name = "AMD Instinct MI300X";
  gpu.memory_bytes_per_s = 5.3e12;
  const auto peak = [&](const UsedUnits& units) {
    return PutUnderRoof(SomeProduct(1e9, 1e6, ElementType::kFloat32), 1e6, units, 1, gpu).row.peak;
  };
  CHECK(peak(kOnTensor) == Approx(163.4e12));
  CHECK(peak(kOnTf32) == Approx(653.7e12));
}

TEST_CASE("sizes meet the memory first where they do little with each byte") {
  // The two limits meet at 312 / 2.039 = 153 operations a byte.
  const UnderRoof thin = PutUnderRoof(SomeProduct(100e6, 1e6), 1e6);
  CHECK(thin.row.balance == Approx(312e12 / kA100Bandwidth));
  CHECK(thin.row.intensity == 100);
  CHECK(thin.row.side == "memory");
  CHECK(thin.row.attainable == Approx(100 * kA100Bandwidth));
  CHECK(thin.row.attained == Approx(1e11 / (100 * kA100Bandwidth)));
  CHECK(thin.row.bound == "neither");
  const UnderRoof thick = PutUnderRoof(SomeProduct(200e6, 1e6), 1e6);
  CHECK(thick.row.side == "compute");
  CHECK(thick.row.attainable == 312e12);
  // In 2 us the memory moves 4 MB, and these move 1 MB in half of that.
  CHECK(PutUnderRoof(SomeProduct(100e6, 1e6), 1e3).row.bound == "memory");
  // 10 MB in 1 us did not come from memory: its peak is no roof.
  const UnderRoof cached = PutUnderRoof(SomeProduct(100e6, 10e6), 1e3);
  CHECK(cached.row.bound == "cache");
  CHECK(cached.row.attainable == 312e12);
}

TEST_CASE("rates are of all calls") {
  const UnderRoof placed = PutUnderRoof(SomeProduct(1e9, 1e6), 4e6, {}, 4);
  CHECK(placed.row.achieved == Approx(1e12));
  CHECK(placed.row.bandwidth == Approx(1e9));
  CHECK(placed.row.of_measured == Approx(1e9 / (0.75 * 312e12) / 1e-3));
}

TEST_CASE("without a peak or a rate of the memory nothing is claimed") {
  Hardware gpu = A100();
  gpu.memory_bytes_per_s = 0;
  const UnderRoof placed = PutUnderRoof(SomeProduct(1e9, 1e6), 1e6, {}, 1, gpu);
  CHECK(placed.fits);
  CHECK(placed.row.peak == -1);
  CHECK(placed.row.side.empty());
  CHECK(placed.row.recoverable_ns == 0);
}

TEST_CASE("moving data is held against the rate that copies reach") {
  const double reach = ShippedKnowledge().Number("reach.elementwise");
  const double start_s = ShippedKnowledge().Number("roofline.kernel_start") * 1e-9;
  // 100 MB in 1 ms.
  const UnderRoof placed = PutUnderRoof(SomeCopy(100e6), 1e6);
  CHECK_FALSE(placed.row.tensor);
  CHECK(placed.row.peak == 19.5e12);
  CHECK(placed.row.side == "memory");
  CHECK(placed.row.attained == Approx(100e6 / 1e-3 / kA100Bandwidth));
  CHECK(placed.row.of_measured == Approx(100e6 / (kA100Bandwidth * reach) / 1e-3));
  const double good_s = 100e6 / (kA100Bandwidth * reach) + start_s;
  CHECK(placed.row.reached == Approx(good_s / 1e-3));
  CHECK(placed.row.recoverable_ns == Approx(1e6 - good_s * 1e9));
  // From the cache: faster than the memory, and not to be won from.
  const UnderRoof cached = PutUnderRoof(SomeCopy(100e6), 30e3);
  CHECK(cached.row.bound == "cache");
  CHECK(cached.row.reached == 1);
  CHECK(cached.row.recoverable_ns == 0);
  CHECK(cached.row.attained == 1);
}

TEST_CASE(
    "kernels that combine values, or look up few, wait for three trips to memory, others for one") {
  const double start_s = ShippedKnowledge().Number("roofline.kernel_start") * 1e-9;
  const double small = ShippedKnowledge().Number("roofline.small_bytes");
  const double bytes_per_s = kA100Bandwidth * ShippedKnowledge().Number("reach.elementwise");
  const auto good_ns = [](const UnderRoof& placed) { return placed.row.reached * 1e6; };
  const double few = small - 1;
  CHECK(good_ns(PutUnderRoof(SomeCopy(few), 1e6)) == Approx((few / bytes_per_s + start_s) * 1e9));
  const double reach = ShippedKnowledge().Number("reach.reduction");
  CHECK(good_ns(PutUnderRoof(SomeCopy(few, WorkKind::kReduction), 1e6)) ==
        Approx((few / bytes_per_s / reach + 3 * start_s) * 1e9));
  CHECK(good_ns(PutUnderRoof(SomeCopy(small, WorkKind::kReduction), 1e6)) ==
        Approx((small / bytes_per_s / reach + 3 * start_s) * 1e9));
  const double rows = ShippedKnowledge().Number("reach.index");
  CHECK(good_ns(PutUnderRoof(SomeCopy(few, WorkKind::kIndex), 1e6)) ==
        Approx((few / bytes_per_s / rows + 3 * start_s) * 1e9));
  CHECK(good_ns(PutUnderRoof(SomeCopy(small, WorkKind::kIndex), 1e6)) ==
        Approx((small / bytes_per_s / rows + start_s) * 1e9));
}

TEST_CASE("products overlap their arithmetic with memory, attention does not") {
  const double start_s = ShippedKnowledge().Number("roofline.kernel_start") * 1e-9;
  const double bytes_per_s = kA100Bandwidth * ShippedKnowledge().Number("reach.elementwise");
  const double flops = 312e12 * ShippedKnowledge().Number("reach.product");
  const double computing_s = 10e9 / flops;
  const double moving_s = 60e6 / bytes_per_s;
  ShapeWork work = SomeProduct(10e9, 60e6);
  const auto reached = [](const ShapeWork& of) { return PutUnderRoof(of, 1e6).row.reached; };
  CHECK(reached(work) == Approx((std::max(computing_s, moving_s) + start_s) / 1e-3));
  work.kind = WorkKind::kAttention;
  const double reach = ShippedKnowledge().Number("reach.attention");
  CHECK(reached(work) == Approx(((computing_s + moving_s) / reach + start_s) / 1e-3));
  work.kind = WorkKind::kConvolution;
  CHECK(reached(work) ==
        Approx((std::max(computing_s, moving_s) / ShippedKnowledge().Number("reach.convolution") +
                start_s) /
               1e-3));
}

TEST_CASE("experts that were faster than memory had fewer of their weights read") {
  ShapeWork work = SomeProduct(1e9, 300e6);
  work.kind = WorkKind::kExperts;
  work.least_bytes = 50e6;
  CHECK(PutUnderRoof(work, 200e3).row.bytes == 300e6);  // 1.5 TB/s
  CHECK(PutUnderRoof(work, 100e3).row.bytes == 50e6);   // 3 TB/s
  work.least_bytes = 0;
  CHECK(PutUnderRoof(work, 100e3).row.bytes == 300e6);
}

// ---- why it may stay below
struct SizedWork {
  ShapeWork work;
  ShapeRow row;
  double sms = 108;
  std::string Reason() const { return ReasonOf(work, row, ShippedKnowledge(), sms); }
};

SizedWork SizedProduct() {
  SizedWork sized;
  sized.work = SomeProduct(1, 1);
  sized.work.uses = sized.work.narrow = 4096;
  sized.work.tiles = 1000;
  sized.work.depth = 4096;
  sized.row.tensor = true;
  sized.row.side = "compute";
  return sized;
}

TEST_CASE("large even products give no reason, each odd thing about them gives its own") {
  SizedWork sized = SizedProduct();
  CHECK(sized.Reason().empty());
  sized.row.odd = 17;
  CHECK(sized.Reason() == "odd-sizes");
  sized.row.tensor = false;
  CHECK(sized.Reason().empty());  // plain pipes need no alignment
  sized.work.type = ElementType::kFloat32;
  CHECK(sized.Reason() == "fp32-units");
  sized.work.type = ElementType::kFloat64;
  CHECK(sized.Reason() == "fp64-units");
}

TEST_CASE("products on few rows use each weight seldom") {
  const double few = ShippedKnowledge().Number("roofline.few_uses");
  SizedWork sized = SizedProduct();
  sized.work.uses = sized.work.narrow = few;
  CHECK(sized.Reason() == "few-uses");
  sized.work.uses = sized.work.narrow = few + 1;
  CHECK(sized.Reason().empty());
  // Of a batch of products only memory is held back by it.
  sized.work.uses = 0;
  sized.work.narrow = few;
  CHECK(sized.Reason().empty());
  sized.row.side = "memory";
  CHECK(sized.Reason() == "few-uses");
  sized.work.narrow = few + 1;
  CHECK(sized.Reason().empty());
  sized.work.narrow = 256;
  sized.work.depth = 255;
  CHECK(sized.Reason() == "short-sums");
  sized.work.depth = 256;
  CHECK(sized.Reason().empty());
  sized.work.depth = 10;
  sized.row.side = "compute";
  CHECK(sized.Reason().empty());
}

TEST_CASE("few tiles leave SMs idle, where long sums could be split among them") {
  const double full = ShippedKnowledge().Number("roofline.full_waves") * 108;
  const double long_sum = ShippedKnowledge().Number("roofline.long_sum");
  SizedWork sized = SizedProduct();
  sized.work.depth = long_sum;
  sized.work.tiles = full - 1;
  CHECK(sized.Reason() == "few-tiles");
  sized.work.tiles = full;
  CHECK(sized.Reason().empty());
  sized.work.tiles = full - 1;
  sized.work.depth = long_sum - 1;
  CHECK(sized.Reason().empty());
  sized.work.depth = long_sum;
  sized.sms = 0;  // not known
  CHECK(sized.Reason().empty());
  sized.sms = 108;
  sized.work.tiles = 0;  // not known
  CHECK(sized.Reason().empty());
  sized.work.trait = "grouped";
  CHECK(sized.Reason() == "grouped");
}

TEST_CASE("convolutions and attention have reasons of their own") {
  SizedWork sized = SizedProduct();
  sized.work.kind = WorkKind::kConvolution;
  sized.work.uses = 0;
  CHECK(sized.Reason().empty());
  for (const char* trait : {"depthwise", "few-channels", "odd-channels", "grouped"}) {
    sized.work.trait = trait;
    CHECK(sized.Reason() == trait);
  }
  sized.work.tiles = 10;
  CHECK(sized.Reason() == "few-tiles");
  sized.work.trait = "few-channels";
  CHECK(sized.Reason() == "few-channels");
  sized.work.trait.clear();
  sized.work.tiles = 1000;
  sized.row.side = "memory";
  CHECK(sized.Reason() == "few-uses");
  sized.work.kind = WorkKind::kAttention;
  CHECK(sized.Reason().empty());
  for (const char* trait : {"one-query", "short-sequence"}) {
    sized.work.trait = trait;
    CHECK(sized.Reason() == trait);
  }
}

TEST_CASE("what moves data stays below its rate by its strides, its rows, its size or its code") {
  const double small = ShippedKnowledge().Number("roofline.small_bytes");
  SizedWork sized;
  sized.work = SomeCopy(1e9);
  sized.row.bytes = small;
  CHECK(sized.Reason().empty());
  for (const char* trait : {"strided", "short-rows", "long-rows"}) {
    sized.work.trait = trait;
    CHECK(sized.Reason() == trait);
  }
  sized.work.trait.clear();
  sized.row.bytes = small - 1;
  CHECK(sized.Reason() == "small");
  sized.row.bytes = small;
  sized.row.kernel = "triton_poi_fused_add_0";
  CHECK(sized.Reason() == "compiled");
  sized.row.kernel = "void at::native::unrolled_elementwise_kernel<at::native::F<float> >(int)";
  CHECK(sized.Reason() == "not-vectorized");
}

}  // namespace
}  // namespace advise
