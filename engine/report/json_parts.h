// Values as every JSON listing writes them. Internal to report/.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/base/text.h"

namespace advise::json {

using Json = nlohmann::ordered_json;

inline Json Text(const std::string& raw) { return SafeText(raw); }

// Code keeps its lines; everything else in it is made safe.
inline Json Code(const std::string& raw) {
  std::string safe;
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t end = std::min(raw.find('\n', at), raw.size());
    safe += SafeText(std::string_view(raw).substr(at, end - at));
    if (end < raw.size()) safe += '\n';
    at = end + 1;
  }
  return safe;
}

// Twelve significant digits: more are noise of the arithmetic. Whole numbers print as such. What is
// not finite has no JSON number and prints as 0; callers leave such values out where they may.
inline Json Number(double value) {
  if (!std::isfinite(value)) return 0;
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.12g", value);
  return std::strtod(digits, nullptr);
}

inline Json Texts(const std::vector<std::string>& list) {
  Json array = Json::array();
  for (const std::string& item : list) array.push_back(Text(item));
  return array;
}

template <typename T>
Json Numbers(const std::vector<T>& list) {
  Json array = Json::array();
  for (const T item : list) array.push_back(item);
  return array;
}

inline std::string Print(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace advise::json
