#include "engine/script/api.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/glob.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/script/handles.h"
#include "engine/script/run_context.h"
#include "engine/script/sandbox.h"

namespace advise {
namespace {

constexpr std::size_t kLongestGlob = 256;

// A number that is one; texts that look like numbers are not.
double Number(lua_State* state, int argument, const char* function) {
  if (lua_type(state, argument) != LUA_TNUMBER) {
    luaL_error(state, "%s: argument %d: wanted a number, got %s%s", function, argument,
               luaL_typename(state, argument),
               lua_isnoneornil(state, argument) ? " (an optional fact that is absent?)" : "");
  }
  const double value = lua_tonumber(state, argument);
  if (std::isnan(value)) {
    luaL_error(state, "%s: argument %d is not a number (0/0?)", function, argument);
  }
  return value;
}

std::string_view Text(lua_State* state, int argument, const char* function) {
  if (lua_type(state, argument) != LUA_TSTRING) {
    luaL_error(state, "%s: argument %d: wanted a text, got %s", function, argument,
               luaL_typename(state, argument));
  }
  std::size_t size = 0;
  const char* text = lua_tolstring(state, argument, &size);
  return {text, size};
}

// Pushes whether the comparison holds, and records it.
int Compare(lua_State* state, const char* what, double value, double threshold, double upper,
            bool holds) {
  RunContext* context = Sandbox::Of(state).context;
  if (context != nullptr) holds = context->Compare(what, value, threshold, upper, holds);
  lua_pushboolean(state, static_cast<int>(holds));
  return 1;
}

int AtLeast(lua_State* state) {
  const double value = Number(state, 1, "at_least");
  const double threshold = Number(state, 2, "at_least");
  return Compare(state, "at_least", value, threshold, 0, value >= threshold);
}

int AtMost(lua_State* state) {
  const double value = Number(state, 1, "at_most");
  const double threshold = Number(state, 2, "at_most");
  return Compare(state, "at_most", value, threshold, 0, value <= threshold);
}

int Between(lua_State* state) {
  const double value = Number(state, 1, "between");
  const double low = Number(state, 2, "between");
  const double high = Number(state, 3, "between");
  return Compare(state, "between", value, low, high, value >= low && value <= high);
}

int Share(lua_State* state) {
  const double part = Number(state, 1, "share");
  const double whole = Number(state, 2, "share");
  lua_pushnumber(state, whole == 0 ? 0 : part / whole);
  return 1;
}

// Length of rows or of a list of records; charges for going through them.
lua_Integer RowCount(lua_State* state, const char* function) {
  if (AsRows(state, 1) == nullptr && lua_type(state, 1) != LUA_TTABLE) {
    luaL_error(state, "%s: argument 1: wanted rows, got %s", function, luaL_typename(state, 1));
  }
  const lua_Integer count = luaL_len(state, 1);
  Sandbox::Of(state).Charge(state, count);
  return count;
}

// The number in a column of row `at` of argument 1; leaves the row on the stack.
double ColumnOf(lua_State* state, lua_Integer at, const char* function) {
  lua_geti(state, 1, at);
  const char* column = lua_tostring(state, 2);
  if (AsRow(state, -1) == nullptr && lua_type(state, -1) != LUA_TTABLE) {
    luaL_error(state, "%s: row %d is not a record but %s", function, static_cast<int>(at),
               luaL_typename(state, -1));
  }
  lua_getfield(state, -1, column);
  if (lua_type(state, -1) != LUA_TNUMBER) {
    luaL_error(state, "%s: column \"%s\" of row %d: wanted a number, got %s", function, column,
               static_cast<int>(at), luaL_typename(state, -1));
  }
  const double value = lua_tonumber(state, -1);
  if (std::isnan(value)) {
    luaL_error(state, "%s: column \"%s\" of row %d is not a number (0/0?)", function, column,
               static_cast<int>(at));
  }
  lua_pop(state, 1);
  return value;
}

int Sum(lua_State* state) {
  const lua_Integer count = RowCount(state, "sum");
  Text(state, 2, "sum");
  double total = 0;
  for (lua_Integer at = 1; at <= count; ++at) {
    total += ColumnOf(state, at, "sum");
    lua_pop(state, 1);
  }
  lua_pushnumber(state, total);
  return 1;
}

int Top(lua_State* state) {
  const lua_Integer count = RowCount(state, "top");
  Text(state, 2, "top");
  const double wanted = std::max(0.0, Number(state, 3, "top"));
  struct Ranked {
    double value;
    lua_Integer at;
  };
  std::vector<Ranked> ranked;
  for (lua_Integer at = 1; at <= count; ++at) {
    ranked.push_back({ColumnOf(state, at, "top"), at});
    lua_pop(state, 1);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.value > b.value; });
  if (wanted < static_cast<double>(ranked.size())) {
    ranked.resize(static_cast<std::size_t>(wanted));
  }
  lua_newtable(state);
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    lua_geti(state, 1, ranked[i].at);
    lua_rawseti(state, -2, static_cast<lua_Integer>(i) + 1);
  }
  return 1;
}

int Filter(lua_State* state) {
  const lua_Integer count = RowCount(state, "filter");
  luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_settop(state, 2);
  lua_newtable(state);
  lua_Integer kept = 0;
  for (lua_Integer at = 1; at <= count; ++at) {
    lua_geti(state, 1, at);
    lua_pushvalue(state, 2);
    lua_pushvalue(state, -2);
    lua_call(state, 1, 1);
    const bool keep = lua_toboolean(state, -1) != 0;
    lua_pop(state, 1);
    if (keep) {
      lua_rawseti(state, 3, ++kept);
    } else {
      lua_pop(state, 1);
    }
  }
  return 1;
}

// adopt(evidence, row): the row's columns as evidence, but for names that the evidence has already.
int Adopt(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  const Row* row = AsRow(state, 2);
  if (row == nullptr) {
    return luaL_error(state, "adopt: wanted a row of a fact, got %s", luaL_typename(state, 2));
  }
  for (const auto& [column, cell] : *row) {
    const bool is_there = lua_getfield(state, 1, column.c_str()) != LUA_TNIL;
    lua_pop(state, 1);
    if (is_there) continue;
    PushCell(state, cell);
    lua_setfield(state, 1, column.c_str());
  }
  lua_settop(state, 1);
  return 1;
}

int Matches(lua_State* state) {
  const std::string_view name = Text(state, 1, "matches");
  const std::string_view glob = Text(state, 2, "matches");
  if (glob.size() > kLongestGlob) {
    return luaL_error(state, "matches: a glob may have %d characters",
                      static_cast<int>(kLongestGlob));
  }
  // The worst case is |name| x |glob|; a step is far cheaper than an instruction.
  Sandbox::Of(state).Charge(state, static_cast<std::int64_t>(name.size() * glob.size() / 16));
  lua_pushboolean(state, static_cast<int>(MatchesGlob(name, glob)));
  return 1;
}

int Contains(lua_State* state) {
  const std::string_view text = Text(state, 1, "contains");
  const std::string_view part = Text(state, 2, "contains");
  // find() may compare the part at every place.
  const std::size_t steps = text.size() * (part.size() / 64 + 1);
  Sandbox::Of(state).Charge(state, static_cast<std::int64_t>(steps / 16));
  lua_pushboolean(state, static_cast<int>(text.find(part) != std::string_view::npos));
  return 1;
}

int StartsWith(lua_State* state) {
  const std::string_view text = Text(state, 1, "starts_with");
  const std::string_view part = Text(state, 2, "starts_with");
  lua_pushboolean(state, static_cast<int>(text.substr(0, part.size()) == part));
  return 1;
}

// As places of templates are filled, for texts that a rule puts together.
int InWords(lua_State* state) {
  static constexpr std::array<std::string_view, 7> kKinds = {"pct",   "time",  "bytes", "rate",
                                                             "flops", "count", "num"};
  const double value = Number(state, 1, "in_words");
  const std::string_view kind = Text(state, 2, "in_words");
  if (!IsIn(kind, kKinds)) {
    return luaL_error(state,
                      "in_words: argument 2: wanted pct, time, bytes, rate, flops, count or num");
  }
  const std::string words = FormatQuantity(value, kind);
  lua_pushlstring(state, words.data(), words.size());
  return 1;
}

}  // namespace

void InstallApi(lua_State* state) {
  const luaL_Reg functions[] = {{"at_least", AtLeast},  {"at_most", AtMost},
                                {"between", Between},   {"share", Share},
                                {"sum", Sum},           {"top", Top},
                                {"filter", Filter},     {"matches", Matches},
                                {"contains", Contains}, {"starts_with", StartsWith},
                                {"adopt", Adopt},       {"in_words", InWords},
                                {nullptr, nullptr}};
  luaL_setfuncs(state, functions, 0);
}

}  // namespace advise
