#include "engine/metrics/kernels/shape_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace advise::work {

double Product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 1.0, [](double product, std::int64_t size) {
    return product * static_cast<double>(size);
  });
}

double Elements(const OperatorTensor& tensor) {
  double count = 1;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (i < tensor.strides.size() && tensor.strides[i] == 0) continue;
    count *= static_cast<double>(tensor.sizes[i]);
  }
  return count;
}

std::string Words(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

const OperatorTensor& Call::Tensor(int at) const {
  static const OperatorTensor kNothing;
  const auto i = static_cast<std::size_t>(at);
  return at >= 0 && i < inputs_.tensors.size() ? inputs_.tensors[i] : kNothing;
}

bool Call::HasRank(int at, std::size_t rank) const {
  const Sizes& sizes = Tensor(at).sizes;
  return sizes.size() == rank &&
         std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size > 0; });
}

ElementType Call::Type(int at) const {
  const ElementType type = Tensor(at).type;
  // Before PyTorch had FP4, two values of it were kept in a byte; many libraries still do.
  const bool packed = type == ElementType::kInt8 && hints_.type == ElementType::kFloat4;
  return type == ElementType::kUnknown || packed ? hints_.type : type;
}

ElementType Call::ProductType(int a, int b) const {
  const ElementType first = Type(a);
  const ElementType second = Type(b);
  if (first == second || ElementBytes(first) == 0 || ElementBytes(second) == 0) return first;
  // Which one is turned into the other is the kernel's to say; else the wider one, so that no
  // kernel is called slow for a peak that is not its own.
  if (hints_.type == first || hints_.type == second) return hints_.type;
  return ElementBytes(first) >= ElementBytes(second) ? first : second;
}

double Call::Bytes(int at) const {
  const OperatorTensor& tensor = Tensor(at);
  if (tensor.list_elements > 0) {
    return static_cast<double>(tensor.list_elements) * ElementBytes(Type(at));
  }
  return tensor.sizes.empty() ? 0 : Elements(tensor) * ElementBytes(Type(at));
}

std::string_view Call::Value(int at) const {
  const auto i = static_cast<std::size_t>(at);
  return at >= 0 && i < inputs_.values.size() ? std::string_view(inputs_.values[i]) : "";
}

std::optional<double> Call::Number(int at) const {
  const Sizes all = AllOf(at);
  if (all.size() != 1) return {};
  return static_cast<double>(all.front());
}

Sizes Call::AllOf(int at) const {
  const std::string_view text = Value(at);
  Sizes list;
  for (std::size_t i = 0; i < text.size();) {
    std::int64_t number = 0;
    const auto [stop, failed] = std::from_chars(text.data() + i, text.data() + text.size(), number);
    if (failed == std::errc()) {
      list.push_back(number);
      i = static_cast<std::size_t>(stop - text.data());
    } else {
      ++i;
    }
  }
  return list;
}

std::optional<Sizes> Call::List(int at, std::size_t dimensions) const {
  Sizes list = AllOf(at);
  if (list.size() == 1) list.resize(dimensions, list.front());
  if (list.size() != dimensions) return {};
  return list;
}

const char* StrideTrait(const Call& call) {
  bool strided = false;
  bool packed = false;
  for (int i = 0; i < call.tensors(); ++i) {
    const OperatorTensor& tensor = call.Tensor(i);
    if (tensor.strides.size() != tensor.sizes.size() || tensor.sizes.size() < 2) continue;
    // Size 1 has any stride.
    std::size_t last = tensor.sizes.size();
    while (last > 0 && tensor.sizes[last - 1] == 1) --last;
    if (last == 0 || tensor.strides[last - 1] == 0) continue;
    (tensor.strides[last - 1] == 1 ? packed : strided) = true;
  }
  return strided && packed ? "strided" : "";
}

std::optional<ShapeWork> Made(const Call& call, WorkKind kind, int main, double elements,
                              double bytes) {
  if (elements <= 0 || bytes <= 0) return {};
  ShapeWork work;
  work.kind = kind;
  work.type = call.Type(main);
  if (ElementBytes(work.type) == 0) return {};
  work.flops = elements;
  work.bytes = bytes;
  const OperatorTensor& tensor = call.Tensor(main);
  work.shape = tensor.list_count > 0
                   ? fmt::format("{} tensors, {} elements", tensor.list_count, tensor.list_elements)
                   : Words(tensor.sizes);
  return work;
}

}  // namespace advise::work
