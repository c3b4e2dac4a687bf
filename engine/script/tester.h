// Runs the tests that stand in rule files. They use the thresholds of the knowledge base that the
// rules were loaded with: load them without the site's settings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/script/runner.h"

namespace advise {

struct TestResult {
  std::string name;
  bool passed = false;
  std::vector<std::string> messages;  // `file: test "name": wanted …, got …`; empty when passed
};

// What a rule says on the facts of its first test that fires.
struct RuleExample {
  std::string name;  // of the test
  Verdict verdict;
};
std::optional<RuleExample> ExampleOf(const RuleSet& rules, const RuleInfo& rule);

// What a verdict says beside its numbers: the outcome, the texts of the evidence, whether something
// is saved. It is what changes at the edges of a test.
std::string WordsOf(const Verdict& verdict);

// One result a test, in the order of the file; a test that is written wrong fails. Besides what a
// test expects, a rule that fires must return a well-formed saving and all evidence that its texts
// have places for.
std::vector<TestResult> RunTests(const RuleSet& rules, const RuleInfo& rule);

}  // namespace advise
