// Names in the order in which people count.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/ascii.h"

namespace advise {

// Whether `a` stands before `b` where numbers in names count as numbers: "rank_2" before "rank_10".
// Names that differ in leading zeros alone are in the order of their characters.
inline bool NaturalLess(const std::string& a, const std::string& b) {
  // The digits from here on, without leading zeros; `at` moves behind them.
  const auto number = [&](const std::string& text, std::size_t* at) {
    std::size_t from = *at;
    while (*at < text.size() && IsDigit(text[*at])) ++*at;
    while (from + 1 < *at && text[from] == '0') ++from;
    return text.substr(from, *at - from);
  };
  for (std::size_t i = 0, k = 0; i < a.size() || k < b.size();) {
    if (i == a.size() || k == b.size()) return i == a.size();
    if (IsDigit(a[i]) && IsDigit(b[k])) {
      const std::string one = number(a, &i);
      const std::string other = number(b, &k);
      if (one.size() != other.size()) return one.size() < other.size();
      if (one != other) return one < other;
    } else if (a[i] != b[k]) {
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[k]);
    } else {
      ++i, ++k;
    }
  }
  return a < b;
}

}  // namespace advise
