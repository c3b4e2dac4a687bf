#include "engine/script/rule_loader.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/script/rule_text.h"

using advise::LoadProblems;
using advise::MakeRule;
using advise::RuleFields;

namespace {

// The one problem of the sample rule with some fields changed.
std::string Problem(const RuleFields& changes) {
  const auto problems = LoadProblems({MakeRule(changes)});
  for (const std::string& line : problems) UNSCOPED_INFO(line);
  REQUIRE(problems.size() == 1);
  return problems[0];
}

using Catch::Contains;

}  // namespace

TEST_CASE("a rule with all fields loads") { CHECK(LoadProblems({MakeRule()}).empty()); }

TEST_CASE("a problem names file, line, field, what was wanted and what is there") {
  CHECK(Problem({{"kind", "\"rot\""}}) ==
        "rules/transfer/sample.lua:13: kind: wanted root | symptom | info, got \"rot\" "
        "(did you mean \"root\"?)");
  CHECK_THAT(Problem({{"title", "3"}}), Contains("title: wanted a text, got the number 3"));
  CHECK_THAT(Problem({{"needs", "{ \"window.time\", 3 }"}}),
             Contains("needs[2]: wanted a text, got the number 3"));
  CHECK_THAT(Problem({{"detect", "\"x\""}}), Contains("detect: wanted a function, got the text"));
  CHECK_THAT(Problem({{"fixes", "{ { action = 1 } }"}}),
             Contains("fixes[1].action: wanted a text, got the number 1"));
}

TEST_CASE("fields that must be there") {
  for (const char* field :
       {"id", "title", "status", "since", "kind", "effort", "knowledge", "symptom", "cause",
        "fixes", "false_positives", "detect", "tests", "needs"}) {
    INFO(field);
    CHECK(Problem({{field, ""}}) ==
          "rules/transfer/sample.lua: " + std::string(field) + ": missing field");
  }
  for (const char* field :
       {"applies", "saving", "optional", "references", "priority", "thresholds"}) {
    INFO(field);
    CHECK(LoadProblems({MakeRule({{field, ""}})}).empty());
  }
}

TEST_CASE("unknown fields get a suggestion") {
  CHECK_THAT(Problem({{"treshold", "{}"}}),
             Contains("treshold: unknown field (did you mean \"thresholds\"?)"));
  CHECK_THAT(Problem({{"fixes", "{ { action = \"a\", snipet = \"b\" } }"}}),
             Contains("fixes[1].snipet: unknown field (did you mean \"snippet\"?)"));
}

TEST_CASE("the id is the path") {
  CHECK_THAT(Problem({{"id", "\"transfer/other\""}}),
             Contains("id: wanted the file's path, got \"transfer/other\""));
  CHECK_THAT(Problem({{"id", "\"Transfer/Sample\""}}),
             Contains("wanted \"area/name\" in lower case"));
  CHECK_THAT(Problem({{"id", "\"sample\""}}), Contains("wanted \"area/name\" in lower case"));
}

TEST_CASE("names must exist in the knowledge base and the catalog") {
  CHECK_THAT(Problem({{"needs", "{ \"window.tme\" }"}}),
             Contains("there is no fact \"window.tme\" (did you mean \"window.time\"?)"));
  CHECK_THAT(Problem({{"optional", "{ \"nothing.like.it\" }"}}), Contains("advise facts --list"));
  CHECK_THAT(Problem({{"thresholds", "{ \"min_bytes\" }"}}),
             Contains("there is no threshold \"transfer/sample.min_bytes\" (add [sample.min_bytes] "
                      "to kb/thresholds/transfer.toml)"));
  CHECK_THAT(
      Problem({{"references", "{ \"guide/pined\" }"}}),
      Contains("kb/references.toml has no \"guide/pined\" (did you mean \"guide/pinned\"?)"));
  CHECK_THAT(Problem({{"knowledge", "{ \"K-Z9\" }"}}), Contains("kb/knowledge.toml has no row"));
  CHECK_THAT(Problem({{"explains", "{ \"Not An Id\" }"}}), Contains("explains: wanted ids"));
  CHECK_THAT(Problem({{"optional", "{ \"copy.bytes\" }"}}), Contains("stands in needs, too"));
}

TEST_CASE("places in texts have a name and a known kind") {
  CHECK_THAT(Problem({{"symptom", "\"{share} of it\""}}),
             Contains("wanted {name:kind}, got {share"));
  CHECK_THAT(Problem({{"cause", "\"{share:percent}\""}}), Contains("wanted a kind of pct | time"));
  CHECK_THAT(Problem({{"fixes", "{ { action = \"Use {n}\" } }"}}), Contains("fixes[1].action"));
}

TEST_CASE("priorities have a default by kind") {
  const advise::Knowledge knowledge = advise::SampleKnowledge();
  const auto priority = [&](const RuleFields& changes) {
    const auto rules =
        advise::RuleSet::Load({MakeRule(changes)}, knowledge, advise::SampleCatalog());
    return rules->rules()[0].priority;
  };
  CHECK(priority({}) == 60);
  CHECK(priority({{"kind", "\"symptom\""}}) == 30);
  CHECK(priority({{"kind", "\"info\""}}) == 10);
  CHECK(priority({{"priority", "75"}}) == 75);
  CHECK_THAT(Problem({{"priority", "101"}}), Contains("wanted 0 to 100"));
}

TEST_CASE("a topic is one that the report asks for") {
  const advise::Knowledge knowledge = advise::SampleKnowledge();
  const auto rules = advise::RuleSet::Load({MakeRule({{"topic", "\"host-code\""}})}, knowledge,
                                           advise::SampleCatalog());
  CHECK(rules->rules()[0].topic == advise::Topic::kHostCode);
  CHECK_THAT(Problem({{"topic", "\"host-cod\""}}), Contains("did you mean \"host-code\"?"));
}

TEST_CASE("the three kinds of tests must be there") {
  const auto problems = LoadProblems({MakeRule({{"tests", "{}"}})});
  REQUIRE(problems.size() == 3);
  CHECK_THAT(problems[0], Contains("wanted a test that fires"));
  CHECK_THAT(problems[1], Contains("wanted a near miss"));
  CHECK_THAT(problems[2], Contains("not_applicable"));
}

TEST_CASE("all problems of all files are collected") {
  const auto problems = LoadProblems({MakeRule({{"kind", "\"x\""}, {"title", "1"}}, "transfer/a"),
                                      MakeRule({{"status", "\"x\""}}, "transfer/b"),
                                      {"rules/transfer/c.lua", "return {", false},
                                      {"rules/transfer/d.lua", "return 3", false},
                                      {"rules/transfer/e.lua", "while true do end", false}});
  const auto about = [&](const std::string& part) {
    return std::count_if(problems.begin(), problems.end(), [&](const std::string& line) {
      return line.find(part) != std::string::npos;
    });
  };
  CHECK(about("a.lua") >= 2);
  CHECK(about("b.lua") >= 1);
  CHECK(about("rules/transfer/c.lua:1: ") == 1);
  CHECK(about("d.lua: return: wanted the file to return one table, got the number 3") == 1);
  CHECK(about("instruction limit reached") == 1);
}

TEST_CASE("rules of a site have ids of their own and may replace a rule") {
  const advise::RuleFile shipped = MakeRule();
  const RuleFields replace = {{"replaces", "\"transfer/sample\""}, {"knowledge", ""}};
  const advise::Knowledge knowledge = advise::SampleKnowledge();

  const auto rules = advise::RuleSet::Load({shipped, MakeRule(replace, "site/sample", true)},
                                           knowledge, advise::SampleCatalog());
  REQUIRE(rules);
  REQUIRE(rules->rules().size() == 1);
  CHECK(rules->rules()[0].id == "site/sample");
  CHECK(rules->Find("transfer/sample") == nullptr);

  CHECK_THAT(LoadProblems({MakeRule({}, "transfer/mine", true)})[0],
             Contains("rules of a site are called \"site/…\""));
  CHECK_THAT(LoadProblems({MakeRule({}, "site/mine", false)})[0], Contains("kept for the rules"));
  CHECK_THAT(Problem({{"replaces", "\"transfer/other\""}}), Contains("only rules of a site"));
  const auto wrong =
      LoadProblems({shipped, MakeRule({{"replaces", "\"transfer/sampel\""}, {"thresholds", ""}},
                                      "site/s", true)});
  REQUIRE(wrong.size() == 1);
  CHECK_THAT(wrong[0], Contains("did you mean \"transfer/sample\"?"));
}

TEST_CASE("two rules cannot share an id") {
  CHECK_THAT(LoadProblems({MakeRule(), MakeRule()})[0], Contains("two rules are called"));
}
