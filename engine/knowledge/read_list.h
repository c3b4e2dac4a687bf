// Reads an ordered list of name patterns: [[list]] entries of a TOML file. Internal to knowledge/.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/knowledge/name_pattern.h"
#include "engine/knowledge/toml_reader.h"

namespace advise {

// `each(entry)` for all [[list]] entries that are tables.
template <typename Each>
void ForEachEntry(TomlReader& reader, const TomlNode& root, std::string_view list, Each&& each) {
  const TomlNode* found = root.Find(list);
  if (found == nullptr) return;
  if (found->kind != TomlNode::Kind::kArray) {
    reader.Problem(*found, fmt::format("\"{}\": wanted [[{}]] entries, got {}", list, list,
                                       found->Described()));
    return;
  }
  for (const TomlNode& entry : found->items) {
    if (reader.WantTable(entry)) each(entry);
  }
}

// The fields that every list has.
inline NameRule ReadNameRule(TomlReader& reader, const TomlNode& entry) {
  const auto patterns = [&](const char* field, TomlReader::Need need) {
    std::vector<std::string> globs = reader.Texts(entry, field, need);
    return std::vector<NamePattern>(std::make_move_iterator(globs.begin()),
                                    std::make_move_iterator(globs.end()));
  };
  NameRule rule;
  rule.where = reader.Where(entry);
  rule.any = patterns("any", TomlReader::Need::kMust);
  rule.none = patterns("none", TomlReader::Need::kMay);
  rule.examples = reader.Texts(entry, "examples", TomlReader::Need::kMay);
  if (rule.any.empty() && entry.Find("any") != nullptr) {
    reader.Problem(entry, "field \"any\" is empty");
  }
  return rule;
}

// The fields of every list, then `more` for the rest of an entry.
template <typename More>
void ReadList(TomlReader& reader, const TomlNode& root, std::string_view list,
              std::vector<NameRule>& rules, More&& more) {
  ForEachEntry(reader, root, list, [&](const TomlNode& entry) {
    NameRule rule = ReadNameRule(reader, entry);
    more(entry, rule);
    rules.push_back(std::move(rule));
  });
}

}  // namespace advise
