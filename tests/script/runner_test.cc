#include "engine/script/runner.h"

#include <catch2/catch.hpp>

#include "tests/script/rule_text.h"

using namespace advise;
using Catch::Contains;

namespace {

std::shared_ptr<const Spans> Time(std::vector<Interval> intervals) {
  auto spans = std::make_shared<Spans>();
  spans->by_device.push_back(IntervalSet::Of(std::move(intervals)));
  return spans;
}

std::shared_ptr<const Remedy> SomeRemedy() {
  const auto held = std::make_shared<int>(0);
  return {held, reinterpret_cast<const Remedy*>(held.get())};
}

// Facts on which the sample rule fires; a test changes some.
std::map<std::string, Fact, std::less<>> SampleFacts() {
  const Rows groups = {{{"name", std::string("a")}, {"time", 1.0}},
                       {{"name", std::string("b")}, {"time", 2.0}}};
  return {{"window.time", {1000.0}},
          {"copy.bytes", {5.0}},
          {"copy.lost", {Time({{0, 100}, {200, 600}})}},
          {"copy.groups", {groups}},
          {"copy.rate", {Absent{"no copies were timed", "cuda"}}},
          {"copy.kind", {std::string("HtoD")}},
          {"copy.pinned", {false}},
          {"copy.remedy", {SomeRemedy()}}};
}

class RunnerFixture {
 public:
  Verdict Run(const RuleFields& changes = {}) {
    const BothWays& rules =
        rules_.emplace_back(std::vector<RuleFile>{MakeRule(changes)}, knowledge_, SampleCatalog());
    return rules.Run(rules.rules()[0].id, MapFacts(facts));
  }

  // A rule whose detect() has this body.
  Verdict Detect(const std::string& body) {
    return Run({{"detect", "function(f, t) " + body + " end"}});
  }

  std::map<std::string, Fact, std::less<>> facts = SampleFacts();

 private:
  Knowledge knowledge_ = SampleKnowledge();
  std::deque<BothWays> rules_;
};

double Number(const Verdict& verdict, const std::string& name) {
  return std::get<double>(verdict.evidence.at(name));
}

}  // namespace

TEST_CASE_METHOD(RunnerFixture, "a rule that fires gives evidence, rows and a saving") {
  const Verdict verdict = Run();
  INFO(verdict.reason);
  REQUIRE(verdict.outcome == Outcome::kFired);
  CHECK(Number(verdict, "share") == 0.5);
  CHECK(std::get<std::string>(verdict.evidence.at("kind")) == "HtoD");
  REQUIRE(verdict.tables.at("rows").size() == 1);
  CHECK(std::get<std::string>(verdict.tables.at("rows")[0][0].second) == "b");
  REQUIRE(verdict.saving.claims != nullptr);
  CHECK(verdict.saving.claims->by_device[0].Total() == 500);
  CHECK(verdict.saving.part == 1.0);
  CHECK(verdict.saving.confidence == 0.5);
  CHECK(verdict.saving.basis == "lost time");
}

TEST_CASE_METHOD(RunnerFixture, "{per:text} says what counts per step are per") {
  const RuleFields fields = {{"symptom", "\"{share:pct} is lost, 3 copies {per:text}.\""}};
  CHECK(Run().evidence.count("per") == 0);
  CHECK(std::get<std::string>(Run(fields).evidence.at("per")) == "in the window");
  facts["steps.count"] = {12.0};
  CHECK(std::get<std::string>(Run(fields).evidence.at("per")) == "per step");
  facts["run.unit"] = {std::string("request")};
  CHECK(std::get<std::string>(Run(fields).evidence.at("per")) == "per request");
  facts["run.unit"] = {std::string("launch")};
  CHECK(std::get<std::string>(Run(fields).evidence.at("per")) == "per step");
  facts["steps.count"] = {Absent{"no steps were found", "steps"}};
  CHECK(std::get<std::string>(Run(fields).evidence.at("per")) == "in the window");
}

TEST_CASE_METHOD(RunnerFixture, "nil is fine") {
  facts["copy.lost"].value = Time({});
  CHECK(Run().outcome == Outcome::kFine);
}

TEST_CASE_METHOD(RunnerFixture, "a rule that does not apply says why") {
  facts["copy.bytes"].value = 0.0;
  const Verdict verdict = Run();
  CHECK(verdict.outcome == Outcome::kNotApplicable);
  CHECK(verdict.reason == "there are no copies");
}

TEST_CASE_METHOD(RunnerFixture,
                 "an absent need is 'cannot tell', with reasons and tags once each") {
  facts["copy.lost"].value = Absent{"no calls were recorded", "cuda"};
  facts["copy.groups"].value = Absent{"no calls were recorded", "cuda"};
  facts["window.time"].value = Absent{"no steps", "steps"};
  const Verdict verdict = Run();
  CHECK(verdict.outcome == Outcome::kCannotTell);
  CHECK(verdict.reason == "no steps; no calls were recorded");
  CHECK(verdict.missing == std::vector<std::string>{"steps", "cuda"});
}

TEST_CASE_METHOD(RunnerFixture, "applies() may say no although needs are absent") {
  facts["copy.lost"].value = Absent{"no calls were recorded", "cuda"};
  facts["copy.bytes"].value = 0.0;
  CHECK(Run().outcome == Outcome::kNotApplicable);
}

TEST_CASE_METHOD(RunnerFixture, "applies() that reads an absent need cannot tell") {
  facts["copy.bytes"].value = Absent{"no copies table", "cuda"};
  facts["copy.lost"].value = Absent{"no calls", "osrt"};
  const Verdict verdict = Run();
  CHECK(verdict.outcome == Outcome::kCannotTell);
  CHECK(verdict.reason == "no copies table; no calls");
  CHECK(verdict.missing == std::vector<std::string>{"cuda", "osrt"});
}

TEST_CASE_METHOD(RunnerFixture, "a fact that is not given at all is absent") {
  facts.erase("window.time");
  const Verdict verdict = Run();
  CHECK(verdict.outcome == Outcome::kCannotTell);
  CHECK(verdict.reason == "window.time is not there");
}

TEST_CASE_METHOD(RunnerFixture, "optional facts are nil when absent") {
  CHECK(Detect("if f.copy.rate == nil then return { share = 1, kind = 'x' } end").outcome ==
        Outcome::kFired);
}

TEST_CASE_METHOD(RunnerFixture, "facts of each kind can be read") {
  const Verdict verdict = Detect(
      "return { a = f.copy.lost.time, b = f.copy.lost.count, c = #f.copy.groups, d = f.copy.kind,\n"
      "  e = f.copy.pinned == false and 1 or 0, g = f.copy.groups[2].time, h = sum(f.copy.groups, "
      "'time'), i = tostring(f.copy) .. tostring(f.copy.groups) .. tostring(f.copy.lost),\n"
      "  j = f.copy.groups[3] == nil and 1 or 0, k = f.copy.groups[1] == f.copy.groups[1] and 1 or "
      "0, all = f.copy.groups }");
  INFO(verdict.reason);
  REQUIRE(verdict.outcome == Outcome::kFired);
  CHECK(Number(verdict, "a") == 500);
  CHECK(Number(verdict, "b") == 2);
  CHECK(Number(verdict, "c") == 2);
  CHECK(Number(verdict, "e") == 1);
  CHECK(Number(verdict, "g") == 2);
  CHECK(Number(verdict, "h") == 3);
  CHECK(std::get<std::string>(verdict.evidence.at("i")) == "factsrowsspans");
  CHECK(Number(verdict, "j") == 1);
  CHECK(Number(verdict, "k") == 1);
  CHECK(verdict.tables.at("all") == std::get<Rows>(facts["copy.groups"].value));
}

TEST_CASE_METHOD(RunnerFixture, "names longer than a rule may hold reach it cut") {
  facts["copy.kind"] = {std::string(100'000, 'k')};
  const Verdict verdict = Detect("return { size = #f.copy.kind }");
  INFO(verdict.reason);
  REQUIRE(verdict.outcome == Outcome::kFired);
  CHECK(Number(verdict, "size") == 8192);
}

TEST_CASE_METHOD(RunnerFixture, "mistakes in reading are errors with place and name") {
  const auto broken = [&](const std::string& body) {
    const Verdict verdict = Detect(body);
    CHECK(verdict.outcome == Outcome::kBroken);
    return verdict.reason;
  };
  CHECK_THAT(broken("return f.copy.time"),
             Contains("rules/transfer/sample.lua:") &&
                 Contains("fact \"copy.time\" is not declared: add it to needs or optional"));
  CHECK_THAT(broken("return f.copy.byte"), Contains("did you mean \"copy.bytes\"?"));
  CHECK_THAT(broken("return f.copy.groups[1].tim"), Contains("did you mean time?"));
  CHECK_THAT(broken("return f.copy.groups.name"), Contains("rows are read by number"));
  CHECK_THAT(broken("return adopt({}, f.copy.groups)"), Contains("wanted a row of a fact"));
  CHECK_THAT(broken("return f.copy.lost.total"), Contains("it has time, count"));
  CHECK_THAT(broken("return t.min_shar"), Contains("did you mean \"min_share\"?"));
  CHECK_THAT(broken("return f.copy.remedy.x"), Contains("cannot be looked into"));
}

TEST_CASE_METHOD(RunnerFixture, "facts and thresholds cannot be changed") {
  for (const char* body :
       {"f.copy = 1", "f.copy.bytes = 0", "f.copy.groups[1] = nil", "f.copy.groups[1].time = 0",
        "f.copy.lost.time = 0", "t.min_share = 0", "table.sort(f.copy.groups)",
        "table.insert(f.copy.groups, 1)", "table.remove(f.copy.groups)"}) {
    INFO(body);
    CHECK(Detect(body).outcome == Outcome::kBroken);
  }
  CHECK(std::get<Rows>(facts["copy.groups"].value).size() == 2);
}

TEST_CASE_METHOD(RunnerFixture, "evidence is checked") {
  const auto broken = [&](const std::string& body) {
    const Verdict verdict = Detect(body);
    CHECK(verdict.outcome == Outcome::kBroken);
    CHECK(verdict.evidence.empty());
    return verdict.reason;
  };
  CHECK_THAT(broken("return 3"), Contains("wanted nil or a table of evidence, got the number 3"));
  CHECK_THAT(broken("return { share = 1 / 0 }"), Contains("evidence.share is not a finite number"));
  CHECK_THAT(broken("return { share = true }"),
             Contains("evidence.share: wanted a number or a text"));
  CHECK_THAT(broken("return { Share = 1 }"), Contains("lower case"));
  CHECK_THAT(broken("return { rows = { a = 1 } }"), Contains("wanted a list of records"));
  CHECK_THAT(broken("return { rows = { { a = {} } } }"), Contains("evidence.rows[1].a"));
}

TEST_CASE_METHOD(RunnerFixture, "columns of records made in Lua come in a fixed order") {
  const Verdict verdict = Detect("return { rows = { { b = 1, a = 2, name = 'x', dir = 'y' } } }");
  std::vector<std::string> columns;
  for (const auto& [column, cell] : verdict.tables.at("rows")[0]) columns.push_back(column);
  CHECK(columns == std::vector<std::string>{"dir", "name", "a", "b"});
}

TEST_CASE_METHOD(RunnerFixture, "reads and comparisons are recorded for `advise why`") {
  const Verdict verdict = Detect(
      "local a = at_least(0.5, t.min_share)  local b = at_most(f.copy.bytes, t.max_rate)\n"
      "local c = between(f.copy.bytes, 1, 3)  local d = f.copy.rate  return nil");
  REQUIRE(verdict.comparisons.size() == 3);
  const Comparison& first = verdict.comparisons[0];
  CHECK(first.what == "at_least");
  CHECK(first.value == 0.5);
  CHECK(first.threshold == 0.02);
  CHECK(first.name == "transfer/sample.min_share");
  CHECK(first.unit == "share");
  CHECK(first.holds);
  CHECK(verdict.comparisons[1].name == "transfer/sample.max_rate");
  CHECK_FALSE(verdict.comparisons[1].holds);
  CHECK(verdict.comparisons[2].name.empty());
  CHECK(verdict.comparisons[2].upper == 3);

  REQUIRE(verdict.reads.size() == 2);
  CHECK(verdict.reads[0].name == "copy.bytes");
  CHECK(verdict.reads[0].shown == "5 B");
  CHECK(verdict.reads[1].shown == "absent: no copies were timed");
}

TEST_CASE_METHOD(RunnerFixture, "savings unite claims and collect remedies") {
  const Verdict verdict =
      Run({{"saving",
            "function(f, t, e) return { claims = { f.copy.lost, f.copy.lost }, remedy = "
            "{ f.copy.remedy }, part = 1.5, confidence = e.share, basis = 'b' } end"}});
  INFO(verdict.reason);
  CHECK(verdict.saving.claims->by_device[0].Total() == 500);
  CHECK(verdict.saving.remedies.size() == 1);
  CHECK(verdict.saving.part == 1.0);
  CHECK(verdict.saving.confidence == 0.5);
}

TEST_CASE_METHOD(RunnerFixture, "savings are checked") {
  const auto broken = [&](const std::string& body) {
    const Verdict verdict = Run({{"saving", "function(f) " + body + " end"}});
    CHECK(verdict.outcome == Outcome::kBroken);
    CHECK(verdict.saving.claims == nullptr);
    return verdict.reason;
  };
  CHECK_THAT(broken("return 3"), Contains("saving: wanted nil or a table"));
  CHECK_THAT(broken("return { claims = 3, basis = 'b' }"), Contains("wanted spans"));
  CHECK_THAT(broken("return { claims = { 3 }, basis = 'b' }"), Contains("in the list"));
  CHECK_THAT(broken("return { claim = f.copy.lost, basis = 'b' }"), Contains("\"claims\""));
  CHECK_THAT(broken("return { claims = f.copy.lost }"), Contains("basis: wanted a text"));
  CHECK_THAT(broken("return { part = 0/0, basis = 'b' }"), Contains("0/0"));
  CHECK_THAT(broken("return { confidence = 2, basis = 'b' }"), Contains("0 to 1"));
  CHECK(Run({{"saving", "function() return nil end"}}).outcome == Outcome::kFired);
}

TEST_CASE("nothing is kept from one call of a rule to the next") {
  const Knowledge knowledge = SampleKnowledge();
  RuleFile file = MakeRule({{"detect", "count_calls"}});
  file.text =
      "local calls = 0\nlocal seen = {}\n"
      "local function count_calls(f) calls = calls + 1  seen[#seen + 1] = f\n"
      "  return { share = calls, kind = 'x', n = #seen } end\n" +
      file.text;
  const BothWays rules({file}, knowledge, SampleCatalog());
  const MapFacts facts(SampleFacts());
  for (int time = 0; time < 3; ++time) {
    const Verdict verdict = rules.Run(rules.rules()[0].id, facts);
    CHECK(Number(verdict, "share") == 1);
    CHECK(Number(verdict, "n") == 1);
  }
}

TEST_CASE("a rule cannot keep an environment of its own") {
  const Knowledge knowledge = SampleKnowledge();
  RuleFile file = MakeRule({{"detect", "function() return { share = calls, kind = 'x' } end"}});
  file.text =
      "local old = _ENV\nlocal fresh = { share = share, calls = 1 }\n"
      "_ENV = fresh\nfresh.calls = fresh.calls + 1\n" +
      file.text;
  const BothWays rules({file}, knowledge, SampleCatalog());
  const MapFacts facts(SampleFacts());
  for (int time = 0; time < 3; ++time) {
    CHECK(Number(rules.Run(rules.rules()[0].id, facts), "share") == 2);
  }
}

TEST_CASE_METHOD(RunnerFixture, "a rule that breaks says which limit it hit") {
  CHECK_THAT(Detect("while true do end").reason,
             Contains("rules/transfer/sample.lua:") && Contains("instruction limit reached"));
  CHECK_THAT(Detect("local s = 'x' while true do s = s .. s end").reason,
             Contains("rules/transfer/sample.lua: text limit reached"));
  CHECK(Detect("error('no')").outcome == Outcome::kBroken);
}

TEST_CASE_METHOD(RunnerFixture, "applies() must return true, or false with a reason") {
  CHECK_THAT(Run({{"applies", "function() end"}}).reason,
             Contains("wanted true or false, got nil"));
  CHECK_THAT(Run({{"applies", "function() return false end"}}).reason, Contains("wanted a reason"));
}
