// The arguments of one call, for the files that tell the work of operators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/metrics/kernels/shape_work.h"

namespace advise::work {

using Sizes = std::vector<std::int64_t>;

double Product(const Sizes& sizes);
// Elements in memory: what is repeated by a stride of 0 lies there once.
double Elements(const OperatorTensor& tensor);
std::string Words(const Sizes& sizes);  // "[8, 64]"

// One call of an operator: its arguments by position, and what else is known of it.
class Call {
 public:
  Call(std::string_view name, const OperatorInputs& inputs, const SizeLimits& limits,
       const CallHints& hints)
      : name_(name), inputs_(inputs), limits_(limits), hints_(hints) {}

  std::string_view name() const { return name_; }
  const CallHints& hints() const { return hints_; }
  const SizeLimits& limits() const { return limits_; }
  const OperatorTensor& Tensor(int at) const;  // an empty one where there is none
  int tensors() const { return static_cast<int>(inputs_.tensors.size()); }
  bool HasRank(int at, std::size_t rank) const;
  ElementType Type(int at) const;
  // What the units multiply in where the types of two operands differ.
  ElementType ProductType(int a, int b) const;
  double Bytes(int at) const;  // of the tensor's elements in memory; 0 for no tensor
  std::size_t count() const { return inputs_.values.size(); }
  std::string_view Value(int at) const;
  std::optional<double> Number(int at) const;  // of a value that is one
  // "[1, 2]" as one number a dimension, a single one for all; nothing when it was not recorded.
  std::optional<Sizes> List(int at, std::size_t dimensions) const;
  Sizes AllOf(int at) const;  // every number of a list, however many

 private:
  std::string_view name_;
  const OperatorInputs& inputs_;
  const SizeLimits& limits_;
  const CallHints& hints_;
};

// Nothing for what its caller counts.
std::optional<ShapeWork> WorkBy(const OperatorFormula& formula, const Call& call);

// Products, with and without a batch; grouped ones and those of experts.
std::optional<ShapeWork> ProductWork(const Call& call, const ProductFormula& formula);
// A product of an operator that is known only by the kernels that it launches.
std::optional<ShapeWork> UnnamedProduct(const Call& call);
std::optional<ShapeWork> ExpertsWork(const Call& call);

std::optional<ShapeWork> ConvolutionWork(const Call& call, const ConvolutionFormula& formula);

std::optional<ShapeWork> AttentionWork(const Call& call, const AttentionFormula& formula);
std::optional<AttentionSizes> AttentionSizesOf(const Call& call, const AttentionFormula& formula);

// Everything that moves data and does little else with it, by name and else by the class of its
// kernels.
std::optional<ShapeWork> MemoryWork(const Call& call, const MemoryFormula& formula);
std::optional<ShapeWork> UnnamedMemoryWork(const Call& call);

// Work that moves `bytes` for `elements` of the tensor `main`; nothing where either is none, or the
// type is not known.
std::optional<ShapeWork> Made(const Call& call, WorkKind kind, int main, double elements,
                              double bytes);
// "strided" where neighbors in one tensor are no neighbors in another: one of them is walked in
// strides. Else "".
const char* StrideTrait(const Call& call);

}  // namespace advise::work
