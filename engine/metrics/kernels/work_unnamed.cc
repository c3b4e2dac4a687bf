// Operators that move data and that no formula names, by the class of the kernels that they launch:
// which of their tensors are read, which are written, and which are both.
#include <algorithm>
#include <array>

#include "engine/metrics/kernels/shape_call.h"

namespace advise::work {
namespace {

bool IsOf(const Call& call, std::string_view family) {
  return call.limits().knowledge.IsOfFamily(FamilyKind::kOperator, family, call.name());
}

// A mask is the largest tensor only where nothing is as large.
double Largest(const Call& call, int* which) {
  double most = 0;
  *which = -1;
  for (int i = 0; i < call.tensors(); ++i) {
    if (call.Tensor(i).sizes.empty()) continue;
    const double elements = Product(call.Tensor(i).sizes);
    const bool instead_of_mask = elements == most && call.Type(*which) == ElementType::kBool;
    if (elements > most || instead_of_mask) most = elements, *which = i;
  }
  return most;
}

// A function of autograd that a program defines: it makes its results, as PyTorch's operators do.
bool IsFunction(const Call& call) {
  return call.name().find("::") == std::string_view::npos && !IsOf(call, "compiled");
}
bool ReturnsResults(const Call& call) {
  return call.name().starts_with("aten::") || IsFunction(call);
}

// Its backward pass is given the gradient alone: which tensors were saved is not recorded.
bool HidesTensors(const Call& call) {
  return IsFunction(call) && call.name().ends_with("Backward");
}

int FullSized(const Call& call, double elements) {
  int tensors = 0;
  for (int i = 0; i < call.tensors(); ++i) {
    const auto& sizes = call.Tensor(i).sizes;
    tensors += !sizes.empty() && Product(sizes) == elements ? 1 : 0;
  }
  return tensors;
}

double WidestFullSized(const Call& call, double elements) {
  double most = 0;
  for (int i = 0; i < call.tensors(); ++i) {
    const auto& sizes = call.Tensor(i).sizes;
    if (!sizes.empty() && Product(sizes) == elements) most = std::max(most, call.Bytes(i));
  }
  return most;
}

// Two tensors of one type, both of the full size, of a library whose operator is not known: one is
// made of the other, or both are changed in place.
bool MayWorkInPlace(const Call& call, int main, double elements) {
  const bool known = ReturnsResults(call) || IsOf(call, "compiled") || IsOf(call, "given_result");
  if (known || FullSized(call, elements) != 2) return false;
  for (int i = 0; i < call.tensors(); ++i) {
    const OperatorTensor& tensor = call.Tensor(i);
    const bool full = !tensor.sizes.empty() && Product(tensor.sizes) == elements;
    if (full && call.Type(i) != call.Type(main)) return false;
  }
  return true;
}

// Whether a tensor has rows half as long as those of the largest: a gate takes two halves of a row
// together (silu_and_mul).
bool HalvesRows(const Call& call, int main) {
  Sizes half = call.Tensor(main).sizes;
  if (half.back() % 2 != 0) return false;
  half.back() /= 2;
  for (int i = 0; i < call.tensors(); ++i) {
    if (call.Tensor(i).sizes == half) return true;
  }
  return false;
}

// Whether a smaller tensor of several dimensions may be the result (a sum over experts).
bool MayReduce(const Call& call) {
  int matrices = 0;
  for (int i = 0; i < call.tensors(); ++i) matrices += call.Tensor(i).sizes.size() >= 2 ? 1 : 0;
  return matrices >= 2 && !call.name().starts_with("aten::");
}

// A compiled kernel is given what it writes. When it combines two operands and is given two
// tensors, both of the full size, one of them is also its result: read and written.
bool WorksInPlace(const Call& call, double elements) {
  if (!IsOf(call, "compiled_pair")) return false;
  int tensors = 0;
  for (int i = 0; i < call.tensors(); ++i) tensors += call.Tensor(i).sizes.empty() ? 0 : 1;
  return tensors == 2 && FullSized(call, elements) == 2;
}

// What PyTorch makes of two types: the wider one; complex numbers before floats, and these before
// integers; of FP16 and bf16 neither.
ElementType Promoted(ElementType a, ElementType b) {
  if (IsComplex(a) != IsComplex(b)) return IsComplex(a) ? a : b;
  if (IsFloat(a) != IsFloat(b)) return IsFloat(a) ? a : b;
  if (a != b && ElementBytes(a) == 2 && ElementBytes(b) == 2) return ElementType::kFloat32;
  return ElementBytes(a) >= ElementBytes(b) ? a : b;
}

ElementType TypeOfResult(const Call& call, int main) {
  ElementType type = call.Type(main);
  if (!call.name().starts_with("aten::")) return type;  // tables and scales may be of another
  for (int i = 0; i < call.tensors(); ++i) {
    if (!call.Tensor(i).sizes.empty()) type = Promoted(type, call.Type(i));
  }
  return type;
}

// The sizes of what an operator of PyTorch makes of its tensors: dimensions are matched from the
// last one on, and a size of 1 is repeated. Empty where they do not fit.
Sizes BroadcastSizes(const Call& call) {
  Sizes result;
  for (int i = 0; i < call.tensors(); ++i) {
    const Sizes& sizes = call.Tensor(i).sizes;
    if (sizes.size() > result.size())
      result.insert(result.begin(), sizes.size() - result.size(), 1);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      std::int64_t& size = result[result.size() - sizes.size() + d];
      if (size != sizes[d] && size != 1 && sizes[d] != 1) return {};
      if (size == 1) size = sizes[d];
    }
  }
  return result;
}

// Reads each tensor, writes a result of broadcast sizes. Operators of libraries are given their
// results as arguments; in place, the first is read and written.
std::optional<ShapeWork> Map(const Call& call, WorkKind kind) {
  int main = -1;
  const double elements = Largest(call, &main);
  if (main < 0) return {};
  const Sizes sizes = call.name().starts_with("aten::") ? BroadcastSizes(call) : Sizes();
  const double made = sizes.empty() ? elements : std::max(elements, Product(sizes));
  double bytes = 0;
  for (int i = 0; i < call.tensors(); ++i) {
    if (call.Tensor(i).sizes.empty() && call.Tensor(i).list_elements == 0) continue;
    if (ElementBytes(call.Type(i)) == 0) return {};
    bytes += call.Bytes(i);
  }
  if (IsOf(call, "in_place")) return Made(call, kind, main, elements, 2 * bytes);
  if (MayWorkInPlace(call, main, elements)) {
    auto work = Made(call, kind, main, elements, 2 * bytes);
    if (work) work->least_bytes = bytes;
    return work;
  }
  if (WorksInPlace(call, elements)) bytes += call.Bytes(main);
  if (IsOf(call, "residual")) bytes += WidestFullSized(call, elements);
  const double given = bytes;
  // What is given one tensor of the full size reads it and writes another, or writes it again.
  const bool only_one =
      kind != WorkKind::kReduction && FullSized(call, elements) == 1 && !HalvesRows(call, main);
  const bool makes_result = ReturnsResults(call) || call.tensors() == 1 || only_one;
  if (makes_result && call.name().ends_with('_')) {
    bytes += call.Bytes(0);
  } else if (makes_result) {
    bytes += made * (IsOf(call, "comparison") ? 1 : ElementBytes(TypeOfResult(call, main)));
  }
  if (IsOf(call, "masking")) bytes += made;  // the mask, a byte for each element
  auto work = Made(call, kind, main, made, bytes);
  if (work) work->trait = StrideTrait(call);
  if (work && made > elements) work->shape = Words(sizes);
  if (work && only_one && MayReduce(call)) work->least_bytes = given;
  return work;
}

}  // namespace

std::optional<ShapeWork> UnnamedMemoryWork(const Call& call) {
  if (HidesTensors(call) || IsOf(call, "own_size")) return {};
  static constexpr auto kClasses = std::to_array<std::pair<std::string_view, WorkKind>>({
      {"elementwise", WorkKind::kElementwise},
      {"cast", WorkKind::kElementwise},
      {"copy", WorkKind::kElementwise},
      {"transpose", WorkKind::kElementwise},
      {"normalization", WorkKind::kNormalization},
      {"softmax", WorkKind::kSoftmax},
      {"random", WorkKind::kElementwise},
  });
  for (const auto& [name, kind] : kClasses) {
    if (call.hints().kernel_class == name) return Map(call, kind);
  }
  // Updates of one parameter; libraries give theirs state in formats of their own.
  if (call.hints().kernel_class == "optimizer" && call.name().starts_with("aten::")) {
    return Map(call, WorkKind::kOptimizer);
  }
  // Compiled reductions are given what they write.
  if (call.hints().kernel_class == "reduction" && IsOf(call, "compiled")) {
    return Map(call, WorkKind::kReduction);
  }
  return {};
}

}  // namespace advise::work
