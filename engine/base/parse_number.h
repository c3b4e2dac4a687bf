// Numbers in texts.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace advise {

// The number that fills the text; nothing when anything else stands in it.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [read_to, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc() && read_to == end ? std::optional(number) : std::nullopt;
}

// The number that the text begins with; 0 when it begins with none.
template <typename Number>
Number NumberAtStart(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace advise
