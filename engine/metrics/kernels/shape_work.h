// The work of one call of a framework operator, from the sizes of its tensors: products,
// convolutions and attention. Operations are counted as multiply and add, two each; bytes are the
// least that can be moved: each operand and each result once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/trace/operator_inputs.h"

namespace advise {

struct ShapeWork {
  double flops = 0;
  double bytes = 0;
  ElementType type = ElementType::kUnknown;
  std::string shape;  // "[8192, 1024] x [1024, 4096]"
  // Of single products: the smaller of the rows and the columns of the result (how often an element
  // of the larger operand is used); 0 for batches of products and other work.
  double uses = 0;
  // Of products: a distance between rows in memory that is no multiple of 16 bytes, in elements;
  // 0 when all are, or when sizes alone do not tell.
  double odd = 0;
};

// Whether the operator is one whose work is known when its sizes are. O(1).
bool HasShapeWork(std::string_view operator_name);

// `type` is taken where the inputs do not say. Nothing when the work cannot be told: sizes that do
// not fit each other, options that were not recorded (a convolution's strides, attention's mask),
// an unknown type. O(arguments).
std::optional<ShapeWork> WorkOf(std::string_view operator_name, const OperatorInputs& inputs,
                                ElementType type = ElementType::kUnknown);

double ElementBytes(ElementType type);   // 0 unknown
const char* TypeName(ElementType type);  // "bf16", "" unknown: the words of kernels' precision
ElementType TypeNamed(std::string_view name);  // "tf32" is kept as fp32

}  // namespace advise
