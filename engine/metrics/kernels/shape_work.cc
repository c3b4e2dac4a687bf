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

OperatorWork OperatorWorkOf(std::string_view name) {
  // Its caller has all three tensors, of which each part sees two.
  if (name.starts_with("aten::cudnn_convolution_backward_")) return OperatorWork::kPartOfCaller;
  return work::IsProduct(name) || work::IsConvolution(name) || work::IsAttention(name) ||
                 work::IsExperts(name) || work::IsMemoryWork(name)
             ? OperatorWork::kNamed
             : OperatorWork::kUnnamed;
}

SizeLimits::SizeLimits(const Knowledge& knowledge)
    : tile_side(knowledge.Number("work.tile_side")),
      row_bytes(knowledge.Number("work.row_bytes")),
      short_row(knowledge.Number("work.short_row")),
      long_row(knowledge.Number("work.long_row")),
      few_rows(knowledge.Number("work.few_rows")),
      short_sequence(knowledge.Number("work.short_sequence")) {}

double SizeLimits::Tiles(double rows, double columns) const {
  return std::ceil(rows / tile_side) * std::ceil(columns / tile_side);
}

std::optional<ShapeWork> WorkOf(std::string_view operator_name, const OperatorInputs& inputs,
                                const SizeLimits& limits, const CallHints& hints) {
  const work::Call call(operator_name, inputs, limits, hints);
  if (work::IsExperts(operator_name)) return work::ExpertsWork(call);
  if (work::IsConvolution(operator_name)) return work::ConvolutionWork(call);
  if (work::IsAttention(operator_name)) return work::AttentionWork(call);
  if (work::IsProduct(operator_name)) return work::ProductWork(call);
  if (work::IsMemoryWork(operator_name)) return work::MemoryWork(call);
  if (hints.kernel_class == "matrix") return work::UnnamedProduct(call);
  return work::UnnamedMemoryWork(call);
}

std::optional<AttentionSizes> AttentionSizesOf(std::string_view operator_name,
                                               const OperatorInputs& inputs,
                                               const SizeLimits& limits) {
  const CallHints hints;
  const work::Call call(operator_name, inputs, limits, hints);
  if (work::IsAttention(operator_name)) return work::AttentionSizesOf(call);
  const int a = work::FirstOperand(operator_name);
  if (a < 0 || !call.HasRank(a, 3) || !call.HasRank(a + 1, 3)) return {};
  const work::Sizes& left = call.Tensor(a).sizes;
  const work::Sizes& right = call.Tensor(a + 1).sizes;
  if (left[0] != right[0] || left[2] != right[1]) return {};
  return AttentionSizes{left[0], left[2], left[1], right[2]};
}

bool IsAttentionOperator(std::string_view operator_name) {
  return work::IsAttention(operator_name);
}

int KeysOfAttention(std::string_view operator_name) { return work::KeysOfAttention(operator_name); }

int SecondOperand(std::string_view operator_name) {
  const int first = work::FirstOperand(operator_name);
  return first < 0 ? -1 : first + 1;
}

double ElementBytes(ElementType type) {
  switch (type) {
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
