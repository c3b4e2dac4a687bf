// A TOML text as plain values with line numbers, in the order of the file. The parser package is
// seen by toml_tree.cc alone: everything else that reads TOML (the knowledge base, site settings,
// exercises) reads this tree, and builds stay quick.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace advise {

struct TomlNode {
  enum class Kind { kTable, kArray, kText, kNumber, kFlag, kDate, kOther };

  Kind kind = Kind::kTable;
  int line = 0;
  std::string key;              // the name in the table that holds it; empty in arrays
  std::string text;             // of kText; of kDate as "2027-01-01"
  double number = 0;            // of kNumber: integers and floats alike
  bool flag = false;            // of kFlag
  std::vector<TomlNode> items;  // of kArray: the elements; of kTable: the entries, by line

  bool operator==(const TomlNode&) const = default;
  bool IsTable() const { return kind == Kind::kTable; }
  // The entry of a table, or nullptr.
  const TomlNode* Find(std::string_view name) const;
  // What it is, for messages: `the text "abc"`, "the number 3", "a table".
  std::string Described() const;
};

// The whole text as a table; a syntax error names `path:line`.
Result<TomlNode> ParseToml(const std::string& path, std::string_view text);

}  // namespace advise
