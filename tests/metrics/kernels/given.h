// Inputs of an operator, for tests of its work.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/metrics/kernels/shape_work.h"
#include "tests/support/analyzed.h"

namespace advise {

using Sizes = std::vector<std::int64_t>;
inline constexpr ElementType kBf16 = ElementType::kBFloat16;
inline constexpr ElementType kFp16 = ElementType::kFloat16;
inline constexpr ElementType kFp32 = ElementType::kFloat32;

inline OperatorInputs Given(const std::vector<Sizes>& sizes, ElementType type,
                            std::vector<std::string> values = {}) {
  OperatorInputs inputs;
  for (const Sizes& one : sizes) {
    inputs.tensors.emplace_back();
    inputs.tensors.back().sizes = one;
    inputs.tensors.back().type = one.empty() ? ElementType::kUnknown : type;
  }
  inputs.values = std::move(values);
  return inputs;
}

// With types of the arguments one by one.
inline OperatorInputs Typed(const std::vector<std::pair<Sizes, ElementType>>& tensors,
                            std::vector<std::string> values = {}) {
  OperatorInputs inputs;
  for (const auto& [sizes, type] : tensors) {
    inputs.tensors.emplace_back();
    inputs.tensors.back().sizes = sizes;
    inputs.tensors.back().type = type;
  }
  inputs.values = std::move(values);
  return inputs;
}

inline std::optional<ShapeWork> WorkOf(std::string_view operator_name, const OperatorInputs& inputs,
                                       const CallHints& hints = {}) {
  return WorkOf(operator_name, inputs, SizeLimits(ShippedKnowledge()), hints);
}

inline OperatorWork NamedWork(std::string_view operator_name) {
  return OperatorWorkOf(ShippedKnowledge().operators().Find(operator_name));
}

}  // namespace advise
