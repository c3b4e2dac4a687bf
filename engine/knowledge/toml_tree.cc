#include "engine/knowledge/toml_tree.h"

#define TOML_EXCEPTIONS 1  // parsing is a sixth faster than with results
#define TOML_HEADER_ONLY 1
#define TOML_UNRELEASED_FEATURES 0
// Some wrong texts ("[>]") fail assertions of the parser, before it says what is wrong with them.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

namespace advise {
namespace {

int LineOf(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

TomlNode Convert(const toml::node& node, std::string_view key, int parent_line) {
  TomlNode made;
  made.key = key;
  made.line = LineOf(node) > 0 ? LineOf(node) : parent_line;
  if (const auto* table = node.as_table()) {
    made.kind = TomlNode::Kind::kTable;
    for (const auto& [name, entry] : *table) {
      made.items.push_back(Convert(entry, name.str(), made.line));
    }
    std::stable_sort(made.items.begin(), made.items.end(),
                     [](const TomlNode& a, const TomlNode& b) { return a.line < b.line; });
  } else if (const auto* array = node.as_array()) {
    made.kind = TomlNode::Kind::kArray;
    for (const auto& item : *array) made.items.push_back(Convert(item, "", made.line));
  } else if (const auto* text = node.as_string()) {
    made.kind = TomlNode::Kind::kText;
    made.text = text->get();
  } else if (const auto* whole = node.as_integer()) {
    made.kind = TomlNode::Kind::kNumber;
    made.number = static_cast<double>(whole->get());
  } else if (const auto* real = node.as_floating_point()) {
    made.kind = TomlNode::Kind::kNumber;
    made.number = real->get();
  } else if (const auto* flag = node.as_boolean()) {
    made.kind = TomlNode::Kind::kFlag;
    made.flag = flag->get();
  } else if (const auto* date = node.as_date()) {
    made.kind = TomlNode::Kind::kDate;
    const toml::date day = date->get();
    made.text = fmt::format("{:04}-{:02}-{:02}", day.year, static_cast<int>(day.month),
                            static_cast<int>(day.day));
  } else {
    made.kind = TomlNode::Kind::kOther;
  }
  return made;
}

// The parser bounds how deep values nest, but not tables by dotted names: a name of more parts than
// any text has gives its line, others 0.
int LineOfDeepName(std::string_view text) {
  constexpr int kMostDots = 64;
  int line = 1, dots = 0;
  char quote = '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      ++line, dots = 0, quote = '\0';
    } else if (quote != '\0') {
      if (c == '\\' && quote == '"') ++at;
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c == '=' || c == ',' || c == '{') {
      dots = 0;
    } else if (c == '.' && ++dots > kMostDots) {
      return line;
    }
  }
  return 0;
}

}  // namespace

const TomlNode* TomlNode::Find(std::string_view name) const {
  if (kind != Kind::kTable) return nullptr;
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&](const TomlNode& entry) { return entry.key == name; });
  return found == items.end() ? nullptr : &*found;
}

std::string TomlNode::Described() const {
  switch (kind) {
    case Kind::kTable:
      return "a table";
    case Kind::kArray:
      return "a list";
    case Kind::kText:
      return fmt::format("the text \"{}\"", text);
    case Kind::kNumber:
      return fmt::format("the number {:.15g}", number);
    case Kind::kFlag:
      return flag ? "true" : "false";
    case Kind::kDate:
      return "the date " + text;
    case Kind::kOther:
      break;
  }
  return "a time";
}

Result<TomlNode> ParseToml(const std::string& path, std::string_view text) {
  if (const int line = LineOfDeepName(text); line > 0) {
    return Fail("a name of so many parts is none", fmt::format("{}:{}", path, line),
                "not valid TOML");
  }
  try {
    return Convert(toml::parse(text, path), "", 1);
  } catch (const toml::parse_error& error) {
    return Fail(std::string(error.description()),
                fmt::format("{}:{}", path, error.source().begin.line), "not valid TOML");
  }
}

}  // namespace advise
