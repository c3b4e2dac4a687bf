#include "engine/script/rule_check.h"

#include <catch2/catch.hpp>

#include "tests/script/rule_text.h"

using namespace advise;
using Catch::Contains;

namespace {

// The sample rule, with nothing to complain about.
RuleFields Sound(const RuleFields& changes = {}) {
  RuleFields fields = {{"thresholds", "{ \"min_share\" }"}, {"optional", "{ \"copy.kind\" }"}};
  const auto detect = changes.find("detect");
  if (detect != changes.end()) {  // what it reads
    std::string read;
    for (const char* fact : {"copy.kind", "copy.rate", "copy.pinned"}) {
      if (detect->second.find(std::string("f.") + fact) == std::string::npos) continue;
      read += std::string(read.empty() ? "" : ", ") + "\"" + fact + "\"";
    }
    fields["optional"] = "{ " + read + " }";
  }
  for (const auto& [name, text] : changes) fields[name] = text;
  return fields;
}

RuleCheck Checked(const RuleFields& changes = {}) {
  const Knowledge knowledge = SampleKnowledge();
  const auto rules = RuleSet::Load({MakeRule(Sound(changes))}, knowledge, SampleCatalog());
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

TEST_CASE("check: a number is found by any way that it decides") {
  const auto problem = [](const std::string& condition, const std::string& before = "") {
    return CheckProblem(kShare + before + "if " + condition + " then return nil end\n" + kEvidence);
  };
  CHECK_THAT(problem("f.copy.bytes > 1/2"), Contains("sample.lua:6: the number 1 decides"));
  CHECK_THAT(problem("f.copy.bytes > f.window.time * 0.3"), Contains("the number 0.3 decides"));
  CHECK_THAT(problem("f.copy.bytes > math.min(5, f.window.time)"),
             Contains("the number 5 decides"));
  CHECK_THAT(problem("f.copy.bytes > limit", "local limit = 0.5\n"),
             Contains("sample.lua:6: the number 0.5 decides"));
  CHECK_THAT(problem("not at_least(f.copy.bytes, limit)", "local limit = 7\n"),
             Contains("sample.lua:6: the number 7 decides"));
  const auto sound = [](const std::string& condition, const std::string& before = "") {
    const std::string body =
        kShare + before + "if " + condition + " then return nil end\n" + kEvidence;
    return Checked({{"detect", "function(f, t)\n" + body + "\nend"}}).problems.empty();
  };
  CHECK(sound("f.copy.bytes > 2 * f.window.time"));
  CHECK(sound("#top(f.copy.groups, \"time\", 5) > 1"));  // how many are looked at
  CHECK(sound("f.copy.bytes < last", "local last = 10\nlast = f.window.time\n"));
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

TEST_CASE("check: an optional fact that nothing reads") {
  CHECK_THAT(CheckProblem("", {{"optional", "{ \"copy.kind\", \"copy.time\" }"}}),
             Contains("optional: nothing reads \"copy.time\""));
}

TEST_CASE("check: reasons of fixes, and whom they are for") {
  const auto fix = [](const std::string& more) {
    return CheckProblem("", {{"fixes", "{ { action = \"Pin it\", " + more + " } }"}});
  };
  CHECK_THAT(fix("reason = \"up\""), Contains("fixes: the evidence \"reason\" is never \"up\""));
  CHECK_THAT(fix("[\"for\"] = { \"tarining\" }"),
             Contains("no program is called \"tarining\" (did you mean \"training\"?)"));
  CHECK(Checked({{"fixes", "{ { action = \"Pin it\", reason = \"!up\" } }"},
                 {"detect", "function(f, t)\n" + kShare +
                                "return { share = f.copy.lost.time, kind = \"k\", reason = "
                                "f.copy.pinned and \"up\" or \"down\" } end"}})
            .problems.empty());
}

TEST_CASE("check: why a rule does not apply") {
  CHECK_THAT(CheckProblem("", {{"applies", "function(f) return f.copy.bytes > 0 end"}}),
             Contains("applies: wanted a reason beside false"));
}

TEST_CASE("check: what breaks on the facts of a test, or leaves a place empty there") {
  CHECK_THAT(
      CheckProblem(kShare + "if f.copy.rate > f.copy.bytes then return nil end\n" + kEvidence),
      Contains("sample.lua:6: attempt to compare number with nil"));
  CHECK_THAT(CheckProblem("", {{"saving", "function(f) return { claims = f.copy.lost } end"}}),
             Contains("saving: basis: wanted a text, got nil"));
  CHECK_THAT(CheckProblem(kShare + "return { share = f.copy.lost.time, kind = f.copy.kind }"),
             Contains("cause: {kind:text}: in one of the tests there is no evidence \"kind\""));
}
