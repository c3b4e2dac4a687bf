#include "engine/import/operator_sizes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/units.h"

namespace advise {
namespace {

constexpr std::size_t kMostArguments = 64;
constexpr std::string_view kSizes = ", sizes = [";

// The sizes of one argument; of a list of tensors the sum of their elements.
struct Argument {
  std::vector<std::int64_t> numbers;
  std::int64_t list_elements = 0;
  std::int64_t list_count = 0;
};

// Of "[[128, 256], [], [[8], [16, 2]]]": an element an argument. Nothing for any other text.
std::optional<std::vector<Argument>> ParseLists(std::string_view text) {
  std::vector<Argument> lists;
  int depth = 0;
  std::int64_t elements = 1;  // of the tensor of a list that is being read
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '[') {
      if (++depth == 2) {
        if (lists.size() == kMostArguments) return {};
        lists.emplace_back();
      }
      if (depth == 3) elements = 1;
      ++at;
    } else if (c == ']') {
      if (depth == 3) {
        lists.back().list_elements += elements;
        ++lists.back().list_count;
      }
      if (--depth < 0) return {};
      ++at;
    } else if (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      ++at;
    } else {
      std::int64_t number = 0;
      const auto [stop, failed] =
          std::from_chars(text.data() + at, text.data() + text.size(), number);
      if (failed != std::errc() || depth == 0) return {};
      if (depth == 2) lists.back().numbers.push_back(number);
      constexpr std::int64_t kMost = std::int64_t{1} << 40;  // no tensor has more elements
      if (depth == 3) elements = number < 0 || elements > kMost ? 0 : elements * number;
      at = static_cast<std::size_t>(stop - text.data());
    }
  }
  if (depth != 0) return {};
  return lists;
}

// Of "[\"float\", \"\", \"[1, 1]\"]". What is no string is left out as "".
std::vector<std::string> ParseStrings(std::string_view text) {
  std::vector<std::string> strings;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '"') {
      ++at;
      continue;
    }
    std::size_t end = text.find('"', at + 1);
    while (end != std::string_view::npos && text[end - 1] == '\\') end = text.find('"', end + 1);
    if (end == std::string_view::npos || strings.size() == kMostArguments) break;
    strings.emplace_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return strings;
}

// A function of the program or of a library that autograd calls (torch.autograd.Function), by the
// name of its class. PyTorch's own are numbered, and call operators; those of torch.compile are
// given all parameters, and their kernels stand under operators of their own.
bool IsFunction(std::string_view name) {
  const std::size_t first = name.find_first_not_of('_');
  if (first == std::string_view::npos || !IsUpper(name[first])) return false;
  const bool is_class = std::all_of(name.begin(), name.end(), IsWordChar);
  return is_class && !IsDigit(name.back()) && !name.starts_with("CompiledFunction");
}

}  // namespace

bool KeepsInputs(std::string_view operator_name) {
  operator_name = operator_name.substr(0, operator_name.find(','));
  const std::size_t colons = operator_name.find("::");
  if (colons == std::string_view::npos)
    return operator_name.starts_with("triton_") || IsFunction(operator_name);
  if (operator_name.starts_with("autograd::") || operator_name.starts_with("torch::")) return false;
  if (!operator_name.starts_with("aten::")) return true;
  static constexpr auto kNothing = std::to_array<std::string_view>({"alias",
                                                                    "as_strided",
                                                                    "chunk",
                                                                    "detach",
                                                                    "detach_",
                                                                    "diagonal",
                                                                    "empty",
                                                                    "empty_like",
                                                                    "expand",
                                                                    "expand_as",
                                                                    "empty_strided",
                                                                    "flatten",
                                                                    "narrow",
                                                                    "new_empty",
                                                                    "permute",
                                                                    "record_stream",
                                                                    "reshape",
                                                                    "resize_",
                                                                    "result_type",
                                                                    "select",
                                                                    "set_",
                                                                    "slice",
                                                                    "split",
                                                                    "split_with_sizes",
                                                                    "squeeze",
                                                                    "squeeze_",
                                                                    "t",
                                                                    "to",
                                                                    "transpose",
                                                                    "transpose_",
                                                                    "unbind",
                                                                    "unflatten",
                                                                    "unfold",
                                                                    "unsafe_split",
                                                                    "unsqueeze",
                                                                    "unsqueeze_",
                                                                    "view",
                                                                    "view_as",
                                                                    "_reshape_alias",
                                                                    "_unsafe_view",
                                                                    "lift_fresh",
                                                                    "item",
                                                                    "_local_scalar_dense"});
  operator_name.remove_prefix(colons + 2);
  return !IsIn(operator_name, kNothing);
}

std::string_view SizesInName(std::string_view name) {
  const std::size_t at = name.find(kSizes);
  if (at == std::string_view::npos) return {};
  name.remove_prefix(at + kSizes.size() - 1);
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '[') ++depth;
    if (name[i] == ']' && --depth == 0) return name.substr(0, i + 1);
  }
  return {};
}

std::uint32_t InputLists::Intern(std::string_view sizes, std::string_view types,
                                 std::string_view strides, std::string_view values) {
  key_.assign(sizes).append(1, '|').append(types).append(1, '|').append(strides);
  key_.append(1, '|').append(values);
  const auto [found, is_new] = numbers_.try_emplace(key_, kNone);
  if (!is_new) return found->second;
  const auto lists = ParseLists(sizes);
  const auto any = [](const Argument& one) {
    return !one.numbers.empty() || one.list_elements > 0;
  };
  if (!lists || std::none_of(lists->begin(), lists->end(), any)) return kNone;
  const auto steps = ParseLists(strides);
  const std::vector<std::string> names = ParseStrings(types);
  OperatorInputs inputs;
  inputs.values = ParseStrings(values);
  for (std::size_t i = 0; i < lists->size(); ++i) {
    OperatorTensor tensor;
    tensor.sizes = (*lists)[i].numbers;
    tensor.list_elements = (*lists)[i].list_elements;
    tensor.list_count = (*lists)[i].list_count;
    if (steps && i < steps->size() && (*steps)[i].numbers.size() == tensor.sizes.size()) {
      tensor.strides = (*steps)[i].numbers;
    }
    if (i < names.size()) tensor.type = ElementTypeOf(names[i]);
    inputs.tensors.push_back(std::move(tensor));
  }
  found->second = static_cast<std::uint32_t>(lists_.size());
  lists_.push_back(std::move(inputs));
  return found->second;
}

ElementType ElementTypeOf(std::string_view name) {
  for (const std::string_view space : {"c10::", "torch.", "at::"}) {
    if (name.starts_with(space)) name.remove_prefix(space.size());
  }
  if (name.starts_with("Float8") || name.starts_with("float8")) return ElementType::kFloat8;
  if (name.starts_with("Float4") || name.starts_with("float4")) return ElementType::kFloat4;
  static constexpr auto kTypes = std::to_array<std::pair<std::string_view, ElementType>>({
      {"float", ElementType::kFloat32},
      {"Float", ElementType::kFloat32},
      {"float32", ElementType::kFloat32},
      {"double", ElementType::kFloat64},
      {"Double", ElementType::kFloat64},
      {"Half", ElementType::kFloat16},
      {"half", ElementType::kFloat16},
      {"float16", ElementType::kFloat16},
      {"BFloat16", ElementType::kBFloat16},
      {"bfloat16", ElementType::kBFloat16},
      {"signed char", ElementType::kInt8},
      {"unsigned char", ElementType::kInt8},
      {"Char", ElementType::kInt8},
      {"Byte", ElementType::kInt8},
      {"short", ElementType::kInt16},
      {"Short", ElementType::kInt16},
      {"int", ElementType::kInt32},
      {"Int", ElementType::kInt32},
      {"long", ElementType::kInt64},
      {"long int", ElementType::kInt64},
      {"Long", ElementType::kInt64},
      {"bool", ElementType::kBool},
      {"Bool", ElementType::kBool},
      {"complex<float>", ElementType::kComplex64},
      {"complex64", ElementType::kComplex64},
      {"ComplexFloat", ElementType::kComplex64},
      {"complex<double>", ElementType::kComplex128},
      {"ComplexDouble", ElementType::kComplex128},
      {"complex128", ElementType::kComplex128},
  });
  for (const auto& [word, type] : kTypes) {
    if (word == name) return type;
  }
  return ElementType::kUnknown;
}

}  // namespace advise
