// From the table that a rule file returns to a checked RuleInfo: every field, its type, and that
// each fact, threshold, reference and knowledge row it names exists. docs/howto/add-a-rule.md lists
// the fields.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/base/error.h"
#include "engine/knowledge/knowledge.h"

struct lua_State;

namespace advise {

struct RuleFile {
  std::string path;  // "rules/transfer/pageable-copy.lua"
  std::string text;
  bool of_site = false;  // from a folder of a site: its id begins with "site/"
  int folder = 0;        // of a site: of two rules with the same id, that of the higher one counts
  std::string_view prepared = {};  // what the build made of it, in place of a text
};

using FactCatalog = std::map<std::string, FactInfo, std::less<>>;

// "area/name" in lower case, for rules of a site also "site/area/name".
bool IsRuleId(std::string_view id);

// Whether a file's tests are checked with the rule, or not read: the build has checked those of
// shipped rules (cmake/embed_rules.cc).
enum class InlineTests { kChecked, kNotRead };

struct Declaration;

// Reads the table on the stack top; call inside Sandbox::Protect. Problems go to `errors`. The
// source is left to the caller.
RuleInfo ReadRule(lua_State* state, const RuleFile& file, InlineTests tests,
                  const Knowledge& knowledge, const FactCatalog& catalog, Declaration& declared,
                  std::vector<Error>& errors);

}  // namespace advise
