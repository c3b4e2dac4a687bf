// What can be said of a rule's functions without facts: `advise rules check`. They are read word by
// word, and run on stand-ins: facts with made-up values, once with every comparison holding and
// once with none.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/script/runner.h"

namespace advise {

struct RuleCheck {
  // In the order of the lines: numbers that decide but stand in the code, thresholds and optional
  // facts that nothing reads, facts that are not declared, values of a wrong type, places in texts
  // without evidence, fixes that nobody is ever shown, what breaks on the facts of a test.
  std::vector<Error> problems;
  // Evidence that no text shows. JSON and `advise why` have it, so that it is no problem by itself.
  std::vector<std::string> unshown;
};

// `rule` must be of the set.
RuleCheck CheckRule(const RuleSet& rules, const RuleInfo& rule);

}  // namespace advise
