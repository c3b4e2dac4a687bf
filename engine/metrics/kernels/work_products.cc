// Products of matrices. Operators that kb/operators.toml does not list are told by sizes that fit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/base/is_in.h"
#include "engine/metrics/kernels/shape_call.h"

namespace advise::work {
namespace {

bool Divides(std::int64_t multiple, std::int64_t value) { return value % multiple == 0; }

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

// Eight- and four-bit operands have wider results.
double ResultBytes(const Call& call, ElementType type) {
  const double bytes = ElementBytes(type);
  if (bytes > 1) return bytes;
  if (type == ElementType::kInt8) return 4;
  const auto* formula = call.limits().knowledge.operators().FindAs<ProductFormula>(call.name());
  constexpr std::string_view kFloat32 = "6";  // as PyTorch numbers types
  const bool wide = formula != nullptr && call.Value(formula->result_type) == kFloat32;
  return wide ? 4 : 2;
}

struct Dimensions {
  double batch = 1, m = 0, n = 0, k = 0;
};

ShapeWork Counted(const Call& call, const Dimensions& d, ElementType type, double operand_bytes) {
  ShapeWork work;
  work.kind = WorkKind::kProduct;
  work.type = type;
  // A complex product is four real ones.
  work.flops = (IsComplex(type) ? 8 : 2) * d.batch * d.m * d.n * d.k;
  work.bytes = operand_bytes + d.batch * d.m * d.n * ResultBytes(call, type);
  work.narrow = std::min(d.m, d.n);
  if (d.batch == 1) work.uses = work.narrow;
  work.tiles = d.batch * call.limits().Tiles(d.m, d.n);
  work.depth = d.k;
  return work;
}

// Packed types hold two values an element.
double Packed(ElementType type) { return type == ElementType::kFloat4 ? 2 : 1; }

std::optional<ShapeWork> Matrices(const Call& call, int a) {
  const int b = a + 1;
  const std::size_t rank = call.Tensor(a).sizes.size();
  if ((rank != 2 && rank != 3) || !call.HasRank(a, rank) || !call.HasRank(b, rank)) return {};
  const Sizes& left = call.Tensor(a).sizes;
  const Sizes& right = call.Tensor(b).sizes;
  if (left[rank - 1] != right[rank - 2] || (rank == 3 && left[0] != right[0])) return {};
  const ElementType type = call.Type(a);
  const double bytes = ElementBytes(type);
  if (bytes == 0) return {};
  const Dimensions d = {rank == 3 ? static_cast<double>(left[0]) : 1,
                        static_cast<double>(left[rank - 2]), static_cast<double>(right[rank - 1]),
                        static_cast<double>(left[rank - 1]) * Packed(type)};
  double operands = (Elements(call.Tensor(a)) + Elements(call.Tensor(b))) * bytes * Packed(type);
  if (a == 1 && !call.Tensor(0).sizes.empty()) operands += Elements(call.Tensor(0)) * bytes;
  ShapeWork work = Counted(call, d, type, operands);
  work.shape = fmt::format("{} x {}", Words(left), Words(right));
  work.odd = OddDistance(call.Tensor(a), call.Tensor(b), bytes);
  return work;
}

// One result: the sum of the products of a batch.
std::optional<ShapeWork> Summed(const Call& call, int a) {
  auto work = Matrices(call, a);
  const Sizes& left = call.Tensor(a).sizes;
  if (!work || left.size() != 3) return {};
  const Sizes one = {left[1], call.Tensor(a + 1).sizes[2]};
  work->bytes -= static_cast<double>(left[0] - 1) * Product(one) * ResultBytes(call, work->type);
  return work;
}

std::optional<ShapeWork> Vector(const Call& call, int a) {
  const Sizes& matrix = call.Tensor(a).sizes;
  const Sizes& vector = call.Tensor(a + 1).sizes;
  if (!call.HasRank(a, 2) || !call.HasRank(a + 1, 1) || matrix[1] != vector[0]) return {};
  ShapeWork work;
  work.kind = WorkKind::kProduct;
  work.type = call.Type(a);
  const double bytes = ElementBytes(work.type);
  if (bytes == 0) return {};
  work.flops = (IsComplex(work.type) ? 8 : 2) * Product(matrix);
  work.bytes = (Elements(call.Tensor(a)) + static_cast<double>(matrix[0] + matrix[1])) * bytes;
  work.shape = fmt::format("{} x {}", Words(matrix), Words(vector));
  work.uses = work.narrow = 1;
  work.depth = static_cast<double>(matrix[1]);
  return work;
}

// [..., k] by weights of [n, k] (`transposed`) or [..., k, n].
std::optional<ShapeWork> Flattened(const Call& call, int a, int b, bool transposed) {
  const Sizes& left = call.Tensor(a).sizes;
  const Sizes& right = call.Tensor(b).sizes;
  if (left.empty() || right.size() < 2 || Product(left) <= 0 || Product(right) <= 0) return {};
  const std::int64_t k = left.back();
  const std::int64_t inner = transposed ? right.back() : right[right.size() - 2];
  const std::int64_t n = transposed ? right[right.size() - 2] : right.back();
  const ElementType type = call.Type(a);
  if (inner != k || ElementBytes(type) == 0) return {};
  Dimensions d;
  d.k = static_cast<double>(k) * Packed(type);
  d.n = static_cast<double>(n);
  const double matrices = Product(right) / static_cast<double>(k) / d.n;
  d.batch = matrices;
  d.m = Product(left) / static_cast<double>(k) / matrices;
  if (d.m < 1) return {};
  ShapeWork work = Counted(call, d, type, (call.Bytes(a) + call.Bytes(b)) * Packed(type));
  work.type = call.ProductType(a, b);
  work.shape = fmt::format("{} x {}", Words(left), Words(right));
  return work;
}

bool IsPacked(ElementType type) {
  return type == ElementType::kInt8 || type == ElementType::kInt16 || type == ElementType::kInt32;
}

// How many results a row of [.., k] has: where each weight takes four or eight bits, one length of
// the scales (or of a bias) fits the packed weights. 0 where none does.
std::int64_t ResultsOf(const Call& call, int a, double weight_bits, double k) {
  std::int64_t results = 0;
  for (int i = 0; i < call.tensors(); ++i) {
    if (i == a || !IsFloat(call.Type(i))) continue;
    for (const std::int64_t n : call.Tensor(i).sizes) {
      const double each = weight_bits / (k * static_cast<double>(n));
      if (each == 4 || each == 8) results = std::max(results, n);
    }
  }
  return results;
}

// [.., k] of 16 bits by weights of fewer, which are unpacked on their way into the matrix units.
// How they are packed differs; the integers with most bytes are the weights.
std::optional<ShapeWork> PackedWeights(const Call& call, int a, int bits) {
  const Sizes& left = call.Tensor(a).sizes;
  if (left.empty() || Product(left) <= 0 || !IsFloat(call.Type(a))) return {};
  double weights = 0;
  double scales = 0;
  for (int i = 0; i < call.tensors(); ++i) {
    if (IsPacked(call.Type(i))) weights = std::max(weights, call.Bytes(i));
  }
  Dimensions d;
  d.k = static_cast<double>(left.back());
  d.m = Product(left) / d.k;
  d.batch = 1;
  d.n = static_cast<double>(ResultsOf(call, a, 8 * weights, d.k));
  if (d.n == 0 && bits > 0) d.n = 8 * weights / (bits * d.k);
  if (d.n < 1 || d.n != std::floor(d.n)) return {};
  for (int i = 0; i < call.tensors(); ++i) {
    const bool result = Product(call.Tensor(i).sizes) == d.m * d.n;
    if (i != a && !result && IsFloat(call.Type(i))) scales += call.Bytes(i);
  }
  ShapeWork work = Counted(call, d, call.Type(a), call.Bytes(a) + weights + scales);
  work.shape = fmt::format("{} x packed {}", Words(left),
                           Words({left.back(), static_cast<std::int64_t>(d.n)}));
  return work;
}

// [tokens, k] by [groups, k, n], or the gradient of the weights, [k, tokens] by [tokens, n].
std::optional<ShapeWork> Grouped(const Call& call, int a, int b, bool transposed) {
  const Sizes& left = call.Tensor(a).sizes;
  const Sizes& right = call.Tensor(b).sizes;
  const ElementType type = call.Type(a);
  if (ElementBytes(type) == 0 || Product(left) <= 0 || Product(right) <= 0) return {};
  if (left.size() == 3 && right.size() == 3) return Matrices(call, a);
  if (left.size() == 2 && right.size() == 2) return Matrices(call, a);
  if (left.size() != 2 || right.size() != 3) return {};
  const std::int64_t k = transposed ? right[2] : right[1];
  const std::int64_t n = transposed ? right[1] : right[2];
  if (k != left[1]) return {};
  const double groups = std::min(static_cast<double>(right[0]), static_cast<double>(left[0]));
  Dimensions d;
  d.m = static_cast<double>(left[0]);
  d.n = static_cast<double>(n);
  d.k = static_cast<double>(k) * Packed(type);
  const double weights = groups * static_cast<double>(k * n) * ElementBytes(call.Type(b));
  ShapeWork work = Counted(call, d, type, (call.Bytes(a) + weights) * Packed(type));
  work.uses = std::min(d.m / groups, d.n);
  work.tiles = groups * call.limits().Tiles(d.m / groups, d.n);
  work.shape = fmt::format("{} x {}", Words(left), Words(right));
  work.trait = "grouped";
  work.type = call.ProductType(a, b);
  return work;
}

std::optional<ShapeWork> Any(const Call& call, int a, int b) {
  const std::size_t left = call.Tensor(a).sizes.size();
  const std::size_t right = call.Tensor(b).sizes.size();
  if (left == 2 && right == 3) {
    if (auto work = Grouped(call, a, b, true)) return work;
    return Grouped(call, a, b, false);
  }
  if (left == right && left > 2) return Flattened(call, a, b, false);
  // Libraries keep weights as rows of results; PyTorch's operators by columns.
  if (auto work = Flattened(call, a, b, true)) return work;
  return Flattened(call, a, b, false);
}

// Packed integers and places are no operands.
bool IsOperand(ElementType type) {
  return (type >= ElementType::kFloat64 && type <= ElementType::kFloat4) || IsComplex(type);
}

// Two tensors of an operator whose sizes fit as the operands of a product.
struct UnnamedPair {
  ShapeWork work;
  bool result_given = false;  // another tensor is as large as the result
  bool result_first = false;  // that one stands in front of them
  bool alike = false;         // both are of one type

  // The pair that explains most tensors comes first; then the one that means more work.
  std::tuple<bool, double, bool, bool> Order() const {
    return {result_given, work.flops, alike, result_first};
  }
};

// Whether a tensor beside two operands and their result leaves open what the operands are: it is
// larger than one of them, and no scale of the other, or it fits both of them, as rows fit two
// matrices of weights.
bool IsThirdOperand(const Call& call, int other, int a, int b) {
  constexpr double kMostScales = 1.0 / 8;  // a byte for 16 values of four bits
  const auto [less, more] = std::minmax({call.Bytes(a), call.Bytes(b)});
  if (call.Bytes(other) > less && call.Bytes(other) > more * kMostScales) return true;
  return IsOperand(call.Type(other)) && Any(call, other, a) && Any(call, other, b);
}

// Nothing where the sizes do not fit, or do not tell which tensors the operands are.
std::optional<UnnamedPair> PairOf(const Call& call, const std::vector<int>& matrices, int a,
                                  int b) {
  if (!IsOperand(call.Type(a)) || !IsOperand(call.Type(b))) return {};
  // No units multiply 32 bits by 16: these are scales, weights of experts, or sums.
  const auto [narrow, wide] = std::minmax({ElementBytes(call.Type(a)), ElementBytes(call.Type(b))});
  if (narrow <= 2 && wide >= 4) return {};
  const std::optional<ShapeWork> work = Any(call, a, b);
  if (!work) return {};
  UnnamedPair pair = {.work = *work, .alike = call.Type(a) == call.Type(b)};
  const double result = work->flops / ((IsComplex(work->type) ? 8 : 2) * work->depth);
  for (const int other : matrices) {
    if (other == a || other == b) continue;
    if (Product(call.Tensor(other).sizes) == result) {
      pair.result_given = true;
      pair.result_first = pair.result_first || other < a;
    } else if (IsThirdOperand(call, other, a, b)) {
      return {};
    }
  }
  return pair;
}

}  // namespace

std::optional<ShapeWork> ProductWork(const Call& call, const ProductFormula& formula) {
  const int a = formula.first;
  switch (formula.form) {
    case ProductFormula::Form::kMatrices:
      return Matrices(call, a);
    case ProductFormula::Form::kSummed:
      return Summed(call, a);
    case ProductFormula::Form::kVector:
      return Vector(call, a);
    case ProductFormula::Form::kLinear:
      return Flattened(call, a, a + 1, true);
    case ProductFormula::Form::kGrouped:
      return Grouped(call, a, a + 1, false);
    case ProductFormula::Form::kPacked:
      return PackedWeights(call, a, formula.bits);
    case ProductFormula::Form::kAny:
      if (call.Tensor(a + 1).sizes.size() == 1) return Vector(call, a);
      return Flattened(call, a, a + 1, false);
  }
  return {};
}

std::optional<ShapeWork> UnnamedProduct(const Call& call) {
  // Several products, of which sizes tell one.
  if (call.hints().products > 1) return {};
  std::vector<int> matrices;
  for (int i = 0; i < call.tensors(); ++i) {
    if (call.Tensor(i).sizes.size() >= 2 && ElementBytes(call.Type(i)) > 0) matrices.push_back(i);
  }
  std::optional<UnnamedPair> best;
  for (std::size_t a = 0; a < matrices.size(); ++a) {
    for (std::size_t b = a + 1; b < matrices.size(); ++b) {
      std::optional<UnnamedPair> pair = PairOf(call, matrices, matrices[a], matrices[b]);
      if (pair && (!best || pair->Order() > best->Order())) best = std::move(pair);
    }
  }
  return best ? best->work : std::optional<ShapeWork>();
}

// Tokens of [tokens, hidden], the gate and up projections of [experts, 2 inner, hidden], the down
// projection of [experts, hidden, inner], and one row of chosen experts a token.
std::optional<ShapeWork> ExpertsWork(const Call& call) {
  int x = -1, up = -1, down = -1, chosen = -1;
  for (int i = 0; i < call.tensors(); ++i) {
    const Sizes& sizes = call.Tensor(i).sizes;
    if (sizes.size() == 2 && x < 0) {
      x = i;
    } else if (sizes.size() == 3 && up < 0) {
      up = i;
    } else if (sizes.size() == 3 && down < 0) {
      down = i;
    } else if (sizes.size() == 2 && x >= 0 && chosen < 0 && sizes[0] == call.Tensor(x).sizes[0] &&
               sizes[1] < call.Tensor(x).sizes[1]) {
      chosen = i;
    }
  }
  if (x < 0 || up < 0 || down < 0 || chosen < 0) return {};
  const Sizes& w1 = call.Tensor(up).sizes;
  const Sizes& w2 = call.Tensor(down).sizes;
  const auto tokens = static_cast<double>(call.Tensor(x).sizes[0]);
  const auto hidden = static_cast<double>(call.Tensor(x).sizes[1]);
  const auto experts = static_cast<double>(w1[0]);
  const auto each = static_cast<double>(call.Tensor(chosen).sizes[1]);
  const bool fits = w1[0] == w2[0] && w1[2] == call.Tensor(x).sizes[1] && w2[1] == w1[2] &&
                    (w1[1] == 2 * w2[2] || w1[1] == w2[2]);
  ShapeWork work;
  work.kind = WorkKind::kExperts;
  // Tokens meet FP8 in FP8; eight bits of integers are mostly unpacked.
  work.type = call.Type(up) == ElementType::kInt8 ? call.ProductType(x, up) : call.Type(up);
  const double bytes = ElementBytes(call.Type(up));
  if (!fits || bytes == 0 || tokens <= 0 || each <= 0 || each > experts) return {};
  const double weights = static_cast<double>(w1[1] + w2[2]) * hidden;  // of one expert
  work.flops = 2 * tokens * each * weights;
  const double moved = 2 * tokens * hidden * ElementBytes(call.Type(x));
  // Those that even routing is expected to reach; and as few as there can be.
  const double reached = experts * (1 - std::pow(1 - each / experts, tokens));
  work.bytes = reached * weights * bytes + moved;
  work.least_bytes = each * weights * bytes + moved;
  work.tiles = reached * call.limits().Tiles(tokens * each / reached, static_cast<double>(w1[1]));
  work.depth = hidden;
  work.shape = fmt::format("{} to {} of {} experts of {}", Words(call.Tensor(x).sizes), each,
                           experts, Words({w1[1], w1[2]}));
  return work;
}

}  // namespace advise::work
