// Lower case of ASCII letters, whatever the locale; other bytes stay as they are.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace advise {

constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return Lower(c); });
  return lower;
}

}  // namespace advise
