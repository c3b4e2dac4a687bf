// How values become JSON in the listings that commands write themselves: safe texts, numbers that
// print the same way every time.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace advise {

using OrderedJson = nlohmann::ordered_json;

OrderedJson JsonText(const std::string& raw);
// Twelve significant digits; whole numbers as such; what is not finite is null.
OrderedJson JsonNumber(double value);
OrderedJson JsonNumber(const std::optional<double>& value);
OrderedJson JsonTexts(const std::vector<std::string>& list);
std::string PrintJson(const OrderedJson& json);

}  // namespace advise
