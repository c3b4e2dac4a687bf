#include "engine/app/mcp/arguments.h"

#include <algorithm>
#include <limits>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {
namespace {

using Kind = Parameter::Kind;

bool IsWhole(const McpJson& value) {
  return value.is_number_integer() && value >= 0 && value <= std::numeric_limits<int>::max();
}

// Some clients send numbers and flags as texts.
McpJson Unquoted(const McpJson& value, Kind kind) {
  constexpr std::size_t kMostDigits = 9;
  if (!value.is_string()) return value;
  const auto& text = value.get_ref<const McpJson::string_t&>();
  if (kind == Kind::kFlag && (text == "true" || text == "false")) return text == "true";
  if (kind == Kind::kNumber && text.size() <= kMostDigits && IsDigits(text)) return std::stoi(text);
  return value;
}

// "" when the value is of this kind, else what it should be.
std::string WantedInstead(const McpJson& value, Kind kind) {
  switch (kind) {
    case Kind::kText:
      return value.is_string() ? "" : "a text";
    case Kind::kNumber:
      return IsWhole(value) ? "" : "a whole number, 0 or more";
    case Kind::kFlag:
      return value.is_boolean() ? "" : "true or false";
    case Kind::kTexts:
      break;
  }
  const bool texts =
      value.is_array() &&
      std::all_of(value.begin(), value.end(), [](const McpJson& item) { return item.is_string(); });
  return texts ? "" : "an array of texts";
}

}  // namespace

McpJson SchemaOf(const std::vector<Parameter>& parameters) {
  McpJson properties = McpJson::object();
  McpJson required = McpJson::array();
  for (const Parameter& parameter : parameters) {
    McpJson& property = properties[parameter.name];
    switch (parameter.kind) {
      case Kind::kText:
        property["type"] = "string";
        break;
      case Kind::kNumber:
        property = {{"type", "integer"}, {"minimum", 0}};
        break;
      case Kind::kFlag:
        property["type"] = "boolean";
        break;
      case Kind::kTexts:
        property = {{"type", "array"}, {"items", {{"type", "string"}}}};
        break;
    }
    property["description"] = parameter.text;
    if (parameter.required) required.push_back(parameter.name);
  }
  McpJson schema = {{"type", "object"}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return schema;
}

Result<Arguments> Arguments::Read(const McpJson& given, const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  Arguments arguments;
  arguments.given_ = given;
  for (const Parameter& parameter : parameters) {
    names.push_back(parameter.name);
    const auto value = arguments.given_.find(parameter.name);
    const bool absent = value == arguments.given_.end() || value->is_null();
    if (absent && parameter.required) return Fail("is missing", parameter.name, parameter.text);
    if (absent) continue;
    *value = Unquoted(*value, parameter.kind);
    const std::string wanted = WantedInstead(*value, parameter.kind);
    if (!wanted.empty()) return Fail("wanted " + wanted, parameter.name, parameter.text);
    const bool no_text = value->is_string() && value->get_ref<const McpJson::string_t&>().empty();
    const bool no_items = value->is_array() && value->empty();
    const bool empty = parameter.required && (no_text || no_items);
    if (empty) return Fail("is empty", parameter.name, parameter.text);
  }
  for (const auto& [name, value] : given.items()) {
    if (IsIn(name, names)) continue;
    const std::string near = DidYouMean(name, names);
    return Fail("there is no argument \"" + SafeText(name) + "\"", "",
                near.empty() ? "" : "did you mean " + near + "?");
  }
  return arguments;
}

std::string Arguments::Text(const std::string& name) const {
  const auto value = given_.find(name);
  return value == given_.end() || value->is_null() ? "" : value->get<std::string>();
}

std::vector<std::string> Arguments::Texts(const std::string& name) const {
  const auto value = given_.find(name);
  if (value == given_.end() || value->is_null()) return {};
  return value->get<std::vector<std::string>>();
}

std::optional<std::size_t> Arguments::Number(const std::string& name) const {
  const auto value = given_.find(name);
  if (value == given_.end() || value->is_null()) return std::nullopt;
  return value->get<std::size_t>();
}

bool Arguments::Flag(const std::string& name) const {
  const auto value = given_.find(name);
  return value != given_.end() && value->is_boolean() && value->get<bool>();
}

}  // namespace advise
