#include "engine/import/operator_inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "engine/base/units.h"

namespace advise {
namespace {

constexpr std::size_t kMostArguments = 64;
constexpr std::string_view kSizes = ", sizes = [";

using Lists = std::vector<std::vector<std::int64_t>>;

// Of "[[128, 256], [], [[8], [16]]]": one list an element; a list of tensors counts as no sizes.
// Nothing for any other text.
std::optional<Lists> ParseLists(std::string_view text) {
  Lists lists;
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '[') {
      if (++depth == 2) {
        if (lists.size() == kMostArguments) return {};
        lists.emplace_back();
      }
      if (depth == 3) lists.back().clear();
      ++at;
    } else if (c == ']') {
      if (--depth < 0) return {};
      ++at;
    } else if (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      ++at;
    } else {
      std::int64_t number = 0;
      const auto [stop, failed] =
          std::from_chars(text.data() + at, text.data() + text.size(), number);
      if (failed != std::errc() || depth == 0) return {};
      if (depth == 2) lists.back().push_back(number);
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

}  // namespace

bool KeepsInputs(std::string_view operator_name) {
  if (!operator_name.starts_with("aten::")) return false;
  operator_name.remove_prefix(6);
  operator_name = operator_name.substr(0, operator_name.find(','));
  // "mm", "addmm", "bmm", "_scaled_mm"; "mv", "addmv"; "cudnn_convolution"; "_flash_attention_…"
  const auto has = [operator_name](std::string_view part) {
    return operator_name.find(part) != std::string_view::npos;
  };
  return has("mm") || has("mv") || has("conv") || has("attention");
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
  const auto any = [](const auto& list) { return !list.empty(); };
  if (!lists || std::none_of(lists->begin(), lists->end(), any)) return kNone;
  const std::optional<Lists> steps = ParseLists(strides);
  const std::vector<std::string> names = ParseStrings(types);
  OperatorInputs inputs;
  inputs.values = ParseStrings(values);
  for (std::size_t i = 0; i < lists->size(); ++i) {
    OperatorTensor tensor;
    tensor.sizes = (*lists)[i];
    if (steps && i < steps->size() && (*steps)[i].size() == tensor.sizes.size()) {
      tensor.strides = (*steps)[i];
    }
    if (i < names.size()) tensor.type = ElementTypeOf(names[i]);
    inputs.tensors.push_back(std::move(tensor));
  }
  found->second = static_cast<std::uint32_t>(lists_.size());
  lists_.push_back(std::move(inputs));
  return found->second;
}

ElementType ElementTypeOf(std::string_view name) {
  if (name.starts_with("c10::")) name.remove_prefix(5);
  if (name.starts_with("Float8")) return ElementType::kFloat8;
  static constexpr std::array<std::pair<std::string_view, ElementType>, 12> kTypes = {{
      {"float", ElementType::kFloat32},
      {"Float", ElementType::kFloat32},
      {"double", ElementType::kFloat64},
      {"Double", ElementType::kFloat64},
      {"Half", ElementType::kFloat16},
      {"half", ElementType::kFloat16},
      {"BFloat16", ElementType::kBFloat16},
      {"bfloat16", ElementType::kBFloat16},
      {"signed char", ElementType::kInt8},
      {"unsigned char", ElementType::kInt8},
      {"Char", ElementType::kInt8},
      {"Byte", ElementType::kInt8},
  }};
  for (const auto& [word, type] : kTypes) {
    if (word == name) return type;
  }
  return ElementType::kUnknown;
}

}  // namespace advise
