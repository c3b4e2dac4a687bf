// What hostile rules try, and must not get: more names, more time, more memory, other rules, the
// facts themselves.
#include <catch2/catch.hpp>
#include <lua.hpp>

#include "engine/script/sandbox.h"
#include "tests/script/rule_text.h"

using namespace advise;
using Catch::Contains;

namespace {

std::string RunChunk(const std::string& chunk, const SandboxLimits& limits = {}) {
  Sandbox sandbox(limits);
  std::string result = "nothing";
  const auto problem = sandbox.Protect([&](lua_State* state) {
    sandbox.CallChunk(state, sandbox.Compile(state, chunk, "rules/x.lua"));
    if (lua_type(state, -1) == LUA_TSTRING) result = lua_tostring(state, -1);
  });
  return problem ? "error: " + *problem : result;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Two rules, each with a detect() of its own, on the same facts.
class TwoRules {
 public:
  TwoRules(const std::string& first, const std::string& second) {
    const auto rule = [](const std::string& body, const std::string& id) {
      return MakeRule({{"detect", "function(f, t) " + body + " end"}, {"saving", ""}}, id);
    };
    RuleFile other = rule(second, "transfer/sample");
    RuleFile hostile = MakeRule(
        {{"detect", "function(f, t) " + first + " end"}, {"saving", ""}, {"thresholds", ""}},
        "transfer/hostile");
    rules_.emplace(std::vector<RuleFile>{hostile, other}, knowledge_, SampleCatalog());
  }
  Verdict Run(const std::string& id) {
    auto spans = std::make_shared<Spans>();
    spans->by_device.push_back(IntervalSet::Of({{0, 500}}));
    const Rows groups = {{{"name", std::string("a")}, {"time", 1.0}}};
    const std::map<std::string, Fact, std::less<>> facts = {
        {"window.time", {1000.0}},
        {"copy.bytes", {5.0}},
        {"copy.lost", {std::shared_ptr<const Spans>(spans)}},
        {"copy.groups", {groups}}};
    return rules_->Run(id, MapFacts(facts));
  }

 private:
  Knowledge knowledge_ = SampleKnowledge();
  std::optional<BothWays> rules_;
};

// The reason that a rule with this detect() breaks with.
std::string Broken(const std::string& body) {
  TwoRules rules(body, "return { share = 1 }");
  const Verdict verdict = rules.Run("transfer/hostile");
  INFO(body);
  CHECK(verdict.outcome == Outcome::kBroken);
  // Whatever it did, the next rule is asked as if nothing had happened.
  CHECK(rules.Run("transfer/sample").outcome == Outcome::kFired);
  return verdict.reason;
}

}  // namespace

TEST_CASE("values that close or collect themselves cannot be made") {
  CHECK(Has(RunChunk("local x <close> = {}  return 'closed'"), "non-closable value"));
  CHECK(
      Has(RunChunk("local t = { __gc = function() end, __index = error }  return #t .. ''"), "0"));
  CHECK(Has(RunChunk("return ('x').__gc"), "rules have no string.__gc"));
  CHECK(Has(RunChunk("return ('x').__metatable"), "rules have no string.__metatable"));
}

TEST_CASE("calls that ask for too much at once are refused") {
  CHECK(Has(RunChunk("return table.unpack({}, 1, 1e8)"), "error: "));
  CHECK(Has(RunChunk("return select('#', table.unpack({}, 1, 1e7)) .. ''"), "error: "));
  CHECK(Has(RunChunk("local s = 'a'  for i = 1, 15 do s = s .. s end\n"
                     "return select('#', s:byte(1, -1), s:byte(1, -1)) .. ''"),
            "3276"));  // 32768 results at most, on a stack that memory bounds
  CHECK(Has(RunChunk("local t = {}  t[1e15] = 1  return 'sparse'"), "sparse"));
  CHECK(Has(RunChunk("local t = {}  table.insert(t, 1e15, 1)"), "error: "));
  CHECK(Has(RunChunk("return table.concat({}, 'x', 1, 1e9)"), "error: "));
}

TEST_CASE("loops without an end stop wherever they are") {
  CHECK(Has(RunChunk("filter({ { x = 1 } }, function() while true do end end)"), "limit reached"));
  CHECK(Has(RunChunk("table.sort({ 2, 1 }, function() while true do end end)"), "limit reached"));
  CHECK(Has(RunChunk("for i = 1, math.huge do end"), "limit reached"));
  CHECK(Has(RunChunk("for i = math.mininteger, math.maxinteger do end"), "limit reached"));
  CHECK(Has(RunChunk("for _ in function() return 1 end do end"), "limit reached"));
  CHECK(Has(RunChunk("return " + std::string(3000, '-') + "\n1"), "nothing"));
}

TEST_CASE("recursion through library functions is an error") {
  CHECK(Has(RunChunk("local function f() return filter({ { x = 1 } }, f) end  f()"), "error: "));
  SandboxLimits limits;
  limits.cpu_seconds = 1;  // ends it: each call copies more than the one before
  CHECK(Has(RunChunk("local function f(...) return f(1, ...) end  f()", limits), "limit reached"));
}

TEST_CASE("source text can be large or deep, and is refused then") {
  CHECK(Has(RunChunk("return '" + std::string(1U << 20U, 'x') + "'"), "text limit reached"));
  std::string locals;
  for (int i = 0; i < 300; ++i) locals += "local a" + std::to_string(i) + " = 1\n";
  CHECK(Has(RunChunk(locals), "too many local variables"));
  std::string nested = "return 1";
  for (int i = 0; i < 300; ++i) nested = "return (function() " + nested + " end)()";
  CHECK(Has(RunChunk(nested), "error: "));
  CHECK(Has(RunChunk("#!/bin/sh\nreturn 'x'"), "error: "));
}

TEST_CASE("the environment of the chunk can be hidden but not widened") {
  CHECK(Has(RunChunk("local function f() return _ENV end  return tostring(f().io)"),
            "rules have no global io"));
  CHECK(Has(RunChunk("_ENV = { print = 1 }  return tostring(print)"), "error: ") !=
        Has(RunChunk("_ENV = { print = 1 }  return tostring(print)"), "print"));
}

TEST_CASE("hostile rules cannot change facts, rows, spans or thresholds") {
  CHECK_THAT(Broken("f.window.time = 1"), Contains("cannot be changed"));
  CHECK_THAT(Broken("f.copy = {}"), Contains("cannot be changed"));
  CHECK_THAT(Broken("f.copy.lost.time = 0"), Contains("cannot be changed"));
  CHECK_THAT(Broken("f.copy.groups[1] = {}"), Contains("cannot be changed"));
  CHECK_THAT(Broken("f.copy.groups[1].time = 9"), Contains("cannot be changed"));
  CHECK_THAT(Broken("t.min_share = 0"), Contains("cannot be changed"));
  CHECK_THAT(Broken("table.insert(f.copy.groups, {})"), Contains("table"));
  CHECK_THAT(Broken("table.sort(f.copy.groups)"), Contains("table"));
}

TEST_CASE("a rule reaches no other rule's thresholds, facts or variables") {
  CHECK_THAT(Broken("return { share = t.min_share }"), Contains("min_share"));
  CHECK_THAT(Broken("shared = f"), Contains("globals cannot be changed"));
  CHECK_THAT(Broken("math.shared = f"), Contains("cannot be changed"));
  TwoRules rules("return { share = 1 }", "return { share = f.copy.bytes }");
  CHECK(rules.Run("transfer/hostile").outcome == Outcome::kFired);
  CHECK(rules.Run("transfer/sample").outcome == Outcome::kFired);
}

TEST_CASE("evidence that is no evidence is refused") {
  CHECK_THAT(Broken("local e = { share = 1, rows = {} }  e.rows[1] = e  return e"),
             Contains("rows[1]"));
  CHECK_THAT(Broken("local e = {}  e.share = e  return e"), Contains("share"));
  CHECK_THAT(Broken("return { share = function() end }"), Contains("share"));
  CHECK_THAT(Broken("return { share = 1/0 }"), Contains("share"));
  CHECK_THAT(Broken("return { share = 0/0 }"), Contains("share"));
  CHECK_THAT(Broken("return { ['not a name'] = 1 }"), Contains("not a name"));
  CHECK_THAT(
      Broken(
          "local r = {}  for i = 1, 2000 do r[i] = { n = i } end  return { share = 1, rows = r }"),
      Contains("1000 rows"));
  CHECK_THAT(Broken("return 'fired'"), Contains("detect"));
}

TEST_CASE("error objects of every kind are told as text") {
  CHECK_THAT(Broken("error(f)"), Contains("error() was called with a"));
  CHECK_THAT(Broken("error(f.copy.lost)"), Contains("error() was called with a"));
  CHECK_THAT(Broken("error('\\27[2J')"), Contains("[2J"));
  CHECK_THAT(Broken("local s = 'x'  for i = 1, 15 do s = s .. s end  error(s)"), Contains("xxx"));
}

TEST_CASE("limits that one rule hits leave the others whole") {
  CHECK_THAT(Broken("while true do end"), Contains("instruction limit reached"));
  CHECK_THAT(Broken("local t = {}  for i = 1, 1e9 do t[i] = { i } end"),
             Contains("memory limit reached"));
  CHECK_THAT(Broken("local s = 'x'  while true do s = s .. s end"), Contains("text limit reached"));
}
