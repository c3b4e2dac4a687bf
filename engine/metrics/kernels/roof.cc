#include "engine/metrics/kernels/roof.h"

#include <algorithm>

#include "engine/metrics/analysis.h"

namespace advise {

Roof::Roof(const Knowledge& knowledge, const Hardware& hardware)
    : knowledge_(knowledge),
      hardware_(hardware),
      entry_(knowledge.FindHardware(hardware.name)),
      tolerance_(knowledge.Number("roofline.peak_tolerance")),
      near_(knowledge.Number("roofline.near_limit")) {}

double Roof::Fact(const char* name) const {
  if (entry_ == nullptr) return 0;
  const auto found = entry_->facts.find(name);
  return found == entry_->facts.end() ? 0 : found->second.value;
}

Roof::Peaks Roof::PeaksOf(ElementType type, bool is_tf32) const {
  switch (type) {
    case ElementType::kComplex128:
    case ElementType::kFloat64:
      return {Fact("peak_fp64_flops"), Fact("peak_fp64_tensor_flops"), "measured_fp64_flops"};
    case ElementType::kComplex64:
    case ElementType::kFloat32: {
      // CDNA multiplies FP32 in its matrix units as it is; only kernels that say so round it.
      const double whole = Fact("peak_fp32_matrix_flops");
      if (whole > 0 && !is_tf32) return {Fact("peak_fp32_flops"), whole, "measured_fp32_flops"};
      return {Fact("peak_fp32_flops"), Fact("peak_tf32_flops"), "measured_tf32_flops"};
    }
    case ElementType::kFloat16:
      return {0, Fact("peak_fp16_flops"), "measured_fp16_flops"};
    case ElementType::kBFloat16:
      return {0, Fact("peak_bf16_flops"), "measured_bf16_flops"};
    case ElementType::kFloat8:
      return {0, Fact("peak_fp8_flops"), "measured_fp8_flops"};
    case ElementType::kFloat4:
      return {0, Fact("peak_fp4_flops"), "measured_fp4_flops"};
    case ElementType::kInt8:
      return {0, Fact("peak_int8_flops"), "measured_int8_flops"};
    default:
      return {};
  }
}

// Of what large products, and plain copies, reach.
double Roof::Reach(WorkKind kind) const {
  return knowledge_.Number(std::string("reach.") + WorkKindName(kind));
}

bool Roof::Place(const ShapeWork& work, const UsedUnits& units, ShapeRow* row) const {
  const double calls_per_s = static_cast<double>(row->count) / (row->time_ns / kNanosPerSecond);
  row->achieved = row->flops * calls_per_s;
  const double bandwidth = hardware_.memory_bytes_per_s;
  if (work.least_bytes > 0 && bandwidth > 0 && row->bytes * calls_per_s > bandwidth * tolerance_) {
    row->bytes = work.least_bytes;  // the memory could not have moved as much
  }
  row->bandwidth = row->bytes * calls_per_s;
  row->intensity = row->flops / row->bytes;
  const bool arithmetic = IsArithmetic(work.kind);
  Peaks peaks = PeaksOf(work.type, units.tf32_ns > 0);
  if (!arithmetic) peaks = {Fact("peak_fp32_flops"), 0, ""};
  // Where names do not tell, the plain pipes: unless these could not have done it.
  const bool beyond_plain = row->achieved > peaks.plain * tolerance_;
  row->tensor = peaks.tensor > 0 && (peaks.plain <= 0 || (units.tensor_ns > units.plain_ns) ||
                                     (units.tensor_ns == 0 && units.plain_ns == 0 && beyond_plain));
  const double peak = row->tensor ? peaks.tensor : peaks.plain;
  if (peak <= 0 || bandwidth <= 0) return true;
  if (arithmetic && row->achieved > peak * tolerance_) return false;
  row->peak = peak;
  row->balance = peak / bandwidth;
  row->achieved_share = row->achieved / peak;
  // Which limit is met first: where the maker measured less than the peak, sooner that of
  // arithmetic.
  const double measured = row->tensor ? Fact(peaks.measured) : 0;
  const double limit = measured > 0 ? measured : peak;
  row->side = !arithmetic || row->intensity < limit / bandwidth ? "memory" : "compute";
  const bool cached = row->bandwidth > bandwidth * tolerance_;
  if (arithmetic) {
    row->attainable =
        cached || row->side == "compute" ? peak : std::min(peak, row->intensity * bandwidth);
    row->attained = row->achieved / row->attainable;
  } else {
    row->attainable = row->intensity * bandwidth;
    row->attained = std::min(1.0, row->bandwidth / bandwidth);
  }
  row->bound = cached ? "cache" : row->attained >= near_ ? row->side : "neither";
  PlaceGood(work, peaks, cached, row);
  return true;
}

void Roof::PlaceGood(const ShapeWork& work, const Peaks& peaks, bool cached, ShapeRow* row) const {
  const bool arithmetic = IsArithmetic(work.kind);
  const double measured = row->tensor ? Fact(peaks.measured) : 0;
  const double flops = measured > 0 ? measured : row->peak * Reach(WorkKind::kProduct);
  const double measured_bytes = Fact("measured_memory_bytes_per_s");
  const double bytes = measured_bytes > 0
                           ? measured_bytes
                           : hardware_.memory_bytes_per_s * Reach(WorkKind::kElementwise);
  const double kind =
      work.kind == WorkKind::kProduct || work.kind == WorkKind::kElementwise ? 1 : Reach(work.kind);
  const double computing_s = arithmetic ? row->flops / flops : 0;
  const double moving_s = cached ? 0 : row->bytes / bytes;
  const double took_s = row->time_ns / static_cast<double>(row->count) / kNanosPerSecond;
  row->of_measured = std::min(1.0, std::max(computing_s, moving_s) / took_s);
  // Work that found its data in the cache is not held against memory.
  if (!arithmetic && cached) {
    row->reached = 1;
    return;
  }
  // A kernel also starts, fills the GPU and drains it; those that combine values of all blocks, or
  // look up little data, wait for one trip to memory after the other.
  const bool combines = work.kind == WorkKind::kReduction || work.kind == WorkKind::kNormalization;
  const bool waits = combines || (!arithmetic && work.kind != WorkKind::kElementwise &&
                                  row->bytes < knowledge_.Number("roofline.small_bytes"));
  const double start_s =
      (waits ? 3 : 1) * knowledge_.Number("roofline.kernel_start") * row->kernels / kNanosPerSecond;
  // Blocks of attention load, multiply and store in turn: on short sequences little of it overlaps.
  const double work_s =
      work.kind == WorkKind::kAttention ? computing_s + moving_s : std::max(computing_s, moving_s);
  const double good_s = work_s / kind + start_s;
  row->reached = std::min(1.0, good_s / took_s);
  row->recoverable_ns = row->time_ns * (1 - row->reached);
}

namespace {

const char* ReasonOfProduct(const ShapeWork& work, bool computes, bool few_tiles,
                            const Knowledge& knowledge) {
  if (work.uses > 0 && work.uses <= knowledge.Number("roofline.few_uses")) return "few-uses";
  // Without long sums there is nothing to split among more SMs.
  if (few_tiles && work.depth >= knowledge.Number("roofline.long_sum")) return "few-tiles";
  if (work.trait == "grouped") return "grouped";
  if (computes) return "";
  if (work.narrow > 0 && work.depth < work.narrow) return "short-sums";
  return work.narrow <= knowledge.Number("roofline.few_uses") ? "few-uses" : "";
}

const char* ReasonOfMovement(const ShapeWork& work, const ShapeRow& row,
                             const Knowledge& knowledge) {
  if (work.trait == "strided") return "strided";
  if (work.trait == "short-rows" || work.trait == "long-rows") {
    return work.trait == "short-rows" ? "short-rows" : "long-rows";
  }
  if (row.bytes < knowledge.Number("roofline.small_bytes")) return "small";
  const KernelClass& kernel = knowledge.ClassifyKernel(row.kernel);
  if (kernel.HasTrait("not-vectorized")) return "not-vectorized";
  return kernel.family == "triton" || kernel.family == "xla" ? "compiled" : "";
}

}  // namespace

const char* ReasonOf(const ShapeWork& work, const ShapeRow& row, const Knowledge& knowledge,
                     double sm_count) {
  if (!IsArithmetic(work.kind)) return ReasonOfMovement(work, row, knowledge);
  if (work.trait == "depthwise") return "depthwise";
  if (work.type == ElementType::kFloat64 || work.type == ElementType::kComplex128) {
    return "fp64-units";
  }
  const bool single = work.type == ElementType::kFloat32 || work.type == ElementType::kComplex64;
  if (single && !row.tensor) return "fp32-units";
  if (row.odd > 0 && row.tensor) return "odd-sizes";
  if (work.trait == "few-channels") return "few-channels";
  if (work.trait == "one-query") return "one-query";
  if (work.trait == "short-sequence") return "short-sequence";
  const bool computes = row.side == "compute";
  const double full = knowledge.Number("roofline.full_waves") * sm_count;
  const bool few = sm_count > 0 && work.tiles > 0 && work.tiles < full;
  if (work.kind == WorkKind::kProduct) return ReasonOfProduct(work, computes, few, knowledge);
  if (work.uses > 0 && work.uses <= knowledge.Number("roofline.few_uses")) return "few-uses";
  if (few) return "few-tiles";
  if (work.trait == "odd-channels") return "odd-channels";
  if (work.trait == "grouped") return "grouped";
  return computes || work.kind != WorkKind::kConvolution ? "" : "few-uses";
}

}  // namespace advise
