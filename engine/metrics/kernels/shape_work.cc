#include "engine/metrics/kernels/shape_work.h"

#include <array>
#include <cmath>
#include <utility>

#include "engine/knowledge/knowledge.h"
#include "engine/metrics/kernels/shape_call.h"

namespace advise {
namespace {

constexpr auto kTypeNames = std::to_array<std::pair<ElementType, const char*>>({
    {ElementType::kFloat64, "fp64"},
    {ElementType::kFloat32, "fp32"},
    {ElementType::kFloat16, "fp16"},
    {ElementType::kBFloat16, "bf16"},
    {ElementType::kFloat8, "fp8"},
    {ElementType::kFloat4, "fp4"},
    {ElementType::kInt8, "int8"},
    {ElementType::kInt16, "int16"},
    {ElementType::kInt32, "int32"},
    {ElementType::kInt64, "int64"},
    {ElementType::kBool, "bool"},
    {ElementType::kComplex64, "complex64"},
    {ElementType::kComplex128, "complex128"},
});

}  // namespace

const char* WorkKindName(WorkKind kind) {
  switch (kind) {
    case WorkKind::kProduct:
      return "product";
    case WorkKind::kConvolution:
      return "convolution";
    case WorkKind::kAttention:
      return "attention";
    case WorkKind::kExperts:
      return "experts";
    case WorkKind::kNormalization:
      return "normalization";
    case WorkKind::kSoftmax:
      return "softmax";
    case WorkKind::kReduction:
      return "reduction";
    case WorkKind::kElementwise:
      return "elementwise";
    case WorkKind::kIndex:
      return "index";
    case WorkKind::kPooling:
      return "pooling";
    case WorkKind::kOptimizer:
      return "optimizer";
  }
  return "";
}

bool IsArithmetic(WorkKind kind) {
  return kind == WorkKind::kProduct || kind == WorkKind::kConvolution ||
         kind == WorkKind::kAttention || kind == WorkKind::kExperts;
}

OperatorWork OperatorWorkOf(const OperatorFormula* formula) {
  if (formula == nullptr) return OperatorWork::kUnnamed;
  if (std::holds_alternative<PartFormula>(*formula)) return OperatorWork::kPartOfCaller;
  return std::holds_alternative<MemoryFormula>(*formula) ? OperatorWork::kMoves
                                                         : OperatorWork::kMultiplies;
}

SizeLimits::SizeLimits(const Knowledge& of)
    : knowledge(of),
      tile_side(knowledge.Number("work.tile_side")),
      row_bytes(knowledge.Number("work.row_bytes")),
      short_row(knowledge.Number("work.short_row")),
      long_row(knowledge.Number("work.long_row")),
      few_rows(knowledge.Number("work.few_rows")),
      short_sequence(knowledge.Number("work.short_sequence")),
      few_channels(knowledge.Number("work.few_channels")),
      channel_multiple(knowledge.Number("work.channel_multiple")),
      norm_groups(knowledge.Number("work.norm_groups")) {}

double SizeLimits::Tiles(double rows, double columns) const {
  return std::ceil(rows / tile_side) * std::ceil(columns / tile_side);
}

namespace work {

std::optional<ShapeWork> WorkBy(const OperatorFormula& formula, const Call& call) {
  if (const auto* of = std::get_if<ProductFormula>(&formula)) return ProductWork(call, *of);
  if (const auto* of = std::get_if<ConvolutionFormula>(&formula)) return ConvolutionWork(call, *of);
  if (const auto* of = std::get_if<AttentionFormula>(&formula)) return AttentionWork(call, *of);
  if (const auto* of = std::get_if<MemoryFormula>(&formula)) return MemoryWork(call, *of);
  if (std::holds_alternative<ExpertsFormula>(formula)) return ExpertsWork(call);
  return {};
}

}  // namespace work

std::optional<ShapeWork> WorkOf(std::string_view operator_name, const OperatorInputs& inputs,
                                const SizeLimits& limits, const CallHints& hints) {
  const work::Call call(operator_name, inputs, limits, hints);
  if (const OperatorFormula* formula = limits.knowledge.operators().Find(operator_name)) {
    return work::WorkBy(*formula, call);
  }
  if (hints.kernel_class == "matrix") return work::UnnamedProduct(call);
  return work::UnnamedMemoryWork(call);
}

std::optional<AttentionSizes> AttentionSizesOf(const OperatorFormula* formula,
                                               const OperatorInputs& inputs,
                                               const SizeLimits& limits) {
  if (formula == nullptr) return {};
  const CallHints hints;
  const work::Call call("", inputs, limits, hints);
  if (const auto* attention = std::get_if<AttentionFormula>(formula)) {
    return work::AttentionSizesOf(call, *attention);
  }
  const int a = SecondOperand(formula) - 1;
  if (a < 0 || !call.HasRank(a, 3) || !call.HasRank(a + 1, 3)) return {};
  const work::Sizes& left = call.Tensor(a).sizes;
  const work::Sizes& right = call.Tensor(a + 1).sizes;
  if (left[0] != right[0] || left[2] != right[1]) return {};
  return AttentionSizes{left[0], left[2], left[1], right[2]};
}

int KeysOfAttention(const OperatorFormula* formula) {
  const auto* attention = formula == nullptr ? nullptr : std::get_if<AttentionFormula>(formula);
  return attention == nullptr ? -1 : attention->query + 1;
}

int SecondOperand(const OperatorFormula* formula) {
  const auto* product = formula == nullptr ? nullptr : std::get_if<ProductFormula>(formula);
  return product == nullptr ? -1 : product->first + 1;
}

double ElementBytes(ElementType type) {
  switch (type) {
    case ElementType::kComplex128:
      return 16;
    case ElementType::kComplex64:
    case ElementType::kFloat64:
    case ElementType::kInt64:
      return 8;
    case ElementType::kFloat32:
    case ElementType::kInt32:
      return 4;
    case ElementType::kFloat16:
    case ElementType::kBFloat16:
    case ElementType::kInt16:
      return 2;
    case ElementType::kFloat8:
    case ElementType::kInt8:
    case ElementType::kBool:
      return 1;
    case ElementType::kFloat4:
      return 0.5;
    default:
      return 0;
  }
}

bool IsFloat(ElementType type) {
  return type >= ElementType::kFloat64 && type <= ElementType::kFloat8;
}

bool IsComplex(ElementType type) {
  return type == ElementType::kComplex64 || type == ElementType::kComplex128;
}

const char* TypeName(ElementType type) {
  for (const auto& [known, name] : kTypeNames) {
    if (known == type) return name;
  }
  return "";
}

ElementType TypeNamed(std::string_view name) {
  if (name == "tf32") return ElementType::kFloat32;
  for (const auto& [type, known] : kTypeNames) {
    if (name == known) return type;
  }
  return ElementType::kUnknown;
}

ElementType TypeInKernelName(std::string_view name) {
  static constexpr auto kWords = std::to_array<std::pair<std::string_view, ElementType>>({
      {"BFloat16", ElementType::kBFloat16},
      {"bfloat16", ElementType::kBFloat16},
      {"c10::Half", ElementType::kFloat16},
      {"__half", ElementType::kFloat16},
      {"half,", ElementType::kFloat16},
      {"complex<double>", ElementType::kComplex128},
      {"complex<float>", ElementType::kComplex64},
      {"double", ElementType::kFloat64},
      {"<float", ElementType::kFloat32},
      {" float", ElementType::kFloat32},
      {"long", ElementType::kInt64},
  });
  for (const auto& [word, type] : kWords) {
    if (name.find(word) != std::string_view::npos) return type;
  }
  return ElementType::kUnknown;
}

}  // namespace advise
