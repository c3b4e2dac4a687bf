// What a framework operator was given, where a profiler recorded it: sizes and types of its
// tensors. Kept of operators that may launch work, and each distinct list once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace advise {

enum class ElementType : std::uint8_t {
  kUnknown,
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat8,
  kInt8,
  kFloat4,
  kInt16,
  kInt32,
  kInt64,
  kBool,
  kComplex64,  // of two FP32 values
  kComplex128,
};

// A tensor, by position of the argument. What is no tensor (a number, a list) has no sizes; of a
// list of tensors the sum of their elements is kept.
struct OperatorTensor {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // of elements; empty when not recorded
  ElementType type = ElementType::kUnknown;
  std::int64_t list_elements = 0;  // of a list of tensors
  std::int64_t list_count = 0;     // tensors in it

  std::int64_t Elements() const {  // 0 of what has no sizes
    std::int64_t elements = sizes.empty() ? 0 : 1;
    for (const std::int64_t size : sizes) elements *= size;
    return elements;
  }
};

struct OperatorInputs {
  std::vector<OperatorTensor> tensors;
  std::vector<std::string> values;  // what stood for arguments that are no tensors: "[1, 1]",
                                    // "True", "" for tensors; empty when not recorded
};

}  // namespace advise
