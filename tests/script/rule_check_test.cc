#include "engine/script/rule_check.h"

#include <catch2/catch.hpp>

#include "tests/script/rule_text.h"

using namespace advise;
using Catch::Contains;

namespace {

// The sample rule, with nothing to complain about.
RuleFields Sound(const RuleFields& changes = {}) {
  RuleFields fields = {{"thresholds", "{ \"min_share\" }"},
                       {"optional", "{ \"copy.kind\", \"copy.rate\", \"copy.pinned\" }"}};
  for (const auto& [name, text] : changes) fields[name] = text;
  return fields;
}

RuleCheck Checked(const RuleFields& changes = {}) {
  const Knowledge knowledge = SampleKnowledge();
  const auto rules =
      RuleSet::Load(CompiledRules({MakeRule(Sound(changes))}), knowledge, SampleCatalogue());
  if (!rules) UNSCOPED_INFO(rules.error()[0].Line());
  REQUIRE(rules);
  return CheckRule(*rules, rules->rules()[0]);
}

// The one problem of a rule whose detect() has this body.
std::string CheckProblem(const std::string& body, RuleFields changes = {}) {
  if (!body.empty()) changes["detect"] = "function(f, t)\n" + body + "\nend";
  const RuleCheck check = Checked(changes);
  for (const Error& error : check.problems) UNSCOPED_INFO(error.Line());
  REQUIRE(check.problems.size() == 1);
  return check.problems[0].Line();
}

const std::string kEvidence = "return { share = f.copy.lost.time, kind = f.copy.kind or \"?\" }";
const std::string kShare = "if not at_least(f.copy.bytes, t.min_share) then return nil end\n";

}  // namespace

TEST_CASE("check: a sound rule has no problem") {
  const RuleCheck check = Checked();
  for (const Error& error : check.problems) UNSCOPED_INFO(error.Line());
  CHECK(check.problems.empty());
  CHECK(check.unshown.empty());
}

TEST_CASE("check: facts that are not declared, in any branch and by any name") {
  CHECK(CheckProblem(kShare + "if f.copy.byts == 77 then return nil end\n" + kEvidence) ==
        "rules/transfer/sample.lua:6: fact \"copy.byts\" is not declared: add it to needs or "
        "optional (did you mean \"copy.bytes\"?)");
  CHECK_THAT(
      CheckProblem(kShare + "local c = f.copy\nif c.lost.time == 77 then return c.time end\n" +
                   kEvidence),
      Contains("sample.lua:7: fact \"copy.time\" is not declared"));
  CHECK_THAT(
      CheckProblem(
          "", {{"saving", "function(f) return { claims = f.window.lost, basis = \"b\" } end"}}),
      Contains("fact \"window.lost\" is not declared"));
  // Reached only by running it.
  CHECK_THAT(CheckProblem(kShare + "local function of(facts) return facts.copy.time end\nof(f)\n" +
                          kEvidence),
             Contains("sample.lua:6: fact \"copy.time\" is not declared"));
}

TEST_CASE("check: a number that decides is a threshold") {
  CHECK(CheckProblem(kShare + "if f.copy.bytes < 0.5 then return nil end\n" + kEvidence) ==
        "rules/transfer/sample.lua:6: the number 0.5 decides here, but stands in the code (make it "
        "a threshold: at_least(x, t.min_…), at_most(x, t.max_…))");
  CHECK_THAT(
      CheckProblem(kShare + "if not at_most(f.copy.bytes, 10) then return nil end\n" + kEvidence),
      Contains("sample.lua:6: the number 10 decides"));
  CHECK_THAT(CheckProblem(kShare + "if 1e6 >= f.copy.bytes then return nil end\n" + kEvidence),
             Contains("the number 1e6 decides"));
  // None, one, several; and numbers in comments and texts.
  CHECK(Checked({{"detect", "function(f, t)\n" + kShare +
                                "if f.copy.bytes > 1 and #f.copy.groups > 0 then  -- x < 0.5\n" +
                                kEvidence + " end\nlocal s = \"x < 0.5\"\nreturn nil end"}})
            .problems.empty());
}

TEST_CASE("check: a threshold that nothing reads") {
  CHECK(CheckProblem("", {{"thresholds", "{ \"min_share\", \"max_rate\" }"}}) ==
        "rules/transfer/sample.lua:29: thresholds: nothing reads \"max_rate\"");
}

TEST_CASE("check: places without evidence, and of the wrong kind") {
  CHECK_THAT(CheckProblem("", {{"symptom", "\"{shar:pct} of the time\""}}),
             Contains("symptom: {shar:pct} has no evidence: it is kind, rows, share (did you mean "
                      "\"share\"?)"));
  CHECK_THAT(CheckProblem("", {{"cause", "\"{share:pct} {kind:count}\""}}),
             Contains("cause: {kind:count}: evidence \"kind\" is a text"));
  CHECK_THAT(CheckProblem("", {{"cause", "\"{kind:text} {share:text}\""}}),
             Contains("cause: {share:text}: evidence \"share\" is a number"));
  CHECK_THAT(CheckProblem("", {{"cause", "\"{kind:text} {rows:text}\""}}),
             Contains("evidence \"rows\" is rows"));
  CHECK(Checked({{"cause", "\"No place\""}}).unshown == std::vector<std::string>{"kind"});
}

TEST_CASE("check: values of a wrong type") {
  CHECK_THAT(
      CheckProblem("if not at_least(f.copy.groups, t.min_share) then return nil end\n" + kEvidence),
      Contains("sample.lua:5: at_least: argument 1: wanted a number, got userdata"));
  CHECK_THAT(CheckProblem(kShare + "local x = f.copy.lost + 1\n" + kEvidence),
             Contains("sample.lua:6: attempt to perform arithmetic on a spans value"));
  CHECK_THAT(CheckProblem(kShare + "return { share = f.copy.pinned == true, kind = \"a\" }"),
             Contains("evidence.share: wanted a number or a text, got"));
}

TEST_CASE("check: what may be absent is no proof of a fault") {
  // Facts that go together in truth; stand-ins do not know.
  CHECK(Checked({{"detect", "function(f, t)\n" + kShare +
                                "local rate = f.copy.kind and f.copy.rate + 1 or 0\n"
                                "return { share = rate, kind = f.copy.kind or \"?\" } end"}})
            .problems.empty());
}
