#include "engine/knowledge/toml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {

std::string Listed(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

void TomlReader::Problem(const TomlNode& at, std::string what, std::string hint) {
  errors_.push_back({std::move(what), Where(at), std::move(hint)});
}

std::string TomlReader::Where(const TomlNode& at) const {
  return fmt::format("{}:{}", path_, at.line);
}

bool TomlReader::WantTable(const TomlNode& node) {
  if (node.IsTable()) return true;
  Problem(node, fmt::format("\"{}\": wanted a table, got {}", node.key, node.Described()));
  return false;
}

const TomlNode* TomlReader::Get(const TomlNode& table, std::string_view field, TomlNode::Kind kind,
                                std::string_view wanted, Need need) {
  const TomlNode* found = table.Find(field);
  if (found == nullptr) {
    if (need == Need::kMust) {
      Problem(table, fmt::format("missing field \"{}\"{}", field,
                                 table.key.empty() ? "" : " of \"" + table.key + "\""));
    }
    return nullptr;
  }
  if (found->kind == kind) return found;
  Problem(*found,
          fmt::format("field \"{}\": wanted {}, got {}", field, wanted, found->Described()));
  return nullptr;
}

std::string TomlReader::Text(const TomlNode& table, std::string_view field, Need need) {
  const TomlNode* found = Get(table, field, TomlNode::Kind::kText, "a text", need);
  if (found == nullptr) return "";
  if (found->text.find_first_not_of(" \t\n") == std::string::npos && need == Need::kMust) {
    Problem(*found, fmt::format("field \"{}\" is empty", field));
  }
  return found->text;
}

double TomlReader::Number(const TomlNode& table, std::string_view field, Need need) {
  const TomlNode* found = Get(table, field, TomlNode::Kind::kNumber, "a number", need);
  if (found == nullptr) return 0;
  if (!std::isfinite(found->number)) {
    Problem(*found, fmt::format("field \"{}\": wanted a finite number", field));
    return 0;
  }
  return found->number;
}

bool TomlReader::Flag(const TomlNode& table, std::string_view field, Need need) {
  const TomlNode* found = Get(table, field, TomlNode::Kind::kFlag, "true or false", need);
  return found != nullptr && found->flag;
}

std::vector<std::string> TomlReader::Texts(const TomlNode& table, std::string_view field,
                                           Need need) {
  const TomlNode* found = Get(table, field, TomlNode::Kind::kArray, "a list of texts", need);
  std::vector<std::string> texts;
  if (found == nullptr) return texts;
  for (const TomlNode& item : found->items) {
    if (item.kind != TomlNode::Kind::kText || item.text.empty()) {
      Problem(item, fmt::format("field \"{}\": wanted a list of texts, got {} in it", field,
                                item.Described()));
    } else {
      texts.push_back(item.text);
    }
  }
  return texts;
}

std::pair<double, double> TomlReader::Range(const TomlNode& table, std::string_view field) {
  const TomlNode* found =
      Get(table, field, TomlNode::Kind::kArray, "a list [lowest, highest]", Need::kMust);
  if (found == nullptr) return {-HUGE_VAL, HUGE_VAL};
  const bool numbers =
      found->items.size() == 2 &&
      std::all_of(found->items.begin(), found->items.end(), [](const TomlNode& item) {
        return item.kind == TomlNode::Kind::kNumber && std::isfinite(item.number);
      });
  if (!numbers || found->items[0].number > found->items[1].number) {
    Problem(*found, fmt::format("field \"{}\": wanted two numbers [lowest, highest]", field));
    return {-HUGE_VAL, HUGE_VAL};
  }
  return {found->items[0].number, found->items[1].number};
}

std::string TomlReader::Choice(const TomlNode& table, std::string_view field,
                               const std::vector<std::string>& allowed) {
  std::string chosen = Text(table, field);
  if (!chosen.empty() && !IsIn(chosen, allowed)) {
    std::string hint = Suggestion(chosen, allowed);
    Problem(
        *table.Find(field),
        fmt::format("field \"{}\": wanted one of {}, got \"{}\"", field, Listed(allowed), chosen),
        std::move(hint));
  }
  return chosen;
}

void TomlReader::OnlyFields(const TomlNode& table, std::initializer_list<std::string_view> fields) {
  const bool all_known =
      std::all_of(table.items.begin(), table.items.end(),
                  [&](const TomlNode& entry) { return IsIn(entry.key, fields); });
  if (!all_known) OnlyFields(table, std::vector<std::string>(fields.begin(), fields.end()));
}

void TomlReader::OnlyFields(const TomlNode& table, const std::vector<std::string>& fields) {
  for (const TomlNode& entry : table.items) {
    if (IsIn(entry.key, fields)) continue;
    std::string hint = Suggestion(entry.key, fields);
    if (hint.empty()) hint = "known fields: " + Listed(fields);
    Problem(entry, fmt::format("unknown field \"{}\"", entry.key), std::move(hint));
  }
}

}  // namespace advise
