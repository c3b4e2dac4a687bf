// A rule as bytes, for what the build reads and checks in place of each start: what the rule says
// of itself, what it declares, and its functions as Lua's bytecode. Internal to script/.
#pragma once

#include <string>
#include <string_view>

#include "engine/script/declaration.h"
#include "engine/script/rule_loader.h"

namespace advise {

// `rule` was read from its text without a problem.
std::string PackRule(const RuleInfo& rule, const Declaration& declared);

// Takes each part off `packed`: the rule (it has no source), then its declaration, whose facts are
// those of `catalog`; what is left is the bytecode.
RuleInfo UnpackRule(std::string_view& packed);
Declaration UnpackDeclaration(std::string_view& packed, const FactCatalog& catalog);

// The text of a rule's file without all that is not code: of the table that it returns, `applies`,
// `detect` and `saving` stay where they are functions. Lines keep their numbers.
std::string FunctionsOf(std::string_view text);

}  // namespace advise
