#include "engine/script/tester.h"

#include <catch2/catch.hpp>

#include "engine/script/scaffold.h"
#include "tests/script/rule_text.h"

using namespace advise;
using Catch::Contains;

namespace {

// The messages of the sample rule's tests when its first test, the one that fires, is replaced.
std::string Messages(const std::string& facts, const std::string& expect,
                     const RuleFields& changes = {}) {
  RuleFields fields = changes;
  fields["tests"] =
      "{ { name = \"mine\", facts = " + facts + ", " + expect +
      " }, { name = \"s\", facts = { window = { time = 1e9 }, copy = { bytes = 5, lost "
      "= 1, groups = {} } }, expect = \"silent\" }, { name = \"n\", facts = { copy = { "
      "bytes = 0 } }, expect = \"not_applicable\" }, { name = \"f\", facts = { window = "
      "{ time = 1 }, copy = { bytes = 1, lost = 1, groups = {} } }, expect = \"fires\" } }";
  const Knowledge knowledge = SampleKnowledge();
  const auto rules = RuleSet::Load({MakeRule(fields)}, knowledge, SampleCatalog());
  if (!rules) return rules.error()[0].Line();
  std::string text;
  for (const TestResult& result : RunTests(*rules, rules->rules()[0])) {
    CHECK(result.passed == result.messages.empty());
    for (const std::string& message : result.messages) text += message + "\n";
  }
  return text;
}

const char* kFiring =
    "{ window = { time = 1e9 }, copy = { bytes = 5, lost = 5e8, kind = \"H\", remedy = true,\n"
    "  groups = { { name = \"a\", time = 1 }, { name = \"b\", time = 2 } } } }";

}  // namespace

TEST_CASE("tests that hold pass") {
  CHECK(Messages(kFiring, "expect = { share = 0.5, kind = 'H', rows = 1 }").empty());
  CHECK(Messages(kFiring, "expect = { rows = { { name = 'b', time = 2 } } }").empty());
  CHECK(Messages(kFiring, "expect = 'fires', saving = { claims = 5e8, part = 1 }").empty());
  CHECK(Messages(kFiring, "expect = { share = 0.5000000001 }").empty());
  CHECK(Messages("{ copy = { bytes = 1 } }", "expect = 'cannot_tell'").empty());
  CHECK(Messages("{ ['copy.bytes'] = 0 }", "expect = 'not_applicable'").empty());
}

TEST_CASE("an edge is where the outcome changes, by no more than a twentieth") {
  const std::string wanted = "expect = 'fires', edges = { ";
  CHECK(Messages(kFiring, wanted + "['copy.lost'] = 2e7 }").empty());
  CHECK(Messages(kFiring, wanted + "['window.time'] = { 2.5e10 } }").empty());
  CHECK(Messages(kFiring, wanted + "['copy.lost'] = 2.3e7 }") ==
        "rules/transfer/sample.lua: test \"mine\": wanted another outcome or text on one side of "
        "copy.lost = 2.3e+07, got \"fires, kind = H\" below and \"fires, kind = H\" above\n");
  CHECK_THAT(Messages(kFiring, wanted + "['copy.lots'] = 1 }"),
             Contains("edges: copy.lots: the facts of the test have no number there"));
  CHECK_THAT(Messages(kFiring, wanted + "['copy.groups[3].time'] = 1 }"),
             Contains("the facts of the test have no number there"));
  CHECK_THAT(Messages(kFiring, wanted + "['copy.lost'] = { 'x' } }"),
             Contains("wanted a number or a list of numbers"));
}

TEST_CASE("tests that fail say what was wanted and what came") {
  CHECK(Messages(kFiring, "expect = { share = 0.6 }") ==
        "rules/transfer/sample.lua: test \"mine\": wanted share = 0.6, got 0.5\n");
  CHECK_THAT(Messages(kFiring, "expect = 'silent'"),
             Contains("wanted silent, got fires (kind = \"H\", share = 0.5, rows: 1 rows)"));
  CHECK_THAT(Messages(kFiring, "expect = { kind = 'D' }"),
             Contains("wanted kind = \"D\", got \"H\""));
  CHECK_THAT(Messages(kFiring, "expect = { other = 1 }"),
             Contains("wanted other = 1, got fires ("));
  CHECK_THAT(Messages(kFiring, "expect = { rows = 2 }"), Contains("wanted 2 rows in rows, got 1"));
  CHECK_THAT(Messages(kFiring, "expect = { rows = { { name = 'a' } } }"),
             Contains("wanted rows[1].name = \"a\", got \"b\""));
  CHECK_THAT(Messages(kFiring, "expect = 'fires', saving = { claims = 1 }"),
             Contains("wanted saving.claims = 1, got 500000000"));
  CHECK_THAT(Messages("{ copy = { bytes = 1 } }", "expect = 'silent'"),
             Contains("wanted silent, got cannot_tell (window.time is not there; copy.lost"));
  CHECK_THAT(Messages("{ window = { time = 1e9 }, copy = { bytes = 5, lost = 1, groups = {} } }",
                      "expect = 'fires'"),
             Contains("wanted fires, got silent; at_least 0.02 transfer/sample.min_share does not "
                      "hold for 1e-09"));
}

TEST_CASE("facts of tests are checked against the catalog") {
  CHECK_THAT(Messages("{ copy = { byte = 1 } }", "expect = 'cannot_tell'"),
             Contains("the rule does not declare the fact \"copy.byte\"") &&
                 Contains("did you mean \"copy.bytes\"?"));
  CHECK_THAT(Messages("{ copy = { time = 1 } }", "expect = 'cannot_tell'"),
             Contains("does not declare the fact \"copy.time\""));
  CHECK_THAT(Messages("{ copy = { bytes = 'x' } }", "expect = 'cannot_tell'"),
             Contains("fact \"copy.bytes\": wanted a number, got the text \"x\""));
  CHECK_THAT(Messages("{ copy = { pinned = 1 } }", "expect = 'cannot_tell'"),
             Contains("wanted true or false"));
  CHECK_THAT(Messages("{ copy = { groups = 3 } }", "expect = 'cannot_tell'"),
             Contains("wanted a list of records"));
}

TEST_CASE("spans in tests are a total, a total with a count, or intervals") {
  const auto with = [](const std::string& lost) {
    return "{ window = { time = 100 }, copy = { bytes = 1, groups = {}, lost = " + lost + " } }";
  };
  const RuleFields detect = {
      {"detect",
       "function(f) return { share = f.copy.lost.time, n = f.copy.lost.count, kind = 'x' } end"},
      {"saving", ""}};
  const auto messages = [&](const std::string& lost, const std::string& expect) {
    const std::string all = Messages(with(lost), expect, detect);
    return all.substr(0, all.find("test \"s\""));
  };
  CHECK_THAT(messages("50", "expect = { share = 50, n = 1 }"), !Contains("mine"));
  CHECK_THAT(messages("{ time = 50, count = 3 }", "expect = { share = 50, n = 3 }"),
             !Contains("mine"));
  CHECK_THAT(messages("{ { 0, 10 }, { 20, 30 } }", "expect = { share = 20, n = 2 }"),
             !Contains("mine"));
  CHECK_THAT(messages("'x'", "expect = 'fires'"), Contains("wanted a number or a table"));
}

TEST_CASE("a rule that fires must fill the places of its texts") {
  CHECK_THAT(Messages(kFiring, "expect = 'fires'", {{"symptom", "'{lost:time} is lost'"}}),
             Contains("wanted evidence \"lost\" for the place {lost:time} of symptom"));
  CHECK_THAT(Messages(kFiring, "expect = 'fires'", {{"cause", "'{share:text}'"}}),
             Contains("for the place {share:text} of cause, got 0.5"));
}

TEST_CASE("a rule that fires must return a sound saving") {
  CHECK_THAT(Messages(kFiring, "expect = 'fires'", {{"saving", "function() return {} end"}}),
             Contains("wanted fires, got broken") && Contains("basis"));
}

TEST_CASE("the scaffold of a new rule passes its own tests") {
  const Result<Scaffold> made = NewRule("transfer/my-rule");
  REQUIRE(made);
  CHECK(made->path == "rules/transfer/my-rule.lua");
  CHECK(made->thresholds_path == "kb/thresholds/transfer.toml");
  const auto knowledge =
      Knowledge::Load({{made->thresholds_path, made->thresholds},
                       {"kb/knowledge.toml", "[K-H11]\narea = 'a'\ntext = 't'\n"}});
  REQUIRE(knowledge);
  const std::vector<FactInfo> catalog = {{"window.device_time", "ns", ""},
                                         {"copy.pageable.count", "count", ""},
                                         {"copy.pageable.bytes", "bytes", ""},
                                         {"copy.pageable.lost", "spans", ""},
                                         {"copy.pageable.remedy", "remedy", ""}};
  const auto rules = RuleSet::Load({{made->path, made->text, false}}, *knowledge, catalog);
  if (!rules) UNSCOPED_INFO(rules.error()[0].Line());
  REQUIRE(rules);
  const auto results = RunTests(*rules, rules->rules()[0]);
  CHECK(results.size() == 3);
  for (const TestResult& result : results) CHECK(result.passed);
}

TEST_CASE("the scaffold of a site's rule keeps its thresholds in the site's settings") {
  Result<Scaffold> made = NewRule("site/slow-scratch");
  REQUIRE(made);
  CHECK(made->path == "slow-scratch.lua");
  Knowledge knowledge = SampleKnowledge();
  CHECK(knowledge.ApplySite({made->thresholds_path, made->thresholds}).empty());
  CHECK(knowledge.FindThreshold("site/slow-scratch", "min_share") != nullptr);
  CHECK_FALSE(NewRule("Bad Name"));
}
