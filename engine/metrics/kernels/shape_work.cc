// Which argument stands where is said by PyTorch's native_functions: positions below are those.
#include "engine/metrics/kernels/shape_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace advise {
namespace {

using Sizes = std::vector<std::int64_t>;

enum class Kind {
  kProduct,      // two operands of 2 or 3 dimensions, at `first` and the next
  kVector,       // a matrix at `first`, a vector next to it
  kConvolution,  // options at the positions given
  kConvolutionBackward,
  kFlashForward,
  kFlashBackward,
  kEfficientForward,
};

struct Formula {
  std::string_view name;
  Kind kind;
  int first = 0;
  int stride = -1, padding = -1, dilation = -1, transposed = -1;
};

constexpr auto kFormulas = std::to_array<Formula>({
    {"aten::mm", Kind::kProduct, 0},
    {"aten::addmm", Kind::kProduct, 1},
    {"aten::_addmm_activation", Kind::kProduct, 1},
    {"aten::bmm", Kind::kProduct, 0},
    {"aten::baddbmm", Kind::kProduct, 1},
    {"aten::_scaled_mm", Kind::kProduct, 0},
    {"aten::_int_mm", Kind::kProduct, 0},
    {"aten::mv", Kind::kVector, 0},
    {"aten::addmv", Kind::kVector, 1},
    {"aten::addmv_", Kind::kVector, 1},
    {"aten::convolution", Kind::kConvolution, 0, 3, 4, 5, 6},
    {"aten::_convolution", Kind::kConvolution, 0, 3, 4, 5, 6},
    {"aten::cudnn_convolution", Kind::kConvolution, 0, 3, 2, 4},
    {"aten::cudnn_convolution_relu", Kind::kConvolution, 0, 3, 4, 5},
    {"aten::miopen_convolution", Kind::kConvolution, 0, 4, 3, 5},
    {"aten::miopen_depthwise_convolution", Kind::kConvolution, 0, 4, 3, 5},
    {"aten::_conv_depthwise2d", Kind::kConvolution, 0, 4, 5, 6},
    {"aten::conv_depthwise3d", Kind::kConvolution, 0, 4, 5, 6},
    {"aten::convolution_backward", Kind::kConvolutionBackward, 0, 4, 5, 6, 7},
    {"aten::_flash_attention_forward", Kind::kFlashForward, 0},
    {"aten::_flash_attention_backward", Kind::kFlashBackward, 1},
    {"aten::_efficient_attention_forward", Kind::kEfficientForward, 0},
});

const Formula* FormulaOf(std::string_view name) {
  const auto found = std::find_if(kFormulas.begin(), kFormulas.end(),
                                  [&](const Formula& formula) { return formula.name == name; });
  return found == kFormulas.end() ? nullptr : &*found;
}

double Product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 1.0, [](double product, std::int64_t size) {
    return product * static_cast<double>(size);
  });
}

// Elements in memory: what is repeated by a stride of 0 lies there once.
double Elements(const OperatorTensor& tensor) {
  double count = 1;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (i < tensor.strides.size() && tensor.strides[i] == 0) continue;
    count *= static_cast<double>(tensor.sizes[i]);
  }
  return count;
}

std::string Words(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

bool Divides(std::int64_t multiple, std::int64_t value) { return value % multiple == 0; }

// The arguments of one call.
class Call {
 public:
  Call(const OperatorInputs& inputs, ElementType type) : inputs_(inputs), assumed_(type) {}

  const OperatorTensor& Tensor(int at) const {
    static const OperatorTensor kNothing;
    const auto i = static_cast<std::size_t>(at);
    return at >= 0 && i < inputs_.tensors.size() ? inputs_.tensors[i] : kNothing;
  }
  bool HasRank(int at, std::size_t rank) const {
    const Sizes& sizes = Tensor(at).sizes;
    return sizes.size() == rank &&
           std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size > 0; });
  }
  ElementType Type(int at) const {
    return Tensor(at).type != ElementType::kUnknown ? Tensor(at).type : assumed_;
  }
  std::size_t count() const { return inputs_.values.size(); }
  std::string_view Value(int at) const {
    const auto i = static_cast<std::size_t>(at);
    return at >= 0 && i < inputs_.values.size() ? std::string_view(inputs_.values[i]) : "";
  }
  // "[1, 2]" as one number a dimension, a single one for all; nothing when it was not recorded.
  std::optional<Sizes> List(int at, std::size_t dimensions) const {
    const std::string_view text = Value(at);
    Sizes list;
    for (std::size_t i = 0; i < text.size();) {
      std::int64_t number = 0;
      const auto [stop, failed] =
          std::from_chars(text.data() + i, text.data() + text.size(), number);
      if (failed == std::errc()) {
        list.push_back(number);
        i = static_cast<std::size_t>(stop - text.data());
      } else {
        ++i;
      }
    }
    if (list.size() == 1) list.resize(dimensions, list.front());
    if (list.size() != dimensions) return {};
    return list;
  }

 private:
  const OperatorInputs& inputs_;
  ElementType assumed_;
};

// Distance between rows of a matrix (its last two dimensions) in elements; 0 when it lies in
// memory in another way, or has one row.
std::int64_t RowDistance(const OperatorTensor& matrix) {
  const std::size_t rank = matrix.sizes.size();
  if (matrix.strides.size() != rank || rank < 2) return 0;
  const std::int64_t row = matrix.strides[rank - 2];
  const std::int64_t column = matrix.strides[rank - 1];
  if (column == 1 && matrix.sizes[rank - 2] > 1) return row;
  if (row == 1 && matrix.sizes[rank - 1] > 1) return column;
  return 0;
}

// Tensor cores load 16 bytes at a time. The result is always laid out row by row.
double OddDistance(const OperatorTensor& a, const OperatorTensor& b, double element_bytes) {
  const auto multiple = static_cast<std::int64_t>(16 / element_bytes);
  const std::size_t last = a.sizes.size() - 1;
  const std::int64_t m = a.sizes[last - 1];
  const std::int64_t k = a.sizes[last];
  const std::int64_t n = b.sizes[last];
  if (multiple <= 1 || m == 1 || n == 1) return 0;
  if (!Divides(multiple, n)) return static_cast<double>(n);
  if (!a.strides.empty() && !b.strides.empty()) {
    for (const OperatorTensor* matrix : {&a, &b}) {
      const std::int64_t distance = RowDistance(*matrix);
      if (!Divides(multiple, distance)) return static_cast<double>(distance);
    }
    return 0;
  }
  // Either dimension may be the one that is contiguous: only when both are odd is it certain. That
  // of b with n is not, since n is even here.
  return !Divides(multiple, m) && !Divides(multiple, k) ? static_cast<double>(k) : 0;
}

std::optional<ShapeWork> MatrixProduct(const Call& call, const Formula& formula) {
  const int a = formula.first;
  const int b = a + 1;
  const std::size_t rank = call.Tensor(a).sizes.size();
  if ((rank != 2 && rank != 3) || !call.HasRank(a, rank) || !call.HasRank(b, rank)) return {};
  const Sizes& left = call.Tensor(a).sizes;
  const Sizes& right = call.Tensor(b).sizes;
  if (left[rank - 1] != right[rank - 2] || (rank == 3 && left[0] != right[0])) return {};
  ShapeWork work;
  work.type = call.Type(a);
  const double bytes = ElementBytes(work.type);
  if (bytes == 0) return {};
  const auto rows = static_cast<double>(left[rank - 2]);
  const auto columns = static_cast<double>(right[rank - 1]);
  const double results = (rank == 3 ? static_cast<double>(left[0]) : 1) * rows * columns;
  // 8-bit products have wider results: _scaled_mm's is said by its seventh argument (c10's number
  // of the type, 6 is float), _int_mm's is an int.
  double result_bytes = bytes;
  if (bytes == 1) {
    result_bytes = formula.name == "aten::_int_mm" || call.Value(6) == "6" ? 4 : 2;
  }
  work.flops = 2 * results * static_cast<double>(left[rank - 1]);
  work.bytes =
      (Elements(call.Tensor(a)) + Elements(call.Tensor(b))) * bytes + results * result_bytes;
  if (formula.first == 1 && !call.Tensor(0).sizes.empty()) {
    work.bytes += Elements(call.Tensor(0)) * bytes;
  }
  work.shape = fmt::format("{} x {}", Words(left), Words(right));
  if (rank == 2 || left[0] == 1) work.uses = std::min(rows, columns);
  work.odd = OddDistance(call.Tensor(a), call.Tensor(b), bytes);
  return work;
}

std::optional<ShapeWork> VectorProduct(const Call& call, const Formula& formula) {
  const int a = formula.first;
  const Sizes& matrix = call.Tensor(a).sizes;
  const Sizes& vector = call.Tensor(a + 1).sizes;
  if (!call.HasRank(a, 2) || !call.HasRank(a + 1, 1) || matrix[1] != vector[0]) return {};
  ShapeWork work;
  work.type = call.Type(a);
  const double bytes = ElementBytes(work.type);
  if (bytes == 0) return {};
  work.flops = 2 * Product(matrix);
  work.bytes = (Elements(call.Tensor(a)) + static_cast<double>(matrix[0] + matrix[1])) * bytes;
  work.shape = fmt::format("{} x {}", Words(matrix), Words(vector));
  work.uses = 1;
  return work;
}

// [batch, channels, extents …]
struct Window {
  Sizes in, out, kernel;
  double input_used = 1;  // part of the input that any window touches
};

std::optional<Window> WindowOf(const Call& call, const Formula& formula, const Sizes& input,
                               const Sizes& weight) {
  const std::size_t dimensions = input.size() - 2;
  const auto stride = call.List(formula.stride, dimensions);
  const auto padding = call.List(formula.padding, dimensions);
  const auto dilation = call.List(formula.dilation, dimensions);
  if (!stride || !padding || !dilation) return {};
  Window window;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t in = input[d + 2];
    const std::int64_t kernel = weight[d + 2];
    const std::int64_t reach = (*dilation)[d] * (kernel - 1) + 1;
    const std::int64_t room = in + 2 * (*padding)[d] - reach;
    if ((*stride)[d] <= 0 || room < 0) return {};
    const std::int64_t out = room / (*stride)[d] + 1;
    window.in.push_back(in);
    window.out.push_back(out);
    window.kernel.push_back(kernel);
    window.input_used *= std::min(1.0, static_cast<double>(out * kernel) / static_cast<double>(in));
  }
  return window;
}

std::optional<ShapeWork> Convolution(const Call& call, const Formula& formula) {
  const bool backward = formula.kind == Kind::kConvolutionBackward;
  const int at = backward ? 1 : 0;
  const std::size_t rank = call.Tensor(at).sizes.size();
  if (rank < 3 || !call.HasRank(at, rank) || !call.HasRank(at + 1, rank)) return {};
  if (formula.transposed >= 0 && call.Value(formula.transposed) != "False") return {};
  const Sizes& input = call.Tensor(at).sizes;
  const Sizes& weight = call.Tensor(at + 1).sizes;
  const auto window = WindowOf(call, formula, input, weight);
  ShapeWork work;
  work.type = call.Type(at);
  const double bytes = ElementBytes(work.type);
  if (!window || bytes == 0 || input[1] % weight[1] != 0) return {};
  const double results = static_cast<double>(input[0] * weight[0]) * Product(window->out);
  const double once = 2 * results * static_cast<double>(weight[1]) * Product(window->kernel);
  const double in = Product(input) * window->input_used * bytes;
  const double weights = Product(weight) * bytes;
  const double out = results * bytes;
  if (!backward) {
    work.flops = once;
    work.bytes = in + weights + out;
  } else {
    // Gradients of the input, of the weight, of the bias: which of them were asked for.
    if (!call.HasRank(0, rank) || Product(call.Tensor(0).sizes) != results) return {};
    const std::string_view mask = call.Value(10);
    const bool of_input = mask.starts_with("[True");
    const bool of_weight = mask.find(", True,") != std::string_view::npos;
    if (!of_input && !of_weight) return {};
    work.flops = once * ((of_input ? 1 : 0) + (of_weight ? 1 : 0));
    work.bytes = out + (of_input ? weights + in : 0) + (of_weight ? in + weights : 0);
  }
  work.shape = fmt::format("{} * {}", Words(input), Words(weight));
  if (window->out != window->in) work.shape += fmt::format(" to {}", Words(window->out));
  return work;
}

// Pairs of a query and a key that are looked at. Nothing for masks whose rows see no key.
std::optional<double> Pairs(double queries, double keys, bool causal) {
  if (!causal) return queries * keys;
  if (queries > keys) return {};
  return queries * keys - queries * (queries - 1) / 2;
}

// Tensors of [batch, sequence, heads, width].
std::optional<ShapeWork> Attention(const Call& call, const Formula& formula) {
  const int q = formula.first;
  if (!call.HasRank(q, 4) || !call.HasRank(q + 1, 4) || !call.HasRank(q + 2, 4)) return {};
  const Sizes& query = call.Tensor(q).sizes;
  const Sizes& key = call.Tensor(q + 1).sizes;
  const Sizes& value = call.Tensor(q + 2).sizes;
  const bool backward = formula.kind == Kind::kFlashBackward;
  bool causal = false;
  if (formula.kind == Kind::kEfficientForward) {
    // The kind of mask: 0 none, 1 and 2 causal; behind the longest sequences, of which PyTorch
    // before 2.2 named one. A bias may hide more than the work tells.
    const std::string_view mask = call.Value(call.count() == 14 ? 9 : call.count() == 13 ? 8 : -1);
    if (mask.size() != 1 || !call.Tensor(3).sizes.empty() || !call.Tensor(4).sizes.empty()) {
      return {};
    }
    causal = mask != "0";
  } else {
    const std::string_view flag = call.Value(backward ? 11 : 8);
    if (flag != "True" && flag != "False") return {};
    causal = flag == "True";
    // A window of the sequence: "" and -1 are none.
    for (const int side : {11, 12}) {
      if (!backward && !call.Value(side).empty() && call.Value(side) != "-1") return {};
    }
  }
  if (query[0] != key[0] || query[3] != key[3] || key[1] != value[1]) return {};
  const auto pairs = Pairs(static_cast<double>(query[1]), static_cast<double>(key[1]), causal);
  ShapeWork work;
  work.type = call.Type(q);
  const double bytes = ElementBytes(work.type);
  if (!pairs || bytes == 0) return {};
  const double scores = static_cast<double>(query[0] * query[2]) * *pairs;
  const double inputs = Product(query) + Product(key) + Product(value);
  const double result =
      Product(query) / static_cast<double>(query[3]) * static_cast<double>(value[3]);
  const double forward = 2 * scores * static_cast<double>(query[3] + value[3]);
  // Backward computes the scores again and has four more products of the same sizes.
  work.flops = backward ? forward * 2.5 : forward;
  work.bytes = (backward ? 2 * (inputs + result) : inputs + result) * bytes;
  work.shape = fmt::format("{} by {}{}", Words(query), Words(key), causal ? " causal" : "");
  return work;
}

}  // namespace

bool HasShapeWork(std::string_view operator_name) { return FormulaOf(operator_name) != nullptr; }

std::optional<ShapeWork> WorkOf(std::string_view operator_name, const OperatorInputs& inputs,
                                ElementType type) {
  const Formula* formula = FormulaOf(operator_name);
  if (formula == nullptr) return {};
  const Call call(inputs, type);
  switch (formula->kind) {
    case Kind::kProduct:
      return MatrixProduct(call, *formula);
    case Kind::kVector:
      return VectorProduct(call, *formula);
    case Kind::kConvolution:
    case Kind::kConvolutionBackward:
      return Convolution(call, *formula);
    default:
      return Attention(call, *formula);
  }
}

double ElementBytes(ElementType type) {
  switch (type) {
    case ElementType::kFloat64:
      return 8;
    case ElementType::kFloat32:
      return 4;
    case ElementType::kFloat16:
    case ElementType::kBFloat16:
      return 2;
    case ElementType::kFloat8:
    case ElementType::kInt8:
      return 1;
    default:
      return 0;
  }
}

namespace {

constexpr auto kTypeNames = std::to_array<std::pair<ElementType, const char*>>({
    {ElementType::kFloat64, "fp64"},
    {ElementType::kFloat32, "fp32"},
    {ElementType::kFloat16, "fp16"},
    {ElementType::kBFloat16, "bf16"},
    {ElementType::kFloat8, "fp8"},
    {ElementType::kInt8, "int8"},
});

}  // namespace

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

}  // namespace advise
