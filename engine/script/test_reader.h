// The tests that stand in a rule's file, as C++ values. Internal to script/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/script/rule_loader.h"

struct lua_State;

namespace advise {

// A value that evidence must have. A number for a table is its number of rows; Rows are compared in
// order, by the columns they name.
using Expected = std::variant<double, std::string, Rows>;

struct RuleTest {
  std::string name;
  std::map<std::string, Fact, std::less<>> facts;
  Outcome outcome = Outcome::kFine;
  std::map<std::string, Expected> evidence;  // of kFired; may be empty
  std::map<std::string, double> saving;  // "claims" (ns), "part", "confidence", "remedy" (how many)
  // Places in the facts (SetPlace) and values: with all else as in the test, outcome and texts are
  // those of the test on one side of the value, and others on the other side.
  std::vector<std::pair<std::string, double>> edges;
};

// Puts a number into facts: `place` is a fact that is a number or spans (their total), "fact.count"
// of spans, or "fact[2].column" of rows. False when there is no number at that place.
bool SetPlace(std::string_view place, double value,
              std::map<std::string, Fact, std::less<>>* facts);

// Remedies are opaque to rules and to their tests: any pointer but null will do.
std::shared_ptr<const Remedy> SomeRemedy();
// `count` pieces that add up to `total`, with gaps between them.
std::shared_ptr<const Spans> SpansOf(double total, double count);

// Reads the tests of the rule's table on the stack top; call inside Sandbox::Protect.
std::vector<RuleTest> ReadTests(lua_State* state, const RuleInfo& rule, const FactCatalog& catalog,
                                std::vector<Error>& errors);

}  // namespace advise
