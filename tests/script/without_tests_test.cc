#include "engine/script/without_tests.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "engine/facts/catalog.h"
#include "engine/knowledge/embedded.h"
#include "engine/script/runner.h"
#include "engine/script/tester.h"

namespace advise {
namespace {

std::size_t Lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_CASE("the table of tests is left out and the lines stay") {
  CHECK(WithoutTests("return {\n  id = 1,\n  tests = {\n    { 1 },\n    { 2 },\n  },\n  b = 2 }") ==
        "return {\n  id = 1,\n  tests = nil\n\n\n,\n  b = 2 }");
  CHECK(WithoutTests("return{tests={}}") == "return{tests=nil}");
  CHECK(WithoutTests("return { 1; tests = { 2 }; }; -- end\n") ==
        "return { 1; tests = nil; }; -- end\n");
}

TEST_CASE("braces in texts and comments are no braces") {
  CHECK(
      WithoutTests(R"(return { a = "}\"}", tests = { '}', "\\", [[}]], [=[ ]] } ]=] }, b = 1 })") ==
      R"(return { a = "}\"}", tests = nil, b = 1 })");
  CHECK(WithoutTests("-- return {\nreturn { --[[ } ]] tests = { --}\n 1, --[==[ }\n]==] }, }") ==
        "-- return {\nreturn { --[[ } ]] tests = nil\n\n, }");
}

TEST_CASE("tests of other tables stay") {
  for (const std::string text : {
           "return { facts = { tests = { 1 } } }",
           "local a = { tests = { 1 } } return { a }",
           "local function f() return { tests = { 1 } } end return f()",
           "return { detect = function(f) local a, tests = 1, { 1 } return tests end }",
           "if x then return { tests = { 1 } } end return {}",
           "return f({ tests = { 1 } })",
           "return \"return { tests = { 1 } }\"",
           "return { [tests] = { 1 }, my_tests = { 1 }, tests2 = { 1 } }",
       }) {
    INFO(text);
    CHECK(WithoutTests(text) == text);
  }
}

TEST_CASE("what is not a table alone, or not whole, stays") {
  for (const std::string text :
       {"return { tests = nil }", "return { tests == { 1 } }", "return { tests = { 1 }[1] }",
        "return { tests = { 1 } or 2 }", "return { tests = { 1, ", "return { tests = {} ",
        "return { tests = { \"", "return { tests = { [[", "return { tests =", "return {", "return",
        "", "\\", "'\\", "--", "--[", "--[[", "[", "[="}) {
    INFO(text);
    CHECK(WithoutTests(text) == text);
  }
}

TEST_CASE("every shipped rule says the same without its tests") {
  std::vector<RuleFile> files;
  for (const Knowledge::File& file : EmbeddedFiles()) {
    const bool rule = file.path.starts_with("rules/") && !file.path.starts_with("rules/lib/") &&
                      file.path.find("/_") == std::string::npos;
    if (rule) files.push_back({file.path, file.text});
  }
  const auto knowledge = Knowledge::Load(EmbeddedFiles());
  REQUIRE(knowledge);
  const auto bare =
      RuleSet::Load(CompiledRules(files, InlineTests::kLeftOut), *knowledge, FactList());
  REQUIRE(bare);
  REQUIRE(bare->rules().size() == files.size());
  for (const RuleFile& file : files) {
    INFO(file.path);
    const std::string left = WithoutTests(file.text);
    CHECK(left.size() < file.text.size());
    CHECK(Lines(left) == Lines(file.text));
  }
  for (const RuleInfo& rule : bare->rules()) {
    INFO(rule.id);
    const std::vector<TestResult> results = RunTests(*bare, rule);
    CHECK(results.size() >= 3);
    for (const TestResult& result : results) {
      INFO(result.name);
      CHECK(result.passed);
    }
  }
}

}  // namespace
}  // namespace advise
