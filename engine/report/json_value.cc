#include "engine/report/json_value.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engine/base/text.h"

namespace advise {

OrderedJson JsonText(const std::string& raw) { return SafeText(raw); }

OrderedJson JsonCode(const std::string& raw) {
  std::string safe;
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t end = std::min(raw.find('\n', at), raw.size());
    safe += SafeText(std::string_view(raw).substr(at, end - at));
    if (end < raw.size()) safe += '\n';
    at = end + 1;
  }
  return safe;
}

OrderedJson JsonNumber(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.12g", value);
  return std::strtod(digits, nullptr);
}

OrderedJson JsonNumber(const std::optional<double>& value) {
  return value.has_value() ? JsonNumber(*value) : OrderedJson();
}

OrderedJson JsonTexts(const std::vector<std::string>& list) {
  OrderedJson array = OrderedJson::array();
  for (const std::string& item : list) array.push_back(JsonText(item));
  return array;
}

std::string PrintJson(const OrderedJson& json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace advise
