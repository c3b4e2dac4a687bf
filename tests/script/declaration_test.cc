// The declared form: what follows from `loss`, `measure`, `evidence` and a table as `saving`.
#include <catch2/catch.hpp>

#include "engine/script/rule_check.h"
#include "tests/script/rule_text.h"

using namespace advise;
using Catch::Contains;

namespace {

// Without functions: 25 % of the time is lost to 20 copies.
const RuleFields kDeclared = {
    {"needs", ""},
    {"optional", ""},
    {"applies", ""},
    {"detect", ""},
    {"loss", "\"copy\""},
    {"not_applicable", "\"there are no copies\""},
    {"evidence", "{ \"count\", size = \"bytes\", link = \"window.rate\" }"},
    {"thresholds", "{ \"min_share\" }"},
    {"cause", "\"c\""},
    {"saving", "{ confidence = 0.8, basis = \"lost time\" }"},
    {"tests",
     "{ { name = \"a\", facts = {}, expect = \"fires\" },\n"
     "{ name = \"b\", facts = {}, expect = \"silent\" },\n"
     "{ name = \"c\", facts = {}, expect = \"not_applicable\" } }"}};

std::vector<FactInfo> DeclaredCatalog() {
  std::vector<FactInfo> facts = SampleCatalog();
  for (const char* name : {"window.device_time", "copy.count", "window.rate", "copy.share"}) {
    facts.push_back({name, "count", ""});
  }
  facts.push_back({"window.supports_verdict", "flag", ""});
  return facts;
}

RuleFields With(const RuleFields& changes) {
  RuleFields fields = kDeclared;
  for (const auto& [name, text] : changes) fields[name] = text;
  return fields;
}

class DeclaredRule {
 public:
  explicit DeclaredRule(const RuleFields& changes = {})
      : rules_(RuleSet::Load({MakeRule(With(changes))}, knowledge_, DeclaredCatalog())) {
    auto spans = std::make_shared<Spans>();
    spans->by_device.push_back(IntervalSet::Of({{0, 100}, {200, 350}}));
    const auto held = std::make_shared<int>(0);
    facts = {{"window.device_time", {1000.0}},
             {"window.rate", {7.0}},
             {"copy.count", {20.0}},
             {"copy.share", {0.5}},
             {"copy.bytes", {5.0}},
             {"copy.kind", {std::string("HtoD")}},
             {"copy.lost", {std::shared_ptr<const Spans>(spans)}},
             {"copy.remedy",
              {std::shared_ptr<const Remedy>(held, reinterpret_cast<const Remedy*>(held.get()))}}};
  }

  std::vector<std::string> Problems() const {
    std::vector<std::string> lines;
    for (const Error& error : rules_ ? std::vector<Error>() : rules_.error()) {
      lines.push_back(error.Line());
    }
    return lines;
  }
  const RuleInfo& Info() const { return rules_->rules()[0]; }
  Verdict Run() const {
    for (const std::string& line : Problems()) UNSCOPED_INFO(line);
    REQUIRE(rules_);
    return rules_->Run(Info(), MapFacts(facts));
  }

  std::map<std::string, Fact, std::less<>> facts;

 private:
  Knowledge knowledge_ = SampleKnowledge();
  tl::expected<RuleSet, std::vector<Error>> rules_;
};

std::string DeclarationProblem(const RuleFields& changes) {
  const std::vector<std::string> problems = DeclaredRule(changes).Problems();
  for (const std::string& line : problems) UNSCOPED_INFO(line);
  REQUIRE(problems.size() == 1);
  return problems[0];
}

double Shown(const Verdict& verdict, const std::string& name) {
  return std::get<double>(verdict.evidence.at(name));
}

}  // namespace

TEST_CASE("a threshold of the name of evidence is none of the functions' to compare") {
  const Knowledge knowledge = SampleKnowledge();
  const auto problems = [&](const std::string& body) {
    const RuleFields fields = With({{"evidence", "{ \"count\", rate = \"bytes\" }"},
                                    {"thresholds", "{ \"min_share\", \"max_rate\" }"},
                                    {"detect", "function(f, t, e)\n" + body + "\nend"}});
    const auto rules = RuleSet::Load({MakeRule(fields)}, knowledge, DeclaredCatalog());
    REQUIRE(rules);
    std::string all;
    for (const Error& error : CheckRule(*rules, rules->rules()[0]).problems)
      all += error.Line() + "\n";
    return all;
  };
  CHECK_THAT(problems("return at_most(e.rate, t.max_rate) and e or nil"),
             Contains("\"max_rate\" is compared with \"rate\" before the functions run"));
  CHECK_THAT(problems("return e"), !Contains("before the functions run"));
}

TEST_CASE("a loss gives share, comparison, evidence and saving") {
  const DeclaredRule rule;
  const Verdict verdict = rule.Run();
  INFO(verdict.reason);
  REQUIRE(verdict.outcome == Outcome::kFired);
  CHECK(verdict.evidence.size() == 4);
  CHECK(Shown(verdict, "share") == 0.25);
  CHECK(Shown(verdict, "count") == 20);
  CHECK(Shown(verdict, "size") == 5);
  CHECK(Shown(verdict, "link") == 7);
  REQUIRE(verdict.comparisons.size() == 1);
  CHECK(verdict.comparisons[0].what == "at_least");
  CHECK(verdict.comparisons[0].name == "transfer/sample.min_share");
  CHECK(verdict.comparisons[0].value == 0.25);
  REQUIRE(verdict.saving.claims != nullptr);
  CHECK(verdict.saving.claims->by_device[0].Total() == 250);
  CHECK(verdict.saving.remedies.size() == 1);
  CHECK(verdict.saving.confidence == 0.8);
  CHECK(verdict.saving.basis == "lost time");
}

TEST_CASE("what a declaration reads is needed, unless the rule says that it may be absent") {
  CHECK(DeclaredRule().Info().needs == std::vector<std::string>{"window.device_time", "copy.count",
                                                                "window.rate", "copy.bytes",
                                                                "copy.lost", "copy.remedy"});
  DeclaredRule absent;
  absent.facts.erase("window.rate");
  CHECK(absent.Run().outcome == Outcome::kCannotTell);
  DeclaredRule optional(RuleFields{{"optional", "{ \"window.rate\" }"}});
  CHECK(optional.Info().optional == std::vector<std::string>{"window.rate"});
  optional.facts.erase("window.rate");
  const Verdict verdict = optional.Run();
  CHECK(verdict.outcome == Outcome::kFired);
  CHECK(verdict.evidence.count("link") == 0);
}

TEST_CASE("nothing to judge, and too little") {
  DeclaredRule rule;
  rule.facts["copy.count"] = {0.0};
  CHECK(rule.Run().outcome == Outcome::kNotApplicable);
  CHECK(rule.Run().reason == "there are no copies");
  rule.facts["copy.count"] = {Absent{"nobody counted", "cuda"}};
  CHECK(rule.Run().outcome == Outcome::kCannotTell);
  CHECK(rule.Run().reason == "nobody counted");
  CHECK(rule.Run().missing == std::vector<std::string>{"cuda"});

  DeclaredRule small;
  small.facts["window.device_time"] = {1e6};
  CHECK(small.Run().outcome == Outcome::kFine);
  CHECK_FALSE(small.Run().comparisons.at(0).holds);

  DeclaredRule stock(RuleFields{{"not_applicable", ""}, {"applies", "\"share\""}});
  stock.facts["copy.share"] = {0.0};
  CHECK(stock.Run().reason == "it did not happen in this run");
}

TEST_CASE("needs_loop: a capture without a loop has nothing to judge") {
  DeclaredRule rule(RuleFields{{"needs_loop", "true"}});
  CHECK(rule.Info().optional == std::vector<std::string>{"window.supports_verdict"});
  CHECK(rule.Run().outcome == Outcome::kFired);  // nothing says that there is none
  rule.facts["window.supports_verdict"] = {true};
  CHECK(rule.Run().outcome == Outcome::kFired);
  rule.facts["window.supports_verdict"] = {false};
  CHECK(rule.Run().outcome == Outcome::kNotApplicable);
  CHECK_THAT(rule.Run().reason, Contains("too little of a loop"));
}

TEST_CASE("thresholds are compared with the evidence of that name, or a fact of the group") {
  const RuleFields changes = {{"measure", "\"copy\""},
                              {"loss", ""},
                              {"saving", ""},
                              {"evidence", "{ \"count\", share = \"share\" }"},
                              {"thresholds", "{ \"max_rate\", \"min_share\" }"}};
  DeclaredRule rule(changes);
  rule.facts["copy.rate"] = {0.4};
  const Verdict fired = rule.Run();
  CHECK(fired.outcome == Outcome::kFired);
  CHECK(Shown(fired, "share") == 0.5);  // the fact: nothing is lost to a measure
  CHECK(fired.evidence.count("rate") == 0);
  CHECK(fired.saving.claims == nullptr);
  REQUIRE(fired.comparisons.size() == 2);
  CHECK(fired.comparisons[0].what == "at_most");
  CHECK(fired.comparisons[0].name == "transfer/sample.max_rate");
  rule.facts["copy.rate"] = {0.6};
  CHECK(rule.Run().outcome == Outcome::kFine);
}

TEST_CASE("a function beside a declaration adds to it") {
  DeclaredRule more(RuleFields{{"detect",
                                "function(f, t, e)\n"
                                "  if e.count < 3 then return nil end\n"
                                "  e.way = \"up\"\n"
                                "  return e\n"
                                "end"}});
  const Verdict verdict = more.Run();
  CHECK(verdict.outcome == Outcome::kFired);
  CHECK(verdict.evidence.size() == 5);
  CHECK(std::get<std::string>(verdict.evidence.at("way")) == "up");
  more.facts["copy.count"] = {2.0};
  CHECK(more.Run().outcome == Outcome::kFine);

  const DeclaredRule own(
      RuleFields{{"saving",
                  "function(f, t, e)\n"
                  "  return { claims = f.copy.lost, part = e.count / 40, basis = \"b\" }\n"
                  "end"}});
  CHECK(own.Run().saving.part == 0.5);
  const DeclaredRule asks(RuleFields{{"applies", "function(f) return false, \"never\" end"}});
  CHECK(asks.Run().reason == "never");
}

TEST_CASE("a saving as a table works in a rule with functions, too") {
  const RuleFields changes = {
      {"loss", ""},
      {"evidence", ""},
      {"not_applicable", ""},
      {"needs", "{ \"copy.bytes\" }"},
      {"detect", "function(f, t) return { share = at_least(1, t.min_share) and 1 or 0 } end"},
      {"saving", "{ claims = \"copy.lost\", part = \"min_share\", basis = \"b\" }"}};
  const DeclaredRule rule(changes);
  CHECK(rule.Info().needs == std::vector<std::string>{"copy.bytes", "copy.lost"});
  const Verdict verdict = rule.Run();
  CHECK(verdict.outcome == Outcome::kFired);
  CHECK(verdict.saving.claims->by_device[0].Total() == 250);
  CHECK(verdict.saving.remedies.empty());
  CHECK(verdict.saving.part == 0.02);
}

TEST_CASE("spans are shown by their length or number") {
  const DeclaredRule rule(
      RuleFields{{"evidence", "{ count = \"lost.count\", time = \"lost.time\" }"}});
  const Verdict verdict = rule.Run();
  CHECK(Shown(verdict, "count") == 2);
  CHECK(Shown(verdict, "time") == 250);
  CHECK_THAT(DeclarationProblem({{"evidence", "{ \"count\", all = \"lost\" }"}}),
             Contains("evidence.all: wanted a number, a text or rows, but \"copy.lost\" is spans "
                      "(add .time or .count)"));
}

TEST_CASE("wrong declarations are named") {
  CHECK_THAT(
      DeclarationProblem(
          {{"loss", "\"cpy\""}, {"evidence", ""}, {"applies", "\"copy.count\""}, {"saving", ""}}),
      Contains("loss: there is no time lost called \"cpy.lost\""));
  CHECK_THAT(DeclarationProblem({{"evidence", "{ \"count\", \"bites\" }"}}),
             Contains("evidence[2]: there is no fact \"bites\", nor \"copy.bites\" (did you mean "
                      "\"bytes\"?)"));
  CHECK_THAT(DeclarationProblem({{"evidence", "{ \"count\", \"window.rate\" }"}}),
             Contains("wanted a name in lower case with \"_\", got \"window.rate\""));
  CHECK_THAT(DeclarationProblem({{"evidence", "{ \"count\", count = \"bytes\" }"}}),
             Contains("named twice"));
  CHECK_THAT(DeclarationProblem({{"evidence", "{ \"bytes\" }"}}),
             Contains("applies: missing field: name the fact that must be above zero"));
  CHECK_THAT(DeclarationProblem({{"measure", "\"copy\""}}),
             Contains("wanted either loss or measure"));
  CHECK_THAT(DeclarationProblem({{"saving", "{ basis = \"b\", confidence = 2 }"}}),
             Contains("saving.confidence: wanted 0 to 1, got 2"));
  CHECK_THAT(DeclarationProblem({{"saving", "{ basis = \"b\", claims = \"bytes\" }"}}),
             Contains("saving.claims: wanted spans, but \"copy.bytes\" is bytes"));
  CHECK_THAT(DeclarationProblem({{"saving", "{ basis = \"b\", part = \"winnable\" }"}}),
             Contains("saving.part: there is no threshold \"winnable\""));
  CHECK_THAT(DeclarationProblem({{"saving", "{ basis = \"b\", part_ = 1 }"}}),
             Contains("saving.part_: unknown field"));
  CHECK_THAT(DeclarationProblem({{"needs_loop", "1"}}),
             Contains("needs_loop: wanted true or false"));
  CHECK_THAT(DeclarationProblem({{"thresholds", "{ \"min_share\", \"max_rate\" }"},
                                 {"evidence", "{ \"count\", rate = \"kind\" }"}}),
             Contains("\"max_rate\" is compared with \"copy.kind\", which is no number"));
}
