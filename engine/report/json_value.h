// How values become JSON in every listing: safe texts, numbers that print the same way every time.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace advise {

using OrderedJson = nlohmann::ordered_json;

OrderedJson JsonText(const std::string& raw);
OrderedJson JsonCode(const std::string& raw);  // line breaks stay; all else is made safe
// Twelve significant digits: more are noise of the arithmetic. Whole numbers as such; what is not
// finite has no JSON number and is null.
OrderedJson JsonNumber(double value);
OrderedJson JsonNumber(const std::optional<double>& value);
OrderedJson JsonTexts(const std::vector<std::string>& list);
std::string PrintJson(const OrderedJson& json);

}  // namespace advise
