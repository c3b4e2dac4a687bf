// Operators that move data and do little else with it, by their names: their work is the bytes that
// they must read and write.
#include <fmt/format.h>

#include <algorithm>

#include "engine/metrics/kernels/shape_call.h"

namespace advise::work {
namespace {

using Flow = MemoryFormula::Flow;
using Rows = MemoryFormula::Rows;

WorkKind KindOf(Flow flow) {
  switch (flow) {
    case Flow::kWrite:
    case Flow::kCopy:
    case Flow::kJoin:
      return WorkKind::kElementwise;
    case Flow::kNorm:
    case Flow::kNormGrad:
    case Flow::kBatchNorm:
      return WorkKind::kNormalization;
    case Flow::kSoftmax:
    case Flow::kSoftmaxGrad:
      return WorkKind::kSoftmax;
    case Flow::kReduce:
    case Flow::kScan:
    case Flow::kSort:
      return WorkKind::kReduction;
    case Flow::kLookup:
    case Flow::kGather:
    case Flow::kScatter:
    case Flow::kPut:
    case Flow::kBag:
    case Flow::kTableGrad:
      return WorkKind::kIndex;
    case Flow::kPoolAll:
    case Flow::kPool:
    case Flow::kPoolGrad:
    case Flow::kResize:
      return WorkKind::kPooling;
    case Flow::kLists:
    case Flow::kFused:
    case Flow::kOneWay:
      return WorkKind::kOptimizer;
  }
  return WorkKind::kElementwise;
}

// Long rows do not stay on the SM that reads them: they are read twice.
double LastPassAgain(const Call& call, double row_bytes) {
  return row_bytes > call.limits().row_bytes ? 2 : 1;
}

// Rows of neighboring elements that are worked on together.
const char* RowTrait(const Call& call, double rows, double length) {
  const SizeLimits& limits = call.limits();
  if (length <= limits.short_row) return "short-rows";
  return rows <= limits.few_rows && length >= limits.long_row ? "long-rows" : "";
}

std::optional<double> RowElements(const Call& call, const MemoryFormula& formula) {
  const Sizes& x = call.Tensor(0).sizes;
  if (formula.flow == Flow::kBatchNorm || formula.rows == Rows::kOfChannel) {
    // The backward pass begins with the gradient or the input: both are of the same sizes.
    return x.size() < 2 ? std::optional<double>() : Product(x) / static_cast<double>(x[1]);
  }
  if (formula.rows == Rows::kOfGroup) {
    return x.size() < 3 ? std::optional<double>()
                        : Product(x) / static_cast<double>(x[0]) / call.limits().norm_groups;
  }
  const double of_weight = Product(call.Tensor(formula.at).sizes);
  const bool known = !call.Tensor(formula.at).sizes.empty();
  return known ? of_weight : static_cast<double>(x.back());
}

std::optional<ShapeWork> Normalization(const Call& call, const MemoryFormula& formula) {
  if (call.Tensor(0).sizes.empty()) return {};
  const double elements = Product(call.Tensor(0).sizes);
  const double x = call.Bytes(0);
  const auto row = RowElements(call, formula);
  if (!row || *row <= 0) return {};
  const double again = LastPassAgain(call, *row * ElementBytes(call.Type(0)));
  double bytes = 0;
  if (formula.flow == Flow::kNormGrad) {
    bytes = 2 * x * again + x;  // gradient and input in, gradient out
  } else if (formula.flow == Flow::kBatchNorm) {
    const bool training = call.Value(formula.at) != "False";
    bytes = (training ? again : 1) * x + x;
  } else {
    bytes = again * x + x;
  }
  auto work = Made(call, KindOf(formula.flow), 0, elements * 4, bytes);
  if (work && formula.flow != Flow::kBatchNorm) work->trait = RowTrait(call, elements / *row, *row);
  return work;
}

std::optional<ShapeWork> Softmax(const Call& call, const MemoryFormula& formula) {
  const Sizes& sizes = call.Tensor(0).sizes;
  if (sizes.empty()) return {};
  const double x = call.Bytes(0);
  const bool gradient = formula.flow == Flow::kSoftmaxGrad;
  const auto dimension = call.Number(gradient ? 2 : 1);
  auto at = static_cast<std::int64_t>(dimension.value_or(-1));
  if (at < 0) at += static_cast<std::int64_t>(sizes.size());
  if (at < 0 || at >= static_cast<std::int64_t>(sizes.size())) return {};
  const auto row = static_cast<double>(sizes[static_cast<std::size_t>(at)]);
  const double again = LastPassAgain(call, row * ElementBytes(call.Type(0)));
  auto work = Made(call, KindOf(formula.flow), 0, Product(sizes) * 5,
                   gradient ? 2 * x * again + x : again * x + x);
  if (work && row > 0) work->trait = RowTrait(call, Product(sizes) / row, row);
  return work;
}

// Elements that are left where the dimensions that argument 1 lists are reduced; 0 where it does
// not tell, or lists none.
double ReducedElements(const Call& call) {
  const Sizes& sizes = call.Tensor(0).sizes;
  if (!call.Tensor(1).sizes.empty()) return 0;
  const auto rank = static_cast<std::int64_t>(sizes.size());
  double left = Product(sizes);
  const Sizes dimensions = call.AllOf(1);
  for (std::int64_t d : dimensions) {
    if (d < 0) d += rank;
    if (d < 0 || d >= rank || sizes[static_cast<std::size_t>(d)] <= 0) return 0;
    left /= static_cast<double>(sizes[static_cast<std::size_t>(d)]);
  }
  return dimensions.empty() ? 0 : left;
}

std::optional<ShapeWork> Lookup(const Call& call, const MemoryFormula& formula) {
  const Sizes& table = call.Tensor(0).sizes;
  const OperatorTensor& given = call.Tensor(formula.at);
  if (table.empty()) return {};
  double looked_up = Product(given.sizes);
  double row = Product(table) / static_cast<double>(table[0]);
  if (given.list_count > 0) {
    // One list of positions a dimension, as long as each other.
    const auto lists = static_cast<double>(given.list_count);
    looked_up = static_cast<double>(given.list_elements) / lists;
    row = Product(table);
    for (std::size_t d = 0; d < table.size() && d < static_cast<std::size_t>(given.list_count);
         ++d) {
      row /= static_cast<double>(table[d]);
    }
    if (given.list_elements >= static_cast<std::int64_t>(Product(table))) return {};  // a mask
  } else if (given.sizes.empty()) {
    return {};
  }
  if (formula.dimension != kNoArgument) {
    const auto dimension = call.Number(formula.dimension);
    auto at = static_cast<std::int64_t>(dimension.value_or(0));
    if (at < 0) at += static_cast<std::int64_t>(table.size());
    if (at < 0 || at >= static_cast<std::int64_t>(table.size())) return {};
    row = Product(table) / static_cast<double>(table[static_cast<std::size_t>(at)]);
  }
  const double elements = looked_up * row;
  constexpr double kIndexBytes = 8;
  auto work = Made(call, WorkKind::kIndex, 0, elements,
                   elements * 2 * ElementBytes(call.Type(0)) + looked_up * kIndexBytes);
  if (work) work->shape = fmt::format("{:.0f} rows of {}", looked_up, work->shape);
  return work;
}

// Values that are repeated for more places than there are of them, and those that are added up,
// which takes a sort of the places, tell no bytes.
std::optional<ShapeWork> Put(const Call& call, const MemoryFormula& formula) {
  const Sizes& values = call.Tensor(formula.at).sizes;
  const std::string_view adds = call.Value(formula.at + 1);
  const bool repeats = std::find(values.begin(), values.end(), 1) != values.end();
  if (values.empty() || repeats || adds != "False") return {};
  return Made(call, WorkKind::kIndex, formula.at, Product(values), 2 * call.Bytes(formula.at));
}

// Each row is read, and one written for each bag.
std::optional<ShapeWork> Bag(const Call& call, const MemoryFormula& formula) {
  const Sizes& table = call.Tensor(0).sizes;
  const Sizes& indices = call.Tensor(formula.at).sizes;
  const Sizes& offsets = call.Tensor(formula.at + 1).sizes;
  if (table.size() != 2 || indices.empty() || offsets.empty()) return {};
  const double looked_up = Product(indices);
  const double rows = looked_up + Product(offsets);
  const double bytes = rows * static_cast<double>(table[1]) * ElementBytes(call.Type(0)) +
                       call.Bytes(formula.at) + call.Bytes(formula.at + 1);
  auto work = Made(call, WorkKind::kIndex, 0, looked_up * static_cast<double>(table[1]), bytes);
  if (work) work->shape = fmt::format("{:.0f} rows of {}", looked_up, work->shape);
  return work;
}

std::optional<ShapeWork> Pool(const Call& call, const MemoryFormula& formula) {
  const Sizes& in = call.Tensor(0).sizes;
  if (in.size() < 3) return {};
  const std::size_t dimensions = formula.dimensions;
  if (in.size() < dimensions + 1) return {};
  double out = 0;
  const auto kernel = call.List(1, dimensions);
  if (kernel) {
    auto stride = call.List(2, dimensions);
    if (!stride) stride = kernel;
    const auto padding = call.List(3, dimensions);
    if (!padding) return {};
    out = Product(in);
    for (std::size_t d = 0; d < dimensions; ++d) {
      const std::int64_t size = in[in.size() - dimensions + d];
      if ((*stride)[d] <= 0 || size <= 0) return {};
      const std::int64_t room = size + 2 * (*padding)[d] - (*kernel)[d];
      if (room < 0) return {};
      const std::int64_t windows = room / (*stride)[d] + 1;
      out *= static_cast<double>(windows) / static_cast<double>(size);
    }
  } else if (call.hints().output != nullptr) {
    out = Product(*call.hints().output);
  } else {
    return {};
  }
  constexpr double kPositionBytes = 8;
  const double each = ElementBytes(call.Type(0)) + (formula.positions ? kPositionBytes : 0);
  return Made(call, KindOf(formula.flow), 0, Product(in), call.Bytes(0) + out * each);
}

std::optional<ShapeWork> Gradient(const Call& call, const MemoryFormula& formula) {
  // Of the result first, then the input, as large as what is written; positions at the end.
  if (call.Tensor(0).sizes.empty() || call.Tensor(1).sizes.empty()) return {};
  const double written = Product(call.Tensor(1).sizes);
  constexpr double kPositionBytes = 8;
  const double read = Product(call.Tensor(0).sizes) *
                      (ElementBytes(call.Type(0)) + (formula.positions ? kPositionBytes : 0));
  return Made(call, KindOf(formula.flow), 1, written, read + written * ElementBytes(call.Type(1)));
}

std::optional<ShapeWork> Resize(const Call& call, const MemoryFormula& formula) {
  const Sizes& in = call.Tensor(0).sizes;
  const Sizes to = call.AllOf(formula.at);
  if (in.size() < 3 || (to.size() + 2 != in.size() && to.size() != in.size())) return {};
  const double images = to.size() == in.size() ? 1 : static_cast<double>(in[0] * in[1]);
  const double out = images * Product(to);
  return Made(call, KindOf(formula.flow), 0, out, call.Bytes(0) + out * ElementBytes(call.Type(0)));
}

// Lists of parameters, gradients and state. Types of lists are not recorded: FP32 unless the
// kernel's name says something else.
std::optional<ShapeWork> Lists(const Call& call, Flow flow) {
  const OperatorTensor& first = call.Tensor(0);
  if (first.list_elements <= 0) return {};
  const ElementType type =
      call.Type(0) == ElementType::kUnknown ? ElementType::kFloat32 : call.Type(0);
  double read = 0;
  double lists = 0;
  for (int i = 0; i < call.tensors(); ++i) {
    // Lists of one number a tensor (steps, scales) are nothing.
    if (call.Tensor(i).list_elements < first.list_elements) continue;
    read += static_cast<double>(call.Tensor(i).list_elements);
    ++lists;
  }
  auto written = static_cast<double>(first.list_elements);
  if (flow == Flow::kFused) written *= std::max(1.0, lists - 1);  // all but the gradients
  if (flow == Flow::kOneWay) written = 0;
  ShapeWork work;
  work.kind = WorkKind::kOptimizer;
  work.type = type;
  work.flops = read;
  work.bytes = (read + written) * ElementBytes(type);
  work.shape = fmt::format("{} tensors, {} elements", first.list_count, first.list_elements);
  return work;
}

}  // namespace

std::optional<ShapeWork> MemoryWork(const Call& call, const MemoryFormula& formula) {
  const double x = call.Bytes(0);
  const double elements = call.Tensor(0).sizes.empty() ? 0 : Product(call.Tensor(0).sizes);
  switch (formula.flow) {
    case Flow::kWrite:
      return Made(call, KindOf(formula.flow), 0, elements, x);
    case Flow::kCopy: {
      auto work = Made(call, KindOf(formula.flow), 0, elements, x + call.Bytes(1));
      if (work) work->trait = StrideTrait(call);
      return work;
    }
    case Flow::kNorm:
    case Flow::kNormGrad:
    case Flow::kBatchNorm:
      return Normalization(call, formula);
    case Flow::kSoftmax:
    case Flow::kSoftmaxGrad:
      return Softmax(call, formula);
    case Flow::kReduce:
    case Flow::kPoolAll: {
      const bool reduces = formula.flow == Flow::kReduce;
      const double made = reduces ? ReducedElements(call) * ElementBytes(call.Type(0)) : 0;
      auto work = Made(call, KindOf(formula.flow), 0, elements, x + call.Bytes(1) + made);
      if (work && !call.Tensor(0).sizes.empty()) {
        const auto last = static_cast<double>(call.Tensor(0).sizes.back());
        work->trait = RowTrait(call, elements / std::max(1.0, last), last);
      }
      return work;
    }
    case Flow::kScan: {
      // Integers and truth values are summed up in 64 bits.
      const ElementType type = call.Type(0);
      const bool counts = type >= ElementType::kInt16 && type <= ElementType::kBool;
      const bool widens = counts || type == ElementType::kInt8;
      constexpr double kSumBytes = 8;
      return Made(call, KindOf(formula.flow), 0, elements, x + (widens ? elements * kSumBytes : x));
    }
    case Flow::kSort:
      return Made(call, KindOf(formula.flow), 0, elements, 2 * x + 8 * elements);
    case Flow::kJoin:
      return Made(call, KindOf(formula.flow), 0, static_cast<double>(call.Tensor(0).list_elements),
                  2 * x);
    case Flow::kLookup:
      return Lookup(call, formula);
    case Flow::kGather: {
      const double out = Product(call.Tensor(formula.at).sizes);
      if (call.Tensor(formula.at).sizes.empty()) return {};
      return Made(call, KindOf(formula.flow), 0, out, out * (2 * ElementBytes(call.Type(0)) + 8));
    }
    case Flow::kScatter: {
      if (call.Tensor(formula.at).sizes.empty()) return {};
      // The positions, one for a row or for each element, stand in front of the rows.
      const double rows = Product(call.Tensor(formula.at).sizes);
      return Made(call, KindOf(formula.flow), formula.at, rows,
                  3 * call.Bytes(formula.at) + call.Bytes(formula.at - 1));
    }
    case Flow::kPut:
      return Put(call, formula);
    case Flow::kBag:
      return Bag(call, formula);
    case Flow::kTableGrad: {
      const auto table = call.Number(formula.at);
      if (!table || call.Tensor(0).sizes.empty()) return {};
      const auto row = static_cast<double>(call.Tensor(0).sizes.back());
      return Made(call, KindOf(formula.flow), 0, elements,
                  x + call.Bytes(1) + *table * row * ElementBytes(call.Type(0)));
    }
    case Flow::kPool:
      return Pool(call, formula);
    case Flow::kPoolGrad:
      return Gradient(call, formula);
    case Flow::kResize:
      return Resize(call, formula);
    case Flow::kLists:
    case Flow::kFused:
    case Flow::kOneWay:
      return Lists(call, formula.flow);
  }
  return {};
}

}  // namespace advise::work
