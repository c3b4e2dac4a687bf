// The code of one rule, read word by word for what stands in it whatever the facts are. Internal to
// script/.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/base/error.h"
#include "engine/script/lua_tokens.h"

namespace advise {

class RuleCode {
 public:
  // Problems go to `errors`.
  RuleCode(const RuleInfo& rule, std::vector<Error>& errors);

  // Numbers that decide but stand in the code, and facts that are not declared.
  void Check();
  // Whether the code reads `t.name` or `e.name`; `f.group.name` is something else.
  bool Reads(std::string_view name) const;
  // Whether the functions read the fact, or one of its group by a name that is made of others.
  // Only after Check().
  bool ReadsFact(const std::string& name) const;
  // The texts that the code compares with.
  std::vector<std::string> Texts() const;
  // Whether the text stands in the code, those of the fixes aside.
  bool Says(std::string_view text) const;
  int LineOfField(std::string_view name) const;

 private:
  void Say(int line, std::string what, std::string hint = "");
  void SayNumber(const LuaToken& number);
  const LuaToken& At(std::size_t index) const;
  // The token behind the bracket that closes the one at `open`.
  std::size_t Behind(std::size_t open) const;

  void FindConstants();
  bool IsBoundary(std::size_t before, std::size_t at) const;
  void CheckOperand(std::size_t first, std::size_t last);
  void CheckComparison();
  void CheckCall();
  void ReadParameters();
  void CheckFact();
  bool IsFact(const std::string& name) const;
  bool IsGroup(const std::string& name) const;

  const RuleInfo& rule_;
  std::vector<Error>& errors_;
  std::vector<LuaToken> code_;
  std::vector<std::string> declared_;
  std::map<std::string_view, LuaToken> constants_;  // local names that are numbers
  std::size_t at_ = 0;
  bool inside_ = false;                       // a function was opened
  std::map<std::string, std::string> names_;  // of facts or groups of them, in the function
  std::set<std::string> read_;                // facts
  std::set<std::string> groups_;              // that are handed on or indexed
};

}  // namespace advise
