#include "engine/script/sandbox.h"

#include <catch2/catch.hpp>
#include <lua.hpp>

using advise::Sandbox;
using advise::SandboxLimits;

namespace {

// The result of a chunk as text, or "error: …".
std::string Run(const std::string& chunk, const SandboxLimits& limits = {}) {
  Sandbox sandbox(limits);
  std::string result;
  const auto problem = sandbox.Protect([&](lua_State* state) {
    sandbox.CallChunk(state, sandbox.Compile(state, chunk, "rules/x.lua"));
    if (lua_type(state, -1) == LUA_TSTRING) {
      result = lua_tostring(state, -1);
    } else if (lua_type(state, -1) == LUA_TNUMBER) {
      result = std::to_string(lua_tonumber(state, -1));
    } else {
      result = luaL_typename(state, -1);
    }
  });
  return problem ? "error: " + *problem : result;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A chunk that must be stopped by a limit, even though it tries to go on.
void CheckStopped(const std::string& chunk, const std::string& limit) {
  INFO(chunk);
  const std::string result = Run(chunk);
  INFO(result.substr(0, 300));
  CHECK(Contains(result, limit));
}

}  // namespace

TEST_CASE("ways out of the sandbox do not exist") {
  for (const char* name : {"io",        "os",      "package",        "debug",
                           "coroutine", "load",    "loadstring",     "loadfile",
                           "dofile",    "require", "getmetatable",   "setmetatable",
                           "rawset",    "rawget",  "rawequal",       "rawlen",
                           "pcall",     "xpcall",  "collectgarbage", "next",
                           "pairs",     "print",   "warn",           "_G",
                           "_VERSION",  "utf8"}) {
    INFO(name);
    CHECK(Contains(Run(std::string("return ") + name), "rules have no global "));
  }
}

TEST_CASE("functions that are dangerous or not the same on each run are left out") {
  for (const char* name :
       {"string.find", "string.match", "string.gmatch", "string.gsub", "string.rep",
        "string.format", "string.dump", "string.pack", "string.char", "math.random",
        "math.randomseed", "table.move", "table.pack"}) {
    INFO(name);
    CHECK(Contains(Run(std::string("return ") + name), std::string("rules have no ") + name));
  }
}

TEST_CASE("methods of strings are the allowed ones only") {
  CHECK(Run("return ('ABC'):lower()") == "abc");
  CHECK(Contains(Run("return ('a'):rep(10)"), "rules have no string.rep"));
  CHECK(Contains(Run("return ('a'):find('a')"), "rules have no string.find"));
  CHECK(Contains(Run("return ('a').__index"), "rules have no string.__index"));
  CHECK(Contains(Run("return '10' + 1"), "error"));
}

TEST_CASE("libraries and globals cannot be changed") {
  CHECK(Contains(Run("x = 1"), "globals cannot be changed"));
  CHECK(Contains(Run("string.lower = nil"), "string cannot be changed"));
  CHECK(Contains(Run("math.pi = 3"), "math cannot be changed"));
  CHECK(Contains(Run("_ENV.x = 1"), "globals cannot be changed"));
  CHECK(Contains(Run("table.insert(math, 1)"), "error"));
  CHECK(Contains(Run("table.sort(string)  return 'sorted nothing'"), "sorted nothing"));
}

TEST_CASE("a new environment gives nothing new") {
  CHECK(Contains(Run("local _ENV = {}  return io"), "nil"));
  CHECK(Contains(Run("local _ENV = {}  return string.rep"), "error"));
}

TEST_CASE("bytecode is refused") {
  CHECK(Contains(Run("\x1bLua"), "attempt to load a binary chunk"));
}

TEST_CASE("syntax errors name file and line") {
  CHECK(Contains(Run("return {\n\n  a b\n}"), "rules/x.lua:3:"));
}

TEST_CASE("misspelt globals get a suggestion") {
  CHECK(Contains(Run("return atleast(1, 2)"), "did you mean at_least?"));
}

TEST_CASE("endless loops are stopped") {
  CheckStopped("while true do end", "instruction limit reached");
  CheckStopped("repeat local x = 1 until false", "instruction limit reached");
  CheckStopped("local function f() return f() end  return f()", "instruction limit reached");
  CheckStopped("::again:: goto again", "instruction limit reached");
}

TEST_CASE("work inside library functions counts") {
  CheckStopped(
      "local t = {}  for i = 1, 100000 do t[i] = i end\n"
      "while true do table.insert(t, 1, 0) end",
      "limit reached");
  CheckStopped(
      "local t = {}  for i = 1, 100000 do t[i] = i end\n"
      "while true do table.remove(t, 1)  t[#t + 1] = 1 end",
      "limit reached");
  CheckStopped(
      "local t = {}  for i = 1, 100000 do t[i] = -i end\n"
      "while true do table.sort(t)  table.sort(t, function(a, b) return a > b end) end",
      "limit reached");
  CheckStopped(
      "local s = 'a'  for i = 1, 15 do s = s .. s end\n"
      "while true do matches(s, '*a*a*a*a*b') end",
      "limit reached");
  CheckStopped(
      "local t = {}  for i = 1, 1000 do t[i] = { x = i } end\n"
      "while true do top(t, 'x', 3) end",
      "limit reached");
  CheckStopped(
      "local s = 'a'  for i = 1, 15 do s = s .. s end\n"
      "while true do s:upper() end",
      "limit reached");
}

TEST_CASE("memory is bounded") {
  SandboxLimits limits;
  limits.memory_bytes = 8U << 20U;
  const std::string wanted = "error: memory limit reached: a rule may hold 8 MiB";
  CHECK(Run("local t = {}  for i = 1, 1e9 do t[i] = { i } end", limits) == wanted);
  CHECK(Run("local t = {}  for i = 1, 1e9 do t[i] = 'text ' .. i end", limits) == wanted);
  CHECK(Run("local t = {}  for i = 1, 1e9 do local u = t  t = { u } end", limits) == wanted);
  CHECK(Contains(Run("local t = {}  for i = 1, 1e9 do t[i] = { i } end"), "64 MiB"));
}

TEST_CASE("texts are bounded, however they are made") {
  CheckStopped("local s = 'x'  while true do s = s .. s end", "text limit reached");
  CheckStopped("local t = {}  for i = 1, 100000 do t[i] = 'xxxxxxxx' end  return table.concat(t)",
               "text limit reached");
}

TEST_CASE("many large texts made and dropped are stopped") {
  CheckStopped(
      "local s = 'x'  for i = 1, 15 do s = s .. s end\n"
      "while true do local u = s .. 'y' end",
      "memory limit reached");
}

TEST_CASE("what the counts miss is stopped by the time limit") {
  SandboxLimits limits;
  limits.cpu_seconds = 0.2;
  const std::string chunk =
      "local function grow(n, ...) if n == 0 then while true do select('#', ...) end end\n"
      "  return grow(n - 1, 1, 2, 3, 4, 5, 6, 7, 8, ...) end\n"
      "return grow(20000)";
  const std::string result = Run(chunk, limits);
  CHECK(Contains(result, "limit reached"));
}

TEST_CASE("deep recursion is an error, not a crash") {
  CHECK(Contains(Run("local function f() return 1 + f() end  return f()"), "memory limit reached"));
  CHECK(Contains(Run("local function f(t) table.sort({ 1, 2 }, f)  return true end  return f()"),
                 "overflow"));
  CHECK(Contains(Run("return " + std::string(10000, '(') + "1" + std::string(10000, ')')),
                 "overflow"));
  CHECK(Contains(Run("return " + std::string(10000, '{') + std::string(10000, '}')), "overflow"));
}

TEST_CASE("error objects that are no text are described") {
  CHECK(Run("error({})") == "error: error() was called with a table instead of a text");
  CHECK(Run("error()") == "error: error() was called with a nil instead of a text");
  CHECK(Contains(Run("error('my text')"), "rules/x.lua:1: my text"));
}

TEST_CASE("a sandbox can be used again after a limit was hit") {
  Sandbox sandbox;
  const auto run = [&](const char* chunk) {
    sandbox.Renew();
    return sandbox.Protect(
        [&](lua_State* state) { sandbox.CallChunk(state, sandbox.Compile(state, chunk, "x")); });
  };
  CHECK(run("while true do end").has_value());
  CHECK_FALSE(run("return 1").has_value());
  CHECK(run("local t = {}  for i = 1, 1e9 do t[i] = { i } end").has_value());
  CHECK_FALSE(run("return 1").has_value());
}

TEST_CASE("printed values have no addresses") {
  CHECK(Run("return tostring({})") == "table");
  CHECK(Run("return tostring(share)") == "function");
  CHECK(Run("return tostring(3.0)") == "3");
  CHECK(Run("return tostring(0.25)") == "0.25");
  CHECK(Run("return tostring(nil) .. tostring(true) .. tostring('x')") == "niltruex");
  for (const char* chunk : {"return {} .. 'x'", "return {} < {}", "return #share", "return ({})()",
                            "return 1 + {}", "error(tostring({}))"}) {
    INFO(chunk);
    CHECK_FALSE(Contains(Run(chunk), "0x"));
  }
}

TEST_CASE("sorting keeps the order of equal elements and survives bad comparisons") {
  CHECK(Run("local t = {}  for i = 1, 200 do t[i] = { key = i % 3, at = i } end\n"
            "table.sort(t, function(a, b) return a.key < b.key end)\n"
            "for i = 2, 200 do\n"
            "  if t[i].key == t[i - 1].key and t[i].at < t[i - 1].at then return 'unstable' end\n"
            "  if t[i].key < t[i - 1].key then return 'unsorted' end\n"
            "end\n"
            "return 'sorted'") == "sorted");
  CHECK(Run("local t = { 3, 1, 2 }  table.sort(t)  return table.concat(t, ' ')") == "1 2 3");
  CHECK(Run("local t = {}  table.sort(t)  return #t .. ''") == "0");
  CHECK(Run("local t = { 3, 1, 2, 5, 4 }  table.sort(t, function() return true end)\n"
            "return #t .. ''") == "5");
  CHECK(Contains(Run("table.sort({ 1, 'a' })"), "attempt to compare"));
  CHECK(Contains(Run("table.sort({ 2, 1 }, function() error('mine') end)"), "mine"));
}

TEST_CASE("helpers of rules") {
  CHECK(Run("return share(1, 4)") == std::to_string(0.25));
  CHECK(Run("return share(1, 0)") == std::to_string(0.0));
  CHECK(Run("return sum({ { x = 1 }, { x = 2 } }, 'x')") == std::to_string(3.0));
  CHECK(
      Run("local t = top({ { x = 1, n = 'a' }, { x = 3, n = 'b' }, { x = 3, n = 'c' } }, 'x', 2)\n"
          "return t[1].n .. t[2].n .. #t") == "bc2");
  CHECK(Run("return #filter({ { x = 1 }, { x = 2 } }, function(r) return r.x > 1 end) .. ''") ==
        "1");
  CHECK(Run("return tostring(matches('ampere_sgemm_128', '*SGEMM*'))") == "true");
  CHECK(Run("return tostring(contains('a.b', '.b')) .. tostring(starts_with('ab', 'b'))") ==
        "truefalse");
  CHECK(Run("return tostring(between(2, 1, 3)) .. tostring(at_most(2, 1))") == "truefalse");
  CHECK(Run("return in_words(12345, 'count') .. ', ' .. in_words(0.31, 'pct') .. ', ' .. "
            "in_words(2.5e9, 'bytes')") == "12,345, 31 %, 2.50 GB");
  CHECK(Contains(Run("return in_words(1, 'apples')"), "wanted pct, time, bytes"));
}

TEST_CASE("helpers refuse what is no number") {
  CHECK(Contains(Run("return at_least(nil, 1)"), "an optional fact that is absent?"));
  CHECK(Contains(Run("return at_least('3', 1)"), "wanted a number, got string"));
  CHECK(Contains(Run("return at_least(0/0, 1)"), "0/0"));
  CHECK(Contains(Run("return top({ { x = 'a' } }, 'x', 1)"), "column \"x\" of row 1"));
  CHECK(Contains(Run("return sum({ 1 }, 'x')"), "row 1 is not a record"));
  CHECK(Contains(Run("return sum(3, 'x')"), "wanted rows, got number"));
}
