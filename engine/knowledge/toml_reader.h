// Reads the fields of one TOML file and collects every problem as "file:line: what (hint)". A field
// that is missing or of the wrong type is reported and read as empty or zero, so that one pass
// finds all problems.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/knowledge/toml_tree.h"

namespace advise {

class TomlReader {
 public:
  enum class Need { kMust, kMay };

  TomlReader(std::string path, std::vector<Error>& errors)
      : path_(std::move(path)), errors_(errors) {}

  void Problem(const TomlNode& at, std::string what, std::string hint = "");
  std::string Where(const TomlNode& at) const;
  const std::string& path() const { return path_; }

  // A text that must not be empty (unless kMay and absent).
  std::string Text(const TomlNode& table, std::string_view field, Need need = Need::kMust);
  double Number(const TomlNode& table, std::string_view field, Need need = Need::kMust);
  bool Flag(const TomlNode& table, std::string_view field, Need need = Need::kMust);
  // A list of texts, none of them empty.
  std::vector<std::string> Texts(const TomlNode& table, std::string_view field,
                                 Need need = Need::kMust);
  // The two ends of a range, low first.
  std::pair<double, double> Range(const TomlNode& table, std::string_view field);
  // One of `allowed`.
  std::string Choice(const TomlNode& table, std::string_view field,
                     const std::vector<std::string>& allowed);
  // Reports every entry of `table` that is not one of `fields`.
  void OnlyFields(const TomlNode& table, std::initializer_list<std::string_view> fields);
  void OnlyFields(const TomlNode& table, const std::vector<std::string>& fields);
  // Reports `node` unless it is a table.
  bool WantTable(const TomlNode& node);

 private:
  const TomlNode* Get(const TomlNode& table, std::string_view field, TomlNode::Kind kind,
                      std::string_view wanted, Need need);

  std::string path_;
  std::vector<Error>& errors_;
};

// "a, b, c".
std::string Listed(const std::vector<std::string>& words);

}  // namespace advise
